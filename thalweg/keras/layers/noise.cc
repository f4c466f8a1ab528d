#include "thalweg/keras/layers/noise.h"

#include <cmath>

#include "thalweg/core/error.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/dropout.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/random.h"
#include "thalweg/ops/shaping.h"

namespace thalweg::keras::layers {
namespace {

/// The seeds of a layer that draws again and again: its own for the first draw, one more for each that follows, as in
/// Keras; so layers draw other numbers at every call, traced or not.
class CountedSeed {
 public:
  std::optional<int64_t> next(const std::optional<int64_t>& given) {
    if (!given) return {};
    return *given + num_draws_++;
  }

 private:
  int64_t num_draws_ = 0;
};

void check_rate(double rate) {
  if (!(rate >= 0 && rate <= 1))
    throw ValueError("Invalid value " + Value(rate).json() + " received for `rate`, expected a value between 0 and 1.");
}

struct DropoutLayer {
  double rate = 0;
  DropoutOptions options = {};
  CountedSeed seeds = {};
  void check() const { check_rate(rate); }
  Tensor call(const Tensor& x, const CallArgs& args) {
    if (!args.training || rate == 0) return x;
    std::optional<Shape> together = options.noise_shape;
    if (together && together->rank() > 0 && (*together)[0] != 1) (*together)[0] = unknown;  // whatever the batch
    return nn::dropout(x, static_cast<float>(rate), {.noise_shape = together, .seed = seeds.next(options.seed)});
  }
  static constexpr bool supports_masking = true;
};

Tensor drop_channels(const Tensor& x, double rate, const SpatialDropoutOptions& options, CountedSeed& seeds,
                     const CallArgs& args) {
  if (!args.training || rate == 0) return x;
  Shape together = Shape::of_rank(x.rank());
  const bool is_first = options.data_format == "channels_first" && x.rank() > 3;
  for (int i = 1; i < x.rank(); ++i)
    if (i != (is_first ? 1 : x.rank() - 1)) together[i] = 1;
  return nn::dropout(x, static_cast<float>(rate),
                     {.noise_shape = options.noise_shape.value_or(together), .seed = seeds.next(options.seed)});
}

struct SpatialDropout1DLayer {
  double rate = 0;
  SpatialDropoutOptions options = {};
  CountedSeed seeds = {};
  void check() const { check_rate(rate); }
  InputSpec input_spec() const { return {.ndim = 3}; }
  Tensor call(const Tensor& x, const CallArgs& args) { return drop_channels(x, rate, options, seeds, args); }
  void complete_config(Value& config) const { config.erase("data_format"); }  // as Keras has it
  static constexpr bool supports_masking = true;
};
struct SpatialDropout2DLayer {
  double rate = 0;
  SpatialDropoutOptions options = {};
  CountedSeed seeds = {};
  void check() const { check_rate(rate); }
  InputSpec input_spec() const { return {.ndim = 4}; }
  Tensor call(const Tensor& x, const CallArgs& args) { return drop_channels(x, rate, options, seeds, args); }
  void complete_config(Value& config) const { config.erase("data_format"); }  // as Keras has it
  static constexpr bool supports_masking = true;
};
struct SpatialDropout3DLayer {
  double rate = 0;
  SpatialDropoutOptions options = {};
  CountedSeed seeds = {};
  void check() const { check_rate(rate); }
  InputSpec input_spec() const { return {.ndim = 5}; }
  Tensor call(const Tensor& x, const CallArgs& args) { return drop_channels(x, rate, options, seeds, args); }
  void complete_config(Value& config) const { config.erase("data_format"); }  // as Keras has it
  static constexpr bool supports_masking = true;
};

struct GaussianNoiseLayer {
  double stddev = 0;
  NoiseOptions options = {};
  CountedSeed seeds = {};
  Tensor call(const Tensor& x, const CallArgs& args) {
    if (!args.training) return x;
    return x + random::normal(shape(x),
                              {.mean = 0.0, .stddev = stddev, .dtype = x.dtype(), .seed = seeds.next(options.seed)});
  }
  static constexpr bool supports_masking = true;
};

struct GaussianDropoutLayer {
  double rate = 0;
  NoiseOptions options = {};
  CountedSeed seeds = {};
  Tensor call(const Tensor& x, const CallArgs& args) {
    if (!args.training || !(rate > 0 && rate < 1)) return x;
    const double stddev = std::sqrt(rate / (1 - rate));
    return x * random::normal(shape(x),
                              {.mean = 1.0, .stddev = stddev, .dtype = x.dtype(), .seed = seeds.next(options.seed)});
  }
  static constexpr bool supports_masking = true;
};

struct AlphaDropoutLayer {
  double rate = 0;
  DropoutOptions options = {};
  CountedSeed seeds = {};
  Tensor call(const Tensor& x, const CallArgs& args) {
    if (!args.training || !(rate > 0 && rate < 1)) return x;
    // What selu gives far below 0 takes the place of what is dropped; then mean and variance are put right.
    const double low = -1.6732632423543772848170429916717 * 1.0507009873554804934193349852946;
    const double scale = 1 / std::sqrt((1 - rate) * (1 + rate * low * low)), shift = -scale * low * rate;
    auto number = [&](double value) { return cast(Tensor(value), x.dtype()); };
    Tensor draws = random::uniform(noise_shape(x), {.dtype = x.dtype(), .seed = seeds.next(options.seed)});
    Tensor kept = cast(draws >= number(rate), x.dtype());
    Tensor y = x * kept + number(low) * (number(1) - kept);
    return number(scale) * y + number(shift);
  }
  Tensor noise_shape(const Tensor& x) const {
    if (!options.noise_shape) return shape(x);
    std::vector<Tensor> dims;
    for (int i = 0; i < options.noise_shape->rank(); ++i) {
      const int64_t dim = (*options.noise_shape)[i];
      dims.push_back(dim < 0 || (i == 0 && dim != 1) ? shape(x)(i) : Tensor(static_cast<int32_t>(dim)));
    }
    return stack(dims);
  }
  void complete_config(Value& config) const { config.erase("noise_shape"); }  // as Keras has it
  static constexpr bool supports_masking = true;
};

}  // namespace

Layer Dropout(double rate, const DropoutOptions& options) { return DropoutLayer{rate, options}; }
Layer SpatialDropout1D(double rate, const SpatialDropoutOptions& options) {
  return SpatialDropout1DLayer{rate, options};
}
Layer SpatialDropout2D(double rate, const SpatialDropoutOptions& options) {
  return SpatialDropout2DLayer{rate, options};
}
Layer SpatialDropout3D(double rate, const SpatialDropoutOptions& options) {
  return SpatialDropout3DLayer{rate, options};
}
Layer GaussianNoise(double stddev, const NoiseOptions& options) { return GaussianNoiseLayer{stddev, options}; }
Layer GaussianDropout(double rate, const NoiseOptions& options) { return GaussianDropoutLayer{rate, options}; }
Layer AlphaDropout(double rate, const DropoutOptions& options) { return AlphaDropoutLayer{rate, options}; }

}  // namespace thalweg::keras::layers

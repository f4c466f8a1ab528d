#include <algorithm>
#include <cmath>

#include "thalweg/core/error.h"
#include "thalweg/keras/initializers/support.h"
#include "thalweg/keras/random_seed.h"
#include "thalweg/ops/random_stateless.h"

namespace thalweg::keras::initializers {
namespace {

struct Fans {
  double in = 1, out = 1;
};
// Kernels are [..., inputs, outputs]: what comes before are the places of a convolution.
Fans fans_of(const Shape& shape) {
  if (shape.rank() == 0) return {};
  if (shape.rank() == 1) return {static_cast<double>(shape[0]), static_cast<double>(shape[0])};
  const auto places = static_cast<double>(shape.count(0, shape.rank() - 2));
  return {places * static_cast<double>(shape[-2]), places * static_cast<double>(shape[-1])};
}

Tensor draw(const Shape& shape, DType dtype, const VarianceScalingOptions& options, KeptSeed& kept) {
  dtype = require_floating(dtype);
  const Fans fans = fans_of(shape);
  const double count = options.mode == "fan_in"    ? fans.in
                       : options.mode == "fan_out" ? fans.out
                                                   : (fans.in + fans.out) / 2;
  const double variance = options.scale / std::max(1.0, count);
  const Tensor seed = kept.pair(options.seed);
  if (options.distribution == "uniform") {
    const double limit = std::sqrt(3 * variance);
    return random::stateless_uniform(shape, seed, {.minval = -limit, .maxval = limit, .dtype = dtype});
  }
  if (options.distribution == "untruncated_normal")
    return random::stateless_normal(shape, seed, {.stddev = std::sqrt(variance), .dtype = dtype});
  // The standard deviation of a normal distribution that is cut off at two standard deviations.
  constexpr double truncated = 0.87962566103423978;
  return random::stateless_truncated_normal(shape, seed, {.stddev = std::sqrt(variance) / truncated, .dtype = dtype});
}

struct VarianceScalingInitializer {
  VarianceScalingOptions options = {};
  KeptSeed kept = {};

  void check() {
    if (options.scale <= 0)
      throw ValueError("`scale` must be positive float. Received: scale=" + Value(options.scale).json() + ".");
    if (options.mode != "fan_in" && options.mode != "fan_out" && options.mode != "fan_avg")
      throw ValueError("Invalid `mode` argument: " + options.mode +
                       ". Please use one of the {'fan_in', 'fan_out', 'fan_avg'}.");
    for (char& letter : options.distribution)
      if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter + 32);
    if (options.distribution == "normal") options.distribution = "truncated_normal";
    if (options.distribution != "uniform" && options.distribution != "truncated_normal" &&
        options.distribution != "untruncated_normal")
      throw ValueError("Invalid `distribution` argument: " + options.distribution +
                       ".Allowed distributions: {'uniform', 'truncated_normal', 'untruncated_normal'}.");
  }
  Tensor call(const Shape& shape, DType dtype) { return draw(shape, dtype, options, kept); }
};

Tensor draw(const Shape& shape, DType dtype, double scale, const char* mode, const char* distribution,
            const SeedOptions& options, KeptSeed& kept) {
  return draw(shape, dtype, {.scale = scale, .mode = mode, .distribution = distribution, .seed = options.seed}, kept);
}

struct GlorotUniformInitializer {
  SeedOptions options = {};
  KeptSeed kept = {};
  Tensor call(const Shape& shape, DType dtype) { return draw(shape, dtype, 1, "fan_avg", "uniform", options, kept); }
};
struct GlorotNormalInitializer {
  SeedOptions options = {};
  KeptSeed kept = {};
  Tensor call(const Shape& shape, DType dtype) {
    return draw(shape, dtype, 1, "fan_avg", "truncated_normal", options, kept);
  }
};
struct HeUniformInitializer {
  SeedOptions options = {};
  KeptSeed kept = {};
  Tensor call(const Shape& shape, DType dtype) { return draw(shape, dtype, 2, "fan_in", "uniform", options, kept); }
};
struct HeNormalInitializer {
  SeedOptions options = {};
  KeptSeed kept = {};
  Tensor call(const Shape& shape, DType dtype) {
    return draw(shape, dtype, 2, "fan_in", "truncated_normal", options, kept);
  }
};
struct LecunUniformInitializer {
  SeedOptions options = {};
  KeptSeed kept = {};
  Tensor call(const Shape& shape, DType dtype) { return draw(shape, dtype, 1, "fan_in", "uniform", options, kept); }
};
struct LecunNormalInitializer {
  SeedOptions options = {};
  KeptSeed kept = {};
  Tensor call(const Shape& shape, DType dtype) {
    return draw(shape, dtype, 1, "fan_in", "truncated_normal", options, kept);
  }
};

const bool variance_scaling_spellings[] = {register_spellings("VarianceScaling"), register_spellings("GlorotUniform"),
                                           register_spellings("GlorotNormal"),    register_spellings("HeUniform"),
                                           register_spellings("HeNormal"),        register_spellings("LecunUniform"),
                                           register_spellings("LecunNormal")};

}  // namespace

Initializer VarianceScaling(const VarianceScalingOptions& options) { return VarianceScalingInitializer{options}; }
Initializer GlorotUniform(const SeedOptions& options) { return GlorotUniformInitializer{options}; }
Initializer GlorotNormal(const SeedOptions& options) { return GlorotNormalInitializer{options}; }
Initializer HeUniform(const SeedOptions& options) { return HeUniformInitializer{options}; }
Initializer HeNormal(const SeedOptions& options) { return HeNormalInitializer{options}; }
Initializer LecunUniform(const SeedOptions& options) { return LecunUniformInitializer{options}; }
Initializer LecunNormal(const SeedOptions& options) { return LecunNormalInitializer{options}; }

}  // namespace thalweg::keras::initializers

#include "thalweg/ops/dropout.h"

#include "thalweg/core/error.h"
#include "thalweg/core/index.h"
#include "thalweg/core/seed.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/random.h"
#include "thalweg/ops/random_stateless.h"
#include "thalweg/ops/selection.h"
#include "thalweg/ops/shaping.h"

namespace thalweg::nn {
namespace {

Tensor shape_of_noise(const Tensor& x, const std::optional<Shape>& wanted) {
  if (!wanted && !x.shape().is_fully_defined()) return shape(x);
  Shape noise = wanted ? *wanted : x.shape();
  if (!noise.has_rank()) noise = x.shape();
  if (x.shape().has_rank() && noise.rank() == x.rank())
    for (int i = 0; i < noise.rank(); ++i)
      if (noise[i] == unknown) noise[i] = x.shape()[i];
  if (!noise.is_fully_defined()) {  // known when it runs
    std::vector<Tensor> dims;
    for (int i = 0; i < noise.rank(); ++i)
      dims.push_back(noise[i] == unknown ? shape(x)(i) : Tensor(static_cast<int32_t>(noise[i])));
    return stack(dims);
  }
  std::vector<int64_t> dims(noise.begin(), noise.end());
  return dims;
}

// A bare number is checked now and costs no op; a tensor is not looked at.
bool is_bare(const TensorLike& rate) { return rate.tensor().impl()->weak != Weak::strong; }

double checked_rate(const TensorLike& rate) {
  const Tensor& given = rate.tensor();
  double value = real_types.has(given.dtype()) && given.size() == 1 ? given.item<double>() : -1;
  if (!(value >= 0 && value < 1))
    throw ValueError("nn.dropout: `rate` must be a scalar tensor or a float in the range [0, 1). Received: rate=" +
                     given.str());
  return value;
}

void check_input(const Tensor& x) {
  if (!is_floating(x.dtype()))
    throw ValueError("nn.dropout: `x.dtype` must be a floating point tensor as `x` will be scaled. Received: x_dtype=" +
                     std::string(name_of(x.dtype())));
}

// `draw(shape)` gives uniform numbers of x's dtype.
template <class Draw>
Tensor drop(const Tensor& x, const TensorLike& rate, const std::optional<Shape>& noise_shape, Draw draw) {
  Tensor limit, scaled;
  if (is_bare(rate)) {
    double scale = 1 / (1 - checked_rate(rate));
    limit = strengthen(rate.tensor(), x.dtype());
    scaled = x * scale;
  } else {
    limit = rate.tensor();
    if (limit.shape().has_rank() && limit.rank() != 0)
      throw ValueError("nn.dropout: `rate` must be a scalar, got shape " + limit.shape().brackets());
    if (limit.dtype() != x.dtype())
      throw ValueError("nn.dropout: `x.dtype` must be compatible with `rate.dtype`. Received: x.dtype=" +
                       std::string(name_of(x.dtype())) + " and rate.dtype=" + std::string(name_of(limit.dtype())));
    scaled = x / (1 - limit);
  }
  return where(draw(shape_of_noise(x, noise_shape)) >= limit, scaled, 0);
}

}  // namespace

Tensor dropout(const Tensor& x, const TensorLike& rate, const DropoutOptions& options) {
  check_input(x);
  if (is_bare(rate) && checked_rate(rate) == 0) {
    seed_state().next_op_seed(options.seed);  // later calls draw the same numbers as with any other rate
    return x;
  }
  return drop(x, rate, options.noise_shape, [&](const Tensor& noise_shape) {
    return random::uniform(noise_shape, {.dtype = x.dtype(), .seed = options.seed});
  });
}

namespace experimental {
Tensor stateless_dropout(const Tensor& x, const TensorLike& rate, const TensorLike& seed,
                         const StatelessDropoutOptions& options) {
  check_input(x);
  if (is_bare(rate) && checked_rate(rate) == 0) return x;
  return drop(x, rate, options.noise_shape, [&](const Tensor& noise_shape) {
    return random::stateless_uniform(noise_shape, seed, {.dtype = x.dtype(), .alg = options.rng_alg});
  });
}
}  // namespace experimental

namespace {
const FunctionDef* const dropout_functions[] = {
    &define_function<dropout>({"nn.dropout"}, {"x", "rate"}),
    &define_function<experimental::stateless_dropout>({"nn.experimental.stateless_dropout"}, {"x", "rate", "seed"}),
};
}  // namespace

}  // namespace thalweg::nn

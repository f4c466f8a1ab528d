#include "thalweg/ops/normalization.h"

#include <algorithm>
#include <limits>

#include "thalweg/core/error.h"
#include "thalweg/core/index.h"
#include "thalweg/kernels/norm.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/broadcasting.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/diagonals.h"
#include "thalweg/ops/division.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/infer.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_elementary.h"
#include "thalweg/ops/matmul.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/shaping.h"

namespace thalweg {
namespace {

struct LrnAttrs {
  int64_t depth_radius = 5;
  float bias = 1;
  float alpha = 1;
  float beta = 0.5f;
};
void check_radius(const InferCall& c) {
  if (int64_t radius = c.attrs<LrnAttrs>().depth_radius; radius < 0)
    c.fail("depth_radius must not be negative, got " + std::to_string(radius));
}
kernels::LrnOptions lrn_options(const KernelCall& c) {
  const auto& a = c.attrs<LrnAttrs>();
  return {std::min(a.depth_radius, c.shape(0)[3]), a.bias, a.alpha, a.beta};
}

constexpr TypeSet lrn_types = half_types | types(float32);

// With sums n = bias + alpha * near(x^2) over the channels around each: LRNGrad is
// d n^-beta - 2 alpha beta x near(d y / n).
void grad_of_lrn_grad(GradCall& g) {
  const auto& attrs = g.attrs<LrnAttrs>();
  const double alpha = attrs.alpha, beta = attrs.beta;
  const DType dtype = g.input(0).dtype();
  const bool half = is_half(dtype);
  auto wide = [&](const Tensor& t) { return half ? cast(t, DType::float32) : t; };
  auto set = [&](int i, const Tensor& t) { g.input_grad(i, half ? cast(t, dtype) : t); };
  Tensor d = wide(g.input(0)), x = wide(g.input(1)), y = wide(g.input(2)), v = wide(g.output_grad());
  Tensor channels = shape(x)(-1);
  Tensor reach = minimum(channels, std::min<int64_t>(attrs.depth_radius, std::numeric_limits<int32_t>::max()));
  Tensor band = linalg::band_part(ones(stack({channels, channels})), reach, reach);
  auto near = [&](const Tensor& t) { return reshape(matmul(reshape(t, stack({-1, channels})), band), shape(t)); };
  Tensor n = attrs.bias + alpha * near(square(x)), power = pow(n, -beta), u = (2 * alpha * beta) * near(v * x);
  if (g.wants(0)) set(0, v * power - u * y / n);
  if (g.wants(2)) set(2, -u * d / n);
  if (!g.wants(1)) return;
  Tensor through_n = (u * y / n - beta * v * power) * d / n;
  set(1, 2 * alpha * x * near(through_n) - (2 * alpha * beta) * v * near(d * y / n));
}

const Op& LRNGrad = define_op({
    .name = "LRNGrad",
    .doc = "The gradient of LRN.",
    .signature = "input_grads: T, input_image: T, output_image: T -> output: T",
    .types = {{"T", lrn_types}},
    .attrs = attrs_of<LrnAttrs>(),
    .infer =
        [](InferCall& c) {
          check_radius(c);
          for (int i = 0; i < 3; ++i) c.require_rank(i, 4);
          infer::same_shape(c);
        },
    .kernel = {[](const KernelCall& c) {
      const Shape& s = c.shape(0);
      kernels::lrn_grad(c.dtype(), s.count(0, 3), s[3], lrn_options(c), c.input(0), c.input(1), c.input(2), c.output());
    }},
    .grad = grad_of_lrn_grad,
    .grad_reads = reads::inputs<0, 1, 2>,
});

const Op& LRN = define_op({
    .name = "LRN",
    .doc = "Each element of images, divided by a power of the sum of squares of the channels around it.",
    .signature = "input: T -> output: T",
    .types = {{"T", lrn_types}},
    .attrs = attrs_of<LrnAttrs>(),
    .infer =
        [](InferCall& c) {
          check_radius(c);
          c.require_rank(0, 4);
          c.output(0, c.shape(0));
        },
    .kernel = {[](const KernelCall& c) {
      const Shape& s = c.shape(0);
      kernels::lrn(c.dtype(), s.count(0, 3), s[3], lrn_options(c), c.input(0), c.output());
    }},
    .grad =
        [](GradCall& g) {
          g.input_grad(0, apply1(LRNGrad, {g.output_grad(), g.input(), g.output()}, g.attrs<LrnAttrs>()));
        },
    .grad_reads = reads::inputs<0> | reads::outputs<0>,
});

// Moments of halves are computed in float32: squares lose too much otherwise.
Tensor widen(const Tensor& x) { return x.dtype() == DType::float16 ? cast(x, DType::float32) : x; }
nn::Moments finish(const Tensor& mean, const Tensor& variance, DType dtype, const Axis& axes, bool keepdims) {
  auto one = [&](const Tensor& t) {
    Tensor kept = keepdims || axes.axes().empty() ? t : squeeze(t, {.axis = axes});
    return kept.dtype() == dtype ? kept : cast(kept, dtype);
  };
  return {one(mean), one(variance)};
}

}  // namespace

namespace nn {

Moments moments(const Tensor& x, const std::vector<int64_t>& axes, const MomentsOptions& options) {
  Tensor wide = widen(x);
  Tensor mean = reduce_mean(wide, {.axis = axes, .keepdims = true});
  // The mean minimises this sum, so that no gradient flows through it.
  Tensor variance = reduce_mean(math::squared_difference(wide, stop_gradient(mean)), {.axis = axes, .keepdims = true});
  return finish(mean, variance, x.dtype(), axes, options.keepdims);
}

Moments weighted_moments(const Tensor& x, const std::vector<int64_t>& axes, const TensorLike& frequency_weights,
                         const WeightedMomentsOptions& options) {
  if (!is_floating(x.dtype()) && !is_complex(x.dtype()))
    throw InvalidArgumentError("weighted_moments: x must hold real or complex numbers, got " +
                               std::string(name_of(x.dtype())));
  Tensor wide = widen(x), given = frequency_weights.as(wide.dtype());
  Tensor weights = (given.dtype() == wide.dtype() ? given : cast(given, wide.dtype())) + zeros_like(wide);
  auto sum = [&](const Tensor& t) { return reduce_sum(t, {.axis = axes, .keepdims = true}); };
  Tensor total = sum(weights), mean = math::divide_no_nan(sum(weights * wide), total);
  Tensor variance = math::divide_no_nan(sum(weights * math::squared_difference(wide, mean)), total);
  return finish(mean, variance, x.dtype(), axes, options.keepdims);
}

SufficientStatistics sufficient_statistics(const Tensor& x, const std::vector<int64_t>& axes,
                                           const SufficientStatisticsOptions& options) {
  const int rank = x.rank();
  std::vector<bool> counted(static_cast<size_t>(rank));
  for (int64_t axis : axes) {
    if (axis < -rank || axis >= rank)
      throw InvalidArgumentError("nn.sufficient_statistics: axes has " + std::to_string(axis) + ", x has shape " +
                                 x.shape().brackets());
    counted[static_cast<size_t>(axis < 0 ? axis + rank : axis)] = true;
  }
  double count = 1;
  for (int i = 0; i < rank; ++i)
    if (counted[static_cast<size_t>(i)]) count *= static_cast<double>(x.shape()[i]);
  const Tensor& shift = options.shift;
  std::vector<int64_t> distinct;  // an axis that is named twice counts once
  for (int i = 0; i < rank; ++i)
    if (counted[static_cast<size_t>(i)]) distinct.push_back(i);
  auto sum = [&](const Tensor& t) { return reduce_sum(t, {.axis = distinct, .keepdims = options.keepdims}); };
  Tensor mean_ss = shift.defined() ? x - shift : x;
  Tensor variance_ss = shift.defined() ? math::squared_difference(x, shift) : square(x);
  return {cast(count, x.dtype()), sum(mean_ss), sum(variance_ss), shift};
}

Moments normalize_moments(const Tensor& counts, const Tensor& mean_ss, const Tensor& variance_ss, const Tensor& shift) {
  Tensor share = reciprocal(counts), shifted = mean_ss * share;
  return {shift.defined() ? shifted + shift : shifted, variance_ss * share - square(shifted)};
}

Tensor batch_normalization(const Tensor& x, const Tensor& mean, const Tensor& variance, const Tensor& offset,
                           const Tensor& scale, double variance_epsilon) {
  Tensor slope = rsqrt(variance + variance_epsilon);
  if (scale.defined()) slope = slope * scale;
  Tensor level = offset.defined() ? offset - mean * slope : -mean * slope;
  auto like_x = [&](const Tensor& t) { return t.dtype() == x.dtype() ? t : cast(t, x.dtype()); };
  return x * like_x(slope) + like_x(level);
}

Tensor local_response_normalization(const Tensor& input, const LocalResponseNormalizationOptions& o) {
  return apply1(
      LRN, {input},
      LrnAttrs{o.depth_radius, static_cast<float>(o.bias), static_cast<float>(o.alpha), static_cast<float>(o.beta)});
}

}  // namespace nn

namespace {
const FunctionDef* const normalization_functions[] = {
    &define_function<nn::moments>({"nn.moments"}, {"x", "axes"}),
    &define_function<nn::weighted_moments>({"nn.weighted_moments"}, {"x", "axes", "frequency_weights"}),
    &define_function<nn::sufficient_statistics>({"nn.sufficient_statistics"}, {"x", "axes"}),
    &define_function<nn::normalize_moments>({"nn.normalize_moments"}, {"counts", "mean_ss", "variance_ss", "shift"}),
    &define_function<nn::batch_normalization>({"nn.batch_normalization"},
                                              {"x", "mean", "variance", "offset", "scale", "variance_epsilon"}),
    &define_function<Tensor(const Tensor&, const nn::LocalResponseNormalizationOptions&),
                     nn::local_response_normalization>({"nn.local_response_normalization", "nn.lrn"}, {"input"}),
};
}  // namespace

}  // namespace thalweg

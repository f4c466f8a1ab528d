// Reductions: sums, means, extremes, and what is made of them.
#pragma once
#include "thalweg/core/tensor.h"
#include "thalweg/ops/options.h"

namespace thalweg {

/// The axes to reduce (all when left out), and whether they stay with length one.
struct ReduceOptions {
  Axis axis = {};
  Flag keepdims = {};
};

/// The sum along axes, or of everything.
THALWEG_API Tensor reduce_sum(const Tensor& input_tensor, const ReduceOptions& options = {});
/// The mean along axes, or of everything.
THALWEG_API Tensor reduce_mean(const Tensor& input_tensor, const ReduceOptions& options = {});
/// The product along axes, or of everything.
THALWEG_API Tensor reduce_prod(const Tensor& input_tensor, const ReduceOptions& options = {});
/// The largest element along axes, or of all; NaN where there is one.
THALWEG_API Tensor reduce_max(const Tensor& input_tensor, const ReduceOptions& options = {});
/// The smallest element along axes, or of all; NaN where there is one.
THALWEG_API Tensor reduce_min(const Tensor& input_tensor, const ReduceOptions& options = {});
/// True where all elements along axes are.
THALWEG_API Tensor reduce_all(const Tensor& input_tensor, const ReduceOptions& options = {});
/// True where any element along axes is.
THALWEG_API Tensor reduce_any(const Tensor& input_tensor, const ReduceOptions& options = {});
/// log(sum(exp(x))), without overflow.
THALWEG_API Tensor reduce_logsumexp(const Tensor& input_tensor, const ReduceOptions& options = {});

// The same with an option by position (docs/decisions/0013).
template <As<Axis> A = Axis> Tensor reduce_sum(const Tensor& input_tensor, const A& axis, ReduceOptions options = {}) {
  return reduce_sum(input_tensor, with(options, options.axis, axis));
}
template <As<Axis> A = Axis> Tensor reduce_mean(const Tensor& input_tensor, const A& axis, ReduceOptions options = {}) {
  return reduce_mean(input_tensor, with(options, options.axis, axis));
}
template <As<Axis> A = Axis> Tensor reduce_prod(const Tensor& input_tensor, const A& axis, ReduceOptions options = {}) {
  return reduce_prod(input_tensor, with(options, options.axis, axis));
}
template <As<Axis> A = Axis> Tensor reduce_max(const Tensor& input_tensor, const A& axis, ReduceOptions options = {}) {
  return reduce_max(input_tensor, with(options, options.axis, axis));
}
template <As<Axis> A = Axis> Tensor reduce_min(const Tensor& input_tensor, const A& axis, ReduceOptions options = {}) {
  return reduce_min(input_tensor, with(options, options.axis, axis));
}
template <As<Axis> A = Axis> Tensor reduce_all(const Tensor& input_tensor, const A& axis, ReduceOptions options = {}) {
  return reduce_all(input_tensor, with(options, options.axis, axis));
}
template <As<Axis> A = Axis> Tensor reduce_any(const Tensor& input_tensor, const A& axis, ReduceOptions options = {}) {
  return reduce_any(input_tensor, with(options, options.axis, axis));
}
template <As<Axis> A = Axis>
Tensor reduce_logsumexp(const Tensor& input_tensor, const A& axis, ReduceOptions options = {}) {
  return reduce_logsumexp(input_tensor, with(options, options.axis, axis));
}

namespace detail {
/// The sum along axes that are a tensor.
Tensor sum_along(const Tensor& x, const Tensor& axes);
}  // namespace detail

struct ArgOptions {
  std::optional<int64_t> axis = {};
  DType output_type = DType::int64;
};
/// Where the largest element is along an axis (0 when left out); the first of equals.
THALWEG_API Tensor argmax(const Tensor& input, const ArgOptions& options = {});
/// Where the smallest element is along an axis.
THALWEG_API Tensor argmin(const Tensor& input, const ArgOptions& options = {});

// The same with an option by position (docs/decisions/0013).
template <As<std::optional<int64_t>> A = std::optional<int64_t>>
Tensor argmax(const Tensor& input, const A& axis, ArgOptions options = {}) {
  return argmax(input, with(options, options.axis, axis));
}
template <As<std::optional<int64_t>> A = std::optional<int64_t>>
Tensor argmin(const Tensor& input, const A& axis, ArgOptions options = {}) {
  return argmin(input, with(options, options.axis, axis));
}

namespace math {
using thalweg::argmax, thalweg::argmin, thalweg::reduce_all, thalweg::reduce_any, thalweg::reduce_logsumexp,
    thalweg::reduce_max, thalweg::reduce_mean, thalweg::reduce_min, thalweg::reduce_prod, thalweg::reduce_sum;
/// The mean of squared distances from the mean.
THALWEG_API Tensor reduce_variance(const Tensor& input_tensor, const ReduceOptions& options = {});
/// The square root of reduce_variance.
THALWEG_API Tensor reduce_std(const Tensor& input_tensor, const ReduceOptions& options = {});
/// The square root of the sum of squares.
THALWEG_API Tensor reduce_euclidean_norm(const Tensor& input_tensor, const ReduceOptions& options = {});
struct CountNonzeroOptions {
  Axis axis = {};
  Flag keepdims = {};
  DType dtype = DType::int64;
};
/// How many elements are not zero (of strings: not empty).
THALWEG_API Tensor count_nonzero(const Tensor& input, const CountNonzeroOptions& options = {});
/// The share of zeros, as float32.
THALWEG_API Tensor zero_fraction(const Tensor& value);

// The same with an option by position (docs/decisions/0013).
template <As<Axis> A = Axis>
Tensor reduce_variance(const Tensor& input_tensor, const A& axis, ReduceOptions options = {}) {
  return reduce_variance(input_tensor, with(options, options.axis, axis));
}
template <As<Axis> A = Axis> Tensor reduce_std(const Tensor& input_tensor, const A& axis, ReduceOptions options = {}) {
  return reduce_std(input_tensor, with(options, options.axis, axis));
}
template <As<Axis> A = Axis>
Tensor reduce_euclidean_norm(const Tensor& input_tensor, const A& axis, ReduceOptions options = {}) {
  return reduce_euclidean_norm(input_tensor, with(options, options.axis, axis));
}
template <As<Axis> A = Axis>
Tensor count_nonzero(const Tensor& input, const A& axis, CountNonzeroOptions options = {}) {
  return count_nonzero(input, with(options, options.axis, axis));
}

}  // namespace math

namespace nn {
using math::zero_fraction;
}

}  // namespace thalweg

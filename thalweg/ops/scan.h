// Running sums and products along an axis.
#pragma once
#include "thalweg/core/tensor.h"
#include "thalweg/ops/options.h"

namespace thalweg {

struct ScanOptions {
  int64_t axis = 0;
  Flag exclusive = {};  // the running value before each element, not with it
  Flag reverse = {};    // from the end
};
/// The running sum.
THALWEG_API Tensor cumsum(const Tensor& x, const ScanOptions& options = {});

// The same with an option by position (docs/decisions/0013).
template <As<int64_t> A = int64_t> Tensor cumsum(const Tensor& x, const A& axis, ScanOptions options = {}) {
  return cumsum(x, with(options, options.axis, axis));
}

namespace math {
using thalweg::cumsum;
/// The running product.
THALWEG_API Tensor cumprod(const Tensor& x, const ScanOptions& options = {});
/// The running log of the sum of exponentials.
THALWEG_API Tensor cumulative_logsumexp(const Tensor& x, const ScanOptions& options = {});

// The same with an option by position (docs/decisions/0013).
template <As<int64_t> A = int64_t> Tensor cumprod(const Tensor& x, const A& axis, ScanOptions options = {}) {
  return cumprod(x, with(options, options.axis, axis));
}
template <As<int64_t> A = int64_t>
Tensor cumulative_logsumexp(const Tensor& x, const A& axis, ScanOptions options = {}) {
  return cumulative_logsumexp(x, with(options, options.axis, axis));
}

}  // namespace math

}  // namespace thalweg

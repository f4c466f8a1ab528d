// The many divisions: true, floored, truncated, guarded; and their remainders.
#pragma once
#include "thalweg/core/tensor.h"

namespace thalweg {

/// x / y rounded toward minus infinity, Python's `//`.
THALWEG_API Tensor floordiv(const TensorLike& x, const TensorLike& y);
/// The remainder with the sign of y, Python's `%`.
THALWEG_API Tensor floormod(const TensorLike& x, const TensorLike& y);
/// True division, Python's `/`.
THALWEG_API Tensor truediv(const TensorLike& x, const TensorLike& y);
/// x / y rounded toward zero, C's `/` on integers.
THALWEG_API Tensor truncatediv(const TensorLike& x, const TensorLike& y);
/// The remainder with the sign of x, C's `%`.
THALWEG_API Tensor truncatemod(const TensorLike& x, const TensorLike& y);

template <class X, class Y>
  requires Operands<X, Y>
Tensor operator%(const X& x, const Y& y) {
  return floormod(x, y);
}

namespace math {
using thalweg::floordiv, thalweg::floormod, thalweg::truediv;
/// x / y, and 0 where y is 0.
THALWEG_API Tensor divide_no_nan(const TensorLike& x, const TensorLike& y);
/// x / y, and 0 where x is 0.
THALWEG_API Tensor xdivy(const TensorLike& x, const TensorLike& y);
/// x * log(y), and 0 where x is 0.
THALWEG_API Tensor xlogy(const TensorLike& x, const TensorLike& y);
/// x * log1p(y), and 0 where x is 0.
THALWEG_API Tensor xlog1py(const TensorLike& x, const TensorLike& y);
/// 1 / x, and 0 where x is 0.
THALWEG_API Tensor reciprocal_no_nan(const Tensor& x);
}  // namespace math

/// Whether an integer tensor holds a 0 (a negative number): divisions and powers ask before they start.
bool any_zero(const Tensor& t);
bool any_negative(const Tensor& t);

}  // namespace thalweg

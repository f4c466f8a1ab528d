// Comparison and logic. The operators compare element by element, as in Python.
#pragma once
#include "thalweg/core/tensor.h"
#include "thalweg/ops/options.h"

namespace thalweg {

/// True where x equals y.
THALWEG_API Tensor equal(const TensorLike& x, const TensorLike& y);
/// True where x differs from y.
THALWEG_API Tensor not_equal(const TensorLike& x, const TensorLike& y);
/// True where x < y.
THALWEG_API Tensor less(const TensorLike& x, const TensorLike& y);
/// True where x <= y.
THALWEG_API Tensor less_equal(const TensorLike& x, const TensorLike& y);
/// True where x > y.
THALWEG_API Tensor greater(const TensorLike& x, const TensorLike& y);
/// True where x >= y.
THALWEG_API Tensor greater_equal(const TensorLike& x, const TensorLike& y);
/// True where both are.
THALWEG_API Tensor logical_and(const TensorLike& x, const TensorLike& y);
/// True where either is.
THALWEG_API Tensor logical_or(const TensorLike& x, const TensorLike& y);
/// True where x is false.
THALWEG_API Tensor logical_not(const Tensor& x);

template <class X, class Y>
  requires Operands<X, Y>
Tensor operator==(const X& x, const Y& y) {
  return equal(x, y);
}
template <class X, class Y>
  requires Operands<X, Y>
Tensor operator!=(const X& x, const Y& y) {
  return not_equal(x, y);
}
template <class X, class Y>
  requires Operands<X, Y>
Tensor operator<(const X& x, const Y& y) {
  return less(x, y);
}
template <class X, class Y>
  requires Operands<X, Y>
Tensor operator<=(const X& x, const Y& y) {
  return less_equal(x, y);
}
template <class X, class Y>
  requires Operands<X, Y>
Tensor operator>(const X& x, const Y& y) {
  return greater(x, y);
}
template <class X, class Y>
  requires Operands<X, Y>
Tensor operator>=(const X& x, const Y& y) {
  return greater_equal(x, y);
}
inline Tensor operator!(const Tensor& x) { return logical_not(x); }

struct ApproximateEqualOptions {
  double tolerance = 1e-5;
};

namespace math {
using thalweg::equal, thalweg::greater, thalweg::greater_equal, thalweg::less, thalweg::less_equal,
    thalweg::logical_and, thalweg::logical_not, thalweg::logical_or, thalweg::not_equal;
/// Exactly one of x and y.
THALWEG_API Tensor logical_xor(const TensorLike& x, const TensorLike& y);
/// |x - y| < tolerance.
THALWEG_API Tensor approximate_equal(const TensorLike& x, const TensorLike& y,
                                     const ApproximateEqualOptions& options = {});

// The same with an option by position (docs/decisions/0013).
template <As<double> A = double>
Tensor approximate_equal(const TensorLike& x, const TensorLike& y, const A& tolerance,
                         ApproximateEqualOptions options = {}) {
  return approximate_equal(x, y, with(options, options.tolerance, tolerance));
}

}  // namespace math

}  // namespace thalweg

// Absolute value, sign, rounding, and tests for infinity and NaN.
#pragma once
#include "thalweg/core/tensor.h"

namespace thalweg {

/// |x|; of complex numbers the length, as a real tensor.
THALWEG_API Tensor abs(const Tensor& x);
/// -1, 0 or 1; z / |z| of complex numbers; NaN stays NaN.
THALWEG_API Tensor sign(const Tensor& x);
/// The largest integer not above x.
THALWEG_API Tensor floor(const Tensor& x);
/// The smallest integer not below x.
THALWEG_API Tensor ceil(const Tensor& x);
/// The nearest integer; halves go to the even one.
THALWEG_API Tensor round(const Tensor& x);

namespace math {
using thalweg::abs, thalweg::ceil, thalweg::floor, thalweg::round, thalweg::sign;
/// As round, for floating-point numbers only.
THALWEG_API Tensor rint(const Tensor& x);
/// True where x is neither infinite nor NaN.
THALWEG_API Tensor is_finite(const Tensor& x);
/// True where x is infinite.
THALWEG_API Tensor is_inf(const Tensor& x);
/// True where x is not a number.
THALWEG_API Tensor is_nan(const Tensor& x);
/// The next number after x1 in the direction of x2.
THALWEG_API Tensor nextafter(const TensorLike& x1, const TensorLike& x2);
}  // namespace math

}  // namespace thalweg

// Exponentials, logarithms, roots, trigonometric and hyperbolic functions.
#pragma once
#include "thalweg/core/tensor.h"

namespace thalweg {

/// e to the x.
THALWEG_API Tensor exp(const Tensor& x);
/// e to the x, minus 1; exact near 0.
THALWEG_API Tensor expm1(const Tensor& x);
/// The natural logarithm.
THALWEG_API Tensor log(const Tensor& x);
/// log(1 + x); exact near 0.
THALWEG_API Tensor log1p(const Tensor& x);
/// The square root; NaN below 0.
THALWEG_API Tensor sqrt(const Tensor& x);
/// 1 / sqrt(x).
THALWEG_API Tensor rsqrt(const Tensor& x);
/// x * x.
THALWEG_API Tensor square(const Tensor& x);
/// 1 / x.
THALWEG_API Tensor reciprocal(const Tensor& x);
/// The sine of an angle in radians.
THALWEG_API Tensor sin(const Tensor& x);
/// The cosine of an angle in radians.
THALWEG_API Tensor cos(const Tensor& x);
/// The tangent of an angle in radians.
THALWEG_API Tensor tan(const Tensor& x);
/// The angle whose sine is x; NaN outside of [-1, 1].
THALWEG_API Tensor asin(const Tensor& x);
/// The angle whose cosine is x; NaN outside of [-1, 1].
THALWEG_API Tensor acos(const Tensor& x);
/// The angle in (-pi/2, pi/2) whose tangent is x.
THALWEG_API Tensor atan(const Tensor& x);
/// The hyperbolic sine.
THALWEG_API Tensor sinh(const Tensor& x);
/// The hyperbolic cosine.
THALWEG_API Tensor cosh(const Tensor& x);
/// The hyperbolic tangent.
THALWEG_API Tensor tanh(const Tensor& x);
/// The inverse of the hyperbolic sine.
THALWEG_API Tensor asinh(const Tensor& x);
/// The inverse of the hyperbolic cosine; NaN below 1.
THALWEG_API Tensor acosh(const Tensor& x);
/// The inverse of the hyperbolic tangent; NaN outside of [-1, 1].
THALWEG_API Tensor atanh(const Tensor& x);
/// 1 / (1 + exp(-x)).
THALWEG_API Tensor sigmoid(const Tensor& x);
/// The angle of the point (x, y), in (-pi, pi].
THALWEG_API Tensor atan2(const TensorLike& y, const TensorLike& x);

namespace math {
using thalweg::acos, thalweg::acosh, thalweg::asin, thalweg::asinh, thalweg::atan, thalweg::atan2, thalweg::atanh,
    thalweg::cos, thalweg::cosh, thalweg::exp, thalweg::expm1, thalweg::log, thalweg::log1p, thalweg::reciprocal,
    thalweg::rsqrt, thalweg::sigmoid, thalweg::sin, thalweg::sinh, thalweg::sqrt, thalweg::square, thalweg::tan,
    thalweg::tanh;
/// log(sigmoid(x)), without overflow.
THALWEG_API Tensor log_sigmoid(const Tensor& x);
}  // namespace math

}  // namespace thalweg

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
THALWEG_API Tensor sin(const Tensor& x);
THALWEG_API Tensor cos(const Tensor& x);
THALWEG_API Tensor tan(const Tensor& x);
THALWEG_API Tensor asin(const Tensor& x);
THALWEG_API Tensor acos(const Tensor& x);
THALWEG_API Tensor atan(const Tensor& x);
THALWEG_API Tensor sinh(const Tensor& x);
THALWEG_API Tensor cosh(const Tensor& x);
THALWEG_API Tensor tanh(const Tensor& x);
THALWEG_API Tensor asinh(const Tensor& x);
THALWEG_API Tensor acosh(const Tensor& x);
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

// Special functions: errors, gammas, Bessel, beta.
#pragma once
#include "thalweg/core/tensor.h"

namespace thalweg::math {

/// The error function.
THALWEG_API Tensor erf(const Tensor& x);
/// 1 - erf(x).
THALWEG_API Tensor erfc(const Tensor& x);
/// The inverse of erf.
THALWEG_API Tensor erfinv(const Tensor& x);
/// The inverse of erfc.
THALWEG_API Tensor erfcinv(const Tensor& x);
/// The inverse of the normal distribution function.
THALWEG_API Tensor ndtri(const Tensor& x);
/// log |gamma(x)|.
THALWEG_API Tensor lgamma(const Tensor& x);
/// The derivative of lgamma.
THALWEG_API Tensor digamma(const Tensor& x);
/// The modified Bessel function of order 0.
THALWEG_API Tensor bessel_i0(const Tensor& x);
/// exp(-|x|) times the modified Bessel function of order 0.
THALWEG_API Tensor bessel_i0e(const Tensor& x);
/// The modified Bessel function of order 1.
THALWEG_API Tensor bessel_i1(const Tensor& x);
/// exp(-|x|) times the modified Bessel function of order 1.
THALWEG_API Tensor bessel_i1e(const Tensor& x);
/// The Hurwitz zeta function.
THALWEG_API Tensor zeta(const TensorLike& x, const TensorLike& q);
/// The derivative of order a of digamma.
THALWEG_API Tensor polygamma(const TensorLike& a, const TensorLike& x);
/// The lower regularised incomplete gamma function.
THALWEG_API Tensor igamma(const TensorLike& a, const TensorLike& x);
/// The upper regularised incomplete gamma function.
THALWEG_API Tensor igammac(const TensorLike& a, const TensorLike& x);
/// The regularised incomplete beta function.
THALWEG_API Tensor betainc(const TensorLike& a, const TensorLike& b, const TensorLike& x);

}  // namespace thalweg::math

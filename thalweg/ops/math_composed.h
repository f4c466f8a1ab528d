// Functions of arithmetic that are made of others.
#pragma once
#include <span>

#include "thalweg/core/tensor.h"

namespace thalweg {

/// A tensor times a scalar.
THALWEG_API Tensor scalar_mul(const TensorLike& scalar, const Tensor& x);

namespace math {
using thalweg::scalar_mul;
/// The polynomial with these coefficients, the highest power first, at x; 0 without any.
THALWEG_API Tensor polyval(const std::vector<Tensor>& coeffs, const TensorLike& x);
/// The logarithm of |Beta(x)|, over the last axis: sum(lgamma(x)) - lgamma(sum(x)).
THALWEG_API Tensor lbeta(const Tensor& x);
/// Whether each element, in row-major order, is above the one before it.
THALWEG_API Tensor is_strictly_increasing(const Tensor& x);
/// Whether no element, in row-major order, is below the one before it.
THALWEG_API Tensor is_non_decreasing(const Tensor& x);
}  // namespace math

}  // namespace thalweg

// Complex numbers: parts, angle, conjugate.
#pragma once
#include "thalweg/core/tensor.h"

namespace thalweg {

/// real + i * imag.
THALWEG_API Tensor complex(const TensorLike& real, const TensorLike& imag);

namespace math {
/// The real part; a real tensor is returned as it is.
THALWEG_API Tensor real(const Tensor& input);
/// The imaginary part; zeros for a real tensor.
THALWEG_API Tensor imag(const Tensor& input);
/// The argument, in (-pi, pi]; of a real tensor 0 or pi.
THALWEG_API Tensor angle(const Tensor& input);
/// The conjugate; a real tensor is returned as it is.
THALWEG_API Tensor conj(const Tensor& x);
/// The length of each complex number.
THALWEG_API Tensor complex_abs(const Tensor& x);
}  // namespace math

}  // namespace thalweg

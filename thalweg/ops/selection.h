// Choosing element by element, and finding where something holds.
#pragma once
#include "thalweg/core/tensor.h"

namespace thalweg {

/// x where the condition holds, else y; all three broadcast.
THALWEG_API Tensor where(const Tensor& condition, const TensorLike& x, const TensorLike& y);
/// The indices of the true (or non-zero) elements, one row each, in row-major order.
THALWEG_API Tensor where(const Tensor& condition);

}  // namespace thalweg

// Flat positions as coordinates.
#pragma once
#include "thalweg/core/tensor.h"

namespace thalweg {

/// The coordinates, in an array of shape `dims`, of positions in its row-major order: one row for each dimension.
THALWEG_API Tensor unravel_index(const TensorLike& indices, const TensorLike& dims);

}  // namespace thalweg

// Patches of images as vectors.
#pragma once
#include <string>
#include <vector>

#include "thalweg/core/tensor.h"

namespace thalweg::image {

/// The patches of images [batch, height, width, channels] as vectors: [batch, rows, columns, patch]. All lists are
/// [1, height, width, 1]; rates are the distances between the pixels of a patch. Padding is "SAME" or "VALID".
THALWEG_API Tensor extract_patches(const TensorLike& images, const std::vector<int64_t>& sizes,
                                   const std::vector<int64_t>& strides, const std::vector<int64_t>& rates,
                                   const std::string& padding);

}  // namespace thalweg::image

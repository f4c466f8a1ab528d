// Keeping or repeating slices, as a mask or a count says.
#pragma once
#include <optional>

#include "thalweg/ops/attrs.h"

namespace thalweg {

struct BooleanMaskOptions {
  std::optional<int64_t> axis = {};  // 0 where left out
};
/// The slices at which the mask is true; the mask covers the dimensions of `tensor` from `axis` on.
THALWEG_API Tensor boolean_mask(const TensorLike& tensor, const TensorLike& mask,
                                const BooleanMaskOptions& options = {});

struct RepeatOptions {
  std::optional<int64_t> axis = {};  // the flattened input where left out
};
/// Each slice along the axis as often as `repeats` says: one number for all, or one for each.
THALWEG_API Tensor repeat(const TensorLike& input, const TensorLike& repeats, const RepeatOptions& options = {});

}  // namespace thalweg

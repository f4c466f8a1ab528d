// Keeping what a mask or a count says.
#pragma once
#include <optional>

#include "thalweg/ops/options.h"

namespace thalweg {

struct BooleanMaskOptions {
  int64_t axis = 0;
};
/// The slices at which the mask is true; the mask covers the dimensions of `tensor` from `axis` on.
THALWEG_API Tensor boolean_mask(const Tensor& tensor, const Tensor& mask, const BooleanMaskOptions& options = {});

struct RepeatOptions {
  std::optional<int64_t> axis = {};  // the flattened input where left out
};
/// Each slice along an axis as many times as `repeats` says: one number for all, or one for each.
THALWEG_API Tensor repeat(const TensorLike& input, const TensorLike& repeats, const RepeatOptions& options = {});

// The same with an option by position (docs/decisions/0013).
template <As<int64_t> A = int64_t>
Tensor boolean_mask(const Tensor& tensor, const Tensor& mask, const A& axis, BooleanMaskOptions options = {}) {
  return boolean_mask(tensor, mask, with(options, options.axis, axis));
}
template <As<std::optional<int64_t>> A = std::optional<int64_t>>
Tensor repeat(const TensorLike& input, const TensorLike& repeats, const A& axis, RepeatOptions options = {}) {
  return repeat(input, repeats, with(options, options.axis, axis));
}

}  // namespace thalweg

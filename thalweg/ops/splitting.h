// Taking tensors apart.
#pragma once
#include <optional>
#include <vector>

#include "thalweg/ops/options.h"

namespace thalweg {

struct UnstackOptions {
  std::optional<int64_t> num = {};  // the length of the axis where left out
  int64_t axis = 0;
};
/// The slices along an axis, without it.
THALWEG_API std::vector<Tensor> unstack(const Tensor& value, const UnstackOptions& options = {});

struct SplitOptions {
  int64_t axis = 0;
  std::optional<int64_t> num = {};  // how many parts, where the sizes are known only later
};
/// Equal parts along an axis (a number), or parts of these sizes (a list; one may be -1).
THALWEG_API std::vector<Tensor> split(const Tensor& value, const TensorLike& num_or_size_splits,
                                      const SplitOptions& options = {});

// The same with an option by position (docs/decisions/0013).
template <As<std::optional<int64_t>> A = std::optional<int64_t>>
std::vector<Tensor> unstack(const Tensor& value, const A& num, UnstackOptions options = {}) {
  return unstack(value, with(options, options.num, num));
}
template <As<int64_t> A = int64_t>
std::vector<Tensor> split(const Tensor& value, const TensorLike& num_or_size_splits, const A& axis,
                          SplitOptions options = {}) {
  return split(value, num_or_size_splits, with(options, options.axis, axis));
}

}  // namespace thalweg

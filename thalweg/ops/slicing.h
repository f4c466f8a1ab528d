// Parts of a tensor.
#pragma once
#include <vector>

#include "thalweg/core/index.h"
#include "thalweg/ops/options.h"

namespace thalweg {

/// The block that begins at `begin` and has the size `size`; a size of -1 reaches to the end.
THALWEG_API Tensor slice(const Tensor& input, const TensorLike& begin, const TensorLike& size);

struct StridedSliceOptions {
  std::vector<int64_t> strides = {};  // all 1 where left out
  int64_t begin_mask = 0;
  int64_t end_mask = 0;
  int64_t ellipsis_mask = 0;
  int64_t new_axis_mask = 0;
  int64_t shrink_axis_mask = 0;
};
/// Python's input[begin:end:strides]; the bits of the masks leave an end open, or make an entry an ellipsis, a new axis
/// or a single index.
THALWEG_API Tensor strided_slice(const Tensor& input, const TensorLike& begin, const TensorLike& end,
                                 const StridedSliceOptions& options = {});
/// A copy of the input in which the slice is replaced by a value, which may broadcast.
THALWEG_API Tensor tensor_strided_slice_update(const Tensor& input, const TensorLike& begin, const TensorLike& end,
                                               const TensorLike& value, const StridedSliceOptions& options = {});

}  // namespace thalweg

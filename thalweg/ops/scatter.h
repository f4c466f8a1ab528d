// Writing elements and rows by index. Equal indices are treated in the order they stand in, on any number of threads.
#pragma once
#include "thalweg/core/tensor.h"

namespace thalweg {

/// A tensor of this shape that is zero but for the updates; updates of one place are added up.
THALWEG_API Tensor scatter_nd(const TensorLike& indices, const TensorLike& updates, const TensorLike& shape);
/// The tensor with the slices that indices [..., depth] name replaced; of several updates of one place the last counts.
THALWEG_API Tensor tensor_scatter_nd_update(const TensorLike& tensor, const TensorLike& indices,
                                            const TensorLike& updates);
/// The tensor with updates added to the slices that the indices name.
THALWEG_API Tensor tensor_scatter_nd_add(const TensorLike& tensor, const TensorLike& indices,
                                         const TensorLike& updates);
/// The tensor with updates subtracted from the slices that the indices name.
THALWEG_API Tensor tensor_scatter_nd_sub(const TensorLike& tensor, const TensorLike& indices,
                                         const TensorLike& updates);
/// The smaller of each element and its updates.
THALWEG_API Tensor tensor_scatter_nd_min(const TensorLike& tensor, const TensorLike& indices,
                                         const TensorLike& updates);
/// The larger of each element and its updates.
THALWEG_API Tensor tensor_scatter_nd_max(const TensorLike& tensor, const TensorLike& indices,
                                         const TensorLike& updates);

}  // namespace thalweg

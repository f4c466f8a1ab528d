// Reductions over rows that share a segment id.
#pragma once
#include "thalweg/core/tensor.h"

namespace thalweg::math {

/// The sum of the rows of each segment; ids are sorted, one per row. A segment without rows is 0.
THALWEG_API Tensor segment_sum(const TensorLike& data, const TensorLike& segment_ids);
/// The mean of the rows of each segment; 0 without rows.
THALWEG_API Tensor segment_mean(const TensorLike& data, const TensorLike& segment_ids);
/// The product of the rows of each segment; 1 without rows.
THALWEG_API Tensor segment_prod(const TensorLike& data, const TensorLike& segment_ids);
/// The largest of each segment; 0 without rows.
THALWEG_API Tensor segment_max(const TensorLike& data, const TensorLike& segment_ids);
/// The smallest of each segment; 0 without rows.
THALWEG_API Tensor segment_min(const TensorLike& data, const TensorLike& segment_ids);

/// The sum of each segment; ids in any order, in the shape of data's first dimensions. Negative ids are left out.
THALWEG_API Tensor unsorted_segment_sum(const TensorLike& data, const TensorLike& segment_ids,
                                        const TensorLike& num_segments);
/// The product of each segment; 1 where it is empty.
THALWEG_API Tensor unsorted_segment_prod(const TensorLike& data, const TensorLike& segment_ids,
                                         const TensorLike& num_segments);
/// The largest of each segment; the lowest number of the dtype where it is empty.
THALWEG_API Tensor unsorted_segment_max(const TensorLike& data, const TensorLike& segment_ids,
                                        const TensorLike& num_segments);
/// The smallest of each segment; the highest number of the dtype where it is empty.
THALWEG_API Tensor unsorted_segment_min(const TensorLike& data, const TensorLike& segment_ids,
                                        const TensorLike& num_segments);
/// The mean of each segment; 0 where it is empty.
THALWEG_API Tensor unsorted_segment_mean(const TensorLike& data, const TensorLike& segment_ids,
                                         const TensorLike& num_segments);
/// The sum of each segment divided by the square root of its size.
THALWEG_API Tensor unsorted_segment_sqrt_n(const TensorLike& data, const TensorLike& segment_ids,
                                           const TensorLike& num_segments);

}  // namespace thalweg::math

// Taking rows apart by a number for each, and putting them together again.
#pragma once
#include <vector>

#include "thalweg/core/tensor.h"

namespace thalweg {

/// The slices of data that belong to each partition, in their order; `partitions` has data's first dimensions.
THALWEG_API std::vector<Tensor> dynamic_partition(const TensorLike& data, const TensorLike& partitions,
                                                  int64_t num_partitions);
/// Slices put in the places that the indices name; of several for one place the last counts.
THALWEG_API Tensor dynamic_stitch(const std::vector<Tensor>& indices, const std::vector<Tensor>& data);

}  // namespace thalweg

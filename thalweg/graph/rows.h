// What functions over rows have in common.
#pragma once
#include "thalweg/graph/branches.h"

namespace thalweg::graph {

/// The shape of a tensor's rows; ValueError for a scalar.
Shape row_shape(const Tensor& tensor);
/// How many rows all of the tensors have, -1 where that is not known; ValueError where they differ.
int64_t count_rows(std::span<const Tensor> tensors);
/// A function of a state and one row of each tensor, traced.
BranchTracer::Branches trace_rows(const TraceBody& body, std::span<const Tensor> tensors,
                                  std::span<const Tensor> state = {});

}  // namespace thalweg::graph

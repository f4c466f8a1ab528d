// The gradient of loops: every turn puts what its way back needs on lists, and a second loop takes it off again.
#pragma once
#include "thalweg/graph/function_body.h"

namespace thalweg::graph {

/// Adds a loop to the graph that is being traced; values keep the shapes of the body's arguments.
std::vector<Tensor> apply_loop(const FunctionAttr& condition, const FunctionAttr& body, std::span<const Tensor> values,
                               int64_t parallel_iterations = 10);
/// A loop under an open tape, while a function is traced: records the way back.
std::vector<Tensor> loop_with_gradient(const FunctionAttr& condition, const FunctionAttr& body,
                                       std::span<const TensorRef> inputs);

}  // namespace thalweg::graph

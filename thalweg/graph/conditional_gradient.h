// The gradient of conditionals: the branch that was taken saves what its way back needs.
#pragma once
#include "thalweg/graph/function_body.h"

namespace thalweg::graph {

/// Adds a conditional (two branches by a truth value, or any number by an index) to the graph that is being traced.
std::vector<Tensor> apply_branches(const Tensor& choice, const std::vector<FunctionAttr>& bodies,
                                   std::span<const Tensor> inputs, bool is_if);
/// The same under an open tape: records the way back.
std::vector<Tensor> branch_with_gradient(const Tensor& choice, const std::vector<FunctionAttr>& bodies,
                                         std::span<const TensorRef> inputs, bool is_if);

}  // namespace thalweg::graph

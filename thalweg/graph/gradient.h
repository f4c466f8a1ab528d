// The gradient of a traced function as two functions: one that computes its results and what the way back needs, and
// one that goes back.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "thalweg/graph/function_body.h"

namespace thalweg::graph {

/// Gradients of results to gradients of arguments and variables.
struct Gradient {
  /// One gradient among the results of `backward`.
  struct Result {
    int first = -1;       // -1: nothing leads there
    bool slices = false;  // three results: values, indices, and the whole's shape
    bool has_shape = false;
  };
  FunctionAttr forward;                // arguments -> results, then what is saved
  FunctionAttr backward;               // gradients of `differentiable` results, then what was saved -> gradients
  std::vector<size_t> differentiable;  // results that can have a gradient
  std::vector<Result> arguments;       // by argument
  std::vector<Tensor> variables;       // handles
  std::vector<Result> variable_results;

  size_t num_saved() const { return backward->num_arguments() - differentiable.size(); }
};

/// The gradient at a place, None where nothing leads there.
Tensor take_result(const Gradient::Result& place, const std::vector<Tensor>& results);

/// Calls that save what their way back needs, so that it can be differentiated again: `sizes` are the numbers of
/// results without saved values, with those of the first way back, and so on. The first of these that has all results
/// with gradients; the way back of the last one is not there.
size_t level_of(std::span<const Tensor> output_grads, std::span<const size_t> sizes);
/// Appends the variables that a gradient leads to, each once.
void add_variables(const Gradient& gradient, std::vector<Tensor>& sources);

std::unique_ptr<const Gradient> make_gradient(const FunctionBody& body);
/// Calls a function under an open tape: computes it forward and records the way back.
std::vector<Tensor> call_with_gradient(const FunctionAttr& body, std::span<const TensorRef> arguments);

}  // namespace thalweg::graph

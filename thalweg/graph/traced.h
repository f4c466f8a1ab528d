// What a function gives while it is traced.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "thalweg/core/tensor.h"

namespace thalweg {

class FunctionBody;

namespace graph {

/// What tracing found: the tensors that are results, and the structure they belong to.
struct Traced {
  std::vector<Tensor> tensors;
  std::shared_ptr<const void> structure;
};
/// Calls the function with symbolic arguments.
using TraceBody = std::function<Traced(std::span<const Tensor> arguments)>;

}  // namespace graph
}  // namespace thalweg

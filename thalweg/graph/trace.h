// One trace of a function, as the cache of FunctionCore keeps it.
#pragma once
#include "thalweg/graph/function_core.h"
#include "thalweg/graph/paths.h"

namespace thalweg::graph {

/// One trace: a graph, or the paths of a function that asks for values of tensors.
struct THALWEG_API Trace {
  std::vector<Spec> arguments;
  std::string rest;
  FunctionAttr body;
  std::shared_ptr<const void> structure;
  std::shared_ptr<Paths> paths;

  bool fits(std::span<const TensorRef> tensors, const std::string& other_rest) const;
};

}  // namespace thalweg::graph

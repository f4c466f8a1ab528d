// Conditionals and loops as nodes of a graph.
#pragma once
#include <optional>

#include "thalweg/graph/function_body.h"

namespace thalweg::graph {

/// A conditional or a loop as a node: its functions, and how many inputs come before those that they take.
struct Flow {
  std::vector<FunctionAttr> functions;  // the branches; of a loop its condition and its body
  bool is_loop = false;
  size_t first_input = 0;
};
/// None where the node is of another kind, or its functions do not fit it.
std::optional<Flow> flow_of(const Node& node);
/// Changes the functions of such a node, whose inputs and results fit them already.
void set_functions(Node& node, const std::vector<FunctionAttr>& functions);

}  // namespace thalweg::graph

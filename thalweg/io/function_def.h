// The parts of FunctionDefs and GraphDefs that need no graph: signatures, and the texts that name inputs.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "thalweg/io/graph_messages.h"
#include "thalweg/ops/op.h"

namespace thalweg::io {

/// What a function takes and gives: single tensors of fixed types.
struct FunctionSignature {
  struct Arg {
    std::string name = {};
    DType dtype = DType::invalid;
  };
  std::string name = {};
  std::vector<Arg> inputs = {}, outputs = {};
  std::vector<std::string> control_outputs = {};
  bool stateful = false;
};
THALWEG_API proto::OpDef to_op_def(const FunctionSignature& signature);
/// InvalidArgumentError, which names function and argument, for lists, types that attributes decide and repeated names.
THALWEG_API FunctionSignature from_op_def(const proto::OpDef& message);

/// Where an input of a node comes from.
struct NodeInput {
  std::string node = {};
  std::string output = {};  // inside functions: the result's name in the signature; empty: an argument of the function
  int index = 0;            // of the node's outputs or, with a name, of that result's tensors
  bool is_control = false;  // "^node": only the order counts
};
/// "node", "node:1" or "^node", as inputs are written in graphs.
THALWEG_API NodeInput parse_graph_input(std::string_view text);
/// "argument", "node:output:1" ("node:output" too) or "^node", as they are written in functions.
THALWEG_API NodeInput parse_function_input(std::string_view text);
THALWEG_API std::string graph_input(const std::string& node, int output);
/// "node:output:index" for one of the node's outputs; `result_counts` says how many tensors each result is.
THALWEG_API std::string function_input(const std::string& node, const Op& op, std::span<const int> result_counts,
                                       int output);
/// Which of its node's outputs an input inside a function is.
THALWEG_API int output_position(const NodeInput& input, const Op& op, std::span<const int> result_counts);

}  // namespace thalweg::io

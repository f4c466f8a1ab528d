// Traced functions as TensorFlow's GraphDefs, and back.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "thalweg/graph/function_body.h"
#include "thalweg/io/graph_messages.h"

namespace thalweg::io {

/// A traced function as a graph: arguments are placeholders, functions inside it are in its library.
struct GraphExport {
  proto::GraphDef graph = {};
  std::vector<std::string> arguments = {};  // names of nodes
  std::vector<std::string> results = {};    // "node:0"
  /// Placeholders that stand for variables (and other objects) from outside, with their handles: whoever runs the graph
  /// feeds them. Functions inside get them as further arguments.
  std::vector<std::pair<std::string, Tensor>> captures = {};
  /// The node that runs after everything that has effects; empty where nothing has.
  std::string effects = {};
};
/// Nodes that neither results nor effects need are left out. What has effects is ordered by control inputs.
THALWEG_API GraphExport to_graph_def(const FunctionBody& body);

struct ImportOptions {
  std::string name = "imported";
  /// The placeholders that are arguments; left out: all of them, in their order.
  std::optional<std::vector<std::string>> inputs = {};
  /// The results, "node" or "node:1"; only what they need is imported. Left out: all outputs that nobody reads.
  std::optional<std::vector<std::string>> outputs = {};
};
/// A function from a graph of any origin. Every node is checked as a call of its op would be; InvalidArgumentError
/// names the node that is wrong, NotFoundError the one whose op there is no record of. Nothing is computed: shapes are
/// worked out anew, and what the graph says of them beside its placeholders is not believed.
THALWEG_API FunctionAttr from_graph_def(const proto::GraphDef& graph, const ImportOptions& options = {});

}  // namespace thalweg::io

#include "thalweg/graph/passes/pass.h"

namespace thalweg::graph {
namespace {

// Arguments stay, used or not: they are how the function is called.
void run_prune(Graph& graph) {
  std::vector<uint8_t> needed = needed_nodes(graph, graph.results);
  for (const Node* n : graph.arguments) needed[static_cast<size_t>(n->id)] = 1;
  for (uint8_t need : needed)
    if (!need) {
      graph = graph.copy(needed);
      return;
    }
}

}  // namespace

constinit const Pass prune{"prune", "disable_model_pruning", false, run_prune};

}  // namespace thalweg::graph

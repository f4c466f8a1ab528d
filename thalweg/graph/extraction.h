// Parts of a graph as graphs of their own.
#pragma once
#include "thalweg/graph/graph.h"

namespace thalweg::graph {

struct Extracted {
  Graph part;
  std::vector<Value> read;  // values from outside of the part, which are its arguments after those that were given
};

/// The nodes of [first, end) that results and effects need. `arguments` are nodes that arguments stand for; results may
/// come from anywhere before `end`.
Extracted extract(const Graph& whole, int first, int end, const std::vector<Node*>& arguments,
                  const std::vector<Value>& results);

}  // namespace thalweg::graph

// Passes: rewrite a graph before it is planned, so that running it costs less and gives the same results.
#pragma once
#include <map>
#include <span>

#include "thalweg/graph/graph.h"

namespace thalweg::graph {

/// One rewriting of a graph. It asks records for their traits; those it names are true patterns.
struct Pass {
  const char* name;
  const char* option;   // what `set_experimental_options` calls it
  bool switched_on_by;  // the value of that option which leaves the pass on
  void (*run)(Graph& graph);
  bool is_late = false;  // runs once, after the others; `jit_compile` asks for it whatever the option says
};

extern const Pass inline_calls;          // bodies take the place of calls
extern const Pass prune;                 // what neither results nor effects need goes away
extern const Pass merge_reads;           // one look at a variable instead of several, while nothing writes to it
extern const Pass fold_constants;        // what is known now is computed now
extern const Pass simplify_arithmetic;   // x * 1, transposes of transposes, casts to the same type
extern const Pass loop_invariants;       // what no turn of a loop changes is computed before it
extern const Pass merge_subexpressions;  // what is computed twice is computed once
extern const Pass prune_results;         // results of conditionals and values of loops that nobody reads go away

extern const Pass channels_last;      // images of convolutions are brought once into the order that kernels want
extern const Pass fuse_contractions;  // matmul or convolution + bias + activation
extern const Pass keep_filters;       // constant weights are brought once into the order in which kernels read them
extern const Pass fuse_elementwise;   // clusters of element-wise ops run tile by tile

/// All of them, in the order in which they run.
std::span<const Pass* const> all_passes();

/// A copy of the graph, after the passes that are switched on, or that its `jit_compile` or `set_jit` asks for.
Graph optimize(const Graph& graph);

/// While a pass goes through a graph from front to back: values that others take the place of.
class Replacements {
 public:
  explicit Replacements(Graph& graph) : graph_(graph) {}
  void replace(Value from, Value to) { to_[from] = to; }
  Value operator()(Value v) const {
    auto found = to_.find(v);
    return found == to_.end() ? v : found->second;
  }
  /// Call for each node before looking at it.
  void update_inputs(Node& node) const {
    if (to_.empty()) return;
    for (Value& v : node.inputs) v = (*this)(v);
  }
  ~Replacements() {
    for (Value& v : graph_.results) v = (*this)(v);
  }
  Replacements(const Replacements&) = delete;
  Replacements& operator=(const Replacements&) = delete;

 private:
  Graph& graph_;
  std::map<Value, Value> to_;
};

/// Whether running it again with the same inputs gives the same results and does nothing else.
inline bool is_pure(const Node& n) { return !n.op->traits.stateful && !n.is_constant() && n.controls.empty(); }
/// Whether a tensor has the same element type, shape and bytes; handles are equal only where they are one block.
bool same_value(const Tensor& a, const Tensor& b);
/// Sets attributes of another op to those that the node has under the same names.
void copy_attrs(const Node& from, const Op& to, const Attrs& attrs);
/// Attributes of one op, compared by value.
bool same_attrs(const Node& a, const Node& b);

}  // namespace thalweg::graph

#include "thalweg/core/variable_resource.h"
#include "thalweg/graph/passes/pass.h"

namespace thalweg::graph {
namespace {

bool is_known_handle(Value v) { return v.node->is_constant() && spec_of(v).dtype == DType::resource; }

/// Looks at one handle's state (the value of a variable), which later ones of the same kind may share until something
/// happens.
class Reads {
 public:
  /// The earlier node that saw what this one would see, or null.
  Node* find_or_add(Node& n) {
    auto& reads = (is_known_handle(n.inputs[0]) ? known_ : unknown_)[n.inputs[0]];
    for (Node* r : reads)
      if (r->op == n.op && r->results.size() == n.results.size() && same_attrs(*r, n)) return r;
    reads.push_back(&n);
    return nullptr;
  }

  // A write through a known handle changes that variable alone, and those whose handles are not known. Everything else
  // that has effects may run code that writes anywhere.
  void forget_what_changes(const Node& n) {
    unknown_.clear();
    bool known = n.op->follow == nullptr, any = false;
    for (const Value& v : n.inputs) {
      DType dtype = spec_of(v).dtype;
      any |= dtype == DType::resource;
      known &= dtype != DType::variant && (dtype != DType::resource || is_known_handle(v));
    }
    if (!known || !any) return known_.clear();
    for (const Value& v : n.inputs) known_.erase(v);
  }

 private:
  std::map<Value, std::vector<Node*>> known_, unknown_;  // by handle
};

// Handles of one variable are one node: the tracer sees to that, and after calls are inlined they are merged here.
void run_merge_reads(Graph& graph) {
  Replacements replaced(graph);
  std::map<const void*, Node*> handles;
  Reads reads;
  for (Node& n : graph.nodes()) {
    replaced.update_inputs(n);
    if (n.is_constant() && n.constant.dtype() == DType::resource && n.constant.rank() == 0) {
      const void* object = static_cast<const ResourceHandle*>(n.constant.impl()->data)->get();
      auto [place, is_new] = handles.try_emplace(object, &n);
      if (!is_new) replaced.replace({&n, 0}, {place->second, 0});
    }
    if (n.has_effect()) {
      reads.forget_what_changes(n);
    } else if (n.op->traits.observes && !n.is_constant() && n.controls.empty() && n.inputs.size() == 1) {
      Node* earlier = reads.find_or_add(n);
      for (size_t i = 0; earlier && i < n.results.size(); ++i)
        replaced.replace({&n, static_cast<int>(i)}, {earlier, static_cast<int>(i)});
    }
  }
}

}  // namespace

constinit const Pass merge_reads{"merge_reads", "dependency_optimization", true, run_merge_reads};

}  // namespace thalweg::graph

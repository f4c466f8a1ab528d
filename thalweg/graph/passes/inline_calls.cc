#include "thalweg/core/seed.h"
#include "thalweg/graph/function_body.h"
#include "thalweg/graph/passes/pass.h"

namespace thalweg::graph {
namespace {

// A function that calls another twice, which calls a third twice, and so on, would grow without bound.
constexpr size_t most_nodes = 100'000;
constexpr int most_levels = 64;

// The call checks shapes when it runs; its body was planned for them. So the body may stand alone only where the
// check is sure to pass: what it knows of its arguments must be known here too.
bool fits(const Node& call, const FunctionBody& body) {
  if (call.inputs.size() != body.num_arguments()) return false;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const Spec &given = spec_of(call.inputs[i]), &wanted = body.argument(i);
    if (given.dtype != wanted.dtype) return false;
    if (!wanted.shape.has_rank()) continue;
    if (!given.shape.has_rank() || given.shape.rank() != wanted.shape.rank()) return false;
    for (int d = 0; d < wanted.shape.rank(); ++d)
      if (wanted.shape[d] >= 0 && wanted.shape[d] != given.shape[d]) return false;
  }
  return true;
}

class Inliner {
 public:
  /// Copies a graph into the new one at its end; `arguments` are what its arguments are there.
  std::vector<Value> add(const Graph& from, const std::vector<Value>* arguments, const std::string& prefix,
                         const std::vector<Node*>& controls, int level, std::vector<Node*>& effects) {
    std::vector<std::vector<Value>> values(from.nodes().size());
    std::vector<std::vector<Node*>> stands_for(from.nodes().size());  // who runs instead, for control inputs
    auto mapped = [&](Value v) { return values[static_cast<size_t>(v.node->id)][static_cast<size_t>(v.index)]; };
    if (arguments)
      for (size_t i = 0; i < arguments->size(); ++i)
        values[static_cast<size_t>(from.arguments[i]->id)] = {(*arguments)[i]};
    std::vector<uint8_t> needed = needed_nodes(from, from.results);
    for (const Node& n : from.nodes()) {
      auto id = static_cast<size_t>(n.id);
      if (!values[id].empty() || (arguments && !needed[id])) continue;
      std::vector<Value> inputs;
      for (const Value& v : n.inputs) inputs.push_back(mapped(v));
      std::vector<Node*> before = n.has_effect() || called_by(n) ? controls : std::vector<Node*>();
      for (const Node* c : n.controls)
        for (Node* made : stands_for[static_cast<size_t>(c->id)]) before.push_back(made);
      FunctionAttr body = called_by(n);
      if (body && level < most_levels && fits(n, *body) &&
          made_.nodes().size() + body->graph().nodes().size() < most_nodes) {
        values[id] = add(body->graph(), &inputs, prefix + n.name + "/", before, level + 1, stands_for[id]);
      } else {
        Node& made = made_.append(n, std::move(inputs), std::move(before));
        if (!prefix.empty()) made.name = prefix + n.name;
        if (level > 0 && made.stream) made.stream = std::make_shared<RandomStream>();  // each call has its own
        for (size_t i = 0; i < n.results.size(); ++i) values[id].push_back({&made, static_cast<int>(i)});
        stands_for[id] = {&made};
      }
      if (n.has_effect()) effects.insert(effects.end(), stands_for[id].begin(), stands_for[id].end());
    }
    if (!arguments)
      for (const Node* a : from.arguments) made_.arguments.push_back(values[static_cast<size_t>(a->id)][0].node);
    std::vector<Value> results;
    for (const Value& v : from.results) results.push_back(mapped(v));
    return results;
  }

  Graph take() { return std::move(made_); }
  Graph& graph() { return made_; }

 private:
  Graph made_;
};

// Nodes of a body come where the call was, so effects keep their order.
void run_inline_calls(Graph& graph) {
  bool has_calls = false;
  for (const Node& n : graph.nodes()) has_calls |= called_by(n) != nullptr;
  if (!has_calls) return;
  Inliner inliner;
  std::vector<Node*> effects;
  inliner.graph().results = inliner.add(graph, nullptr, "", {}, 0, effects);
  graph = inliner.take();
}

}  // namespace

constinit const Pass inline_calls{"inline_calls", "function_optimization", true, run_inline_calls};

}  // namespace thalweg::graph

// Results of conditionals that nobody reads are taken out of every branch, values of loops that neither the condition
// nor a value that is read needs out of the loop, and with them the inputs that are read no more. `prune` sees a whole
// node with functions inside; here is looked at each of its results, through functions inside of functions.
#include <algorithm>

#include "thalweg/graph/flow.h"
#include "thalweg/graph/passes/pass.h"

namespace thalweg::graph {
namespace {

using Mask = std::vector<uint8_t>;

size_t id(const Node& n) { return static_cast<size_t>(n.id); }
bool is_full(const Mask& mask) { return std::ranges::count(mask, 0) == 0; }

void join(Mask& mask, const Mask& other) {
  for (size_t i = 0; i < mask.size(); ++i) mask[i] |= other[i];
}
template <class T> void keep(std::vector<T>& list, const Mask& mask) {
  size_t i = 0;
  std::erase_if(list, [&](const T&) { return !mask[i++]; });
}

/// What results and effects need of a graph, by node.
struct Needs {
  explicit Needs(const Graph& graph) : nodes(graph.nodes().size()), results(nodes.size()), inputs(nodes.size()) {
    for (const Node& n : graph.nodes()) results[id(n)].resize(n.results.size());
  }
  void add(const Value& v) {
    nodes[id(*v.node)] = 1;
    results[id(*v.node)][static_cast<size_t>(v.index)] = 1;
  }
  void add_all(const Node& n) {
    nodes[id(n)] = 1;
    results[id(n)].assign(n.results.size(), 1);
  }

  Mask nodes;
  std::vector<Mask> results;  // of conditionals and loops; other ops make all or none
  std::vector<Mask> inputs;   // of conditionals and loops: those that functions take
};

class Pruner {
 public:
  /// Whether there is a conditional or loop that is more than what is needed.
  bool finds_work(const Graph& graph) {
    if (std::ranges::none_of(graph.nodes(), [](const Node& n) { return flow_of(n).has_value(); })) return false;
    Needs needs = needs_of(graph, Mask(graph.results.size(), 1));
    return std::ranges::any_of(graph.nodes(), [&](const Node& n) { return flow_of(n) && !is_whole(n, needs); });
  }

  /// The graph with what is needed for some of its results and arguments.
  Graph rewrite(const Graph& graph, const Mask& results, const Mask& arguments) {
    Needs needs = needs_of(graph, results);
    for (size_t i = 0; i < arguments.size(); ++i)
      if (arguments[i]) needs.add({graph.arguments[i], 0});
    Graph made;
    made.jit_compile = graph.jit_compile;
    std::vector<Node*> copies(graph.nodes().size());
    auto mapped = [&](const Value& v) {
      const Mask& kept = needs.results[id(*v.node)];
      bool changed = copies[id(*v.node)]->results.size() != kept.size();
      auto before = kept.begin() + v.index;
      return Value{copies[id(*v.node)], changed ? static_cast<int>(std::count(kept.begin(), before, 1)) : v.index};
    };
    for (const Node& n : graph.nodes()) {
      if (!needs.nodes[id(n)]) continue;
      std::optional<Flow> flow = flow_of(n);
      std::vector<Value> inputs;
      for (size_t i = 0; i < n.inputs.size(); ++i)
        if (!flow || i < flow->first_input || needs.inputs[id(n)][i - flow->first_input])
          inputs.push_back(mapped(n.inputs[i]));
      std::vector<Node*> controls;
      for (const Node* c : n.controls) controls.push_back(copies[id(*c)]);
      Node& copy = made.append(n, std::move(inputs), std::move(controls));
      copies[id(n)] = &copy;
      if (flow && !is_whole(n, needs)) narrow(copy, *flow, needs.results[id(n)], needs.inputs[id(n)]);
    }
    for (size_t i = 0; i < arguments.size(); ++i)
      if (arguments[i]) made.arguments.push_back(copies[id(*graph.arguments[i])]);
    for (size_t i = 0; i < results.size(); ++i)
      if (results[i]) made.results.push_back(mapped(graph.results[i]));
    return made;
  }

 private:
  static bool is_whole(const Node& n, const Needs& needs) {
    return needs.nodes[id(n)] && is_full(needs.results[id(n)]) && is_full(needs.inputs[id(n)]);
  }

  Needs needs_of(const Graph& graph, const Mask& results) {
    Needs needs(graph);
    for (size_t i = 0; i < results.size(); ++i)
      if (results[i]) needs.add(graph.results[i]);
    for (size_t i = graph.nodes().size(); i-- > 0;) {  // users come after what they use
      const Node& n = graph.nodes()[i];
      std::optional<Flow> flow = flow_of(n);
      if (has_effect(n, flow)) needs.nodes[i] = 1;
      if (!needs.nodes[i]) continue;
      for (const Node* c : n.controls) needs.add_all(*c);  // it may be waited for because it may fail
      if (flow) needs.inputs[i] = inputs_of(*flow, needs.results[i]);
      for (size_t k = 0; k < n.inputs.size(); ++k)
        if (!flow || k < flow->first_input || needs.inputs[i][k - flow->first_input]) needs.add(n.inputs[k]);
    }
    return needs;
  }

  // A loop that looks at variables may wait for what another thread does; a conditional does not wait.
  bool has_effect(const Node& n, const std::optional<Flow>& flow) {
    if (!n.has_effect() || !flow || flow->is_loop) return n.has_effect();
    return std::ranges::any_of(flow->functions, [&](const FunctionAttr& f) {
      return std::ranges::any_of(inside(*f).nodes(), [&](const Node& m) { return has_effect(m, flow_of(m)); });
    });
  }

  /// The inputs that are needed for these results; a loop's results become those that are needed for these.
  Mask inputs_of(const Flow& flow, Mask& results) {
    if (!flow.is_loop) {
      Mask read(flow.functions[0]->num_arguments());
      for (const FunctionAttr& f : flow.functions) join(read, arguments_of(*f, results));
      return read;
    }
    join(results, arguments_of(*flow.functions[0], {1}));
    for (Mask before; before != results;) {
      before = results;
      join(results, arguments_of(*flow.functions[1], before));
    }
    return results;
  }

  const Mask& arguments_of(const FunctionBody& f, const Mask& results) {
    auto [found, is_new] = read_.try_emplace({&f, results});
    if (is_new) {
      const Graph& graph = inside(f);
      Needs needs = needs_of(graph, results);
      for (const Node* a : graph.arguments) found->second.push_back(needs.nodes[id(*a)]);
    }
    return found->second;
  }

  /// A function's graph without calls, which would read all of their inputs.
  const Graph& inside(const FunctionBody& f) {
    auto [found, is_new] = inside_.try_emplace(&f);
    if (is_new) {
      found->second = f.graph().copy();
      inline_calls.run(found->second);
      found->second.jit_compile = f.graph().jit_compile;
    }
    return found->second;
  }

  void narrow(Node& n, const Flow& flow, const Mask& results, const Mask& inputs) {
    keep(n.results, results);
    n.dims.resize(std::min(n.dims.size(), results.size()));
    keep(n.dims, results);
    std::vector<FunctionAttr> functions;
    for (const FunctionAttr& f : flow.functions) {
      bool is_condition = flow.is_loop && functions.empty();
      const Mask one = {1}, &wanted = is_condition ? one : results;
      FunctionAttr& made = made_[{f.get(), {wanted, inputs}}];  // calls of the same function still are
      if (!made) made = std::make_shared<FunctionBody>(f->name(), rewrite(inside(*f), wanted, inputs));
      functions.push_back(made);
    }
    set_functions(n, functions);
  }

  std::map<const FunctionBody*, Graph> inside_;
  std::map<std::pair<const FunctionBody*, Mask>, Mask> read_;
  std::map<std::pair<const FunctionBody*, std::pair<Mask, Mask>>, FunctionAttr> made_;
};

void run_prune_results(Graph& graph) {
  Pruner pruner;
  if (pruner.finds_work(graph))
    graph = pruner.rewrite(graph, Mask(graph.results.size(), 1), Mask(graph.arguments.size(), 1));
}

}  // namespace

// A part of pruning, so the same option switches it.
constinit const Pass prune_results{"prune_results", "disable_model_pruning", false, run_prune_results};

}  // namespace thalweg::graph

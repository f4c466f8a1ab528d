// What the body of a loop computes from values that no turn changes is computed once, before the loop. That is done
// even where there will be no turn, so only what cannot fail is moved: pure ops that read no more than the shapes that
// are known here, of moderate size. The ops and their inputs stay the same: no bit changes.
#include <algorithm>

#include "thalweg/graph/flow.h"
#include "thalweg/graph/passes/pass.h"

namespace thalweg::graph {
namespace {

constexpr int64_t most_moved_elements = 1 << 24;

bool is_moderate(const Spec& spec) {
  if (!spec.shape.is_fully_defined()) return false;
  int64_t elements = 1;
  for (int64_t d : spec.shape.dims())
    if (__builtin_mul_overflow(elements, d, &elements) || elements > most_moved_elements) return false;
  return true;
}

// Element-wise ops have no bad real numbers; of others their records say so. Numbers that choose among shapes or axes
// are constants that were looked at before.
bool cannot_fail(const Node& n) {
  if (!is_pure(n) || n.op->follow || n.results.size() != 1 || !is_moderate(n.results[0])) return false;
  auto is_real = [](const Spec& s) { return s.dtype == DType::float32 || s.dtype == DType::float64; };
  bool all_real = is_real(n.results[0]);
  for (const Value& v : n.inputs) {
    if (!is_moderate(spec_of(v)) || (!is_real(spec_of(v)) && !v.node->is_constant())) return false;
    all_real &= is_real(spec_of(v));
  }
  if (n.op->traits.elementwise && n.op->kernel.loops) return all_real;
  return is_real(n.results[0]) && n.op->traits.never_fails;
}

/// The body of a loop, and which of its nodes may go in front.
class Body {
 public:
  Body(const Node& loop, const FunctionBody& body) : graph_(body.graph().copy()) {
    inline_calls.run(graph_);
    graph_.renumber();
    graph_.jit_compile = body.graph().jit_compile;
    fixed_.resize(graph_.nodes().size());
    for (size_t i = 0; i < graph_.arguments.size(); ++i) {
      const Node* a = graph_.arguments[i];
      const Spec &inside = a->results[0], &given = spec_of(loop.inputs[i]);
      bool unchanged = graph_.results[i].node == a && inside.dtype == given.dtype && given.shape.is_fully_defined() &&
                       inside.shape == given.shape;
      if (unchanged) fixed_[id(*a)] = unchanged_argument;
    }
    for (Node& n : graph_.nodes()) {
      bool any = false, all = true;
      for (const Value& v : n.inputs) {
        any |= fixed_[id(*v.node)] != 0;
        all &= fixed_[id(*v.node)] != 0 || v.node->is_constant();
      }
      if (!any || !all || !cannot_fail(n)) continue;
      fixed_[id(n)] = moved_node;
      moved_.push_back(&n);
    }
    auto note = [&](const Value& v) {
      bool known = std::find(needed_.begin(), needed_.end(), v) != needed_.end();
      if (is_moved(*v.node) && !known) needed_.push_back(v);
    };
    for (const Node& n : graph_.nodes())
      if (!is_moved(n))
        for (const Value& v : n.inputs) note(v);
    for (const Value& v : graph_.results) note(v);
  }

  /// Nodes that go in front, in program order, and those of their values that the rest needs.
  const std::vector<const Node*>& moved() const { return moved_; }
  const std::vector<Value>& needed() const { return needed_; }
  const Graph& graph() const { return graph_; }

  /// The body without them: the values are arguments, which it passes on.
  Graph rest() const {
    Graph made;
    std::vector<std::vector<Value>> values(graph_.nodes().size());
    auto mapped = [&](Value v) { return values[id(*v.node)][static_cast<size_t>(v.index)]; };
    for (const Node* a : graph_.arguments) {
      Node& n = made.append(*a, {}, {});
      made.arguments.push_back(&n);
      values[id(*a)] = {{&n, 0}};
    }
    for (const Value& v : needed_) {
      Node& n = made.add_placeholder(spec_of(v).dtype, spec_of(v).shape, v.node->name);
      made.arguments.push_back(&n);
      values[id(*v.node)] = {{&n, 0}};
    }
    for (const Node& n : graph_.nodes()) {
      if (is_moved(n) || !values[id(n)].empty()) continue;
      std::vector<Value> inputs;
      for (const Value& v : n.inputs) inputs.push_back(mapped(v));
      std::vector<Node*> controls;
      for (const Node* c : n.controls)
        if (!is_moved(*c)) controls.push_back(values[id(*c)][0].node);
      Node& copied = made.append(n, std::move(inputs), std::move(controls));
      for (size_t i = 0; i < std::max<size_t>(1, n.results.size()); ++i)
        values[id(n)].push_back({&copied, static_cast<int>(i)});
    }
    for (const Value& v : graph_.results) made.results.push_back(mapped(v));
    for (const Value& v : needed_) made.results.push_back(mapped(v));
    made.jit_compile = graph_.jit_compile;
    return made;
  }

 private:
  static size_t id(const Node& n) { return static_cast<size_t>(n.id); }
  bool is_moved(const Node& n) const { return fixed_[id(n)] == moved_node; }

  enum : uint8_t { changing, unchanged_argument, moved_node };

  Graph graph_;
  std::vector<uint8_t> fixed_;  // by node
  std::vector<const Node*> moved_;
  std::vector<Value> needed_;
};

/// Appends the loop to a graph, with the moved nodes in front of it.
Node& append_loop(Graph& graph, const Node& loop, const Body& body, std::vector<Value> inputs,
                  std::vector<Node*> controls) {
  std::map<const Node*, Value> values;
  for (size_t i = 0; i < body.graph().arguments.size(); ++i) values[body.graph().arguments[i]] = inputs[i];
  for (const Node* n : body.moved()) {
    std::vector<Value> from;
    for (const Value& v : n->inputs) {
      if (v.node->is_constant() && !values.count(v.node)) values[v.node] = {&graph.append(*v.node, {}, {}), 0};
      from.push_back(values.at(v.node));
    }
    values[n] = {&graph.append(*n, std::move(from), {}), 0};
    values[n].node->name = loop.name + "/" + n->name;
  }
  const auto condition = get_attr<FunctionAttr>(loop, "cond"), before = get_attr<FunctionAttr>(loop, "body");
  Graph asks = condition->graph().copy();
  for (const Value& v : body.needed()) {
    const Spec& spec = spec_of(v);
    inputs.push_back(values.at(v.node));
    asks.arguments.push_back(&asks.add_placeholder(spec.dtype, spec.shape, v.node->name));
  }
  Node& made = graph.append(loop, std::move(inputs), std::move(controls));
  for (const Value& v : body.needed()) made.results.push_back(spec_of(v));
  made.dims.clear();
  set_functions(made, {std::make_shared<FunctionBody>(condition->name(), std::move(asks)),
                       std::make_shared<FunctionBody>(before->name(), body.rest())});
  return made;
}

void run_loop_invariants(Graph& graph) {
  std::map<const Node*, std::unique_ptr<const Body>> bodies;
  for (const Node& n : graph.nodes()) {
    std::optional<Flow> flow = flow_of(n);
    if (!flow || !flow->is_loop) continue;
    auto split = std::make_unique<const Body>(n, *flow->functions[1]);
    if (!split->moved().empty()) bodies[&n] = std::move(split);
  }
  if (bodies.empty()) return;
  Graph made;
  std::vector<Node*> copies(graph.nodes().size());
  auto mapped = [&](const Node* n) { return copies[static_cast<size_t>(n->id)]; };
  for (const Node& n : graph.nodes()) {
    std::vector<Value> inputs;
    for (const Value& v : n.inputs) inputs.push_back({mapped(v.node), v.index});
    std::vector<Node*> controls;
    for (const Node* c : n.controls) controls.push_back(mapped(c));
    auto body = bodies.find(&n);
    copies[static_cast<size_t>(n.id)] =
        body == bodies.end() ? &made.append(n, std::move(inputs), std::move(controls))
                             : &append_loop(made, n, *body->second, std::move(inputs), std::move(controls));
  }
  for (const Node* n : graph.arguments) made.arguments.push_back(mapped(n));
  for (const Value& v : graph.results) made.results.push_back({mapped(v.node), v.index});
  made.jit_compile = graph.jit_compile;
  graph = std::move(made);
}

}  // namespace

constinit const Pass loop_invariants{"loop_invariants", "loop_optimization", true, run_loop_invariants};

}  // namespace thalweg::graph

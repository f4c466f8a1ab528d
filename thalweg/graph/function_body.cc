#include "thalweg/graph/function_body.h"

#include <algorithm>

#include "thalweg/core/error.h"
#include "thalweg/core/variable_resource.h"
#include "thalweg/graph/control_dependencies.h"
#include "thalweg/graph/flow.h"
#include "thalweg/graph/gradient.h"
#include "thalweg/graph/passes/pass.h"
#include "thalweg/graph/run_state.h"
#include "thalweg/ops/inspection.h"

namespace thalweg {
namespace {

// Effects run in program order and always: to wait for one says nothing, but keeps passes from touching who waits. Of
// conditionals and loops only the effects inside always run; whoever waits for one waits for the rest of it too.
graph::Graph without_idle_controls(const graph::Graph& graph) {
  graph::Graph made = graph.copy();
  for (graph::Node& n : made.nodes())
    std::erase_if(n.controls,
                  [](const graph::Node* c) { return (c->has_effect() && !graph::flow_of(*c)) || c->is_constant(); });
  return made;
}

}  // namespace

FunctionBody::FunctionBody(std::string name, graph::Graph graph) : name_(std::move(name)), graph_(std::move(graph)) {
  for (const graph::Node& n : graph_.nodes()) {
    stateful_ |= n.op->traits.stateful && !n.is_constant();
    if (!n.is_constant() || n.constant.dtype() != DType::resource || n.constant.rank() != 0) continue;
    const auto* variable =
        dynamic_cast<VariableResource*>(static_cast<const ResourceHandle*>(n.constant.impl()->data)->get());
    if (variable) variables_.push_back(n.constant);
    if (variable && variable->trainable) trainable_variables_.push_back(n.constant);
  }
}
FunctionBody::~FunctionBody() = default;

const graph::Plan& FunctionBody::make_plan() const {
  graph::Uninterrupted locked;
  std::call_once(planned_, [&] {
    // Where every op is looked at as it runs, every op must run.
    bool inspected = detail::inspected.load(std::memory_order_relaxed);
    bool waits = std::ranges::any_of(graph_.nodes(), [](const graph::Node& n) { return !n.controls.empty(); });
    if (inspected) optimized_ = graph_.copy();
    else optimized_ = waits ? graph::optimize(without_idle_controls(graph_)) : graph::optimize(graph_);
    plan_ = std::make_unique<graph::Plan>(optimized_, optimized_.arguments, optimized_.results);
    ready_.store(plan_.get(), std::memory_order_release);
  });
  return *plan_;
}

const graph::Graph& FunctionBody::optimized_graph() const {
  plan();
  return optimized_;
}

const graph::Gradient& FunctionBody::gradient() const {
  graph::Uninterrupted locked;
  std::lock_guard lock(gradient_mutex_);
  if (!gradient_) gradient_ = graph::make_gradient(*this);
  return *gradient_;
}

namespace graph {

std::vector<Tensor> run(const Plan& plan, size_t num_results, std::span<const TensorRef> arguments) {
  std::vector<Tensor> results(num_results);
  plan.run(arguments, {reinterpret_cast<TensorImpl**>(results.data()), num_results});
  return results;
}

void run_body(const KernelCall& c, const FunctionBody& body, int first) {
  std::vector<TensorRef> in;
  for (int i = first; i < c.num_inputs(); ++i) in.emplace_back(c.tensor(i));
  std::vector<Tensor> results = run(body.plan(), body.num_results(), in);
  for (int i = 0; i < c.num_outputs(); ++i) c.adopt(i, results[static_cast<size_t>(i)]);
}

void give(std::span<TensorImpl*> out, const std::vector<Tensor>& results) {
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = results[i].impl();
    retain(out[i]);
  }
}

std::vector<Tensor> inline_call(const FunctionBody& body, std::span<const TensorRef> arguments) {
  const Graph& graph = body.graph();
  std::vector<uint8_t> needed = needed_nodes(graph, graph.results);
  std::vector<std::vector<Tensor>> values(graph.nodes().size());
  auto tensor_at = [&](Value v) -> const Tensor& {
    return values[static_cast<size_t>(v.node->id)][static_cast<size_t>(v.index)];
  };
  for (size_t i = 0; i < graph.arguments.size(); ++i)
    values[static_cast<size_t>(graph.arguments[i]->id)] = {arguments[i].tensor()};
  if (thread_state.recorder)
    for (const Tensor& handle : body.trainable_variables()) thread_state.recorder->access(handle);
  std::vector<TensorRef> in;
  for (const Node& n : graph.nodes()) {
    std::vector<Tensor>& place = values[static_cast<size_t>(n.id)];
    if (!needed[static_cast<size_t>(n.id)] || !place.empty()) continue;
    if (n.is_constant()) {
      place = {n.constant};
      continue;
    }
    in.clear();
    for (const Value& v : n.inputs) in.emplace_back(tensor_at(v));
    std::vector<Tensor> before;
    for (const Node* c : n.controls)
      if (const auto& made = values[static_cast<size_t>(c->id)]; !made.empty()) before.push_back(made[0]);
    ControlDependencies controls(before);
    place = apply_list(*n.op, in, n.attrs, static_cast<int>(n.results.size()));
  }
  std::vector<Tensor> results;
  for (const Value& v : graph.results) results.push_back(tensor_at(v));
  return results;
}

}  // namespace graph
}  // namespace thalweg

// A traced function: its graph, the plan that runs it, and the functions that make its gradient.
#pragma once
#include <memory>
#include <mutex>
#include <optional>

#include "thalweg/graph/plan.h"
#include "thalweg/graph/tracer.h"

namespace thalweg {

namespace graph {
struct Gradient;
}

/// A graph as a function of its arguments. Made once by tracing or from a file, then never changed; threads share it.
class THALWEG_API FunctionBody : public std::enable_shared_from_this<FunctionBody> {
 public:
  FunctionBody(std::string name, graph::Graph graph);
  ~FunctionBody();

  const std::string& name() const { return name_; }
  const graph::Graph& graph() const { return graph_; }
  size_t num_arguments() const { return graph_.arguments.size(); }
  size_t num_results() const { return graph_.results.size(); }
  const graph::Spec& argument(size_t i) const { return graph_.arguments[i]->results[0]; }
  const graph::Spec& result(size_t i) const {
    const graph::Value& v = graph_.results[i];
    return v.node->results[static_cast<size_t>(v.index)];
  }
  /// Whether a call does something that is seen beside its results.
  bool is_stateful() const { return stateful_; }
  /// The handles of the variables that it uses, and of those among them that are trainable.
  const std::vector<Tensor>& variables() const { return variables_; }
  const std::vector<Tensor>& trainable_variables() const { return trainable_variables_; }

  /// Made at the first use: the graph after the passes, and the plan that runs it.
  const graph::Graph& optimized_graph() const;
  const graph::Plan& plan() const {
    const graph::Plan* made = ready_.load(std::memory_order_acquire);
    return made ? *made : make_plan();
  }
  const graph::Gradient& gradient() const;

 private:
  const graph::Plan& make_plan() const;

  std::string name_;
  graph::Graph graph_;
  bool stateful_ = false;
  std::vector<Tensor> variables_, trainable_variables_;
  mutable std::once_flag planned_;
  mutable graph::Graph optimized_;
  mutable std::unique_ptr<const graph::Plan> plan_;
  mutable std::atomic<const graph::Plan*> ready_{nullptr};
  mutable std::recursive_mutex gradient_mutex_;
  mutable std::unique_ptr<const graph::Gradient> gradient_;
};

namespace graph {

/// Calls a function: runs its plan, or adds a call to the graph that is being traced; tapes follow it.
THALWEG_API std::vector<Tensor> call(const FunctionAttr& body, std::span<const TensorRef> arguments);
/// Applies the ops of a function one by one, as if they were written where the call is.
THALWEG_API std::vector<Tensor> inline_call(const FunctionBody& body, std::span<const TensorRef> arguments);
/// As a kernel: runs a function on the inputs from `first` on.
void run_body(const KernelCall& call, const FunctionBody& body, int first);
/// As a way to follow a call: results become the outputs of the op.
void give(std::span<TensorImpl*> out, const std::vector<Tensor>& results);
/// Runs a plan and takes over its results.
THALWEG_API std::vector<Tensor> run(const Plan& plan, size_t num_results, std::span<const TensorRef> arguments);

}  // namespace graph
}  // namespace thalweg

// The tracer: while it is active, ops become nodes of its graph.
#pragma once
#include <map>
#include <unordered_map>

#include "thalweg/autodiff/tape.h"
#include "thalweg/core/name_scope.h"
#include "thalweg/core/seed.h"
#include "thalweg/core/thread_state.h"
#include "thalweg/graph/graph.h"
#include "thalweg/graph/traced.h"
#include "thalweg/ops/apply.h"

namespace thalweg::graph {

/// Builds a graph from the ops that are applied while it is the thread's tracer. Tensors of outer functions that are
/// being traced become arguments of this one, in `captures`; tensors with values become constants.
class GraphTracer : public Tracer {
 public:
  /// `outer` is the tracer of the function inside which this one is traced.
  explicit GraphTracer(GraphTracer* outer);

  void add(const Op& op, std::span<const TensorRef> in, AttrsRef attrs, std::span<TensorImpl* const> out) override;
  Shape known_dims(const TensorImpl& vector) const override;
  Tensor lift(const Tensor& symbolic) override;
  void created_variable(const Tensor& handle) override;

  /// A new argument.
  Tensor argument(DType dtype, const Shape& shape, const std::string& name = "");
  /// Calls a function with new arguments of these kinds; what it returns are the graph's results. To be called while
  /// this is the thread's tracer.
  void trace(std::span<const Spec> arguments, const TraceBody& body);
  /// The node that stands for a tensor in this graph.
  Value value_of(const Tensor& tensor);
  /// A symbolic tensor for a value of this graph; a constant as it is.
  Tensor tensor_of(Value value) const {
    return value.node->is_constant() ? value.node->constant : graph_.symbol_of(value);
  }

  Graph& graph() { return graph_; }
  const Graph& graph() const { return graph_; }
  /// Tensors of outer functions, and the placeholders that stand for them here.
  const std::vector<Tensor>& captures() const { return captures_; }
  const std::vector<Node*>& capture_nodes() const { return capture_nodes_; }
  const std::vector<Tensor>& created_variables() const { return created_variables_; }
  GraphSeeds& seeds() { return seeds_; }
  bool may_create_variables = true;
  std::vector<Node*> controls;  // what nodes that are added now wait for

 protected:
  /// The node for a tensor with a value that was not met before.
  virtual Node& add_constant(const Tensor& tensor) { return graph_.add_constant(tensor); }
  /// A node that is described.
  virtual Node& add_node(const Op& op, AttrsRef attrs, std::vector<Value> inputs, std::vector<Spec> results);

  Graph graph_;

 private:
  Value capture(const Tensor& tensor);
  Value waiting(Value value);

  GraphTracer* outer_;
  GraphSeeds seeds_;
  std::vector<Tensor> captures_, created_variables_;
  std::vector<Node*> capture_nodes_;
  std::unordered_map<const TensorImpl*, Node*> constants_;            // by the block they hold
  std::map<std::tuple<uint64_t, const Node*, int>, Node*> captured_;  // by their origin
};

/// Whether an op is a call of a function, whose ops may take its place.
bool is_call(const Op& op);
/// The function that a node calls, or null.
FunctionAttr called_by(const Node& node);

/// The tracer of this thread, or null.
GraphTracer* current_tracer();

/// Makes a tracer the thread's own while it lives; tapes that were open before see nothing of it.
class Tracing {
 public:
  explicit Tracing(GraphTracer* tracer);
  ~Tracing();
  Tracing(const Tracing&) = delete;
  Tracing& operator=(const Tracing&) = delete;
  /// What holds the tapes that were open before.
  const StopRecording& stopped() const { return stop_; }

 private:
  StopRecording stop_;
  GraphNameScope names_;
  GraphSeedsScope seeds_;
  ThreadState before_;
};

}  // namespace thalweg::graph

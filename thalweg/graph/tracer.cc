#include "thalweg/graph/tracer.h"

#include "thalweg/core/error.h"
#include "thalweg/graph/init_scope.h"
#include "thalweg/graph/known_dims.h"
#include "thalweg/graph/plan.h"
#include "thalweg/ops/indexed_slices.h"
#include "thalweg/ops/infer.h"

namespace thalweg::graph {

bool is_call(const Op& op) {
  static const Op* const pure = &required_op("PartitionedCall");
  static const Op* const stateful = &required_op("StatefulPartitionedCall");
  return &op == pure || &op == stateful;
}

FunctionAttr called_by(const Node& n) {
  if (n.is_constant() || !is_call(*n.op)) return nullptr;
  return get_attr<FunctionAttr>(n, "f");
}

GraphTracer* current_tracer() { return static_cast<GraphTracer*>(thread_state.tracer); }

Tracing::Tracing(GraphTracer* tracer)
    : names_(tracer->graph().names()), seeds_(tracer->seeds()), before_(thread_state) {
  thread_state.tracer = tracer;
  thread_state.reveal = nullptr;
}
Tracing::~Tracing() {
  thread_state.tracer = before_.tracer;
  thread_state.reveal = before_.reveal;
}

GraphTracer::GraphTracer(GraphTracer* outer) : outer_(outer) {
  seeds_.global_seed = outer ? outer->seeds_.global_seed : seed_state().global_seed();
  if (outer) graph_.jit_compile = outer->graph_.jit_compile;
}

Tensor GraphTracer::argument(DType dtype, const Shape& shape, const std::string& name) {
  Node& n = graph_.add_placeholder(dtype, shape, name);
  graph_.arguments.push_back(&n);
  return tensor_of({&n, 0});
}

void GraphTracer::trace(std::span<const Spec> arguments, const TraceBody& body) {
  std::vector<Tensor> symbolic;
  for (const Spec& a : arguments) symbolic.push_back(argument(a.dtype, a.shape));
  for (const Tensor& t : body(symbolic).tensors) graph_.results.push_back(value_of(t));
}

Value GraphTracer::value_of(const Tensor& tensor) {
  if (is_indexed_slices(tensor)) return value_of(to_array(tensor));
  const TensorImpl& t = *tensor.impl();
  if (t.form == Form::symbolic) {
    Origin origin = origin_of(t);
    return origin.graph == graph_.serial() ? Value{origin.node, origin.index} : capture(tensor);
  }
  Node*& n = constants_[&t];
  if (!n) n = &add_constant(tensor);
  return {n, 0};
}

Value GraphTracer::capture(const Tensor& tensor) {
  Origin origin = origin_of(*tensor.impl());
  GraphTracer* owner = outer_;
  while (owner && owner->graph_.serial() != origin.graph) owner = owner->outer_;
  if (!owner)
    throw TypeError("a symbolic tensor of " + std::string(name_of(tensor.dtype())) + " and shape " +
                    tensor.shape().str() +
                    " was used outside of the function that was being traced when it was made: return it from that "
                    "function, or pass it as an argument");
  Node*& n = captured_[{origin.graph, origin.node, origin.index}];
  if (!n) {
    n = &graph_.add_placeholder(tensor.dtype(), tensor.shape(), "capture");
    n->dims = {owner->known_dims(*tensor.impl())};
    captures_.push_back(tensor);
    capture_nodes_.push_back(n);
  }
  return {n, 0};
}

// The ops of a call may come to stand in its place, and then it is its arguments that wait.
Value GraphTracer::waiting(Value value) {
  static const Op& identity = required_op("Identity");
  const Spec spec = value.node->results[static_cast<size_t>(value.index)];
  if (spec.dtype == DType::resource || spec.dtype == DType::variant) return value;
  return {&add_node(identity, {}, {value}, {spec}), 0};
}

Node& GraphTracer::add_node(const Op& op, AttrsRef attrs, std::vector<Value> inputs, std::vector<Spec> results) {
  Node& n = graph_.add(op, attrs, std::move(inputs), 0);
  n.results = std::move(results);
  n.controls = controls;
  n.where = where_now();
  infer_known_dims(n);
  return n;
}

void GraphTracer::add(const Op& op, std::span<const TensorRef> in, AttrsRef attrs, std::span<TensorImpl* const> out) {
  std::vector<Value> inputs;
  inputs.reserve(in.size());
  for (const TensorRef& t : in) inputs.push_back(value_of(t.tensor()));
  if (!controls.empty() && is_call(op))
    for (Value& v : inputs) v = waiting(v);
  std::vector<Spec> results;
  results.reserve(out.size());
  for (const TensorImpl* o : out) results.push_back({o->dtype, o->shape});
  Node& n = add_node(op, attrs, std::move(inputs), std::move(results));
  for (size_t i = 0; i < out.size(); ++i) make_symbolic(*out[i], graph_, {&n, static_cast<int>(i)});
}

Shape GraphTracer::known_dims(const TensorImpl& vector) const {
  if (vector.form != Form::symbolic) return dims_of_constant(vector);
  Origin origin = origin_of(vector);
  for (const GraphTracer* t = this; t; t = t->outer_)
    if (t->graph_.serial() == origin.graph) return graph::known_dims({origin.node, origin.index});
  return dims::unknown(vector.shape);
}

Tensor GraphTracer::lift(const Tensor& symbolic) {
  Value value = value_of(symbolic);
  std::vector<uint8_t> needed = needed_nodes(graph_, {value}, false);
  for (const std::vector<Node*>* given : {&std::as_const(graph_.arguments), &std::as_const(capture_nodes_)})
    for (const Node* n : *given)
      if (needed[static_cast<size_t>(n->id)])
        throw ValueError(
            "the first value of a variable made in a tf.function must not depend on the function's arguments: make the "
            "variable outside, or from numbers");
  Plan plan(graph_, {}, {value}, false);
  TensorImpl* result = nullptr;
  InitScope scope;
  plan.run({}, {&result, 1});
  // From now on it is that value: what drew random numbers for it does not draw again.
  if (value.node->results.size() == 1) value.node->constant = Tensor(result);
  else return Tensor(result);
  return value.node->constant;
}

void GraphTracer::created_variable(const Tensor& handle) {
  if (!may_create_variables)
    throw ValueError(
        "tf.function only supports singleton tf.Variables created on the first call. Make sure the tf.Variable is only "
        "created once or created outside tf.function. See "
        "https://www.tensorflow.org/guide/function#creating_tfvariables for more information.");
  created_variables_.push_back(handle);
}

}  // namespace thalweg::graph

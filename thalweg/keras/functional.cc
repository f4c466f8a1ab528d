// Calls of layers on tensors without values, recorded as nodes, and the nodes between two ends of a model.
#include "thalweg/keras/functional.h"

#include <map>
#include <set>

#include "thalweg/core/error.h"
#include "thalweg/graph/init_scope.h"
#include "thalweg/graph/tracer.h"
#include "thalweg/keras/call_context.h"
#include "thalweg/keras/eager_only.h"
#include "thalweg/keras/function_layer.h"
#include "thalweg/keras/input_layer.h"

namespace thalweg::keras {
namespace functional {
namespace {

// The history of a tensor without a value is held as the owner of memory that it does not have.
void drop_history(void* context) { delete static_cast<History*>(context); }

Tensor make_symbolic(const std::shared_ptr<Node>& node, int index, DType dtype, const Shape& shape) {
  Tensor t = Tensor::view(dtype, shape, nullptr, drop_history, new History{node, index});
  t.impl()->form = Form::symbolic;
  std::memset(t.impl()->inline_data, 0, sizeof t.impl()->inline_data);  // of no graph
  return t;
}

/// Goes from the outputs back to the inputs, as Keras does, so that layers come in its order.
class Search {
 public:
  explicit Search(const std::vector<Tensor>& inputs) {
    for (const Tensor& t : inputs) boundary_.insert(key(t));
  }
  void visit(const Tensor& t, const std::string& reader = {}) {
    std::shared_ptr<Node> node = history_of(t).node;
    if (!done_.insert(node.get()).second) return;
    if (node->inputs.is_none() && !boundary_.contains(key(t)))
      throw ValueError("Graph disconnected: cannot obtain value for tensor " + tensor_str(t) + " at layer \"" +
                       (reader.empty() ? node->layer.name() : reader) +
                       "\". The model's outputs depend on it, but it is not among the inputs.");
    for (const Tensor& input : node->dependencies())
      if (has_history(input)) visit(input, node->layer.name());
    order.push_back(node);
  }

  std::vector<std::shared_ptr<Node>> order;  // each after those it depends on

 private:
  static std::pair<const Node*, int> key(const Tensor& t) {
    History history = history_of(t);
    return {history.node.get(), history.index};
  }
  std::set<std::pair<const Node*, int>> boundary_;
  std::set<const Node*> done_;
};

}  // namespace

std::vector<Tensor> Node::dependencies() const {
  std::vector<Tensor> all = inputs.flatten();
  for_each_nest(args, [&](const Nest& nest) {
    for (const Tensor& t : nest.flatten()) all.push_back(t);
  });
  return all;
}

bool has_history(const Tensor& t) {
  if (!t.defined()) return false;
  const TensorImpl& p = *t.impl();
  return p.form == Form::symbolic && p.buffer && p.buffer->release == drop_history;
}
History history_of(const Tensor& tensor) {
  if (!has_history(tensor)) return {};
  return *static_cast<const History*>(tensor.impl()->buffer->context);
}

Nest outputs_of(const std::shared_ptr<Node>& node) {
  int index = 0;
  std::vector<Tensor> made;
  for (const Tensor& t : node->outputs.flatten()) made.push_back(make_symbolic(node, index++, t.dtype(), t.shape()));
  return node->outputs.pack(made);
}

bool is_symbolic(const Nest& inputs, const CallArgs& args) {
  if (inputs.is_tensor()) {
    if (has_history(inputs.tensor())) return true;
  } else {
    for (const Tensor& t : inputs.flatten())
      if (has_history(t)) return true;
  }
  bool found = false;
  for_each_nest(args, [&](const Nest& nest) {
    if (nest.is_none()) return;
    for (const Tensor& t : nest.flatten()) found |= has_history(t);
  });
  return found;
}

namespace {
/// Dimensions that ops cannot know and the layer states.
void refine(const Nest& kinds, const Nest& stated) {
  if (stated.is_none() || !stated.is_like(kinds)) return;
  const std::vector<Tensor> all = kinds.flatten(), known = stated.flatten();
  for (size_t i = 0; i < all.size(); ++i)
    if (all[i].shape().is_compatible_with(known[i].shape()))
      all[i].impl()->shape = all[i].shape().merge_with(known[i].shape());
}
}  // namespace

namespace {

/// An argument of the trace that stands for a tensor of a model, with what is known of it.
Tensor make_argument(graph::GraphTracer& tracer, const Tensor& t) {
  if (!t.is_symbolic()) return t;
  Tensor made = tracer.argument(t.dtype(), t.shape());
  History from = history_of(t);
  if (from.node && static_cast<size_t>(from.index) < from.node->output_dims.size())
    if (const Shape& dims = from.node->output_dims[static_cast<size_t>(from.index)]; dims.has_rank())
      tracer.value_of(made).node->dims = {dims};
  return made;
}
bool could_be_shape(const Tensor& t) { return t.dtype() == DType::int32 && t.shape().has_rank() && t.rank() < 2; }

/// `dense/Relu:0`
std::string name_of_output(const LayerInterface& layer, const Tensor& t) {
  if (!t.is_symbolic()) return layer.name + "/Const:0";
  const std::string index = ":" + std::to_string(graph::origin_of(*t.impl()).index);
  if (auto* function = dynamic_cast<const FunctionLayer*>(&layer); function && !function->op_name().empty())
    return layer.name + "/" + std::string(function->op_name()) + index;
  return graph::label_of(*t.impl()).name + index;
}

/// Runs the layer in a graph that is thrown away: what it gives is written into the node.
void infer_outputs(Node& node) {
  detail::ShapesOnly only;
  if (auto* eager = dynamic_cast<EagerOnly*>(node.layer.get()); eager && eager->is_dynamic()) {
    detail::CallContext context(*node.layer.get(), {});
    detail::build_if_needed(*node.layer.get(), node.inputs);
    node.outputs = eager->stated_outputs(node.inputs);
    for (size_t i = 0; i < node.outputs.num_tensors(); ++i) {
      node.output_names.push_back(node.layer.name() + ":" + std::to_string(i));
      node.output_dims.push_back(Shape::unknown_rank());
    }
    return;
  }
  graph::GraphTracer tracer(nullptr);
  graph::Tracing tracing(&tracer);
  auto argument = [&](const Tensor& t) { return make_argument(tracer, t); };
  CallArgs with = node.args;
  for_each_nest(with, [&](Nest& nest) { nest = nest.map(argument); });
  LayerInterface& layer = *node.layer.get();
  const Nest outputs = detail::run(layer, node.inputs.map(argument), with);
  for (const Tensor& t : outputs.flatten()) {
    node.output_names.push_back(name_of_output(layer, t));
    node.output_dims.push_back(could_be_shape(t) ? tracer.known_dims(*t.impl()) : Shape::unknown_rank());
  }
  node.outputs = outputs.map([](const Tensor& t) { return detail::stand_in(t.dtype(), t.shape()); });
  refine(node.outputs, layer.compute_output_shape(node.inputs));
}

}  // namespace

Nest infer_outputs(const Layer& layer, const Nest& inputs, const CallArgs& args) {
  Node node;
  node.layer = layer;
  node.inputs = inputs;
  node.args = args;
  infer_outputs(node);
  return node.outputs;
}

Nest record(const Layer& layer, const Nest& inputs, const CallArgs& args) {
  InitScope outside;  // a model that is made inside of a traced function is no part of it
  auto node = std::make_shared<Node>();
  node->layer = layer;
  node->inputs = inputs;
  node->args = args;
  for (const Tensor& t : node->dependencies())
    if (t.defined() && t.is_symbolic() && !has_history(t))
      throw TypeError(
          "layer '" + layer.name() +
          "' is called on a tensor of a traced function and on one made by Input, which belongs to a model: "
          "call the finished model inside of the function");
  const bool was_built = layer.built();
  try {
    detail::Recording recording;
    infer_outputs(*node);
  } catch (const errors::InvalidArgumentError& error) {
    throw ValueError(error.what());  // as TensorFlow says of every op that does not fit in a graph
  }
  if (!was_built)  // in a model, states that are given count as inputs
    for (const Tensor& t : args.initial_state.flatten()) layer.object().built_shapes.push_back(t.shape());
  node->index = layer.object().num_nodes++;
  layer.object().nodes.push_back(node);
  return outputs_of(node);
}

namespace {
[[noreturn]] void refuse_end(const std::string& which, const Tensor& t) {
  throw ValueError("Found unexpected instance while processing " + which +
                   " for the functional model: expected tensors made by Input, or by layers called on them, found " +
                   std::string(name_of(t.dtype())) + t.shape().str() + ", which has a value.");
}
}  // namespace

std::vector<std::shared_ptr<Node>> sort_nodes(const Nest& inputs, const Nest& outputs) {
  Search search(inputs.flatten());
  for (const Tensor& t : outputs.flatten()) {
    if (!has_history(t)) refuse_end("outputs", t);
    search.visit(t);
  }
  return std::move(search.order);
}

std::pair<Nest, Nest> begin_anew(const Nest& inputs, const Nest& outputs) {
  using Key = std::pair<const Node*, int>;
  std::map<Key, Tensor> made;
  std::set<Key> unread;
  const Nest begun = inputs.map([&](const Tensor& t) {
    History history = history_of(t);
    if (!history.node) refuse_end("inputs", t);
    const Key key(history.node.get(), history.index);
    unread.insert(key);
    return made[key] = history.node->inputs.is_none() ? t : make_input(t.shape(), t.dtype(), {});
  });
  auto renew = [&](auto& self, const Tensor& t) -> Tensor {
    History history = history_of(t);
    if (!history.node) return t;
    const Key key(history.node.get(), history.index);
    unread.erase(key);
    if (auto found = made.find(key); found != made.end()) return found->second;
    if (history.node->inputs.is_none())
      throw ValueError(
          "Found input tensor cannot be reached given provided output tensors. Please make sure the tensor " +
          tensor_str(t) + " is included in the model inputs when building functional model.");
    auto node = std::make_shared<Node>(*history.node);
    auto renewed = [&](const Tensor& input) { return self(self, input); };
    node->inputs = node->inputs.map(renewed);
    for_each_nest(node->args, [&](Nest& nest) { nest = nest.map(renewed); });
    node->index = node->layer.get()->num_nodes++;
    node->layer.get()->nodes.push_back(node);
    const std::vector<Tensor> all = outputs_of(node).flatten();
    for (size_t i = 0; i < all.size(); ++i) made.try_emplace({history.node.get(), static_cast<int>(i)}, all[i]);
    return made.at(key);
  };
  const Nest ended = outputs.map([&](const Tensor& t) {
    if (!has_history(t)) refuse_end("outputs", t);
    return renew(renew, t);
  });
  if (!unread.empty())
    throw ValueError(
        "Found unvisited input tensors that are disconnected from the outputs: an input of the model, made by "
        "layer '" +
        unread.begin()->first->layer.name() + "', is not needed for any of its outputs.");
  return {begun, ended};
}

}  // namespace functional

}  // namespace thalweg::keras

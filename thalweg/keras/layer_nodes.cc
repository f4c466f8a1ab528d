// What the calls of a layer in graphs of layers say about it: its inputs, its outputs and their shapes.
#include <atomic>

#include "thalweg/core/error.h"
#include "thalweg/core/symbolic_text.h"
#include "thalweg/keras/network_config.h"

namespace thalweg::keras {

namespace {
std::atomic<FindInner> find_inner{nullptr};
}  // namespace

FunctionalModel* graph_of(const LayerInterface& model) {
  auto& layer = const_cast<LayerInterface&>(model);
  if (auto* network = dynamic_cast<FunctionalModel*>(&layer)) return network;
  if (auto* sequential = dynamic_cast<SequentialModel*>(&layer)) return sequential->graph().get();
  const FindInner find = find_inner.load();
  const LayerInterface* inner = find ? find(model) : nullptr;
  return inner ? graph_of(*inner) : nullptr;
}
void set_find_inner(FindInner find) { find_inner = find; }

namespace functional {

std::vector<std::shared_ptr<Node>> nodes_of(const LayerInterface& layer) {
  std::vector<std::shared_ptr<Node>> all;
  for (const std::weak_ptr<Node>& node : layer.nodes)
    if (std::shared_ptr<Node> kept = node.lock()) all.push_back(std::move(kept));
  return all;
}

Nest first_argument(const Node& node) {
  const Nest& inputs = node.inputs;
  if (network::names_inputs(*node.layer.get()) && inputs.is_sequence()) return inputs[0];
  if (node.args.initial_state.is_none() && node.args.constants.is_none()) return inputs;
  std::vector<Nest> all;
  for (const Nest* part : {&inputs, &node.args.initial_state, &node.args.constants})
    for (const Tensor& t : part->flatten()) all.emplace_back(t);
  return Nest::list(std::move(all));
}

namespace {

bool same_kinds(const Nest& a, const Nest& b) {
  if (!a.is_like(b)) return false;
  const std::vector<Tensor> first = a.flatten(), second = b.flatten();
  for (size_t i = 0; i < first.size(); ++i)
    if (!(first[i].shape() == second[i].shape())) return false;
  return true;
}

template <class F> Nest common_kinds(const LayerInterface& layer, const F& part) {
  Nest common;
  for (const std::shared_ptr<Node>& node : nodes_of(layer)) {
    const Nest& found = part(*node);
    if (common.is_none()) common = found;
    else if (!same_kinds(common, found)) return {};
  }
  return common;
}

Nest inputs_of(const Node& node) {
  if (node.inputs.is_none()) return node.outputs;
  const Nest first = first_argument(node);
  return first.is_sequence() && first.size() == 1 ? first[0] : first;
}

}  // namespace

Nest input_kinds(const LayerInterface& layer) {
  if (FunctionalModel* graph = graph_of(layer)) return graph->inputs();
  return common_kinds(layer, inputs_of);
}
Nest output_kinds(const LayerInterface& layer) {
  if (FunctionalModel* graph = graph_of(layer)) return graph->outputs();
  return common_kinds(layer, [](const Node& node) -> const Nest& { return node.outputs; });
}

namespace {
/// What a tensor that could be a shape is known to hold: `[None, 4]`.
std::string dims_text(const History& from) {
  const std::vector<Shape>& dims = from.node->output_dims;
  if (static_cast<size_t>(from.index) >= dims.size()) return {};
  const Shape& known = dims[static_cast<size_t>(from.index)];
  if (!known.has_rank() || known.rank() == 0) return {};
  std::string text;
  for (int64_t dim : known) text += (text.empty() ? "" : ", ") + (dim < 0 ? "None" : std::to_string(dim));
  return "inferred_value=[" + text + "]";
}
}  // namespace

std::string tensor_name(const Tensor& tensor) {
  const History from = history_of(tensor);
  return from.node->output_names.at(static_cast<size_t>(from.index));
}
std::string tensor_str(const Tensor& tensor) {
  const History from = history_of(tensor);
  const std::string name = tensor_name(tensor), dims = dims_text(from);
  // Only inputs have a name in their type.
  return "KerasTensor(type_spec=TensorSpec(shape=" + tensor.shape().str() + ", dtype=tf." +
         std::string(name_of(tensor.dtype())) + ", name=" + (from.node->inputs.is_none() ? "'" + name + "'" : "None") +
         ")" + (dims.empty() ? "" : ", " + dims) + ", name='" + name + "', description=\"created by layer '" +
         from.node->layer.name() + "'\")";
}
std::string tensor_repr(const Tensor& tensor) {
  const History from = history_of(tensor);
  const std::string dims = dims_text(from);
  return "<KerasTensor: shape=" + tensor.shape().str() + " dtype=" + std::string(name_of(tensor.dtype())) +
         (dims.empty() ? "" : " " + dims) + " (created by layer '" + from.node->layer.name() + "')>";
}

namespace {
const bool has_texts = [] {
  auto text = [](const Tensor& t, bool for_session) {
    return !has_history(t) ? std::string() : for_session ? tensor_repr(t) : tensor_str(t);
  };
  thalweg::detail::symbolic_text.store(text, std::memory_order_release);
  return true;
}();
}  // namespace

std::string shape_text(const Nest& tensors) {
  if (tensors.is_none()) return "None";
  if (tensors.is_tensor()) return tensors.tensor().shape().str();
  std::string text;
  for (size_t i = 0; i < tensors.size(); ++i) {
    text += i > 0 ? ", " : "";
    if (tensors.is_dict()) text += "'" + tensors.keys()[i] + "': ";
    text += shape_text(tensors.items()[i]);
  }
  if (tensors.is_dict()) return "{" + text + "}";
  if (tensors.kind() == Nest::Kind::list) return "[" + text + "]";
  return "(" + text + (tensors.size() == 1 ? ",)" : ")");
}

}  // namespace functional

namespace {

functional::Node* only_node(const Layer& layer, const char* what) {
  const std::vector<std::shared_ptr<functional::Node>> nodes = functional::nodes_of(*layer.get());
  if (nodes.empty())
    throw ValueError("Layer " + layer.name() + " is not connected, no " + what +
                     " to return: it was never called on a tensor made by Input.");
  if (nodes.size() > 1)
    throw ValueError("Layer " + layer.name() + " has multiple inbound nodes, hence the notion of \"layer " + what +
                     "\" is ill-defined.");
  return nodes.front().get();
}

Shape only_shape(const Layer& layer, const Nest& kinds, const char* what) {
  if (kinds.is_none()) {
    const std::string head = "The layer \"" + layer.name() + "\" has ";
    if (functional::nodes_of(*layer.get()).empty())
      throw ValueError(head + "never been called and thus has no defined " + what + " shape.");
    throw ValueError(head + "multiple inbound nodes, with different " + what + " shapes.");
  }
  if (kinds.num_tensors() != 1)
    throw ValueError("layer '" + layer.name() + "': there are several " + what +
                     " shapes: " + functional::shape_text(kinds));
  return kinds.flatten().front().shape();
}

}  // namespace

Nest Layer::input() const {
  if (FunctionalModel* graph = graph_of(*p_)) return graph->inputs();
  functional::Node* node = only_node(*this, "input");
  return node->inputs.is_none() ? functional::outputs_of(node->shared_from_this()) : node->inputs;
}
Nest Layer::output() const {
  if (FunctionalModel* graph = graph_of(*p_)) return graph->outputs();
  return functional::outputs_of(only_node(*this, "output")->shared_from_this());
}
Shape Layer::input_shape() const { return only_shape(*this, functional::input_kinds(*p_), "input"); }
Shape Layer::output_shape() const { return only_shape(*this, functional::output_kinds(*p_), "output"); }

}  // namespace thalweg::keras

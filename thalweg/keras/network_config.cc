// Graphs of layers as configurations, in the format of Keras 2.15.
#include "thalweg/keras/network_config.h"

#include <algorithm>
#include <map>

#include "thalweg/core/error.h"
#include "thalweg/keras/call_arguments.h"
#include "thalweg/keras/function_layer.h"

namespace thalweg::keras {
namespace {

using functional::Node;
using namespace network;

/// The structure with what `leaf` makes of each tensor.
template <class F> Value structure_value(const Nest& nest, const F& leaf) {
  if (nest.is_none()) return {};
  if (nest.is_tensor()) return leaf(nest.tensor());
  if (nest.is_dict()) {
    Value::Map entries;
    for (size_t i = 0; i < nest.size(); ++i)
      entries.emplace_back(nest.keys()[i], structure_value(nest.items()[i], leaf));
    return entries;
  }
  Value::List items;
  for (const Nest& item : nest.items()) items.push_back(structure_value(item, leaf));
  return items;
}

Value shapes_value(const Nest& nest) {
  return structure_value(nest, [](const Tensor& t) { return to_value(t.shape()); });
}
/// Whether Keras counts other tensors as the inputs of a call than the layer here does.
bool takes_more_inputs(const Node& node) {
  return names_inputs(*node.layer.get()) || !node.args.initial_state.is_none() || !node.args.constants.is_none();
}

/// Writes the calls that a model is made of.
class Writer {
 public:
  explicit Writer(const FunctionalModel& model) {
    std::map<const LayerInterface*, std::vector<const Node*>> calls;
    for (const auto& node : model.nodes_in_order()) calls[node->layer.get()].push_back(node.get());
    for (auto& [layer, nodes] : calls) {
      std::sort(nodes.begin(), nodes.end(), [](const Node* a, const Node* b) { return a->index < b->index; });
      int next = first_index(*layer);
      for (const Node* node : nodes) index_[node] = next++;
      calls_[layer] = nodes;
    }
  }

  Value layer(const Layer& layer) const {
    Value made = to_value(layer);
    made.set("name", layer.name());
    Value::List calls;
    auto found = calls_.find(layer.get());
    if (found != calls_.end() && takes_more_inputs(*found->second.front()))
      made.set("build_config",
               Value::map({{"input_shape", shapes_value(functional::first_argument(*found->second.front()))}}));
    if (found != calls_.end())
      for (const Node* node : found->second)
        if (!node->inputs.is_none()) calls.push_back(call(*node));
    made.set("inbound_nodes", calls);
    return made;
  }
  /// The ends of the model, where each tensor comes from.
  Value ends(const Nest& tensors) const {
    Value made = structure_value(tensors, [&](const Tensor& t) { return place(t); });
    return tensors.is_tensor() ? Value(Value::List{made}) : made;
  }

 private:
  Value place(const Tensor& t) const {
    functional::History from = functional::history_of(t);
    auto found = index_.find(from.node.get());
    const int index = found != index_.end() ? found->second : 0;
    return Value::List{from.node->layer.name(), index, from.index};
  }
  /// A tensor among arguments: where it comes from, or its value.
  Value tensor(const Tensor& t, const Node& node) const {
    if (functional::has_history(t)) return place(t);
    if (t.dtype() == DType::resource)
      throw ValueError("layer '" + node.layer.name() +
                       "' reads a variable that is not its own: a configuration cannot hold it. Write a layer that has "
                       "the variable as a weight.");
    return to_value(t);
  }
  Value argument(const Nest& nest, const Node& node) const {
    return structure_value(nest, [&](const Tensor& t) { return tensor(t, node); });
  }
  /// The arguments that only the class of the layer knows.
  Value::Map named_arguments(const Node& node) const {
    if (!node.args.rest) return {};
    if (node.args.rest->named.is_none())
      throw TypeError("Layer " + node.layer.name() +
                      " was passed non-JSON-serializable arguments. They cannot be serialized out when saving the "
                      "model.");
    const std::vector<Tensor> tensors = node.args.more.flatten();
    return map_places(node.args.rest->named, [&](size_t i) { return tensor(tensors.at(i), node); }).map();
  }
  Value call(const Node& node) const {
    const CallArgs& args = node.args;
    Value arguments = Value::Map();
    auto add = [&](const char* name, const Nest& nest) {
      if (!nest.is_none()) arguments.set(name, argument(nest, node));
    };
    Nest inputs = node.inputs;
    Value::Map named = named_arguments(node);
    if (inputs.is_sequence() && inputs.size() == 0 && !named.empty()) {  // the first argument is no tensor
      const Value first = named.front().second;
      named.erase(named.begin());
      return Value::List{constant_value, -1, first, named};
    }
    if (names_inputs(*node.layer.get()) && inputs.is_sequence())
      for (size_t i = 1; i < inputs.size() && i < std::size(input_names); ++i) add(input_names[i], inputs[i]);
    inputs = functional::first_argument(node);
    if (args.training.given()) arguments.set("training", static_cast<bool>(args.training));
    add("mask", args.mask);
    if (args.ignores_masks) arguments.set("mask", Value());
    add("attention_mask", args.attention_mask);
    if (args.return_attention_scores) arguments.set("return_attention_scores", true);
    if (args.use_causal_mask) arguments.set("use_causal_mask", true);
    for (auto& [name, value] : named) arguments.set(name, value);
    Value made = structure_value(inputs, [&](const Tensor& t) -> Value {
      if (!functional::has_history(t)) return Value::List{constant_value, -1, tensor(t, node), arguments};
      Value::List leaf = place(t).list();
      leaf.push_back(arguments);
      return leaf;
    });
    // The layers of functions keep the structure of their argument, others have one tensor in a list.
    const bool is_function = dynamic_cast<const FunctionLayer*>(node.layer.get()) != nullptr;
    return inputs.is_tensor() && !is_function ? Value(Value::List{made}) : made;
  }

  std::map<const Node*, int> index_;  // as the configuration counts them
  std::map<const LayerInterface*, std::vector<const Node*>> calls_;
};

}  // namespace

Value FunctionalModel::get_config() const {
  Writer writer(*this);
  Value::List layers;
  for (const Layer& layer : layers_) layers.push_back(writer.layer(layer));
  return Value::map({{"name", name},
                     {"trainable", trainable},
                     {"layers", layers},
                     {"input_layers", writer.ends(inputs_)},
                     {"output_layers", writer.ends(outputs_)}});
}
Value FunctionalModel::build_config() const { return Value::map({{"input_shape", shapes_value(inputs_)}}); }

Value SequentialModel::get_config() const {
  Value::List layers;
  if (graph_) layers.push_back(to_value(functional::history_of(graph_->inputs().tensor()).node->layer));
  else if (input_.defined()) layers.push_back(to_value(functional::history_of(input_).node->layer));
  for (const Layer& layer : layers_) layers.push_back(to_value(layer));
  return Value::map({{"name", name}, {"layers", layers}});
}
Value SequentialModel::build_config() const { return graph_ ? graph_->build_config() : Value(); }

}  // namespace thalweg::keras

// Graphs of layers from configurations, in the format of Keras 2.15.
#include <algorithm>
#include <deque>
#include <map>

#include "thalweg/core/error.h"
#include "thalweg/keras/attr_config.h"
#include "thalweg/keras/call_arguments.h"
#include "thalweg/keras/function_layer.h"
#include "thalweg/keras/input_layer.h"
#include "thalweg/keras/model.h"
#include "thalweg/keras/network_config.h"

namespace thalweg::keras {
namespace {

using namespace network;

/// Layers to which Keras passes states and constants behind the inputs.
bool takes_states_as_inputs(std::string_view class_name) {
  for (std::string_view known :
       {"RNN", "LSTM", "GRU", "SimpleRNN", "Bidirectional", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D"})
    if (class_name == known) return true;
  return false;
}

/// `["dense", 0, 0]` or `["dense", 0, 0, {...}]`: where a tensor comes from.
bool is_place(const Value& value) {
  if (!value.is_list() || value.list().size() < 3 || value.list().size() > 4) return false;
  return value.list()[0].is_text() && value.list()[1].is_integer();
}

[[noreturn]] void refuse(const std::string& why) { throw ValueError("Improperly formatted model config: " + why); }

/// Makes the layers of a configuration, and calls them as it says.
class Reader {
 public:
  explicit Reader(const Value& config) {
    for (const Value& one : config["layers"].list()) read_layer(one);
    call_layers();
  }

  Nest ends(const Value& value) const {
    // One tensor alone stands in a list, too.
    if (value.is_list() && value.list().size() == 1 && is_place(value.list()[0])) return tensor(value.list()[0]);
    return structure(value);
  }

 private:
  struct Pending {
    Layer layer;
    std::deque<Value> calls;
    int next = 0;  // how the configuration counts the next call
  };

  void read_layer(const Value& one) {
    Layer layer = Layer::from_config(one["class_name"].text(), one["config"]);
    const std::string& name = one["name"].is_text() ? one["name"].text() : layer.name();
    if (places_.contains(name)) refuse("there are two layers called '" + name + "'");
    places_[name] = pending_.size();
    if (layer.as<InputLayer>()) outputs_[{name, 0}] = Nest(input_of(layer));
    Pending made{layer, {}, first_index(*layer.get())};
    if (one["inbound_nodes"].is_list())
      made.calls.assign(one["inbound_nodes"].list().begin(), one["inbound_nodes"].list().end());
    pending_.push_back(std::move(made));
  }

  /// Again and again, because a layer may be called on what depends on another call of it.
  void call_layers() {
    while (true) {
      bool is_left = false, is_new = false;
      for (Pending& one : pending_) {
        while (!one.calls.empty() && is_ready(one.calls.front())) {
          call(one, one.calls.front());
          one.calls.pop_front();
          is_new = true;
        }
        is_left |= !one.calls.empty();
      }
      if (!is_left) return;
      if (!is_new) {
        for (const Pending& one : pending_)
          if (!one.calls.empty())
            refuse("layer '" + one.layer.name() + "' is called on what no layer gives: " + one.calls.front().json());
      }
    }
  }

  bool is_ready(const Value& value) const {
    if (is_place(value)) {
      const Value::List& items = value.list();
      if (items[0].text() != constant_value) {
        if (!places_.contains(items[0].text())) refuse("there is no layer '" + items[0].text() + "'");
        if (!outputs_.contains({items[0].text(), items[1].integer()})) return false;
      }
      return items.size() < 4 || is_ready(items[3]);
    }
    if (value.is_list())
      return std::all_of(value.list().begin(), value.list().end(), [&](const Value& v) { return is_ready(v); });
    if (value.is_map())
      return std::all_of(value.map().begin(), value.map().end(), [&](const auto& e) { return is_ready(e.second); });
    return true;
  }

  Tensor tensor(const Value& place, bool keeps_literals = false) const {
    const Value::List& items = place.list();
    if (items[0].text() == constant_value) return constant(items[2], keeps_literals);
    auto found = outputs_.find({items[0].text(), items[1].integer()});
    if (found == outputs_.end()) refuse("there is no call " + place.json());
    const std::vector<Tensor> all = found->second.flatten();
    const int64_t index = items[2].integer();
    if (index < 0 || index >= static_cast<int64_t>(all.size())) refuse("there is no output " + place.json());
    return all[static_cast<size_t>(index)];
  }
  /// A value; functions decide themselves which dtype a literal takes.
  static Tensor constant(const Value& value, bool keeps_literals) {
    Tensor made = literal_from_value(value);
    return keeps_literals || made.dtype() == DType::string ? made : strengthen(made, natural_dtype(*made.impl()));
  }
  /// Tensors in the structure of the places, other values as constants.
  Nest structure(const Value& value, bool keeps_literals = false) const {
    if (value.is_none()) return {};
    if (is_place(value)) return Nest(tensor(value, keeps_literals));
    if (value.is_map()) {
      std::vector<Nest::Entry> entries;
      for (const auto& [key, item] : value.map()) entries.emplace_back(key, structure(item, keeps_literals));
      return Nest::dict(std::move(entries));
    }
    const bool is_nested =
        value.is_list() && !value.list().empty() &&
        (is_place(value.list()[0]) || value.list()[0].is_map() ||
         (value.list()[0].is_list() && !value.list()[0].list().empty() && is_place(value.list()[0].list()[0])));
    if (!is_nested) return Nest(constant(value, keeps_literals));
    std::vector<Nest> items;
    for (const Value& item : value.list()) items.push_back(structure(item, keeps_literals));
    return Nest::list(std::move(items));
  }

  /// The arguments stand beside every tensor of the inputs; they are all the same.
  static const Value& arguments_of(const Value& call) {
    static const Value none;
    if (is_place(call)) return call.list().size() > 3 ? call.list()[3] : none;
    if (call.is_list() && !call.list().empty()) return arguments_of(call.list()[0]);
    if (call.is_map() && !call.map().empty()) return arguments_of(call.map()[0].second);
    return none;
  }

  /// The layers of functions keep the structure of their first argument; it may be no tensor at all.
  Nest call_function(const FunctionLayer& function, const Layer& layer, const Value& value) const {
    Value arguments = arguments_of(value);
    Nest inputs;
    if (is_place(value) && value.list()[0].text() == constant_value && value.list()[2].is_text()) {
      Value::Map named = {{function.first_name(), value.list()[2]}};
      if (arguments.is_map()) named.insert(named.end(), arguments.map().begin(), arguments.map().end());
      arguments = named;
      inputs = Nest::list({});
    } else {
      inputs = structure(value, true);
    }
    CallArgs args;
    set_named(args, arguments.is_map() ? arguments : Value(Value::Map()));
    return functional::record(layer, inputs, args);
  }
  /// Arguments by name: where tensors come from other layers, they get a place.
  void set_named(CallArgs& args, const Value& named) const {
    std::vector<Nest> tensors;
    auto rest = std::make_shared<NamedArgs>();
    rest->named = with_tensors(named, tensors);
    args.more = Nest::list(std::move(tensors));
    args.rest = std::move(rest);
  }
  Value with_tensors(const Value& value, std::vector<Nest>& tensors) const {
    if (is_place(value)) {
      tensors.emplace_back(tensor(value, true));
      return make_place(tensors.size() - 1);
    }
    if (value.is_list()) {
      Value::List items;
      for (const Value& item : value.list()) items.push_back(with_tensors(item, tensors));
      return items;
    }
    if (!value.is_map()) return value;
    Value::Map entries;
    for (const auto& [key, item] : value.map()) entries.emplace_back(key, with_tensors(item, tensors));
    return entries;
  }

  void call(Pending& one, const Value& value) {
    if (auto* function = dynamic_cast<const FunctionLayer*>(one.layer.get())) {
      outputs_[{name_of(one), one.next++}] = call_function(*function, one.layer, value);
      return;
    }
    Nest inputs = ends(value);
    CallArgs args;
    read_arguments(one.layer, arguments_of(value), inputs, args);
    if (inputs.is_sequence() && inputs.size() > 1 && takes_states_as_inputs(one.layer.class_name())) {
      const Value constants = one.layer.get_config()["num_constants"];
      const size_t behind = constants.is_integer() ? static_cast<size_t>(constants.integer()) : 0;
      std::vector<Nest> all(inputs.items().begin(), inputs.items().end());
      const auto cut = all.end() - static_cast<std::ptrdiff_t>(std::min(behind, all.size() - 1));
      if (all.begin() + 1 != cut) args.initial_state = Nest::list({all.begin() + 1, cut});
      if (cut != all.end()) args.constants = Nest::list({cut, all.end()});
      inputs = all[0];
    }
    outputs_[{name_of(one), one.next++}] = one.layer.invoke(inputs, args);
  }
  void read_arguments(const Layer& layer, const Value& arguments, Nest& inputs, CallArgs& args) const {
    if (!arguments.is_map()) return;
    std::vector<Nest> more;
    Value::Map named;
    for (const auto& [name, value] : arguments.map()) {
      if (layer.object().takes_named_arguments() && name != "training" && name != "mask") {
        named.emplace_back(name, value);
        continue;
      }
      if (value.is_none() && name == "mask") args.ignores_masks = true;
      if (value.is_none()) continue;
      if (name == "training") args.training = value.is_bool() ? value.boolean() : value.number() != 0;
      else if (name == "return_attention_scores") args.return_attention_scores = Flag(value.boolean());
      else if (name == "use_causal_mask") args.use_causal_mask = Flag(value.boolean());
      else if (name == "mask") args.mask = structure(value);
      else if (name == "attention_mask") args.attention_mask = structure(value);
      else if (name == "initial_state") args.initial_state = structure(value);
      else if (name == "constants") args.constants = structure(value);
      else if (names_inputs(*layer.get()) && (name == "value" || name == "key")) continue;
      else refuse("layer '" + layer.name() + "' is called with an argument '" + name + "' that is not known");
    }
    if (!named.empty()) set_named(args, named);
    if (!names_inputs(*layer.get())) return;
    for (size_t i = 1; i < std::size(input_names); ++i)
      if (const Value& value = arguments[input_names[i]]; !value.is_none()) more.push_back(structure(value));
    if (more.empty()) return;
    more.insert(more.begin(), inputs);
    inputs = Nest::list(std::move(more));
  }
  std::string name_of(const Pending& one) const {
    for (const auto& [name, place] : places_)
      if (&pending_[place] == &one) return name;
    return one.layer.name();
  }

  std::vector<Pending> pending_;
  std::map<std::string, size_t> places_;                     // of layers by name
  std::map<std::pair<std::string, int64_t>, Nest> outputs_;  // of calls, as the configuration counts them
};

std::shared_ptr<LayerInterface> read_sequential(const Value& config) {
  auto made = std::make_shared<SequentialModel>();
  LayerOptions options;
  // An old form is the list of layers alone.
  const bool is_old = config.is_list();
  if (!is_old && config["name"].is_text()) options.name = config["name"].text();
  made->start(options);
  for (const Value& one : (is_old ? config : config["layers"]).list())
    made->add(Layer::from_config(one["class_name"].text(), one["config"]));
  if (const Value shape = is_old ? Value() : config["build_input_shape"]; shape.is_list() && !made->graph()) {
    Shape built;
    from_value(built, shape);
    Layer(made).build(built);
  }
  return made;
}

std::shared_ptr<LayerInterface> read_functional(const Value& config) {
  if (!config["layers"].is_list()) refuse("a graph of layers has `layers`, got " + config.json());
  Reader reader(config);
  auto made =
      std::make_shared<FunctionalModel>(reader.ends(config["input_layers"]), reader.ends(config["output_layers"]));
  LayerOptions options;
  options.name = config["name"].is_text() ? config["name"].text() : unique_name("model");
  made->start(options);
  if (config["trainable"].is_bool()) made->trainable = config["trainable"].boolean();
  return made;
}

template <auto Read> bool register_network(const char* name) {
  return register_class({LayerInterface::kind, name,
                         [](const Value& config) -> std::shared_ptr<Object> { return Read(config); },
                         []() -> const Rows& {
                           static const Rows none;
                           return none;
                         },
                         [] { return Value(Value::Map()); }});
}
const bool registered_networks[] = {register_network<read_sequential>("Sequential"),
                                    register_network<read_functional>("Functional"),
                                    register_alias(LayerInterface::kind, "Model", "Functional")};

}  // namespace

Model Model::from_config(const Value& given) {
  // Also as it stands in another model: {"class_name": ..., "config": ...}.
  const bool has_class = given.is_map() && given["class_name"].is_text();
  const Value& config = has_class ? given["config"] : given;
  if (has_class) return Model(Layer::from_config(given["class_name"].text(), config).pointer());
  return Model(config.is_map() && config.contains("input_layers") ? read_functional(config) : read_sequential(config));
}

Model models::clone_model(const Model& model) {
  if (!model.object().is_network())
    throw ValueError(
        "Expected `model` argument to be a functional `Model` instance, but got a subclassed model instead: '" +
        model.name() + "' (" + model.class_name() + ")");
  return Model(Layer::from_config(model.class_name(), model.get_config()).pointer());
}

}  // namespace thalweg::keras

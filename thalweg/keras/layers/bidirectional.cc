#include "thalweg/core/error.h"
#include "thalweg/keras/call_context.h"
#include "thalweg/keras/layers/wrappers.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/ordering.h"

namespace thalweg::keras::layers {

Value to_value(const LayerPattern& pattern) { return keras::to_value(pattern.layer()); }
void from_value(LayerPattern& pattern, const Value& value) {
  Layer layer;
  keras::from_value(layer, value);
  pattern = LayerPattern(layer);
}

namespace {

/// A flag of the struct behind a layer; false where it has none.
bool has(const Layer& layer, const char* flag) {
  Flag* found = layer.object().member<Flag>(flag);
  return found && *found;
}
bool is_recurrent(const Layer& layer) {
  return layer.defined() && layer.object().member<Flag>("go_backwards") && layer.object().member<Flag>("return_state");
}

/// Another layer like this one, which may go the other way.
Layer copy_of(const LayerPattern& pattern, const std::string& prefix, bool other_way) {
  const Layer& layer = pattern.layer();
  if (!is_recurrent(layer)) return {};  // refused when the layer is made
  Value config = layer.get_config();
  if (other_way) config.set("go_backwards", !has(layer, "go_backwards"));
  config.set("name", prefix + layer.name());
  Layer made = Layer::from_config(layer.class_name(), config);
  // Outputs of the two directions meet step by step: one that does not count must not bring along another step's.
  if (Flag* zero = made.object().member<Flag>("zero_output_for_mask")) *zero = Flag(has(layer, "return_sequences"));
  return made;
}

struct BidirectionalLayer {
  LayerPattern layer = {};
  BidirectionalOptions options = {};
  Layer forward_layer = copy_of(layer, "forward_", false);
  Layer backward_layer = options.backward_layer.defined() ? copy_of(options.backward_layer, "backward_", false)
                                                          : copy_of(layer, "backward_", true);

  void check() const {
    if (!is_recurrent(layer.layer()))
      throw ValueError(
          "Please initialize `Bidirectional` layer with a `tf.keras.layers.Layer` instance. Received: " +
          (layer.defined() ? layer.layer().class_name() + ", which is no recurrent layer" : std::string("None")));
    if (!backward_layer.defined())
      throw ValueError("`backward_layer` need to be a `tf.keras.layers.Layer` instance. Received: " +
                       options.backward_layer.layer().class_name() + ", which is no recurrent layer");
    const std::optional<std::string>& mode = options.merge_mode;
    if (mode && *mode != "sum" && *mode != "mul" && *mode != "ave" && *mode != "concat")
      throw ValueError("Invalid merge mode. Received: " + *mode +
                       ". Merge mode should be one of {\"sum\", \"mul\", \"ave\", \"concat\", None}");
    auto text = [](bool value) { return value ? std::string("True") : std::string("False"); };
    const bool forward = has(forward_layer, "go_backwards"), backward = has(backward_layer, "go_backwards");
    if (forward == backward)
      throw ValueError(
          "Forward layer and backward layer should have different `go_backwards` value."
          "forward_layer.go_backwards = " +
          text(forward) + ",backward_layer.go_backwards = " + text(backward));
    for (const char* name : {"stateful", "return_sequences", "return_state"})
      if (has(forward_layer, name) != has(backward_layer, name))
        throw ValueError("Forward layer and backward layer are expected to have the same value for attribute \"" +
                         std::string(name) + "\", got \"" + text(has(forward_layer, name)) +
                         "\" for forward layer and \"" + text(has(backward_layer, name)) + "\" for backward layer");
  }
  std::vector<InputSpec> input_spec() const { return forward_layer.input_spec(); }

  void build(const Nest& inputs) {
    const Nest x = inputs.kind() == Nest::Kind::list ? inputs[0] : inputs;
    for (const Layer& one : {forward_layer, backward_layer}) {
      keras::detail::CallContext context(*one.get(), {});
      keras::detail::build_if_needed(*one.get(), x);
    }
  }
  Nest call(const Nest& inputs, const CallArgs& args) {
    const bool is_list = inputs.kind() == Nest::Kind::list;  // a tuple is several sequences
    const Nest x = is_list ? inputs[0] : inputs;
    std::vector<Tensor> states = args.initial_state.flatten();
    if (is_list)
      for (size_t i = 1; i < inputs.size(); ++i)
        for (const Tensor& t : inputs[i].flatten()) states.push_back(t);
    if (states.size() % 2 != 0)
      throw ValueError(
          "When passing `initial_state` to a Bidirectional RNN, the state should be a list containing the states of "
          "the underlying RNNs. Received: " +
          std::to_string(states.size()) + " states");
    CallArgs one{.training = args.training, .mask = first_mask(args.mask), .constants = args.constants};
    CallArgs other = one;
    if (!states.empty()) {
      const auto half = states.begin() + static_cast<std::ptrdiff_t>(states.size() / 2);
      one.initial_state = Nest::of(std::vector<Tensor>(states.begin(), half));
      other.initial_state = Nest::of(std::vector<Tensor>(half, states.end()));
    }
    const Nest ahead = forward_layer.invoke(x, one), back = backward_layer.invoke(x, other);
    Tensor y = ahead.flatten()[0], z = back.flatten()[0];
    if (has(forward_layer, "return_sequences"))
      z = reverse(z, Tensor(std::vector<int32_t>{has(forward_layer, "time_major") ? 0 : 1}));
    std::vector<Nest> all;
    if (!options.merge_mode) all = {y, z};
    else if (*options.merge_mode == "concat") all = {concat({y, z}, -1)};
    else if (*options.merge_mode == "mul") all = {y * z};
    else if (*options.merge_mode == "sum") all = {y + z};
    else all = {(y + z) / 2.0f};
    for (const Nest* states_after : {&ahead, &back})
      for (size_t i = 1; i < states_after->size(); ++i) all.push_back((*states_after)[i]);
    return all.size() == 1 ? all[0] : Nest::list(std::move(all));
  }
  static Nest first_mask(const Nest& mask) { return mask.is_sequence() ? mask[0] : mask; }
  Nest compute_mask(const Nest&, const Nest& mask) {
    Nest first = has(forward_layer, "return_sequences") ? first_mask(mask) : Nest();
    if (options.merge_mode) return first.is_none() ? Nest() : Nest::list({first});
    return Nest::list({first, first});
  }
  void complete_config(Value& config) const {
    if (!options.backward_layer.defined()) config.erase("backward_layer");
  }
};

}  // namespace

Layer Bidirectional(const Layer& layer, const BidirectionalOptions& options) {
  return BidirectionalLayer{layer, options};
}

}  // namespace thalweg::keras::layers

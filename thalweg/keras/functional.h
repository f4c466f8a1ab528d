// Models as graphs of layers: tensors without values that remember which layer made them.
#pragma once
#include "thalweg/keras/layer.h"

namespace thalweg::keras {

struct InputOptions {
  int64_t batch_size = unknown;
  std::string name = {};   // left out: input_1, input_2, ...
  DTypeOrName dtype = {};  // left out: that of backend::floatx()
};
/// A tensor without a value, to which layers and ops are applied to make a model: `auto x = keras::Input({28, 28});`
/// The shape is that of one example.
THALWEG_API Tensor Input(const Shape& shape, const InputOptions& options = {});

namespace functional {

/// One call of a layer on such tensors.
struct THALWEG_API Node : std::enable_shared_from_this<Node> {
  Layer layer;
  int index = 0;  // among the calls of the layer
  Nest inputs;    // other such tensors, and tensors with values
  CallArgs args;
  Nest outputs;                                // tensors without values or history: dtypes and shapes
  std::vector<std::string> output_names = {};  // as the ops that give them are called: `dense/Relu:0`
  std::vector<Shape> output_dims = {};         // what those that could be shapes are known to hold

  /// All tensors it depends on: inputs, then those among the arguments.
  std::vector<Tensor> dependencies() const;
};
/// Where a tensor comes from.
struct History {
  std::shared_ptr<Node> node;
  int index = 0;  // among the outputs
};
/// The history of a tensor of this kind; no node for others.
THALWEG_API History history_of(const Tensor& tensor);
/// Whether it is of this kind.
THALWEG_API bool has_history(const Tensor& tensor);
/// Keras's name of such a tensor, and its texts for print and for a session:
/// `<KerasTensor: shape=(None, 32) dtype=float32 (created by layer 'dense')>`.
THALWEG_API std::string tensor_name(const Tensor& tensor);
THALWEG_API std::string tensor_str(const Tensor& tensor);
THALWEG_API std::string tensor_repr(const Tensor& tensor);
/// The outputs of a node as such tensors.
THALWEG_API Nest outputs_of(const std::shared_ptr<Node>& node);

/// Whether one of the tensors is of this kind.
THALWEG_API bool is_symbolic(const Nest& inputs, const CallArgs& args);
/// Calls `f` with every structure of tensors among the arguments.
template <class Args, class F> void for_each_nest(Args& args, const F& f) {
  f(args.mask);
  f(args.initial_state);
  f(args.constants);
  f(args.attention_mask);
  f(args.more);
}
/// Writes down a call of a layer, and gives its outputs.
THALWEG_API Nest record(const Layer& layer, const Nest& inputs, const CallArgs& args);
/// What a layer gives for inputs of these kinds, as tensors without values; builds it.
THALWEG_API Nest infer_outputs(const Layer& layer, const Nest& inputs, const CallArgs& args);

/// The nodes between inputs and outputs in an order in which they can run; ValueError where an output does not depend
/// on the inputs alone.
THALWEG_API std::vector<std::shared_ptr<Node>> sort_nodes(const Nest& inputs, const Nest& outputs);

/// The inputs and outputs of the same calls with inputs of their own, where some of the given ones are results of
/// layers.
THALWEG_API std::pair<Nest, Nest> begin_anew(const Nest& inputs, const Nest& outputs);

/// The calls of a layer in graphs that are still in use, in their order.
THALWEG_API std::vector<std::shared_ptr<Node>> nodes_of(const LayerInterface& layer);
/// What a layer takes or gives, as tensors without values: of a model that is a graph its own ends, of others what all
/// calls have in common. None where the layer was never called, or where calls differ.
THALWEG_API Nest input_kinds(const LayerInterface& layer);
THALWEG_API Nest output_kinds(const LayerInterface& layer);
/// What Keras counts as the first argument of a call: queries alone, sequences with the states they begin with.
THALWEG_API Nest first_argument(const Node& node);
/// The shapes of a structure as Python prints them: `[(None, 3), (None, 4)]`.
THALWEG_API std::string shape_text(const Nest& tensors);

}  // namespace functional

/// A model that is a graph of layers. `Model(inputs, outputs)` makes one.
class THALWEG_API FunctionalModel : public LayerInterface {
 public:
  FunctionalModel(const Nest& inputs, const Nest& outputs);

  std::string class_name() const override { return "Functional"; }
  const char* module_name() const override { return "keras.src.engine.functional"; }
  Value get_config() const override;
  Value build_config() const override;
  void build(const Nest&) override {}
  Nest call(const Nest& inputs, const CallArgs& args) override;
  Nest compute_mask(const Nest& inputs, const Nest& mask) override;
  std::vector<InputSpec> input_spec() const override;
  bool is_network() const override { return true; }
  bool is_model() const override { return true; }
  void list_parts(module::Parts& parts) const override;

  /// Runs what gives this tensor, too, whenever the model is called.
  void include(const Tensor& tensor);
  /// The tensors for the inputs, in their order, with their ranks and dtypes.
  std::vector<Tensor> arrange(const Nest& given) const;
  const Nest& inputs() const { return inputs_; }
  const Nest& outputs() const { return outputs_; }
  const std::vector<std::shared_ptr<functional::Node>>& nodes_in_order() const { return nodes_; }
  /// The longest way of each node to an output; calls of one layer have the same.
  const std::vector<int>& depths() const { return depths_; }
  const std::vector<Layer>& layers() const { return layers_; }
  /// The names of the input layers, in the order of the inputs.
  const std::vector<std::string>& input_names() const { return input_names_; }
  /// The names of the layers that give the outputs.
  const std::vector<std::string>& output_names() const { return output_names_; }

 private:
  struct Step {
    functional::Node* node;
    std::vector<int> from;  // for each tensor it depends on: its place, or -1 for one with a value
    int to;                 // the place of its first output
    int count;              // how many outputs it has
  };
  void arrange_nodes();
  Tensor conform(const Tensor& given, const Tensor& reference) const;

  Nest inputs_, outputs_;
  std::vector<Tensor> included_;  // besides the outputs
  std::vector<std::shared_ptr<functional::Node>> nodes_;
  std::vector<int> depths_;
  std::vector<Layer> layers_;
  std::vector<std::string> input_names_, output_names_;
  std::vector<Step> steps_;
  std::vector<int> output_places_;
  int num_places_ = 0;
};

/// Layers one after the other; they are built when the shape of the input is known.
class THALWEG_API SequentialModel : public LayerInterface {
 public:
  SequentialModel() { autocast = false; }  // its layers cast, as in a graph of layers

  std::string class_name() const override { return "Sequential"; }
  const char* module_name() const override { return "keras"; }
  Value get_config() const override;
  Value build_config() const override;
  void build(const Nest& inputs) override;
  Nest call(const Nest& inputs, const CallArgs& args) override;
  Nest compute_mask(const Nest& inputs, const Nest& mask) override;
  bool supports_masking() const override { return true; }
  bool is_network() const override { return true; }
  bool is_model() const override { return true; }
  void list_parts(module::Parts& parts) const override;

  std::vector<InputSpec> input_spec() const override;
  void add(const Layer& layer);
  void pop();
  const std::vector<Layer>& layers() const { return layers_; }
  /// The same as a graph of layers; null before the shape of the input is known.
  const std::shared_ptr<FunctionalModel>& graph() const { return graph_; }

 private:
  void connect(const Tensor& input);

  std::vector<Layer> layers_;
  Tensor input_;  // as functional models have it, once known
  std::shared_ptr<FunctionalModel> graph_;
  bool has_given_shape_ = false;
};

/// The graph of layers behind a functional or sequential model, or one of Python that comes from such a model; null for
/// others, or before it is known.
THALWEG_API FunctionalModel* graph_of(const LayerInterface& model);
/// Says how graph_of finds the model of the engine that a model of another language comes from; null where there is
/// none.
using FindInner = const LayerInterface* (*)(const LayerInterface& model);
THALWEG_API void set_find_inner(FindInner find);

}  // namespace thalweg::keras

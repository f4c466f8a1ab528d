#include "thalweg/keras/input_layer.h"

#include "thalweg/core/error.h"

namespace thalweg::keras {

void InputLayer::check() {
  if (options.sparse || options.ragged)
    throw ValueError(std::string("an InputLayer with ") + (options.sparse ? "sparse" : "ragged") +
                     "=True stands for a " + (options.sparse ? "SparseTensor" : "RaggedTensor") +
                     ", which this library does not have: inputs are dense tensors");
  if (options.input_shape.has_rank()) {
    if (options.batch_input_shape)
      throw ValueError(
          "Only provide the input_shape OR batch_input_shape argument to InputLayer, not both at the same time.");
    options.batch_input_shape = options.input_shape;
    options.batch_input_shape->insert(0, options.batch_size.value_or(unknown));
    options.input_shape = Shape::unknown_rank();
  }
  if (options.dtype == DType::invalid) options.dtype = DType::float32;
  if (options.name.empty()) {
    // Keras counts inputs from one.
    options.name = unique_name("input");
    if (options.name == "input") options.name = unique_name("input");
  }
}

void InputLayer::complete_config(Value& config) const {
  config = Value::map({{"batch_input_shape", config["batch_input_shape"]},
                       {"dtype", config["dtype"]},
                       {"sparse", config["sparse"]},
                       {"ragged", config["ragged"]},
                       {"name", config["name"]}});
}

Layer layers::InputLayer(const InputLayerOptions& options) { return keras::InputLayer{options}; }

Tensor make_input(const Shape& batch_shape, DType dtype, const std::string& name) {
  return input_of(layers::InputLayer({.dtype = dtype, .name = name, .batch_input_shape = batch_shape}));
}

Tensor input_of(const Layer& layer) {
  LayerInterface& self = *layer.get();
  for (const std::shared_ptr<functional::Node>& node : functional::nodes_of(self))
    return functional::outputs_of(node).tensor();
  const InputLayerOptions& input = layer.as<InputLayer>()->options;
  if (!input.batch_input_shape)
    throw ValueError("the shape of the input '" + layer.name() + "' is not known: an InputLayer needs one");
  self.batch_input_shape = input.batch_input_shape;
  self.built = true;
  auto node = std::make_shared<functional::Node>();
  node->layer = layer;
  node->outputs = Nest(detail::stand_in(input.dtype, *input.batch_input_shape));
  node->output_names = {layer.name()};
  self.num_nodes = 1;
  self.nodes = {node};
  return functional::outputs_of(node).tensor();
}

}  // namespace thalweg::keras

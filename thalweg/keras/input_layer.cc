#include "thalweg/keras/input_layer.h"

#include "thalweg/core/error.h"

namespace thalweg::keras {

Tensor make_input(const Shape& batch_shape, DType dtype, const std::string& name) {
  InputLayer made;
  made.batch_input_shape = batch_shape;
  made.dtype = dtype;
  made.name = name;
  if (name.empty()) {
    // Keras counts inputs from one.
    made.name = unique_name("input");
    if (made.name == "input") made.name = unique_name("input");
  }
  return input_of(Layer(std::move(made)));
}

Tensor input_of(const Layer& layer) {
  LayerInterface& self = *layer.get();
  for (const std::shared_ptr<functional::Node>& node : functional::nodes_of(self))
    return functional::outputs_of(node).tensor();
  const InputLayer& input = *layer.as<InputLayer>();
  if (!input.batch_input_shape)
    throw ValueError("the shape of the input '" + layer.name() + "' is not known: an InputLayer needs one");
  self.batch_input_shape = input.batch_input_shape;
  self.built = true;
  auto node = std::make_shared<functional::Node>();
  node->layer = layer;
  node->outputs = Nest(detail::stand_in(input.dtype, *input.batch_input_shape));
  self.num_nodes = 1;
  self.nodes = {node};
  return functional::outputs_of(node).tensor();
}

}  // namespace thalweg::keras

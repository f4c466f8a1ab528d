#include "thalweg/core/error.h"
#include "thalweg/graph/init_scope.h"
#include "thalweg/keras/call_context.h"
#include "thalweg/keras/input_layer.h"
#include "thalweg/keras/model.h"

namespace thalweg::keras {

namespace {
Tensor single_output(const Layer& layer, const Tensor& input) {
  const Nest outputs = layer.invoke(input);
  if (!outputs.is_tensor())
    throw ValueError(
        "All layers in a Sequential model should have a single output tensor. For multi-output layers, use the "
        "functional API.");
  return outputs.tensor();
}
}  // namespace

void SequentialModel::connect(const Tensor& input) {
  Tensor x = input;
  for (const Layer& layer : layers_) x = single_output(layer, x);
  input_ = input;
  graph_ = std::make_shared<FunctionalModel>(Nest(input), Nest(x));
  graph_->name = name;
  built = true;
}

void SequentialModel::add(const Layer& layer) {
  if (!layer.defined()) throw ValueError("a Sequential model takes layers; this one is empty");
  for (const Layer& other : layers_)
    if (other.name() == layer.name())
      throw ValueError("All layers added to a Sequential model should have unique names. Name \"" + layer.name() +
                       "\" is already the name of a layer in this model. Update the `name` argument to pass a unique "
                       "name.");
  if (layer.as<InputLayer>()) {  // stands for the shape alone
    if (!layers_.empty()) throw ValueError("an input can only come first in a Sequential model");
    has_given_shape_ = true;
    connect(input_of(layer));
    return;
  }
  layers_.push_back(layer);
  try {
    if (graph_) {
      const Tensor after = single_output(layer, graph_->outputs().tensor());
      graph_ = std::make_shared<FunctionalModel>(Nest(input_), Nest(after));
      graph_->name = name;
      built = true;
    } else if (const auto& shape = layer.object().batch_input_shape; shape && layers_.size() == 1) {
      has_given_shape_ = true;
      connect(make_input(*shape, layer.dtype(), layer.name() + "_input"));
    } else if (FunctionalModel* network = graph_of(*layer.get()); network && layers_.size() == 1) {
      Tensor first = network->inputs().tensor();
      has_given_shape_ = true;
      connect(make_input(first.shape(), first.dtype(), layer.name() + "_input"));
    } else {
      built = false;
    }
  } catch (...) {
    layers_.pop_back();
    throw;
  }
}

void SequentialModel::pop() {
  if (layers_.empty()) throw TypeError("There are no layers in the model.");
  layers_.pop_back();
  if (graph_ && !layers_.empty()) {  // as far as what the last layer was called on
    const Tensor before = functional::history_of(graph_->outputs().tensor()).node->inputs.tensor();
    graph_ = std::make_shared<FunctionalModel>(Nest(input_), Nest(before));
    graph_->name = name;
    return;
  }
  graph_ = nullptr;
  if (has_given_shape_ && input_.defined()) connect(input_);
  else built = false;
}

void SequentialModel::build(const Nest& inputs) {
  if (!inputs.is_tensor() || layers_.empty()) return;
  Shape shape = inputs.tensor().shape();
  try {
    InitScope outside;  // not a part of what is being traced: the shapes are what counts
    connect(make_input(shape, inputs.tensor().dtype(), layers_.front().name() + "_input"));
  } catch (const Error&) {
    graph_ = nullptr;  // the layers are called one by one, and the first that fails says why
  }
}

Nest SequentialModel::call(const Nest& inputs, const CallArgs& args) {
  Nest x = graph_ && has_given_shape_ ? Nest(graph_->arrange(inputs).at(0)) : inputs;
  CallArgs with;
  with.training = args.training;
  with.mask = args.mask;
  for (const Layer& layer : layers_) {
    x = detail::run(*layer.get(), x, with);
    with.mask = Nest();  // from here on tensors carry their masks
  }
  return x;
}

std::vector<InputSpec> SequentialModel::input_spec() const {
  return graph_ && has_given_shape_ ? graph_->input_spec() : std::vector<InputSpec>();
}

Nest SequentialModel::compute_mask(const Nest& inputs, const Nest& mask) {
  CallArgs args;
  args.mask = mask;
  return detail::masks_of(call(inputs, args));
}

void SequentialModel::list_parts(module::Parts& parts) const {
  for (size_t i = 0; i < layers_.size(); ++i) parts("layer-" + std::to_string(i), layers_[i]);
}

Sequential::Sequential(const std::vector<Layer>& layers, const LayerOptions& options) {
  auto made = std::make_shared<SequentialModel>();
  made->start(options);
  p_ = made;
  for (const Layer& layer : layers) add(layer);
}
Sequential::Sequential(std::initializer_list<Layer> layers, const LayerOptions& options)
    : Sequential(std::vector<Layer>(layers), options) {}
void Sequential::add(const Layer& layer) const { static_cast<SequentialModel&>(*p_).add(layer); }
void Sequential::pop() const { static_cast<SequentialModel&>(*p_).pop(); }

}  // namespace thalweg::keras

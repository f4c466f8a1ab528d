#include "thalweg/keras/model.h"

#include "thalweg/autodiff/gradient_tape.h"
#include "thalweg/core/error.h"
#include "thalweg/keras/call_context.h"
#include "thalweg/keras/eager_only.h"
#include "thalweg/keras/loss_scale.h"
#include "thalweg/keras/training_loop.h"

namespace thalweg::keras {
namespace {

/// Own names of outputs, where the model is a graph of layers.
std::vector<std::string> output_names(LayerInterface& model) {
  const FunctionalModel* network = graph_of(model);
  return network ? network->output_names() : std::vector<std::string>();
}

}  // namespace

Batch unpack(const Nest& data) {
  if (data.is_tensor() || data.is_dict() || data.kind() == Nest::Kind::list) return {data, {}, {}};
  if (data.size() > 3 || data.size() == 0)
    throw ValueError("Data is expected to be in format `x`, `(x,)`, `(x, y)`, or `(x, y, sample_weight)`, found: " +
                     data.str());
  return {data[0], data.size() > 1 ? data[1] : Nest(), data.size() > 2 ? data[2] : Nest()};
}

Model::Model(const Nest& inputs, const Nest& outputs, const LayerOptions& options) {
  auto made = std::make_shared<FunctionalModel>(inputs, outputs);
  if (options.name.empty()) {
    LayerOptions named = options;
    named.name = unique_name("model");
    made->start(named);
  } else {
    made->start(options);
  }
  p_ = made;
}

void Model::become_model() const { p_->is_trained_as_model = true; }

Training::Training(const Model& model, const CompileOptions& given)
    : options(given),
      losses(given.loss, given.loss_weights, output_names(model.object())),
      metrics(given.metrics, given.weighted_metrics, output_names(model.object())),
      // The training belongs to the model, so the steps only point back to it.
      train([layer = model.get()](const Nest& data) { return run_train_step(Model(layer->shared_from_this()), data); },
            given.run_eagerly, given.jit_compile, "train_function"),
      test([layer = model.get()](const Nest& data) { return run_test_step(Model(layer->shared_from_this()), data); },
           given.run_eagerly, given.jit_compile, "test_function"),
      predict(
          [layer = model.get()](const Nest& data) { return run_predict_step(Model(layer->shared_from_this()), data); },
          given.run_eagerly, given.jit_compile, "predict_function"),
      trainable_state(trainable_state_of(model)) {
  if (!is_dynamic(model)) return;
  for (StepFunction* step : {&train, &test, &predict}) step->set_eagerly(true);
}

TrainableState trainable_state_of(const Layer& layer) {
  TrainableState state = {{layer.pointer(), layer.trainable()}};
  for (const Layer& inner : layer.layers())
    for (auto& one : trainable_state_of(inner)) state.push_back(std::move(one));
  return state;
}

Nest Training::run_train_step(const Model& model, const Nest& data) {
  Model self = model;
  if (self.object().has_train_step()) return self.object().train_step(self, data);
  self.make_train_step(data);
  return {};
}
Nest Training::run_test_step(const Model& model, const Nest& data) {
  Model self = model;
  if (self.object().has_test_step()) return self.object().test_step(self, data);
  self.make_test_step(data);
  return {};
}
Nest Training::run_predict_step(const Model& model, const Nest& data) {
  Model self = model;
  if (self.object().has_predict_step()) return self.object().predict_step(self, data);
  return self.predict_step(data);
}

void Model::compile(const CompileOptions& options) const {
  p_->training = std::make_shared<Training>(*this, options);
  Optimizer& optimizer = p_->training->options.optimizer;
  // Gradients in float16 vanish without it.
  if (dtype_policy() == Policy("mixed_float16") && optimizer.defined() &&
      !mixed_precision::is_loss_scale_optimizer(optimizer))
    optimizer = mixed_precision::LossScaleOptimizer(optimizer);
  p_->training->compiled = true;
}
bool Model::is_compiled() const { return p_->training && p_->training->compiled; }

void Model::make_train_step(const Nest& data) const {
  auto [x, y, sample_weight] = unpack(data);
  GradientTape tape;
  Nest y_pred = invoke(x, {.training = true});
  Tensor loss = compute_loss(x, y, y_pred, sample_weight);
  check_target_and_loss(y, loss);
  std::vector<Variable> variables = trainable_variables();
  optimizer().minimize(loss, variables, tape);
  require_compiled(*this).metrics.update(y, y_pred, sample_weight);
}
void Model::make_test_step(const Nest& data) const {
  auto [x, y, sample_weight] = unpack(data);
  Nest y_pred = invoke(x, {.training = false});
  compute_loss(x, y, y_pred, sample_weight);
  require_compiled(*this).metrics.update(y, y_pred, sample_weight);
}
void Model::check_target_and_loss(const Nest& y, const Tensor& loss) const {
  if (!require_compiled(*this).options.loss.empty() && y.is_none())
    throw ValueError(
        "Target data is missing. Your model was compiled with a loss, and therefore expects target data to be provided "
        "in `fit()`: pass y, or batches of (x, y).");
  if (!loss.defined())
    throw ValueError(
        "No loss found. You may have forgotten to provide a `loss` argument in the `compile()` method, or to call "
        "`add_loss`.");
}
Nest Model::train_step(const Nest& data) const {
  make_train_step(data);
  return metric_results();
}
Nest Model::test_step(const Nest& data) const {
  make_test_step(data);
  return metric_results();
}
Nest Model::predict_step(const Nest& data) const { return invoke(unpack(data).x, {.training = false}); }

Tensor Model::compute_loss(const Nest&, const Nest& y, const Nest& y_pred, const Nest& sample_weight) const {
  std::vector<Tensor> added = losses();
  std::erase_if(added, functional::has_history);  // of layers that this call left out
  return require_compiled(*this).losses.compute(y, y_pred, sample_weight, added);
}
Nest Model::compute_metrics(const Nest&, const Nest& y, const Nest& y_pred, const Nest& sample_weight) const {
  require_compiled(*this).metrics.update(y, y_pred, sample_weight);
  return metric_results();
}
Nest Model::metric_results() const {
  std::vector<Nest::Entry> entries;
  for (const Metric& metric : metrics()) {
    const Nest results = metric.results();
    for (size_t i = 0; i < results.size(); ++i) entries.emplace_back(results.keys()[i], results.items()[i]);
  }
  return Nest::dict(std::move(entries));
}

const Optimizer& Model::optimizer() const { return require_compiled(*this).options.optimizer; }

std::vector<Metric> Model::metrics() const {
  std::vector<Metric> all;
  if (is_compiled()) {
    all = p_->training->losses.metrics();
    for (const Metric& metric : p_->training->metrics.metrics()) all.push_back(metric);
  }
  detail::collect_metrics(*p_, all);
  return all;
}
std::vector<std::string> Model::metrics_names() const {
  std::vector<std::string> names;
  for (const Metric& metric : metrics()) names.push_back(metric.name());
  return names;
}
void Model::reset_metrics() const {
  for (const Metric& metric : metrics()) metric.reset_state();
  if (p_->training) p_->training->metrics.reset_given();
}
void Model::stop_training() const { training_of(*this).stop = true; }
History Model::history() const { return p_->training ? p_->training->history : History(); }

Layer Model::get_layer(std::string_view name) const {
  std::string known;
  for (const Layer& layer : layers()) {
    if (layer.name() == name) return layer;
    known += (known.empty() ? "'" : ", '") + layer.name() + "'";
  }
  throw ValueError("No such layer: " + std::string(name) + ". Existing layers are: [" + known + "].");
}
Layer Model::get_layer(size_t index) const {
  std::vector<Layer> all = layers();
  if (index >= all.size())
    throw ValueError("Was asked to retrieve layer at index " + std::to_string(index) + " but model only has " +
                     std::to_string(all.size()) + " layers.");
  return all[index];
}

namespace {
struct AddLossLayer {
  Tensor call(const Tensor& loss) {
    keras::add_loss(loss);
    return loss;
  }
};
}  // namespace

void Model::add_loss(const Tensor& loss) const {
  FunctionalModel* network = graph_of(*p_);
  if (!network || !functional::has_history(loss))
    throw ValueError("add_loss of a model takes a tensor that was made from the model's inputs, before it has values");
  network->include(Layer(AddLossLayer{})(loss));
}

Nest Model::inputs() const {
  FunctionalModel* network = graph_of(*p_);
  return network ? network->inputs() : Nest();
}
Nest Model::outputs() const {
  FunctionalModel* network = graph_of(*p_);
  return network ? network->outputs() : Nest();
}

void Model::build(const Shape& input_shape) const {
  if (p_->is_network()) return Layer::build(input_shape);
  build_for(Nest(detail::stand_in(compute_dtype(), input_shape)));
}
void Model::build(const std::vector<Shape>& input_shapes) const {
  if (p_->is_network()) return Layer::build(input_shapes);
  std::vector<Nest> inputs;
  for (const Shape& shape : input_shapes) inputs.emplace_back(detail::stand_in(compute_dtype(), shape));
  build_for(Nest::list(std::move(inputs)));
}
void Model::build_for(const Nest& inputs) const {
  detail::Unscoped names(*p_);
  functional::infer_outputs(*this, inputs, {});
}

}  // namespace thalweg::keras

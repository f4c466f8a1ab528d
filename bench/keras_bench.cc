// Keras's models as programs use them: engine/<workload>/threads:<n>. bench/keras_models.py has the same ones for
// Python.
#include <benchmark/benchmark.h>

#include "bench/workloads.h"
#include "thalweg/thalweg.h"

namespace thalweg::bench {
namespace {

using benchmark::DoNotOptimize;
namespace layers = keras::layers;

/// Classes of examples.
Tensor classes(int64_t count) { return cast(range(count) % int64_t{10}, int32); }

keras::Model perceptron() {
  keras::Model model = keras::Sequential(
      {layers::Dense(128, {.activation = "relu", .input_shape = {784}}), layers::Dense(10, {.activation = "softmax"})});
  model.compile({.optimizer = "adam", .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
  return model;
}

void fit_mlp(benchmark::State& state) {
  keras::Model model = perceptron();
  const Tensor x = numbers({60000, 784}), y = classes(60000);
  model.fit(x(slice(0, 320)), y(slice(0, 320)), {.verbose = 0});
  for (auto _ : state) DoNotOptimize(model.fit(x, y, {.batch_size = 32, .verbose = 0}));
}

void fit_cnn(benchmark::State& state) {
  keras::Model model = keras::Sequential({
      layers::Conv2D(32, 3, {.activation = "relu", .input_shape = {28, 28, 1}}),
      layers::Conv2D(64, 3, {.activation = "relu"}),
      layers::MaxPooling2D({.pool_size = 2}),
      layers::Dropout(0.25),
      layers::Flatten(),
      layers::Dense(128, {.activation = "relu"}),
      layers::Dropout(0.5),
      layers::Dense(10, {.activation = "softmax"}),
  });
  model.compile({.optimizer = "adam", .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
  const Tensor x = numbers({1280, 28, 28, 1}), y = classes(1280);
  model.fit(x(slice(0, 256)), y(slice(0, 256)), {.batch_size = 128, .verbose = 0});
  for (auto _ : state) DoNotOptimize(model.fit(x, y, {.batch_size = 128, .verbose = 0}));
}

void predict_one(benchmark::State& state) {
  keras::Model model = perceptron();
  const Tensor x = numbers({1, 784});
  for (auto _ : state) DoNotOptimize(model.predict(x));
}

void call_one(benchmark::State& state) {
  keras::Model model = perceptron();
  const Tensor x = numbers({1, 784});
  for (auto _ : state) DoNotOptimize(model(x));
}

/// A step of Adam in a function.
void train_traced(benchmark::State& state, const keras::Model& model, const keras::Loss& loss_of, const Tensor& inputs,
                  const Tensor& targets) {
  keras::Optimizer optimizer = "adam";
  auto step = function([&](const Tensor& x, const Tensor& y) {
    GradientTape tape;
    Tensor loss = loss_of(y, model(x, {.training = true}));
    optimizer.apply_gradients(tape.gradient(loss, model.trainable_variables()), model.trainable_variables());
    return loss;
  });
  for (auto _ : state) DoNotOptimize(step(inputs, targets));
}

void lstm_step(benchmark::State& state) {
  keras::Model model = keras::Sequential({layers::LSTM(128, {.input_shape = {28, 28}}), layers::Dense(10)});
  train_traced(state, model, keras::losses::SparseCategoricalCrossentropy({.from_logits = true}), numbers({32, 28, 28}),
               classes(32));
}

void transformer_step(benchmark::State& state) {
  auto inputs = keras::Input({128, 512});
  Tensor attended = layers::MultiHeadAttention(8, 64)({inputs, inputs});
  Tensor x = layers::LayerNormalization()(inputs + attended);
  Tensor hidden = layers::Dense(512)(layers::Dense(2048, {.activation = "relu"})(x));
  keras::Model model(inputs, layers::LayerNormalization()(x + hidden));
  train_traced(state, model, "mse", numbers({8, 128, 512}), numbers({8, 128, 512}));
}

[[maybe_unused]] const bool registered = [] {
  add_workload("keras_fit_mlp", fit_mlp);
  add_workload("keras_fit_cnn", fit_cnn);
  add_workload("keras_predict_one", predict_one);
  add_workload("keras_call_one", call_one);
  add_workload("keras_lstm_step", lstm_step);
  add_workload("keras_transformer_step", transformer_step);
  return true;
}();

}  // namespace
}  // namespace thalweg::bench

// What tapes cost, and training steps made of eager ops: engine/<workload>/threads:<n>.
#include <benchmark/benchmark.h>

#include "bench/models.h"

namespace thalweg::bench {
namespace {

using benchmark::DoNotOptimize;

// One addition that a tape records; the tape is dropped every thousand, and what that costs is counted.
void taped_add(benchmark::State& state) {
  const Tensor x = 1.0f, y = 2.0f;
  constexpr int batch = 1000;
  for (auto _ : state) {
    GradientTape tape;
    tape.watch(x);
    for (int i = 0; i < batch; ++i) DoNotOptimize(x + y);
  }
}

// A hundred multiplications and additions of scalars, and the way back.
void scalar_chain(benchmark::State& state) {
  const Tensor x = 0.5f, a = 0.9f, b = 0.1f;
  for (auto _ : state) {
    GradientTape tape;
    tape.watch(x);
    Tensor y = x;
    for (int i = 0; i < 50; ++i) y = y * a + b;
    DoNotOptimize(tape.gradient(y, x));
  }
}

void mlp_step(benchmark::State& state) {
  const Perceptron model;
  const Tensor x = numbers({32, 784}), labels = batch_labels();
  for (auto _ : state) DoNotOptimize(train(model, x, labels));
}

const bool registered = [] {
  add_workload("taped_add_1000", taped_add);
  add_workload("scalar_chain_100", scalar_chain);
  add_workload("mlp_step", mlp_step);
  add_workload("mlp_step_function", mlp_step);  // against TensorFlow's tf.function
  return true;
}();

}  // namespace
}  // namespace thalweg::bench

// What tapes cost, and training steps made of eager ops: engine/<workload>/threads:<n>.
#include <benchmark/benchmark.h>

#include "bench/workloads.h"
#include "thalweg/thalweg.h"

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

/// A variable and the two moments that Adam keeps of it.
struct Weight {
  Variable value, first, second;
  explicit Weight(const Shape& shape)
      : value(numbers(shape) * 0.05f), first(zeros_like(value)), second(zeros_like(value)) {}
};

/// 784 inputs, 128 hidden units, 10 classes; batches of 32; Adam.
class Perceptron {
 public:
  Tensor step() {
    GradientTape tape;
    Tensor hidden = nn::relu(matmul(x_, w1_.value) + b1_.value);
    Tensor logits = matmul(hidden, w2_.value) + b2_.value;
    Tensor loss = reduce_mean(nn::sparse_softmax_cross_entropy_with_logits(labels_, logits));
    auto [dw1, db1, dw2, db2] = tape.gradient(loss, w1_.value, b1_.value, w2_.value, b2_.value);
    update(w1_, dw1);
    update(b1_, db1);
    update(w2_, dw2);
    update(b2_, db2);
    return loss;
  }
  bool ready() const { return static_cast<bool>(adam_); }

 private:
  void update(const Weight& w, const Tensor& gradient) const {
    adam_({w.value.handle(), w.first.handle(), w.second.handle(), beta1_, beta2_, rate_, beta1_, beta2_, epsilon_,
           gradient});
  }
  Weight w1_{{784, 128}}, b1_{{128}}, w2_{{128, 10}}, b2_{{10}};
  Tensor x_ = numbers({32, 784}), labels_ = range(32) % 10;
  Tensor beta1_ = 0.9f, beta2_ = 0.999f, rate_ = 1e-3f, epsilon_ = 1e-7f;
  NamedOp adam_{"ResourceApplyAdam"};
};

void mlp_step(benchmark::State& state) {
  Perceptron model;
  if (!model.ready()) return state.SkipWithError("this build has no such op");
  for (auto _ : state) DoNotOptimize(model.step());
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

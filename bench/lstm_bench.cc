// Recurrent layers: a training step of an LSTM, and its sequence op alone: engine/<workload>/threads:<n>.
#include <benchmark/benchmark.h>

#include "bench/models.h"

namespace thalweg::bench {
namespace {

using benchmark::DoNotOptimize;

/// Sequences [batch, 28, 28] through 128 units, whose last output decides between 10 classes. The weights are apart, as
/// Keras keeps them.
struct Lstm {
  std::deque<Weight> weights = Perceptron::weights_of({{28, 512}, {128, 512}, {512}, {128, 10}, {10}});

  Tensor operator()(const Tensor& x) const {
    Tensor state = zeros({32, 128});
    Tensor w = concat({weights[0].value.read_value(), weights[1].value.read_value()}, 0);
    Tensor h = nn::block_lstm(transpose(x, {.perm = {1, 0, 2}}), state, state, w, weights[2].value).h;
    return matmul(h(-1), weights[3].value) + weights[4].value;
  }
};

void lstm_step(benchmark::State& state) {
  const Lstm model;
  const Tensor inputs = numbers({32, 28, 28}), classes = batch_labels();
  auto step = function([&](const Tensor& x, const Tensor& labels) { return train(model, x, labels); });
  for (auto _ : state) DoNotOptimize(step(inputs, classes));
}

/// What both ops of a sequence read.
struct Sequence {
  Tensor x = numbers({28, 32, 28}), zero = zeros({32, 128}), w = numbers({156, 512}) * 0.05f, b = numbers({512}),
         unused = zeros({128}), steps = int64_t{28};
  nn::BlockLstm run() const { return nn::block_lstm(x, zero, zero, w, b, {.seq_len_max = steps}); }
};

void block_lstm(benchmark::State& state) {
  const Sequence s;
  for (auto _ : state) DoNotOptimize(s.run());
}

void block_lstm_grad(benchmark::State& state) {
  const Sequence s;
  const nn::BlockLstm states = s.run();
  const Tensor gradient = numbers({28, 32, 128});
  for (auto _ : state)
    DoNotOptimize(nn::block_lstm_grad({s.steps, s.x, s.zero, s.zero, s.w, s.unused, s.unused, s.unused, s.b}, states,
                                      gradient, gradient));
}

[[maybe_unused]] const bool registered = [] {
  add_workload("traced_lstm_step", lstm_step);
  add_workload("block_lstm", block_lstm);
  add_workload("block_lstm_grad", block_lstm_grad);
  return true;
}();

}  // namespace
}  // namespace thalweg::bench

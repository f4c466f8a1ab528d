// Traced functions: engine/<workload>/threads:<n>.
#include <benchmark/benchmark.h>

#include "bench/models.h"
#include "thalweg/graph/function_body.h"

namespace thalweg::bench {
namespace {

using benchmark::DoNotOptimize;

// A call of the smallest function.
void traced_add(benchmark::State& state) {
  const Tensor x = 1.0f, y = 2.0f;
  auto f = function([](const Tensor& a, const Tensor& b) { return a + b; });
  for (auto _ : state) DoNotOptimize(f(x, y));
}

void traced_chain(benchmark::State& state) {
  const Tensor x = numbers({1'000'000});
  auto f = function([](const Tensor& t) { return tanh(t * 2.0f + 1.0f) * exp(-t) + t; }, {.jit_compile = true});
  for (auto _ : state) DoNotOptimize(f(x));
}

// A step with the tape inside of the function.
template <class Model> void training(benchmark::State& state, const Shape& batch) {
  const Model model;
  const Tensor inputs = numbers(batch), classes = batch_labels();
  auto step = function([&](const Tensor& x, const Tensor& labels) { return train(model, x, labels); });
  for (auto _ : state) DoNotOptimize(step(inputs, classes));
}

void resnet50(benchmark::State& state) {
  const ResNet50 model;
  const Tensor image = numbers({1, 224, 224, 3});
  auto f = function([&](const Tensor& x) { return model(x); });
  DoNotOptimize(f(image));
  for (auto _ : state) DoNotOptimize(f(image));
}

// Tracing, passes and planning: what the first call does before it runs. Its difference to later calls, as TensorFlow's
// is measured, is too small beside them for that here.
void resnet50_trace(benchmark::State& state) {
  const ResNet50 model;
  for (auto _ : state) {
    auto f = function([&](const Tensor& x) { return model(x); });
    DoNotOptimize(f.get_concrete_function(TensorSpec({1, 224, 224, 3})).body()->plan().num_steps());
  }
}

// The time of one turn of a loop with a scalar body.
void while_turn(benchmark::State& state) {
  constexpr int32_t turns = 1000;
  const Tensor limit = turns;
  auto f = function([](const Tensor& n) {
    auto below = [&](const Tensor& i, const Tensor&) { return i < n; };
    auto body = [](const Tensor& i, const Tensor& sum) { return std::tuple(i + 1, sum + cast(i, DType::float32)); };
    return std::get<1>(while_loop(below, body, std::tuple<Tensor, Tensor>(0, 0.0f)));
  });
  while (state.KeepRunningBatch(turns)) DoNotOptimize(f(limit));
}

// One question about a value and the scalar op that follows it: plain `if`, and cond.
constexpr int questions = 100;
Tensor ask_plainly(Tensor x) {
  for (int i = 0; i < questions; ++i) {
    if (x > 0.0f) x = x - 1.0f;
    else x = x + 1.0f;
  }
  return x;
}
Tensor ask_with_cond(Tensor x) {
  for (int i = 0; i < questions; ++i) x = cond(x > 0.0f, [&] { return x - 1.0f; }, [&] { return x + 1.0f; });
  return x;
}
template <class F> void ask(benchmark::State& state, const F& f) {
  const Tensor x = 0.5f;
  while (state.KeepRunningBatch(questions)) DoNotOptimize(f(x));
}

[[maybe_unused]] const bool registered = [] {
  add_workload("traced_add", traced_add);
  add_workload("traced_chain_1m", traced_chain);
  add_workload("traced_mlp_step", [](auto& state) { training<Perceptron>(state, {32, 784}); });
  add_workload("traced_cnn_step", [](auto& state) { training<Cnn>(state, {32, 28, 28, 1}); });
  add_workload("resnet50_b1", resnet50);
  add_workload("resnet50_trace", resnet50_trace);
  add_workload("while_loop_turn", while_turn);
  add_workload("question_if", [](auto& state) { ask(state, function(ask_plainly)); });
  add_workload("question_cond", [](auto& state) { ask(state, function(ask_with_cond)); });
  add_workload("question_eager", [](auto& state) { ask(state, ask_plainly); });
  return true;
}();

}  // namespace
}  // namespace thalweg::bench

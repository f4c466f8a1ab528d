// The workloads of bench/run.py through the public API: engine/<workload>/threads:<n>.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstring>

#include "bench/workloads.h"
#include "thalweg/ops/math_elementary.h"
#include "thalweg/ops/math_special.h"
#include "thalweg/ops/matmul.h"
#include "thalweg/ops/optimizer_steps.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/transposing.h"
#include "thalweg/thalweg.h"

namespace thalweg::bench {
namespace {

using benchmark::DoNotOptimize;

template <class Call> void repeat(benchmark::State& state, const Call& call) {
  for (auto _ : state) DoNotOptimize(call());
}

void run_op(benchmark::State& state, const NamedOp& op, std::initializer_list<TensorRef> in) {
  if (!op) return state.SkipWithError("this build has no such op");
  for (auto _ : state) op(in);
}

// Batches of images through each convolution, as often as the model has it; only the ops are timed.
void run_convs(benchmark::State& state, const std::vector<Conv>& convs, int32_t batch, bool backward) {
  if (!NamedOp("Conv2D")) return state.SkipWithError("this build has no such op");
  for (auto _ : state) {
    std::chrono::duration<double> total{};
    for (const Conv& c : convs) {
      const std::vector<std::pair<const char*, AttrValue>> attrs = {
          {"strides", std::vector<int64_t>{1, c.stride, c.stride, 1}},
          {"padding", std::string(c.same ? "SAME" : "VALID")}};
      const NamedOp forward("Conv2D", attrs), to_input("Conv2DBackpropInput", attrs),
          to_filter("Conv2DBackpropFilter", attrs);
      const Tensor image = numbers({batch, c.size, c.size, c.in}), filter = numbers({c.window, c.window, c.in, c.out}),
                   grad = numbers({batch, c.out_size(), c.out_size(), c.out}),
                   image_sizes = sizes({batch, c.size, c.size, c.in}),
                   filter_sizes = sizes({c.window, c.window, c.in, c.out});
      const bool needs_input_grad = &c != &convs.front();  // nothing lies before the first
      for (int run = -1; run < c.count; ++run) {
        const auto start = std::chrono::steady_clock::now();
        forward({image, filter});
        if (backward && needs_input_grad) to_input({image_sizes, filter, grad});
        if (backward) to_filter({image, filter_sizes, grad});
        if (run >= 0) total += std::chrono::steady_clock::now() - start;
      }
    }
    state.SetIterationTime(total.count());
  }
}

void add_convs(const std::string& name, const std::vector<Conv>& convs, int32_t batch, bool backward, int iterations) {
  for (int threads : {1, 2})
    benchmark::RegisterBenchmark(("engine/" + name + "/threads:" + std::to_string(threads)).c_str(),
                                 [=, &convs](benchmark::State& state) {
                                   set_num_threads(threads);
                                   run_convs(state, convs, batch, backward);
                                 })
        ->UseManualTime()
        ->Iterations(iterations);
}

[[maybe_unused]] const bool registered = [] {
  add_workload("scalar_add", [](auto& state) {
    const Tensor x = 1.0f, y = 2.0f;
    repeat(state, [&] { return x + y; });
  });
  for (int64_t n : {10, 1000, 1024})
    add_workload("matmul_" + std::to_string(n), [n](auto& state) {
      const Tensor x = numbers({n, n});
      repeat(state, [&] { return matmul(x, x); });
    });
  add_workload("chain_1m", [](auto& state) {
    const Tensor x = numbers({1'000'000});
    repeat(state, [&] { return tanh(x * 2.0f + 1.0f) * exp(-x) + x; });
  });
  add_workload("exp_1m", [](auto& state) {
    const Tensor x = numbers({1'000'000});
    repeat(state, [&] { return exp(x); });
  });
  add_workload("tanh_1m", [](auto& state) {
    const Tensor x = numbers({1'000'000});
    repeat(state, [&] { return tanh(x); });
  });
  add_workload("sigmoid_1m", [](auto& state) {
    const Tensor x = numbers({1'000'000});
    repeat(state, [&] { return sigmoid(x); });
  });
  add_workload("log_1m", [](auto& state) {
    const Tensor x = exp(numbers({1'000'000}));
    repeat(state, [&] { return math::log(x); });
  });
  add_workload("erf_1m", [](auto& state) {
    const Tensor x = numbers({1'000'000});
    repeat(state, [&] { return math::erf(x); });
  });
  add_workload("softmax_1024x1000", [](auto& state) { run_op(state, NamedOp("Softmax"), {numbers({1024, 1000})}); });
  add_workload("reduce_sum_all", [](auto& state) {
    const Tensor x = numbers({1000, 1000});
    repeat(state, [&] { return reduce_sum(x); });
  });
  add_workload("reduce_sum_axis_0", [](auto& state) {
    const Tensor x = numbers({1000, 1000});
    repeat(state, [&] { return reduce_sum(x, {.axis = 0}); });
  });
  add_workload("reduce_sum_axis_1", [](auto& state) {
    const Tensor x = numbers({1000, 1000});
    repeat(state, [&] { return reduce_sum(x, {.axis = 1}); });
  });
  add_workload("transpose_1024x1000", [](auto& state) {
    const Tensor x = numbers({1024, 1000});
    repeat(state, [&] { return transpose(x); });
  });
  add_convs("mnist_convs_b32", mnist_convs, 32, true, 20);
  add_convs("resnet50_convs_b1", resnet50_convs, 1, false, 5);
  add_convs("resnet50_convs_b16", resnet50_convs, 16, true, 1);

  const std::vector<std::pair<const char*, AttrValue>> window = {{"ksize", std::vector<int64_t>{1, 2, 2, 1}},
                                                                 {"strides", std::vector<int64_t>{1, 2, 2, 1}},
                                                                 {"padding", std::string("VALID")}};
  for (auto [name, op] : {std::pair{"max_pool", "MaxPool"}, std::pair{"avg_pool", "AvgPool"}})
    add_workload(name,
                 [op, window](auto& state) { run_op(state, NamedOp(op, window), {numbers({32, 112, 112, 64})}); });
  add_workload("batch_norm", [](auto& state) {
    const Tensor vector = numbers({64}), none = Tensor::empty(DType::float32, {0});
    run_op(state, NamedOp("FusedBatchNormV3"), {numbers({32, 112, 112, 64}), vector, vector, none, none});
  });
  add_workload("adam_10m", [](auto& state) {
    const Tensor grad = numbers({10'000'000});
    const Variable var(numbers({10'000'000})), m(zeros({10'000'000})), v(zeros({10'000'000}));
    for (auto _ : state) optimizer_steps::apply_adam(var, m, v, 0.9f, 0.999f, 0.001f, 0.9f, 0.999f, 1e-7f, grad);
  });
  // What memory alone costs a step of Adam: three arrays read and written, one read.
  add_workload("pass_10m", [](auto& state) {
    constexpr int64_t size = 10'000'000;
    const Tensor g = numbers({size});
    Tensor x[] = {numbers({size}), numbers({size}), numbers({size})};
    for (auto _ : state) {
      parallel_chunks(size, 262'144, [&](int64_t begin, int64_t end) {
        const float* from = g.data<float>();
        float *a = x[0].mutable_data<float>(), *b = x[1].mutable_data<float>(), *c = x[2].mutable_data<float>();
#pragma GCC ivdep
        for (int64_t i = begin; i < end; ++i) a[i] += from[i], b[i] += from[i], c[i] += from[i];
      });
      benchmark::ClobberMemory();
    }
  });
  // What memory alone costs an op of one input on a million floats.
  add_workload("copy_1m", [](auto& state) {
    const Tensor x = numbers({1'000'000});
    Tensor y = numbers({1'000'000});
    for (auto _ : state) {
      parallel_chunks(1'000'000, 125'000, [&](int64_t begin, int64_t end) {
        std::memcpy(y.mutable_data<float>() + begin, x.data<float>() + begin,
                    sizeof(float) * static_cast<size_t>(end - begin));
      });
      benchmark::ClobberMemory();
    }
  });
  return true;
}();

}  // namespace
}  // namespace thalweg::bench

// The kernels alone, without tensors: run with --benchmark_filter; the argument "threads" is part of each name.
#include <benchmark/benchmark.h>

#include <vector>

#include "thalweg/core/threads.h"
#include "thalweg/kernels/gemm.h"

namespace {
using namespace thalweg;
using namespace thalweg::kernels;

std::vector<float> numbers(int64_t count) {
  std::vector<float> x(static_cast<size_t>(count));
  uint32_t state = 1;
  for (float& v : x) v = static_cast<float>((state = state * 1664525u + 1013904223u) >> 8) / 8388608.0f - 1.0f;
  return x;
}

void gemm_float32(benchmark::State& state) {
  const int64_t m = state.range(0), k = state.range(1), n = state.range(2);
  set_num_threads(static_cast<int>(state.range(4)));
  auto a = numbers(m * k), b = numbers(k * n), c = numbers(m * n);
  for (auto _ : state) {
    gemm(float32, state.range(3) & 1, state.range(3) & 2, m, n, k, a.data(), b.data(), c.data());
    benchmark::ClobberMemory();
  }
  state.counters["GF/s"] =
      benchmark::Counter(2e-9 * static_cast<double>(m * n * k), benchmark::Counter::kIsIterationInvariantRate);
}
void gemm_sizes(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"m", "k", "n", "transposes", "threads"});
  for (int threads : {1, 2}) {
    const int64_t sizes[][3] = {{10, 10, 10},    {32, 128, 10},      {32, 784, 128},
                                {64, 64, 64},    {128, 128, 128},    {256, 256, 256},
                                {32, 9216, 128}, {1000, 1000, 1000}, {1024, 1024, 1024}};
    for (auto& s : sizes) bench->Args({s[0], s[1], s[2], 0, threads});
    bench->Args({32, 128, 784, 2, threads});
    bench->Args({784, 32, 128, 1, threads});
    bench->Args({32, 128, 9216, 2, threads});
    bench->Args({9216, 32, 128, 1, threads});
    bench->Args({1000, 1000, 1000, 1, threads});
    bench->Args({1000, 1000, 1000, 2, threads});
    bench->Args({32, 1000, 1, 0, threads});
    bench->Args({1, 1000, 1000, 0, threads});
  }
  bench->UseRealTime();
}
BENCHMARK(gemm_float32)->Apply(gemm_sizes);
}  // namespace

BENCHMARK_MAIN();

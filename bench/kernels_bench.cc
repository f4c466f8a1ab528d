// The kernels alone, without tensors: run with --benchmark_filter; the argument "threads" is part of each name.
#include <benchmark/benchmark.h>

#include <vector>

#include "bench/workloads.h"
#include "thalweg/core/threads.h"
#include "thalweg/kernels/conv.h"
#include "thalweg/kernels/gemm.h"
#include "thalweg/kernels/norm.h"
#include "thalweg/kernels/pool.h"
#include "thalweg/kernels/softmax.h"

namespace {
using namespace thalweg;
using namespace thalweg::kernels;
using bench::Array;

Array numbers(int64_t count) { return Array(count); }

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

ConvShape square_conv(int64_t batch, int64_t size, int64_t in, int64_t out, int64_t window, int64_t stride,
                      int64_t pad) {
  ConvShape s{.batch = batch, .in_channels = in, .out_channels = out};
  for (int axis = 1; axis < 3; ++axis) {
    s.in[axis] = size;
    s.filter[axis] = window;
    s.strides[axis] = stride;
    s.pads_before[axis] = pad;
    s.out[axis] = (size + 2 * pad - window) / stride + 1;
  }
  return s;
}

/// The arrays of one convolution.
struct ConvArrays {
  explicit ConvArrays(const ConvShape& shape)
      : s(shape),
        in(numbers(s.batch * s.in_pixels() * s.in_channels)),
        filter(numbers(s.filter_size())),
        out(numbers(s.batch * s.out_pixels() * s.out_channels)) {}
  void forward() { conv_forward(float32, s, in.data(), filter.data(), out.data()); }
  void backward_input() { conv_backward_input(float32, s, filter.data(), out.data(), in.data()); }
  void backward_filter() { conv_backward_filter(float32, s, in.data(), out.data(), filter.data()); }
  ConvShape s;
  Array in, filter, out;
};

template <void (ConvArrays::*run)()> void conv(benchmark::State& state) {
  set_num_threads(static_cast<int>(state.range(7)));
  ConvArrays c(square_conv(state.range(0), state.range(1), state.range(2), state.range(3), state.range(4),
                           state.range(5), state.range(6)));
  for (auto _ : state) (c.*run)();
  state.counters["GF/s"] = benchmark::Counter(2e-9 * c.s.image_work() * static_cast<double>(c.s.batch),
                                              benchmark::Counter::kIsIterationInvariantRate);
}
void conv_sizes(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"batch", "size", "in", "out", "window", "stride", "pad", "threads"});
  for (int64_t threads : {1, 2}) {
    bench->Args({32, 28, 1, 32, 3, 1, 0, threads});  // MNIST's first and second
    bench->Args({32, 26, 32, 64, 3, 1, 0, threads});
    bench->Args({8, 56, 64, 64, 3, 1, 1, threads});
    bench->Args({8, 28, 128, 128, 3, 1, 1, threads});
  }
  bench->UseRealTime()->Unit(benchmark::kMillisecond);
}
BENCHMARK(conv<&ConvArrays::forward>)->Name("conv_forward")->Apply(conv_sizes);
BENCHMARK(conv<&ConvArrays::backward_input>)->Name("conv_backward_input")->Apply(conv_sizes);
BENCHMARK(conv<&ConvArrays::backward_filter>)->Name("conv_backward_filter")->Apply(conv_sizes);

// The 53 convolutions of ResNet-50, one image.
std::vector<ConvShape> resnet50() {
  std::vector<ConvShape> all = {square_conv(1, 224, 3, 64, 7, 2, 3)};
  int64_t channels = 64, size = 56;
  const int64_t widths[] = {64, 128, 256, 512}, blocks[] = {3, 4, 6, 3};
  for (int stage = 0; stage < 4; ++stage)
    for (int64_t block = 0; block < blocks[stage]; ++block) {
      const int64_t stride = block == 0 && stage > 0 ? 2 : 1, width = widths[stage];
      if (block == 0) all.push_back(square_conv(1, size, channels, 4 * width, 1, stride, 0));
      all.push_back(square_conv(1, size, channels, width, 1, stride, 0));
      size /= stride;
      all.push_back(square_conv(1, size, width, width, 3, 1, 1));
      all.push_back(square_conv(1, size, width, 4 * width, 1, 1, 0));
      channels = 4 * width;
    }
  return all;
}
void resnet50_forward(benchmark::State& state) {
  set_num_threads(static_cast<int>(state.range(0)));
  std::vector<ConvArrays> layers;
  for (const ConvShape& s : resnet50()) layers.emplace_back(s);
  for (auto _ : state)
    for (ConvArrays& layer : layers) layer.forward();
}
BENCHMARK(resnet50_forward)->ArgName("threads")->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

// [32, 112, 112, 64]
template <int what> void pool(benchmark::State& state) {
  set_num_threads(static_cast<int>(state.range(0)));
  PoolShape s{.batch = 32, .channels = 64};
  for (int axis = 1; axis < 3; ++axis) {
    s.in[axis] = 112;
    s.out[axis] = 56;
    s.window[axis] = s.strides[axis] = 2;
  }
  auto in = numbers(32 * 112 * 112 * 64), out = numbers(32 * 56 * 56 * 64), in_grad = in;
  for (auto _ : state) {
    if (what == 0) max_pool(float32, s, false, in.data(), out.data());
    if (what == 1) max_pool_grad(float32, s, Ties::first, in.data(), out.data(), in_grad.data());
    if (what == 2) average_pool(float32, s, in.data(), out.data());
    if (what == 3) average_pool_grad(float32, s, out.data(), in_grad.data());
  }
}
BENCHMARK(pool<0>)->Name("max_pool")->ArgName("threads")->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(pool<1>)
    ->Name("max_pool_grad")
    ->ArgName("threads")
    ->Arg(1)
    ->Arg(2)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(pool<2>)
    ->Name("average_pool")
    ->ArgName("threads")
    ->Arg(1)
    ->Arg(2)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(pool<3>)
    ->Name("average_pool_grad")
    ->ArgName("threads")
    ->Arg(1)
    ->Arg(2)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

template <int what> void batch_norm(benchmark::State& state) {
  set_num_threads(static_cast<int>(state.range(0)));
  const NormShape s{32, 112 * 112, 64, false};
  auto x = numbers(32 * 112 * 112 * 64), y = x, g = x, scale = numbers(64), mean = scale, variance = scale, a = scale,
       b = scale;
  for (float& v : variance) v = 1;
  for (auto _ : state) {
    if (what == 0)
      batch_norm_train(float32, s, x.data(), scale.data(), scale.data(), nullptr, nullptr, 1e-3f, 1, y.data(),
                       {nullptr, nullptr, a.data(), b.data()});
    if (what == 1)
      batch_norm_infer(float32, s, x.data(), scale.data(), scale.data(), mean.data(), variance.data(), 1e-3f, y.data());
    if (what == 2)
      batch_norm_grad(float32, s, true, g.data(), x.data(), scale.data(), mean.data(), variance.data(), 1e-3f, y.data(),
                      a.data(), b.data());
  }
}
BENCHMARK(batch_norm<0>)
    ->Name("batch_norm_train")
    ->ArgName("threads")
    ->Arg(1)
    ->Arg(2)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(batch_norm<1>)
    ->Name("batch_norm_infer")
    ->ArgName("threads")
    ->Arg(1)
    ->Arg(2)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(batch_norm<2>)
    ->Name("batch_norm_grad")
    ->ArgName("threads")
    ->Arg(1)
    ->Arg(2)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

void softmax_rows(benchmark::State& state) {
  set_num_threads(static_cast<int>(state.range(2)));
  auto x = numbers(state.range(0) * state.range(1)), y = x;
  for (auto _ : state) softmax(float32, state.range(0), state.range(1), x.data(), y.data());
}
BENCHMARK(softmax_rows)
    ->ArgNames({"rows", "classes", "threads"})
    ->Args({32, 10, 1})
    ->Args({256, 1000, 1})
    ->Args({256, 1000, 2})
    ->Args({1024, 1000, 1})
    ->Args({1024, 1000, 2})
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);
}  // namespace

BENCHMARK_MAIN();

// The training steps of bench/models.h as bare kernels: everything allocated before, what can be one pass is one.
// floor/<workload>/threads:<n>.
#include <benchmark/benchmark.h>
#include <xmmintrin.h>

#include <vector>

#include "bench/workloads.h"
#include "thalweg/core/threads.h"
#include "thalweg/kernels/conv.h"
#include "thalweg/kernels/gemm.h"
#include "thalweg/kernels/optimizer.h"
#include "thalweg/kernels/pool.h"
#include "thalweg/kernels/random.h"
#include "thalweg/kernels/softmax.h"

namespace thalweg::bench {
namespace {
using namespace kernels;

constexpr int64_t batch = 32;

/// Calls body(first, last) for parts of the rows of an array of this width.
template <class Body> void over_rows(int64_t rows, int64_t width, const Body& body) {
  parallel_chunks(rows, std::max<int64_t>(1, 65'536 / width), body);
}

[[gnu::target_clones("avx2", "default")]] void add_bias_rows(float* x, const float* bias, int64_t rows, int64_t width,
                                                             bool relu) {
  for (int64_t row = 0; row < rows; ++row, x += width)
#pragma GCC ivdep
    for (int64_t i = 0; i < width; ++i) {
      const float sum = x[i] + bias[i];
      x[i] = relu && sum < 0 ? 0 : sum;
    }
}
[[gnu::target_clones("avx2", "default")]] void mask_rows(float* grad, const float* out, float* bias_grad, int64_t rows,
                                                         int64_t width) {
  for (int64_t row = 0; row < rows; ++row, grad += width, out += width)
#pragma GCC ivdep
    for (int64_t i = 0; i < width; ++i) {
      const float g = out[i] > 0 ? grad[i] : 0;
      grad[i] = g;
      bias_grad[i] += g;
    }
}
[[gnu::target_clones("avx2", "default")]] void drop_range(float* x, const float* uniform, float rate, int64_t count) {
  const float scale = 1 / (1 - rate);
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) x[i] = uniform[i] >= rate ? x[i] * scale : 0;
}

/// x = x + bias, or relu of that.
void add_bias(Array& x, Array& bias, bool relu) {
  const int64_t width = bias.size();
  over_rows(x.size() / width, width,
            [&](int64_t first, int64_t last) { add_bias_rows(x + first * width, bias, last - first, width, relu); });
}
/// The way back through relu(x + bias): grad becomes that of x, and its sum over rows that of the bias.
void mask_and_sum(Array& grad, Array& out, Array& bias_grad) {
  const int64_t width = bias_grad.size(), rows = grad.size() / width;
  std::vector<float> sums(static_cast<size_t>(2 * width));
  parallel_chunks(2, 1, [&](int64_t first, int64_t last) {
    for (int64_t half = first; half < last; ++half) {
      const int64_t begin = half * rows / 2, end = (half + 1) * rows / 2;
      mask_rows(grad + begin * width, out + begin * width, sums.data() + half * width, end - begin, width);
    }
  });
  for (int64_t i = 0; i < width; ++i)
    bias_grad[i] = sums[static_cast<size_t>(i)] + sums[static_cast<size_t>(width + i)];
}
/// Dropout, or its way back.
void drop(Array& x, Array& uniform, float rate) {
  over_rows(x.size(), 1,
            [&](int64_t first, int64_t last) { drop_range(x + first, uniform + first, rate, last - first); });
}

/// A dense layer, x [batch, in] to out [batch, units], with its gradients and Adam's moments.
struct Parameters {
  explicit Parameters(int64_t count) : value(count, 0.05f), grad(count), first(count, 0), second(count, 0) {}
  void adam() {
    const float powers[] = {0.9f, 0.999f, 1e-3f, 0.9f, 0.999f, 1e-7f};
    const void* scalars[6];
    for (int i = 0; i < 6; ++i) scalars[i] = &powers[i];
    const OptimizerStep step(Step::adam, false, DType::float32, scalars, 6);
    void* arrays[] = {value, first, second};
    parallel_chunks(value.size(), 65'536,
                    [&](int64_t begin, int64_t end) { step.run(arrays, 3, begin, grad, begin, end - begin); });
  }
  Array value, grad, first, second;
};
struct Dense {
  Dense(int64_t inputs, int64_t units) : in(inputs), w(inputs * units), b(units), out(batch * units) {}
  void forward(float* x, bool relu) {
    gemm(DType::float32, false, false, batch, b.value.size(), in, x, w.value, out);
    add_bias(out, b.value, relu);
  }
  /// From the gradient of x w to those of w and, unless null, of x.
  void backward(float* x, float* grad, float* x_grad) {
    gemm(DType::float32, true, false, in, b.value.size(), batch, x, grad, w.grad);
    if (x_grad) gemm(DType::float32, false, true, batch, in, b.value.size(), grad, w.value, x_grad);
  }
  void adam() { w.adam(), b.adam(); }
  int64_t in;
  Parameters w, b;
  Array out;
};

/// Logits to the gradient of the mean cross entropy.
struct Loss {
  Loss() {
    for (int i = 0; i < batch; ++i) labels[i] = i % 10;
  }
  void run(Array& logits, Array& bias_grad) {
    sparse_softmax_cross_entropy(DType::float32, DType::int32, batch, 10, logits, labels, loss, grad);
    for (int64_t i = 0; i < 10; ++i) bias_grad[i] = 0;
    for (int64_t i = 0; i < batch * 10; ++i) bias_grad[i % 10] += grad[i] *= 1.0f / batch;
  }
  int32_t labels[batch];
  Array loss{batch}, grad{batch * 10};
};

struct PerceptronFloor {
  void step() {
    hidden.forward(x, true);
    classes.forward(hidden.out, false);
    loss.run(classes.out, classes.b.grad);
    classes.backward(hidden.out, loss.grad, hidden_grad);
    mask_and_sum(hidden_grad, hidden.out, hidden.b.grad);
    hidden.backward(x, hidden_grad, nullptr);
    hidden.adam(), classes.adam();
  }
  Array x{batch * 784}, hidden_grad{batch * 128};
  Dense hidden{784, 128}, classes{128, 10};
  Loss loss;
};

/// A 3x3 convolution without padding.
struct ConvLayer {
  ConvLayer(int64_t size, int64_t in, int64_t out_channels)
      : w(9 * in * out_channels),
        b(out_channels),
        out(batch * (size - 2) * (size - 2) * out_channels),
        out_grad(out.size()) {
    shape = {.batch = batch, .in_channels = in, .out_channels = out_channels};
    for (int axis = 1; axis < 3; ++axis) shape.in[axis] = size, shape.filter[axis] = 3, shape.out[axis] = size - 2;
  }
  void forward(float* x) {
    conv_forward(DType::float32, shape, x, w.value, out);
    add_bias(out, b.value, true);
  }
  void backward(float* x, float* x_grad) {
    mask_and_sum(out_grad, out, b.grad);
    if (x_grad) conv_backward_input(DType::float32, shape, w.value, out_grad, x_grad);
    conv_backward_filter(DType::float32, shape, x, out_grad, w.grad);
  }
  void adam() { w.adam(), b.adam(); }
  ConvShape shape;
  Parameters w, b;
  Array out, out_grad;
};

struct CnnFloor {
  CnnFloor() {
    pool = {.batch = batch, .channels = 64};
    for (int axis = 1; axis < 3; ++axis)
      pool.in[axis] = 24, pool.out[axis] = 12, pool.window[axis] = pool.strides[axis] = 2;
  }
  void step() {
    first.forward(x);
    second.forward(first.out);
    max_pool(DType::float32, pool, true, second.out, pooled);
    fill_uniform(DType::float32, stateless_state(1, 2), pooled_noise, pooled.size());
    drop(pooled, pooled_noise, 0.25f);
    hidden.forward(pooled, true);
    fill_uniform(DType::float32, stateless_state(3, 4), hidden_noise, hidden_grad.size());
    drop(hidden.out, hidden_noise, 0.5f);
    classes.forward(hidden.out, false);
    loss.run(classes.out, classes.b.grad);
    classes.backward(hidden.out, loss.grad, hidden_grad);
    drop(hidden_grad, hidden_noise, 0.5f);
    mask_and_sum(hidden_grad, hidden.out, hidden.b.grad);
    hidden.backward(pooled, hidden_grad, pooled_grad);
    drop(pooled_grad, pooled_noise, 0.25f);
    max_pool_grad(DType::float32, pool, Ties::first, second.out, pooled_grad, second.out_grad);
    second.backward(first.out, first.out_grad);
    first.backward(x, nullptr);
    first.adam(), second.adam(), hidden.adam(), classes.adam();
  }
  Array x{batch * 28 * 28};
  ConvLayer first{28, 1, 32}, second{26, 32, 64};
  PoolShape pool;
  Array pooled{batch * 9216}, pooled_noise{batch * 9216}, pooled_grad{batch * 9216};
  Dense hidden{9216, 128}, classes{128, 10};
  Array hidden_noise{batch * 128}, hidden_grad{batch * 128};
  Loss loss;
};

template <class Floor> void add_floor(const char* name) {
  for (int threads : {1, 2})
    benchmark::RegisterBenchmark((name + ("/threads:" + std::to_string(threads))).c_str(),
                                 [threads](benchmark::State& state) {
                                   set_num_threads(threads);
                                   _mm_setcsr(_mm_getcsr() | 0x8040);  // as ops do: denormals are 0
                                   Floor floor;
                                   for (auto _ : state) {
                                     floor.step();
                                     benchmark::ClobberMemory();
                                   }
                                 })
        ->UseRealTime();
}

[[maybe_unused]] const bool registered = [] {
  add_floor<PerceptronFloor>("floor/mlp_step");
  add_floor<CnnFloor>("floor/cnn_step");
  return true;
}();

}  // namespace
}  // namespace thalweg::bench

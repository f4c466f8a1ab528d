// Shapes of the convolutions that are measured, and ops found by name, so that what is not there yet is skipped.
#pragma once
#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "thalweg/core/threads.h"
#include "thalweg/ops/apply.h"

namespace thalweg::bench {

/// A workload of the public API: `engine/<name>/threads:<n>`, on one and on two threads.
template <class Body> void add_workload(const std::string& name, const Body& body) {
  for (int threads : {1, 2})
    benchmark::RegisterBenchmark(("engine/" + name + "/threads:" + std::to_string(threads)).c_str(),
                                 [body, threads](benchmark::State& state) {
                                   set_num_threads(threads);
                                   body(state);
                                 })
        ->UseRealTime();
}

/// A float32 tensor of numbers between -1 and 1.
inline Tensor numbers(const Shape& shape) {
  Tensor t = Tensor::empty(DType::float32, shape);
  uint32_t state = 1;
  for (int64_t i = 0; i < t.size(); ++i)
    t.mutable_data<float>()[i] = static_cast<float>((state = state * 1664525u + 1013904223u) >> 8) / 8388608.0f - 1.0f;
  return t;
}

/// Numbers between -1 and 1 for bare kernels, in memory like that of tensors: where arrays begin decides how fast they
/// are.
class Array {
 public:
  explicit Array(int64_t count, float scale = 1) : tensor_(numbers({count})) {
    for (float& v : *this) v *= scale;
  }
  Array(const Array& other) : tensor_(Tensor::empty(DType::float32, {other.size()})) {
    std::copy_n(other.tensor_.data<float>(), other.size(), data());
  }
  Array(Array&&) = default;
  float* data() { return tensor_.mutable_data<float>(); }
  operator float*() { return data(); }
  float* begin() { return data(); }
  float* end() { return data() + size(); }
  int64_t size() const { return tensor_.size(); }

 private:
  Tensor tensor_;
};

/// An int32 vector.
inline Tensor sizes(const std::vector<int32_t>& values) {
  Tensor t = Tensor::empty(DType::int32, {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i) t.mutable_data<int32_t>()[i] = values[i];
  return t;
}

/// An op with its attributes, looked up once; false when this build has no such op.
class NamedOp {
 public:
  explicit NamedOp(const char* name, const std::vector<std::pair<const char*, AttrValue>>& attrs = {})
      : op_(find_op(name)) {
    if (!op_ || !op_->attrs) return;
    attrs_ = Attrs(*op_->attrs);
    for (const auto& [key, value] : attrs) op_->attrs->set(attrs_.get(), op_->attrs->find(key), value);
  }
  explicit operator bool() const { return op_ != nullptr; }
  void operator()(std::initializer_list<TensorRef> in) const {
    AttrsRef attrs = op_->attrs ? static_cast<AttrsRef>(attrs_) : AttrsRef{};
    benchmark::DoNotOptimize(
        apply_list(*op_, {in.begin(), in.size()}, attrs, op_->count_outputs(in.size(), attrs)).data());
  }

 private:
  const Op* op_;
  Attrs attrs_;
};

/// One convolution of square images, and how often a model has it.
struct Conv {
  int32_t size, in, out, window, stride;
  int count = 1;
  bool same = true;
  int32_t out_size() const { return same ? (size + stride - 1) / stride : (size - window) / stride + 1; }
};

/// The two of the MNIST CNN.
inline const std::vector<Conv> mnist_convs = {{28, 1, 32, 3, 1, 1, false}, {26, 32, 64, 3, 1, 1, false}};

/// The 53 of ResNet-50.
inline const std::vector<Conv> resnet50_convs = {
    {224, 3, 64, 7, 2},      {56, 64, 64, 1, 1},       {56, 64, 64, 3, 1, 3},    {56, 64, 256, 1, 1, 4},
    {56, 256, 64, 1, 1, 2},  {56, 256, 128, 1, 2},     {56, 256, 512, 1, 2},     {28, 128, 128, 3, 1, 4},
    {28, 128, 512, 1, 1, 4}, {28, 512, 128, 1, 1, 3},  {28, 512, 256, 1, 2},     {28, 512, 1024, 1, 2},
    {14, 256, 256, 3, 1, 6}, {14, 256, 1024, 1, 1, 6}, {14, 1024, 256, 1, 1, 5}, {14, 1024, 512, 1, 2},
    {14, 1024, 2048, 1, 2},  {7, 512, 512, 3, 1, 3},   {7, 512, 2048, 1, 1, 3},  {7, 2048, 512, 1, 1, 2}};

}  // namespace thalweg::bench

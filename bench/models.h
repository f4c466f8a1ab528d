// The models that are measured, over the public API. bench/models.py has the same ones for Python.
#pragma once
#include <cmath>
#include <deque>

#include "bench/workloads.h"
#include "thalweg/ops/optimizer_steps.h"
#include "thalweg/thalweg.h"

namespace thalweg::bench {

/// A variable and the two moments that Adam keeps of it.
struct Weight {
  Variable value, first, second;
  explicit Weight(const Shape& shape)
      : value(numbers(shape) * 0.05f), first(zeros_like(value)), second(zeros_like(value)) {}
  void adam(const Tensor& gradient) const {
    optimizer_steps::apply_adam(value, first, second, 0.9f, 0.999f, 1e-3f, 0.9f, 0.999f, 1e-7f, gradient);
  }
};

/// A training step: the loss of a batch under a tape, and Adam on every weight.
template <class Model> Tensor train(const Model& model, const Tensor& x, const Tensor& labels) {
  std::vector<Variable> variables;
  for (const Weight& w : model.weights) variables.push_back(w.value);
  GradientTape tape;
  Tensor loss = reduce_mean(nn::sparse_softmax_cross_entropy_with_logits(labels, model(x)));
  std::vector<Tensor> gradients = tape.gradient(loss, variables);
  for (size_t i = 0; i < variables.size(); ++i) model.weights[i].adam(gradients[i]);
  return loss;
}

/// The classes of a batch of 32.
inline Tensor batch_labels() { return range(32) % 10; }

/// 784 inputs, 128 hidden units, 10 classes.
struct Perceptron {
  std::deque<Weight> weights = weights_of({{784, 128}, {128}, {128, 10}, {10}});

  static std::deque<Weight> weights_of(std::initializer_list<Shape> shapes) { return {shapes.begin(), shapes.end()}; }
  Tensor operator()(const Tensor& x) const {
    Tensor hidden = nn::relu(matmul(x, weights[0].value) + weights[1].value);
    return matmul(hidden, weights[2].value) + weights[3].value;
  }
};

/// Two convolutions of 28x28 images, pooling, two dense layers, dropout after the pooling and between the layers.
struct Cnn {
  std::deque<Weight> weights =
      Perceptron::weights_of({{3, 3, 1, 32}, {32}, {3, 3, 32, 64}, {64}, {9216, 128}, {128}, {128, 10}, {10}});

  Tensor operator()(const Tensor& images) const {
    Tensor x = nn::relu(nn::bias_add(nn::conv2d(images, weights[0].value), weights[1].value));
    x = nn::relu(nn::bias_add(nn::conv2d(x, weights[2].value), weights[3].value));
    x = nn::dropout(nn::max_pool2d(x, {.ksize = 2, .strides = 2}), 0.25f);
    x = nn::relu(matmul(reshape(x, {-1, 9216}), weights[4].value) + weights[5].value);
    return matmul(nn::dropout(x, 0.5f), weights[6].value) + weights[7].value;
  }
};

/// ResNet-50 whose batch norms are folded into the convolutions; its weights are constants.
class ResNet50 {
 public:
  ResNet50() {
    add(7, 3, 64);
    int64_t channels = 64;
    for (const Stage& stage : stages)
      for (int64_t block = 0; block < stage.blocks; ++block, channels = 4 * stage.width) {
        if (block == 0) add(1, channels, 4 * stage.width);
        add(1, channels, stage.width);
        add(3, stage.width, stage.width);
        add(1, stage.width, 4 * stage.width);
      }
  }

  Tensor operator()(const Tensor& images) const {
    auto layer = filters_.begin();
    auto conv = [&](const Tensor& x, int64_t stride) {
      const auto& [filter, bias] = *layer++;
      return nn::bias_add(nn::conv2d(x, filter, {.strides = stride, .padding = "SAME"}), bias);
    };
    Tensor x = nn::max_pool2d(nn::relu(conv(images, 2)), {.ksize = 3, .strides = 2, .padding = "SAME"});
    for (const Stage& stage : stages)
      for (int64_t block = 0; block < stage.blocks; ++block) {
        const int64_t stride = block == 0 ? stage.stride : 1;
        Tensor shortcut = block == 0 ? conv(x, stride) : x;
        x = nn::relu(conv(x, stride));
        x = nn::relu(conv(x, 1));
        x = nn::relu(conv(x, 1) + shortcut);
      }
    return nn::softmax(matmul(reduce_mean(x, {.axis = {1, 2}}), classes_) + bias_);
  }

 private:
  struct Stage {
    int64_t width, blocks, stride;
  };
  static constexpr Stage stages[] = {{64, 3, 1}, {128, 4, 2}, {256, 6, 2}, {512, 3, 2}};

  void add(int64_t window, int64_t in, int64_t out) {
    const float scale = 1 / std::sqrt(static_cast<float>(window * window * in));
    filters_.emplace_back(numbers({window, window, in, out}) * scale, numbers({out}));
  }

  std::vector<std::pair<Tensor, Tensor>> filters_;
  Tensor classes_ = numbers({2048, 1000}) * 0.02f, bias_ = numbers({1000});
};

}  // namespace thalweg::bench

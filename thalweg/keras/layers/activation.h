// Activations that are layers: those with options or weights.
#pragma once
#include "thalweg/keras/layer.h"

namespace thalweg::keras::layers {

struct ReLUOptions {
  std::optional<float> max_value = {};  // left out: no limit
  std::optional<float> negative_slope = 0.0f;
  std::optional<float> threshold = 0.0f;
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// x from `threshold` to `max_value`, which it does not exceed; below, negative_slope * (x - threshold).
THALWEG_API Layer ReLU(const ReLUOptions& options = {});

struct LeakyReLUOptions {
  std::optional<float> alpha = 0.3f;
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// x above 0, alpha * x below.
THALWEG_API Layer LeakyReLU(const LeakyReLUOptions& options = {});

struct ELUOptions {
  std::optional<float> alpha = 1.0f;
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// x above 0, alpha * (exp(x) - 1) below.
THALWEG_API Layer ELU(const ELUOptions& options = {});

struct PReLUOptions {
  Initializer alpha_initializer = "zeros";
  Regularizer alpha_regularizer = {};
  Constraint alpha_constraint = {};
  Axis shared_axes = {};  // along which alpha is the same
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// x above 0, alpha * x below, with a weight alpha for each element.
THALWEG_API Layer PReLU(const PReLUOptions& options = {});

struct SoftmaxOptions {
  Axis axis = -1;
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// exp(x) / sum(exp(x)) along one axis or several; what the mask of a call leaves out gets 0.
THALWEG_API Layer Softmax(const SoftmaxOptions& options = {});

struct ThresholdedReLUOptions {
  std::optional<float> theta = 1.0f;
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// x above theta, 0 elsewhere.
THALWEG_API Layer ThresholdedReLU(const ThresholdedReLUOptions& options = {});

/// Softmax along axes where the mask holds, as the layer and attention compute it; no mask: everywhere.
Tensor masked_softmax(const Tensor& x, const Tensor& mask, const Axis& axis);

// The same with an option by position (docs/decisions/0013).
template <As<std::optional<float>> A = std::optional<float>> Layer ReLU(const A& max_value, ReLUOptions options = {}) {
  return ReLU(with(options, options.max_value, max_value));
}
template <As<std::optional<float>> A = std::optional<float>>
Layer LeakyReLU(const A& alpha, LeakyReLUOptions options = {}) {
  return LeakyReLU(with(options, options.alpha, alpha));
}
template <As<std::optional<float>> A = std::optional<float>> Layer ELU(const A& alpha, ELUOptions options = {}) {
  return ELU(with(options, options.alpha, alpha));
}
template <As<Axis> A = Axis> Layer Softmax(const A& axis, SoftmaxOptions options = {}) {
  return Softmax(with(options, options.axis, axis));
}
template <As<std::optional<float>> A = std::optional<float>>
Layer ThresholdedReLU(const A& theta, ThresholdedReLUOptions options = {}) {
  return ThresholdedReLU(with(options, options.theta, theta));
}

}  // namespace thalweg::keras::layers

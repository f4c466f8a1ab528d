// Activations as functions; as options they are written by name, `.activation = "relu"`, or as functions.
#pragma once
#include "thalweg/keras/functions.h"
#include "thalweg/ops/activation.h"

namespace thalweg::keras::activations {

/// The value itself.
THALWEG_API Tensor linear(const Tensor& x);

struct ReluOptions {
  double alpha = 0;                      // the slope below the threshold
  std::optional<double> max_value = {};  // where it stops rising
  double threshold = 0;                  // where it begins
};
/// max(x, 0), or as the options say.
THALWEG_API Tensor relu(const Tensor& x, const ReluOptions& options = {});
/// min(max(x, 0), 6).
THALWEG_API Tensor relu6(const Tensor& x);
/// x above 0, alpha * x below.
THALWEG_API Tensor leaky_relu(const Tensor& x, const LeakyReluOptions& options = {});

struct EluOptions {
  double alpha = 1;
};
/// x above 0, alpha * (exp(x) - 1) below.
THALWEG_API Tensor elu(const Tensor& x, const EluOptions& options = {});
/// The self-normalising one: elu with fixed alpha and scale.
THALWEG_API Tensor selu(const Tensor& x);
/// x times the normal distribution function of x.
THALWEG_API Tensor gelu(const Tensor& x, const GeluOptions& options = {});
/// x * sigmoid(x).
THALWEG_API Tensor swish(const Tensor& x);
/// x * sigmoid(x).
THALWEG_API Tensor silu(const Tensor& x);
/// x * tanh(softplus(x)).
THALWEG_API Tensor mish(const Tensor& x);
/// 1 / (1 + exp(-x)).
THALWEG_API Tensor sigmoid(const Tensor& x);
/// 0.2 * x + 0.5, between 0 and 1.
THALWEG_API Tensor hard_sigmoid(const Tensor& x);
/// The hyperbolic tangent.
THALWEG_API Tensor tanh(const Tensor& x);
/// log(exp(x) + 1).
THALWEG_API Tensor softplus(const Tensor& x);
/// x / (|x| + 1).
THALWEG_API Tensor softsign(const Tensor& x);
/// exp(x).
THALWEG_API Tensor exponential(const Tensor& x);

struct SoftmaxOptions {
  Axis axis = -1;
};
/// exp(x) / sum(exp(x)) along one or more axes; ValueError for a vector.
THALWEG_API Tensor softmax(const Tensor& x, const SoftmaxOptions& options = {});
/// The logarithm of softmax along the last axis.
THALWEG_API Tensor log_softmax(const Tensor& x);

}  // namespace thalweg::keras::activations

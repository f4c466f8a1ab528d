// Activation functions.
#pragma once
#include "thalweg/core/tensor.h"
#include "thalweg/ops/options.h"

namespace thalweg {

struct LeakyReluOptions {
  double alpha = 0.2;
};
struct CreluOptions {
  int64_t axis = -1;
};
struct SiluOptions {
  double beta = 1.0;
};
struct GeluOptions {
  Flag approximate = {};
};

namespace math {
/// log(exp(x) + 1), without overflow.
THALWEG_API Tensor softplus(const Tensor& features);
}  // namespace math

namespace nn {
using math::softplus;
/// max(x, 0).
THALWEG_API Tensor relu(const Tensor& features);
/// The gradient of relu: gradients where features > 0, else 0.
THALWEG_API Tensor relu_grad(const Tensor& gradients, const Tensor& features);
/// min(max(x, 0), 6).
THALWEG_API Tensor relu6(const Tensor& features);
/// x above 0, alpha * x below.
THALWEG_API Tensor leaky_relu(const Tensor& features, const LeakyReluOptions& options = {});
/// x above 0, exp(x) - 1 below.
THALWEG_API Tensor elu(const Tensor& features);
/// The self-normalising activation.
THALWEG_API Tensor selu(const Tensor& features);
/// x / (|x| + 1).
THALWEG_API Tensor softsign(const Tensor& features);
/// relu of x and of -x, side by side.
THALWEG_API Tensor crelu(const Tensor& features, const CreluOptions& options = {});
/// x * sigmoid(beta * x), also called swish.
THALWEG_API Tensor silu(const Tensor& features, const SiluOptions& options = {});
/// x times the normal distribution function of x.
THALWEG_API Tensor gelu(const Tensor& features, const GeluOptions& options = {});

// The same with an option by position (docs/decisions/0013).
template <As<double> A = double>
Tensor leaky_relu(const Tensor& features, const A& alpha, LeakyReluOptions options = {}) {
  return leaky_relu(features, with(options, options.alpha, alpha));
}

}  // namespace nn

}  // namespace thalweg

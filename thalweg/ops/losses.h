// Softmax, cross entropies, biases and other pieces of losses.
#pragma once
#include "thalweg/core/tensor.h"
#include "thalweg/ops/options.h"

namespace thalweg::nn {

struct SoftmaxOptions {
  std::optional<int64_t> axis = {};  // the last where left out
};
/// exp(logits) divided by its sum along an axis.
THALWEG_API Tensor softmax(const Tensor& logits, const SoftmaxOptions& options = {});
/// The logarithm of softmax, without overflow.
THALWEG_API Tensor log_softmax(const Tensor& logits, const SoftmaxOptions& options = {});

struct CrossEntropyOptions {
  int64_t axis = -1;
};
/// - sum(labels * log_softmax(logits)) along an axis; each row of labels should be a distribution.
THALWEG_API Tensor softmax_cross_entropy_with_logits(const TensorLike& labels, const TensorLike& logits,
                                                     const CrossEntropyOptions& options = {});
/// The same where one class is right: labels [...] of int32 or int64 for logits [..., classes].
THALWEG_API Tensor sparse_softmax_cross_entropy_with_logits(const TensorLike& labels, const TensorLike& logits);
/// The cross entropy of independent yes-or-no questions, element by element.
THALWEG_API Tensor sigmoid_cross_entropy_with_logits(const TensorLike& labels, const TensorLike& logits);
/// The same where a positive label counts pos_weight times.
THALWEG_API Tensor weighted_cross_entropy_with_logits(const TensorLike& labels, const TensorLike& logits,
                                                      const TensorLike& pos_weight);

struct LogPoissonLossOptions {
  Flag compute_full_loss = {};  // with Stirling's approximation of log(targets!)
};
/// exp(log_input) - targets * log_input, the loss of a Poisson distribution.
THALWEG_API Tensor log_poisson_loss(const Tensor& targets, const Tensor& log_input,
                                    const LogPoissonLossOptions& options = {});

/// sum(t ^ 2) / 2.
THALWEG_API Tensor l2_loss(const Tensor& t);

struct BiasAddOptions {
  std::string data_format = "";  // "NC..." has the channels after the batch, else they are last
};
/// Adds one number to each channel.
THALWEG_API Tensor bias_add(const TensorLike& value, const TensorLike& bias, const BiasAddOptions& options = {});

// The same with an option by position (docs/decisions/0013).
template <As<std::optional<int64_t>> A = std::optional<int64_t>>
Tensor softmax(const Tensor& logits, const A& axis, SoftmaxOptions options = {}) {
  return softmax(logits, with(options, options.axis, axis));
}
template <As<std::optional<int64_t>> A = std::optional<int64_t>>
Tensor log_softmax(const Tensor& logits, const A& axis, SoftmaxOptions options = {}) {
  return log_softmax(logits, with(options, options.axis, axis));
}

}  // namespace thalweg::nn

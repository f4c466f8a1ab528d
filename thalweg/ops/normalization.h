// Normalisation: over a batch, over neighbouring channels, and the moments it is made of.
#pragma once
#include "thalweg/core/tensor.h"
#include "thalweg/ops/options.h"

namespace thalweg::nn {

struct Moments {
  Tensor mean, variance;
};
struct MomentsOptions {
  Tensor shift = {};  // not used, as in TensorFlow
  Flag keepdims = {};
};
/// The mean and the variance over some axes.
THALWEG_API Moments moments(const Tensor& x, const std::vector<int64_t>& axes, const MomentsOptions& options = {});

struct WeightedMomentsOptions {
  Flag keepdims = {};
};
/// The same where elements count as often as their weight says.
THALWEG_API Moments weighted_moments(const Tensor& x, const std::vector<int64_t>& axes,
                                     const TensorLike& frequency_weights, const WeightedMomentsOptions& options = {});
struct SufficientStatisticsOptions {
  Tensor shift = {};  // a value near the mean, for accuracy
  Flag keepdims = {};
};
struct SufficientStatistics {
  Tensor counts, mean_ss, variance_ss, shift;
};
/// What mean and variance over some axes follow from: the number of elements, the sum of x - shift and of its squares.
THALWEG_API SufficientStatistics sufficient_statistics(const Tensor& x, const std::vector<int64_t>& axes,
                                                       const SufficientStatisticsOptions& options = {});
/// The mean and the variance from the number of elements, their sum and the sum of their squares, all taken from
/// elements minus `shift` (which may be None).
THALWEG_API Moments normalize_moments(const Tensor& counts, const Tensor& mean_ss, const Tensor& variance_ss,
                                      const Tensor& shift);

/// (x - mean) / sqrt(variance + variance_epsilon) * scale + offset; offset and scale may be None.
THALWEG_API Tensor batch_normalization(const Tensor& x, const Tensor& mean, const Tensor& variance,
                                       const Tensor& offset, const Tensor& scale, double variance_epsilon);

struct FusedBatchNormOptions {
  Tensor mean = {};  // running statistics: used where not training, else averaged with those of the batch
  Tensor variance = {};
  double epsilon = 0.001;
  std::string data_format = "NHWC";  // or "NCHW", "NDHWC", "NCDHW"
  Flag is_training = true;
  double exponential_avg_factor = 1.0;
};
struct FusedBatchNorm {
  Tensor y, running_mean, running_var;
};
/// Batch normalisation over all dimensions but the channels, with the running statistics that follow from this batch.
THALWEG_API FusedBatchNorm fused_batch_norm(const Tensor& x, const Tensor& scale, const Tensor& offset,
                                            const FusedBatchNormOptions& options = {});

struct LocalResponseNormalizationOptions {
  int64_t depth_radius = 5;
  double bias = 1;
  double alpha = 1;
  double beta = 0.5;
};
/// input / (bias + alpha * sum of squares of the channels within depth_radius) ^ beta.
THALWEG_API Tensor local_response_normalization(const Tensor& input,
                                                const LocalResponseNormalizationOptions& options = {});

// The same with an option by position (docs/decisions/0013).
template <As<int64_t> A = int64_t>
Tensor local_response_normalization(const Tensor& input, const A& depth_radius,
                                    LocalResponseNormalizationOptions options = {}) {
  return local_response_normalization(input, with(options, options.depth_radius, depth_radius));
}

}  // namespace thalweg::nn

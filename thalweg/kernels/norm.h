// Batch normalisation as TensorFlow's fused op computes it, and local response normalisation.
#pragma once
#include <cstdint>

#include "thalweg/core/dtype.h"

namespace thalweg::kernels {

/// Activations [batch, pixels, channels], or [batch, channels, pixels] with `channels_first`.
struct NormShape {
  int64_t batch = 0, pixels = 0, channels = 0;
  bool channels_first = false;
};

/// What batch normalisation over a batch computes beside y; arrays of `channels` floats.
struct BatchNormOutputs {
  float* mean = nullptr;            ///< running mean: (1 - factor) old + factor batch mean
  float* variance = nullptr;        ///< running variance, from the unbiased variance of the batch
  float* saved_mean = nullptr;      ///< mean of the batch, for the gradient
  float* saved_variance = nullptr;  ///< biased variance of the batch, for the gradient
};

/// y = (x - mean) / sqrt(variance + epsilon) * scale + offset with the statistics of the batch. `old_mean` and
/// `old_variance` are read unless factor is 1. x and y: float32, float16 or bfloat16.
void batch_norm_train(DType dtype, const NormShape& shape, const void* x, const float* scale, const float* offset,
                      const float* old_mean, const float* old_variance, float epsilon, float factor, void* y,
                      const BatchNormOutputs& outputs);
/// The same with given statistics.
void batch_norm_infer(DType dtype, const NormShape& shape, const void* x, const float* scale, const float* offset,
                      const float* mean, const float* variance, float epsilon, void* y);
/// What that comes to: slope = scale / sqrt(variance + epsilon), then y = (x - mean) slope + offset for rows of float32
/// [rows, channels]; y may be x.
void batch_norm_slopes(int64_t channels, const float* scale, const float* variance, float epsilon, float* slope);
void batch_norm_rows(const float* x, int64_t rows, int64_t channels, const float* mean, const float* slope,
                     const float* offset, float* y);
/// Gradients for x, scale and offset. In training the statistics depend on x; else they are constants.
void batch_norm_grad(DType dtype, const NormShape& shape, bool training, const void* y_grad, const void* x,
                     const float* scale, const float* mean, const float* variance, float epsilon, void* x_grad,
                     float* scale_grad, float* offset_grad);

/// Local response normalisation over the last dimension of [rows, channels]:
/// y = x / (bias + alpha * sum of squares within `radius` channels) ^ beta.
struct LrnOptions {
  int64_t radius = 5;
  float bias = 1, alpha = 1, beta = 0.5f;
};
void lrn(DType dtype, int64_t rows, int64_t channels, const LrnOptions& options, const void* x, void* y);
void lrn_grad(DType dtype, int64_t rows, int64_t channels, const LrnOptions& options, const void* y_grad, const void* x,
              const void* y, void* x_grad);

}  // namespace thalweg::kernels

// 3x3 convolutions by Winograd's F(4x4, 3x3): a quarter of the multiplications, in 36 small matrix products.
#pragma once
#include "thalweg/kernels/conv_shape.h"
#include "thalweg/kernels/epilogue.h"
#include "thalweg/kernels/kept_filter.h"

namespace thalweg::kernels {

/// Activations lie as [batch, height, width, channels]. False where it would not pay: nothing was written. The rule
/// depends on the sizes alone. An epilogue and what is kept of the filter may be null.
bool winograd_forward(const ConvShape& shape, const float* in, const float* filter, float* out,
                      const Epilogue* epilogue, KeptFilter* kept);
bool winograd_backward_input(const ConvShape& shape, const float* filter, const float* out_grad, float* in_grad);
bool winograd_backward_filter(const ConvShape& shape, const float* in, const float* out_grad, float* filter_grad);

}  // namespace thalweg::kernels

// Float32 convolutions cut into slices that one-thread engine primitives compute.
#pragma once
#include "thalweg/kernels/conv_shape.h"
#include "thalweg/kernels/epilogue.h"
#include "thalweg/kernels/kept_filter.h"

namespace thalweg::kernels {

/// Activations lie as [batch, spatial..., channels]. False where the engine has no fast kernel: nothing was written.
/// An epilogue and what is kept of the filter may be null.
bool engine_forward(const ConvShape& shape, const float* in, const float* filter, float* out, const Epilogue* epilogue,
                    KeptFilter* kept);
bool engine_backward_input(const ConvShape& shape, const float* filter, const float* out_grad, float* in_grad);
bool engine_backward_filter(const ConvShape& shape, const float* in, const float* out_grad, float* filter_grad);

}  // namespace thalweg::kernels

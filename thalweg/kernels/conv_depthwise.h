// Convolution of each channel by itself: as many groups as input channels.
#pragma once
#include "thalweg/kernels/conv_shape.h"
#include "thalweg/kernels/epilogue.h"

namespace thalweg::kernels {

/// Whether the shape is one: each input channel makes out_channels / in_channels of the outputs.
inline bool is_depthwise(const ConvShape& s) { return s.groups == s.in_channels && s.groups > 1; }

/// Activations lie as [batch, spatial..., channels]. T: float, double, uint32_t. An epilogue may be null.
template <class T>
void depthwise_forward(const ConvShape& shape, const T* in, const T* filter, T* out, const Epilogue* epilogue);
template <class T>
void depthwise_backward_input(const ConvShape& shape, const T* filter, const T* out_grad, T* in_grad);
template <class T>
void depthwise_backward_filter(const ConvShape& shape, const T* in, const T* out_grad, T* filter_grad);

}  // namespace thalweg::kernels

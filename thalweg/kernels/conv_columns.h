// Convolution as a matrix product over gathered windows: works for every size, on any number type that has a product.
#pragma once
#include "thalweg/kernels/conv_shape.h"
#include "thalweg/kernels/epilogue.h"
#include "thalweg/kernels/kept_filter.h"

namespace thalweg::kernels {

/// Activations lie as [batch, spatial..., channels]. T: float, double, uint32_t. An epilogue and what is kept
/// of the filter may be null.
template <class T>
void columns_forward(const ConvShape& shape, const T* in, const T* filter, T* out, const Epilogue* epilogue,
                     KeptFilter* kept);
template <class T> void columns_backward_input(const ConvShape& shape, const T* filter, const T* out_grad, T* in_grad);
template <class T> void columns_backward_filter(const ConvShape& shape, const T* in, const T* out_grad, T* filter_grad);

}  // namespace thalweg::kernels

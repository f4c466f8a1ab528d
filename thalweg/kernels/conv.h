// Convolutions in two and three dimensions with their two gradients, of every floating type and int32.
#pragma once
#include <cstdint>

#include "thalweg/core/dtype.h"
#include "thalweg/kernels/conv_shape.h"

namespace thalweg::kernels {

/// Winograd's method for 3x3 windows is about twice as fast; its rounding errors are some 2e-6 of the result instead of
/// 3e-7. On by default.
void allow_winograd(bool allowed);

/// out = the convolution of `in` with `filter`. Arrays lie as ConvShape says; every output is written.
void conv_forward(DType dtype, const ConvShape& shape, const void* in, const void* filter, void* out);
/// in_grad from the gradient of `out`.
void conv_backward_input(DType dtype, const ConvShape& shape, const void* filter, const void* out_grad, void* in_grad);
/// filter_grad from the gradient of `out`.
void conv_backward_filter(DType dtype, const ConvShape& shape, const void* in, const void* out_grad, void* filter_grad);

}  // namespace thalweg::kernels

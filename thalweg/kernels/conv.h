// Convolutions in two and three dimensions with their two gradients, of every floating type and int32.
#pragma once
#include <cstdint>

#include "thalweg/core/dtype.h"
#include "thalweg/kernels/conv_shape.h"
#include "thalweg/kernels/epilogue.h"
#include "thalweg/kernels/kept_filter.h"

namespace thalweg::kernels {

/// Winograd's method for 3x3 windows is about twice as fast; its rounding errors are some 2e-6 of the result instead of
/// 3e-7. On by default.
void allow_winograd(bool allowed);

/// out = the convolution of `in` with `filter`. Arrays lie as ConvShape says; every output is written. An epilogue is
/// for float32 and float64. `kept`, where it is given, belongs to the filter, which is the same at every call.
void conv_forward(DType dtype, const ConvShape& shape, const void* in, const void* filter, void* out,
                  const Epilogue* epilogue = nullptr, KeptFilter* kept = nullptr);
/// in_grad from the gradient of `out`.
void conv_backward_input(DType dtype, const ConvShape& shape, const void* filter, const void* out_grad, void* in_grad);
/// filter_grad from the gradient of `out`.
void conv_backward_filter(DType dtype, const ConvShape& shape, const void* in, const void* out_grad, void* filter_grad);

}  // namespace thalweg::kernels

// Greyscale dilation: the largest sum of pixel and filter in each window.
#pragma once
#include "thalweg/core/dtype.h"
#include "thalweg/kernels/conv_shape.h"

namespace thalweg::kernels {

/// Images [batch, height, width, channels] of any real type, filters [height, width, channels]; pixels outside never
/// win. Integers wrap around.
void dilation(DType dtype, const ConvShape& shape, const void* in, const void* filter, void* out);
/// The gradient of each sum goes to its pixel: the first of equal sums counts.
void dilation_input_grad(DType dtype, const ConvShape& shape, const void* in, const void* filter, const void* grad,
                         void* in_grad);
/// The gradient of each sum goes to its element of the filter.
void dilation_filter_grad(DType dtype, const ConvShape& shape, const void* in, const void* filter, const void* grad,
                          void* filter_grad);

}  // namespace thalweg::kernels

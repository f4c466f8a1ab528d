// Greyscale dilation: the largest sum of pixel and filter in each window.
#pragma once
#include "thalweg/core/dtype.h"
#include "thalweg/kernels/conv_shape.h"

namespace thalweg::kernels {

/// Images [batch, height, width, channels] of any real type, filters [height, width, channels]; pixels outside never
/// win. Integers wrap around.
void dilation(DType dtype, const ConvShape& shape, const void* in, const void* filter, void* out);

}  // namespace thalweg::kernels

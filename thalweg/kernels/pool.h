// Max and average pooling in two and three dimensions, with their gradients.
#pragma once
#include <cstdint>

#include "thalweg/core/dtype.h"

namespace thalweg::kernels {

/// Windows over up to three spatial dimensions [depth, height, width]; in two dimensions depth is 1.
struct PoolShape {
  int64_t batch = 0, channels = 0;
  int64_t in[3] = {1, 1, 1}, window[3] = {1, 1, 1}, out[3] = {1, 1, 1};
  int64_t strides[3] = {1, 1, 1}, pads_before[3] = {0, 0, 0};
  /// Arrays lie as [batch, channels, spatial...] instead of [batch, spatial..., channels].
  bool channels_first = false;

  int64_t in_pixels() const { return in[0] * in[1] * in[2]; }
  int64_t out_pixels() const { return out[0] * out[1] * out[2]; }
};

/// The largest element of each window; padding never wins. Any real type. TensorFlow's search in images starts from the
/// lowest finite number, in volumes from minus infinity.
void max_pool(DType dtype, const PoolShape& shape, bool from_finite, const void* in, void* out);
/// Also where it lies: the index in one flattened image, or in the whole array with `include_batch`. Of equal elements
/// the first in the order of the window counts. `index` is int32 or int64.
void max_pool_with_argmax(DType dtype, const PoolShape& shape, bool include_batch, DType index, const void* in,
                          void* out, void* argmax);
/// Who receives the gradient of a maximum that occurs twice: TensorFlow's 2-D op says the first, its 3-D op all.
enum class Ties { first, all };
/// Routes the gradient of each output to the element that won.
void max_pool_grad(DType dtype, const PoolShape& shape, Ties ties, const void* in, const void* grad, void* in_grad);
/// The elements of `grad`, shaped like the input, that lie where the maxima were.
void max_pool_grad_grad(DType dtype, const PoolShape& shape, const void* in, const void* grad, void* out);
/// Routes gradients by an argmax made earlier; indices that fit nowhere are passed over.
void max_pool_grad_with_argmax(DType dtype, const PoolShape& shape, bool include_batch, DType index, const void* grad,
                               const void* argmax, void* in_grad);

/// The mean of each window, of the elements inside the input only. Floating types.
void average_pool(DType dtype, const PoolShape& shape, const void* in, void* out);
void average_pool_grad(DType dtype, const PoolShape& shape, const void* grad, void* in_grad);

}  // namespace thalweg::kernels

// Repeating a tensor along its axes.
#pragma once
#include "thalweg/core/tensor.h"

namespace thalweg {

/// The input repeated along new dimensions and along those of length 1, as NumPy broadcasts.
THALWEG_API Tensor broadcast_to(const TensorLike& input, const TensorLike& shape);
/// The shape that two shapes broadcast to; ValueError when they do not.
THALWEG_API Shape broadcast_static_shape(const Shape& shape_x, const Shape& shape_y);
/// The same for shapes that are tensors.
THALWEG_API Tensor broadcast_dynamic_shape(const TensorLike& shape_x, const TensorLike& shape_y);
/// The input repeated as a whole along each axis.
THALWEG_API Tensor tile(const TensorLike& input, const TensorLike& multiples);

/// The way back from broadcasting: what belongs to one element of `like`, summed up in its shape.
THALWEG_API Tensor sum_to_shape_of(const Tensor& like, const Tensor& broadcast);

}  // namespace thalweg

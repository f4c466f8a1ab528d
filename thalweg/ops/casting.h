// From one dtype to another.
#pragma once
#include "thalweg/core/tensor.h"

namespace thalweg {

/// The elements as another dtype. Real numbers lose their fraction in integers, complex ones their imaginary part; NaN
/// and what is out of range become what the CPU's conversion gives, as in TensorFlow.
THALWEG_API Tensor cast(const TensorLike& x, DType dtype);
/// The same, with what is out of range set to the nearest value of the dtype.
THALWEG_API Tensor saturate_cast(const TensorLike& value, DType dtype);
/// The same bytes as another dtype. A smaller one adds a last dimension, a larger one takes the last dimension up.
THALWEG_API Tensor bitcast(const Tensor& input, DType type);

}  // namespace thalweg

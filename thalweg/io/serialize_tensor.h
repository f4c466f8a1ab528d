// Tensors as strings that hold a TensorProto.
#pragma once
#include "thalweg/core/tensor.h"

namespace thalweg::io {

/// The tensor as a scalar string, which `parse_tensor` and TensorFlow read: a serialized TensorProto.
THALWEG_API Tensor serialize_tensor(const TensorLike& tensor);
/// The tensor that a scalar string holds; it must have the dtype `out_type`.
THALWEG_API Tensor parse_tensor(const TensorLike& serialized, DType out_type);

}  // namespace thalweg::io

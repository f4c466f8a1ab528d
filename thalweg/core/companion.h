// A tensor that goes with another one: the mask that says which time steps of a sequence count.
#pragma once
#include "thalweg/core/tensor.h"

namespace thalweg {

/// What was put beside a tensor, or None. Copies of a tensor share it; results of ops on the tensor do not have it.
THALWEG_API Tensor companion_of(const Tensor& tensor);
/// Puts a tensor beside another, for as long as that one lives; None takes away what was there.
THALWEG_API void set_companion(const Tensor& tensor, const Tensor& companion);

namespace detail {
/// The tensor is gone.
void drop_companion(TensorImpl* tensor);
}  // namespace detail

}  // namespace thalweg

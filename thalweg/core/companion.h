// Tensors that go with another one: the mask that says which time steps of a sequence count, and the logits that
// probabilities were made from.
#pragma once
#include "thalweg/core/tensor.h"

namespace thalweg {

enum class Companion : uint8_t { mask, logits };

/// What was put beside a tensor, or None. Copies of a tensor share it; results of ops on the tensor do not have it.
THALWEG_API Tensor companion_of(const Tensor& tensor, Companion kind = Companion::mask);
/// Puts a tensor beside another, for as long as that one lives; None takes away what was there.
THALWEG_API void set_companion(const Tensor& tensor, const Tensor& companion, Companion kind = Companion::mask);

namespace detail {
/// The tensor is gone.
void drop_companions(TensorImpl* tensor);
}  // namespace detail

}  // namespace thalweg

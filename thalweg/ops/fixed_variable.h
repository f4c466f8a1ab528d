// Tensors in the place of variables: what a layer computes with after a program has put a tensor where a weight was.
#pragma once
#include <optional>

#include "thalweg/ops/variable.h"

namespace thalweg {

/// A variable whose value is this tensor, a symbolic one too, at every read: gradients go on through the tensor.
THALWEG_API Variable fixed_variable(const Tensor& value);
/// The tensor that a handle stands for; none where it is that of a true variable.
THALWEG_API std::optional<Tensor> fixed_value(const Tensor& handle);

}  // namespace thalweg

// Sums of products named by a formula over index letters.
#pragma once
#include <string>
#include <vector>

#include "thalweg/core/tensor.h"

namespace thalweg {

/// Multiplies tensors and sums as an equation says: `einsum("ij,jk->ik", {a, b})` is a matrix product. Letters name
/// dimensions, those missing after the arrow are summed, `...` stands for any dimensions, which broadcast.
THALWEG_API Tensor einsum(const std::string& equation, const std::vector<Tensor>& inputs);
/// The same with the tensors one by one, `einsum("ij,jk->ik", a, b)`.
template <class... T>
  requires(sizeof...(T) > 0 && (is_tensor_value<T> && ...))
Tensor einsum(const std::string& equation, const T&... inputs) {
  return einsum(equation, std::vector<Tensor>{Tensor(inputs)...});
}

/// Sums products over pairs of axes. `axes` is a number n (the last n of a meet the first n of b) or two lists.
THALWEG_API Tensor tensordot(const TensorLike& a, const TensorLike& b, const TensorLike& axes);

namespace linalg {
using thalweg::einsum, thalweg::tensordot;
}

}  // namespace thalweg

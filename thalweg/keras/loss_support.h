// What losses and metrics do with weights, masks and shapes that almost fit.
#pragma once
#include <utility>

#include "thalweg/core/tensor.h"

namespace thalweg::keras::losses {

/// Weights squeezed or expanded by a dimension of one where their rank is one off that of the values.
std::pair<Tensor, Tensor> squeeze_or_expand(const Tensor& values, const Tensor& sample_weight);
/// Weights of the examples that a mask keeps, zero elsewhere; no weights are ones.
Tensor apply_mask(const Tensor& sample_weight, const Tensor& mask);
/// The shape of values for weights that broadcast along dimensions of one; weights of that shape as they are.
Tensor broadcast_weights(const Tensor& sample_weight, const Tensor& values);
/// Whether weights broadcast to values: a scalar, or of the same rank with dimensions of one or the same size.
bool broadcasts_to(const Shape& weight, const Shape& values);
/// ValueError unless some shape fits both.
void check_compatible(const Shape& a, const Shape& b);
/// The last dimension of a tensor, or `unknown`.
int64_t last_dimension(const Tensor& tensor);

}  // namespace thalweg::keras::losses

// Rows of tensors, as input pipelines take and join them.
#pragma once
#include <span>

#include "thalweg/core/tensor.h"

namespace thalweg::data {

/// Row i of a tensor, without a copy.
THALWEG_API Tensor row(const Tensor& t, int64_t i);
/// Rows [first, last), without a copy.
THALWEG_API Tensor slice_rows(const Tensor& t, int64_t first, int64_t last);
/// The rows with these numbers.
THALWEG_API Tensor take_rows(const Tensor& t, std::span<const int64_t> rows);
/// Tensors of one dtype and shape as the rows of one.
THALWEG_API Tensor stack_rows(std::span<const Tensor> rows);

}  // namespace thalweg::data

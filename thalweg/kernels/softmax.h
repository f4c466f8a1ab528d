// Softmax over rows, its logarithm, and the cross entropies that are computed together with it.
#pragma once
#include <cstdint>

#include "thalweg/core/dtype.h"

namespace thalweg::kernels {

/// All arrays are [rows, classes] of a floating type; halves compute in float32.
void softmax(DType dtype, int64_t rows, int64_t classes, const void* logits, void* out);
void log_softmax(DType dtype, int64_t rows, int64_t classes, const void* logits, void* out);
/// loss[row] = - sum labels log softmax(logits); backprop = softmax - labels.
void softmax_cross_entropy(DType dtype, int64_t rows, int64_t classes, const void* logits, const void* labels,
                           void* loss, void* backprop);
/// The same with one right class per row; `labels` is int32 or int64. A label out of range makes its row NaN.
void sparse_softmax_cross_entropy(DType dtype, DType label_dtype, int64_t rows, int64_t classes, const void* logits,
                                  const void* labels, void* loss, void* backprop);

}  // namespace thalweg::kernels

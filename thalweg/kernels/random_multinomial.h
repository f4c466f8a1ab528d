// Draws of classes by their logits, with TensorFlow's bits.
#pragma once
#include <cstdint>

#include "thalweg/core/dtype.h"
#include "thalweg/core/philox_state.h"

namespace thalweg::kernels {

/// How far Multinomial moves its stream.
constexpr uint64_t multinomial_blocks(int64_t batch_size, int64_t num_samples) {
  return static_cast<uint64_t>(batch_size) * static_cast<uint64_t>((num_samples + 3) / 4 * 4) * 2 * 256;
}

/// For each row of logits[batch_size, num_classes] draws `num_samples` classes into out[batch_size, num_samples].
/// Logits of any real type, output int32 or int64; num_classes > 0. Logits that are not finite are never drawn; a row
/// without a finite one gives num_classes.
///
/// TensorFlow's rows share one stream as long as it works on one thread; with more, its bits depend on how many. These
/// are the bits of one thread.
void multinomial(DType logits_dtype, const void* logits, int64_t batch_size, int64_t num_classes, int64_t num_samples,
                 const PhiloxState& state, DType out_dtype, void* out);

}  // namespace thalweg::kernels

// Gamma distributed numbers with TensorFlow's bits.
#pragma once
#include <cstdint>

#include "thalweg/core/dtype.h"
#include "thalweg/core/philox_state.h"

namespace thalweg::kernels {

/// Draws `samples_per_alpha` numbers of shape parameter alpha and scale 1 for each of `num_alphas` alphas:
/// out[sample, alpha]. float16, bfloat16, float32, float64; computed in double. RandomGamma reserves
/// `fill_blocks(num_alphas * samples_per_alpha)`.
void fill_gamma(DType dtype, const PhiloxState& state, const void* alphas, int64_t num_alphas,
                int64_t samples_per_alpha, void* out);

}  // namespace thalweg::kernels

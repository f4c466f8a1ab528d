// Poisson distributed numbers with TensorFlow's bits.
#pragma once
#include <cstdint>

#include "thalweg/core/dtype.h"
#include "thalweg/core/philox_state.h"

namespace thalweg::kernels {

/// Draws `samples_per_rate` numbers for each of `num_rates` rates: out[sample, rate]. Rates and output are float16,
/// float32, float64, int32 or int64; computed in double. RandomPoissonV2 reserves
/// `fill_blocks(num_rates * samples_per_rate)`.
///
/// A negative rate gives 0, an infinite one infinity (0 in integers), as in TensorFlow. Where TensorFlow would search
/// for ever, a NaN rate gives NaN (0 in integers) and a rate far above the output type its largest value.
void fill_poisson(DType rate_dtype, DType dtype, const PhiloxState& state, const void* rates, int64_t num_rates,
                  int64_t samples_per_rate, void* out);

}  // namespace thalweg::kernels

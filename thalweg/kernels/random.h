// Random fills with TensorFlow's bits: for the same stream and count every element equals what TensorFlow's CPU kernels
// write, at any number of threads.
//
// Which stream and how far it moves:
//   RandomUniform, RandomUniformInt, RandomStandardNormal, TruncatedNormal   `SeedState::reserve` of `fill_blocks(n)`
//   Stateless... (seed vector)                                             `stateless_state(seed[0], seed[1])`
//   Stateless...V2 (key, counter, alg)        {key, {counter[0], counter[1]}}; alg 1 and 3 are Philox on a CPU, where
//                                             TensorFlow rejects 2 (ThreeFry) with "Unsupported algorithm id: 2"
//   Stateful... (state variable)              `generator_read_and_skip(state, n)`, random_generator.h
// Other distributions: random_gamma.h, random_poisson.h, random_multinomial.h, random_truncated.h, random_shuffle.h.
//
// TensorFlow's public functions scale afterwards, in the element type: normal, truncated_normal x * stddev + mean;
// uniform x * (maxval - minval) + minval.
#pragma once
#include <cstdint>

#include "thalweg/core/dtype.h"
#include "thalweg/core/philox_state.h"

namespace thalweg::kernels {

/// The value of `alg` for Philox, which StatelessRandomGetAlg and StatelessRandomGetKeyCounterAlg answer on a CPU.
inline constexpr int32_t philox_algorithm = 1;
/// The value of `alg` that leaves the choice to the device; a CPU chooses Philox.
inline constexpr int32_t auto_select_algorithm = 3;

/// How far a fill of `n` elements moves a stream, whatever it draws from it.
constexpr uint64_t fill_blocks(int64_t n) { return static_cast<uint64_t>(n) * 256; }

/// The stream of a stateless op with this seed vector, and the outputs of StatelessRandomGetKeyCounter.
PhiloxState stateless_state(int64_t seed0, int64_t seed1);

/// Uniform in [0, 1); float16, bfloat16, float32, float64.
void fill_uniform(DType dtype, const PhiloxState& state, void* out, int64_t n);

/// Uniform in [*minval, *maxval), where *minval < *maxval; int32, int64, uint32, uint64. Slightly biased towards small
/// values, as in TensorFlow, unless the range is a power of two.
void fill_uniform_int(DType dtype, const PhiloxState& state, const void* minval, const void* maxval, void* out,
                      int64_t n);

/// Uniform over all values of the type; int32, int64, uint32, uint64.
void fill_uniform_full_int(DType dtype, const PhiloxState& state, void* out, int64_t n);

/// Normal with mean 0 and deviation 1; float16, bfloat16, float32, float64.
void fill_normal(DType dtype, const PhiloxState& state, void* out, int64_t n);

/// The same, redrawn until it lies in (-2, 2).
void fill_truncated_normal(DType dtype, const PhiloxState& state, void* out, int64_t n);

/// Unpredictable integers of the operating system; int32, int64, uint32, uint64.
void fill_non_deterministic_ints(DType dtype, void* out, int64_t n);

}  // namespace thalweg::kernels

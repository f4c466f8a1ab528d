// Normal numbers between given bounds, with TensorFlow's bits.
#pragma once
#include <cstdint>

#include "thalweg/core/dtype.h"
#include "thalweg/core/philox_state.h"

namespace thalweg::kernels {

/// One parameter of the distribution: a single value for all batches, or one for each.
struct BatchParameter {
  const void* values = nullptr;
  bool per_batch = false;
};

/// What ParameterizedTruncatedNormal draws: `num_elements` numbers in batches of `samples_per_batch`, the last of which
/// may be short.
struct TruncatedNormalBatches {
  int64_t num_batches = 0, samples_per_batch = 0, num_elements = 0;
  BatchParameter mean = {}, stddev = {}, minval = {}, maxval = {};

  /// How far the op moves its stream. TensorFlow computes this in 32 bits and lets it wrap.
  constexpr uint64_t reserved_blocks() const {
    uint32_t words = static_cast<uint32_t>(num_batches) * 2000u * static_cast<uint32_t>(samples_per_batch + 3);
    return static_cast<uint64_t>(static_cast<int32_t>(words) / 4);
  }
  /// With one mean and stddev (a scalar or a vector of one) and scalar bounds TensorFlow draws in batches of 100,
  /// whatever the shape.
  constexpr void regroup() {
    samples_per_batch = 100;
    num_batches = (num_elements + 99) / 100;
  }
};

enum class TruncatedNormalStatus { ok, invalid_parameters, normal_rejected, uniform_rejected, exponential_rejected };

/// float16, float32, float64. Stops at the first batch whose parameters are not stddev > 0, minval < maxval, one of
/// them finite, or that accepts none of 1000 candidates; what is written till then is right.
///
/// Candidates are drawn and rejected along one stream, so this runs on one thread. TensorFlow's bits depend on how many
/// threads it uses; these are the bits of one.
TruncatedNormalStatus fill_parameterized_truncated_normal(DType dtype, const PhiloxState& state,
                                                          const TruncatedNormalBatches& batches, void* out);

}  // namespace thalweg::kernels

// Box and Muller's transform over many pairs of random words at once.
#pragma once
#include <cstdint>

namespace thalweg::kernels {

/// Turns pairs of words into pairs of standard normal numbers: sine and cosine of the second word's angle, times a
/// radius from the first.
///
/// TensorFlow leaves logarithm, sine and cosine to the C library. These are glibc's single precision algorithms (since
/// 2.28) in double arithmetic without fused operations, checked against glibc for all 2**23 radii and all 2**23 angles,
/// so the bits are TensorFlow's on glibc and the same on every machine.
void normal_floats(const uint32_t* words, int64_t num_pairs, float* out);

}  // namespace thalweg::kernels

// From random bits to one number: the arithmetic of TensorFlow's distributions, shared by the random kernels. Every
// step, its precision and its order are TensorFlow's, so that equal bits go in and equal bits come out.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

#include "thalweg/core/dtype.h"

namespace thalweg::kernels {

/// [0, 1) from the lower 23 bits.
inline float unit_float(uint32_t bits) { return std::bit_cast<float>(0x3f800000u | (bits & 0x7fffffu)) - 1.0f; }

/// [0, 1) from the lower 20 bits of `high` and all of `low`.
inline double unit_double(uint32_t high, uint32_t low) {
  return std::bit_cast<double>(0x3ff0000000000000u | uint64_t{high & 0xfffffu} << 32 | low) - 1.0;
}

/// [0, 1) in steps of 2**-10 from the lower 10 bits; exact in float and in half.
inline float unit_half(uint32_t bits) { return static_cast<float>(bits & 0x3ffu) * 0x1p-10f; }

/// [0, 1) in steps of 2**-7 from the lower 7 bits; exact in float and in bfloat16.
inline float unit_bfloat16(uint32_t bits) { return static_cast<float>(bits & 0x7fu) * 0x1p-7f; }

/// Two independent standard normal numbers.
template <class T> struct NormalPair {
  T first, second;
};

/// Box and Muller's transform in double.
inline NormalPair<double> normal_doubles(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  double u = unit_double(a, b);
  if (u < 1.0e-7) u = 1.0e-7;
  double angle = 2.0 * 3.14159265358979323846 * unit_double(c, d);
  double radius = std::sqrt(-2.0 * std::log(u));
  double sine, cosine;
  sincos(angle, &sine, &cosine);
  return {sine * radius, cosine * radius};
}

}  // namespace thalweg::kernels

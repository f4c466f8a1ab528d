// Trigonometric functions and their inverses. The float ones reduce any argument, however large, without a branch.
#pragma once
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "thalweg/kernels/scalar_rounding.h"

namespace thalweg::kernels::scalar {
namespace detail {
/// For k = 0..104: 2^k * 2/pi modulo 4 as high + low, where high has 27 bits after the point.
struct TwoOverPi {
  std::array<double, 105> high = {}, low = {};
};
constexpr TwoOverPi make_two_over_pi() {
  // 2/pi after two zero bits in front of the point, in 32-bit words.
  constexpr uint32_t digits[] = {0xA2F9836E, 0x4E441529, 0xFC2757D1, 0xF534DDC0, 0xDB629599, 0x3C439041, 0xFE5163AB};
  auto bits = [&](int first, int count) {  // bits first + 1 .. first + count after the point, as an integer
    uint64_t value = 0;
    for (int i = first; i < first + count; ++i)
      value = value << 1 | (i < 0 ? 0 : (digits[i / 32] >> (31 - i % 32)) & 1);
    return static_cast<double>(value);
  };
  TwoOverPi table;
  for (int k = 0; k < 105; ++k) {
    table.high[static_cast<size_t>(k)] = bits(k - 2, 29) / 0x1p27;
    table.low[static_cast<size_t>(k)] = bits(k + 27, 53) / 0x1p53 / 0x1p27;
  }
  return table;
}
inline constexpr TwoOverPi two_over_pi = make_two_over_pi();

/// Which arguments a trigonometric function is called with: any, or (checked by the loop) below `trigonometric_limit`.
enum class Range { any, limited };

/// x = (quadrant + 4 j) pi/2 + r with |r| <= pi/4.
struct Quadrant {
  float r;
  uint32_t quadrant;
};
/// x = m 2^k with |m| < 2^24, so m times 2^k 2/pi mod 4 loses only whole turns. The product with the high part is exact
/// in double (24 + 29 bits); no float comes nearer to a multiple of pi/2 than 2^-30, so the remainder keeps 27 bits.
template <Range range> [[gnu::always_inline]] inline Quadrant reduce_by_half_pi(float x) {
  float m = x;
  uint32_t row = 0;
  if constexpr (range == Range::any) {
    uint32_t bits = std::bit_cast<uint32_t>(x);
    int32_t k = static_cast<int32_t>((bits >> 23) & 255) - 150;
    k = k > 0 ? k : 0;
    row = static_cast<uint32_t>(k < 104 ? k : 104);  // infinity and NaN have 105 and give NaN whatever the row
    m = std::bit_cast<float>(bits - (static_cast<uint32_t>(k < 105 ? k : 0) << 23));
  }
  double wide = static_cast<double>(m);
  double high = wide * two_over_pi.high[row];
  double low = wide * two_over_pi.low[row];
  constexpr double shift = 6755399441055744.0;
  double rounded = (high + low) + shift;
  double remainder = (high - (rounded - shift)) + low;
  return {static_cast<float>(remainder * 1.5707963267948966), static_cast<uint32_t>(std::bit_cast<uint64_t>(rounded))};
}

[[gnu::always_inline]] inline float sin_reduced(float r) {
  float s = r * r;
  float p = polynomial(s, 2.7183085e-06f, -1.9839335e-04f, 8.333329e-03f, -1.6666667e-01f);
  return p * (s * r) + r;
}
[[gnu::always_inline]] inline float cos_reduced(float r) {
  float s = r * r;
  float p = polynomial(s, 2.4438428e-05f, -1.3887368e-03f, 4.1666646e-02f);
  p = p * s - 0.5f;
  return p * s + 1.0f;
}
/// (asin(a) - a) / a as a function of s = a^2 <= 1/4.
[[gnu::always_inline]] inline float asin_tail(float s) {
  return s * polynomial(s, 4.223016e-02f, 2.4141226e-02f, 4.5478296e-02f, 7.495233e-02f, 1.6666754e-01f);
}
inline constexpr float half_pi_high = 1.57079637e+00f, half_pi_low = -4.37113883e-08f;
}  // namespace detail

/// Below this magnitude sin_limited, cos_limited and tan_limited may be used.
inline constexpr float trigonometric_limit = 16777216.0f;

namespace detail {
template <Range range> [[gnu::always_inline]] inline float sin(float x) {
  auto [r, quadrant] = reduce_by_half_pi<range>(x);
  float value = (quadrant & 1) != 0 ? cos_reduced(r) : sin_reduced(r);
  float result = std::bit_cast<float>(std::bit_cast<uint32_t>(value) ^ ((quadrant & 2) << 30));
  return x == 0.0f ? x : result;
}
template <Range range> [[gnu::always_inline]] inline float cos(float x) {
  auto [r, quadrant] = reduce_by_half_pi<range>(x);
  float value = (quadrant & 1) != 0 ? sin_reduced(r) : cos_reduced(r);
  return std::bit_cast<float>(std::bit_cast<uint32_t>(value) ^ (((quadrant + 1) & 2) << 30));
}
template <Range range> [[gnu::always_inline]] inline float tan(float x) {
  auto [r, quadrant] = reduce_by_half_pi<range>(x);
  float s = r * r;
  float p = polynomial(s, 4.414305e-03f, 8.694015e-06f, 1.0902983e-02f, 2.1254744e-02f, 5.406558e-02f, 1.333261e-01f,
                       3.3333352e-01f);
  float t = p * (s * r) + r;
  float result = (quadrant & 1) != 0 ? -1.0f / t : t;
  return x == 0.0f ? x : result;
}
}  // namespace detail

/// Sine.
[[gnu::always_inline]] inline float sin(float x) { return detail::sin<detail::Range::any>(x); }
[[gnu::always_inline]] inline double sin(double x) { return std::sin(x); }

/// Cosine.
[[gnu::always_inline]] inline float cos(float x) { return detail::cos<detail::Range::any>(x); }
[[gnu::always_inline]] inline double cos(double x) { return std::cos(x); }

/// Tangent.
[[gnu::always_inline]] inline float tan(float x) { return detail::tan<detail::Range::any>(x); }
[[gnu::always_inline]] inline double tan(double x) { return std::tan(x); }

/// The same bits without the table lookup, for a loop that has seen |x| < trigonometric_limit (or NaN) in its whole
/// block.
[[gnu::always_inline]] inline float sin_limited(float x) { return detail::sin<detail::Range::limited>(x); }
[[gnu::always_inline]] inline float cos_limited(float x) { return detail::cos<detail::Range::limited>(x); }
[[gnu::always_inline]] inline float tan_limited(float x) { return detail::tan<detail::Range::limited>(x); }
[[gnu::always_inline]] inline double sin_limited(double x) { return std::sin(x); }
[[gnu::always_inline]] inline double cos_limited(double x) { return std::cos(x); }
[[gnu::always_inline]] inline double tan_limited(double x) { return std::tan(x); }

/// Inverse sine; NaN outside [-1, 1]. Beyond 1/2: asin(x) = pi/2 - 2 asin(sqrt((1 - x) / 2)).
[[gnu::always_inline]] inline float asin(float x) {
  float magnitude = std::abs(x);
  bool large = magnitude > 0.5f;
  float s = large ? 0.5f - 0.5f * magnitude : magnitude * magnitude;
  float a = large ? std::sqrt(s) : magnitude;
  float p = a * detail::asin_tail(s) + a;
  float result = large ? detail::half_pi_high - (2.0f * p - detail::half_pi_low) : p;
  return std::copysign(result, x);
}
[[gnu::always_inline]] inline double asin(double x) { return std::asin(x); }

/// Inverse cosine; NaN outside [-1, 1].
[[gnu::always_inline]] inline float acos(float x) {
  float magnitude = std::abs(x);
  bool large = magnitude > 0.5f;
  float s = large ? 0.5f - 0.5f * magnitude : magnitude * magnitude;
  float a = large ? std::sqrt(s) : x;
  float p = a * detail::asin_tail(s) + a;
  float middle = detail::half_pi_high - (p - detail::half_pi_low);
  float end = x > 0.0f ? p + p : 2.0f * middle;
  return large ? end : middle;
}
[[gnu::always_inline]] inline double acos(double x) { return std::acos(x); }

/// Inverse tangent.
[[gnu::always_inline]] inline float atan(float x) {
  float magnitude = std::abs(x);
  bool large = magnitude > 1.0f;
  float a = large ? 1.0f / magnitude : magnitude;
  float s = a * a;
  float q = polynomial(s, -1.7933978e-03f, 1.0914593e-02f, -3.1179877e-02f, 5.7961944e-02f, -8.403856e-02f,
                       1.0952383e-01f, -1.4264292e-01f, 1.9998555e-01f, -3.33333e-01f);
  float p = q * (s * a) + a;
  float result = large ? detail::half_pi_high - (p - detail::half_pi_low) : p;
  return std::copysign(result, x);
}
[[gnu::always_inline]] inline double atan(double x) { return std::atan(x); }

/// Angle of the point (x, y).
template <class T> [[gnu::always_inline]] inline T atan2(T y, T x) { return std::atan2(y, x); }
}  // namespace thalweg::kernels::scalar

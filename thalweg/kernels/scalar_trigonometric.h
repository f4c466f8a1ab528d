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

namespace detail {
/// (atan(a) - a) / a^3 as a function of s = a^2 <= 1. Fits with the smallest largest relative error of atan(a); the
/// double one stays below 5e-18.
[[gnu::always_inline]] inline float atan_tail(float s) {
  return polynomial(s, -1.7933978e-03f, 1.0914593e-02f, -3.1179877e-02f, 5.7961944e-02f, -8.403856e-02f, 1.0952383e-01f,
                    -1.4264292e-01f, 1.9998555e-01f, -3.33333e-01f);
}
[[gnu::always_inline]] inline double atan_tail(double s) {
  return polynomial(s, 1.3420244890739516e-05, -0.0001541098986446745, 0.0008403226708769743, -0.002910419341065811,
                    0.007246086429789514, -0.013970684648833021, 0.022059450119612533, -0.029964738473277304,
                    0.036680446092814276, -0.042210788998628, 0.04723051021409114, -0.05253734671138825,
                    0.05880576768357032, -0.06666412371622361, 0.07692280869417817, -0.09090907092456581,
                    0.11111111012155159, -0.14285714282751485, 0.19999999999954526, -0.3333333333333309);
}
/// pi/2 as the sum of two numbers.
template <class T> struct HalfPi;
template <> struct HalfPi<float> {
  static constexpr float high = half_pi_high, low = half_pi_low;
};
template <> struct HalfPi<double> {
  static constexpr double high = 1.5707963267948966, low = 6.123233995736766e-17;
};

/// Beyond 1: pi/2 - atan(1/x).
template <class T> [[gnu::always_inline]] inline T atan(T x) {
  using Half = HalfPi<T>;
  T magnitude = std::abs(x);
  bool large = magnitude > T(1);
  T a = large ? T(1) / magnitude : magnitude;
  T s = a * a;
  T p = atan_tail(s) * (s * a) + a;
  T result = large ? Half::high - (p - Half::low) : p;
  return std::copysign(result, x);
}
}  // namespace detail

/// Inverse tangent.
[[gnu::always_inline]] inline float atan(float x) { return detail::atan(x); }
[[gnu::always_inline]] inline double atan(double x) { return detail::atan(x); }

/// Angle of the point (x, y): that of the octant next to the x axis, mirrored at the diagonal, the y axis and the x
/// axis, so that it is 0, pi/2 or pi more or less the first. Zeros have signs.
template <class T> [[gnu::always_inline]] inline T atan2(T y, T x) {
  using Half = detail::HalfPi<T>;
  T across = std::abs(x), up = std::abs(y);
  bool steep = up > across, left = std::copysign(T(1), x) < T(0);
  T small = steep ? across : up, large = steep ? up : across;
  T quotient = small / large;
  T equal = large == T(0) ? T(0) : T(1);  // 0 / 0 and infinity / infinity
  T a = small == large ? equal : quotient;
  T s = a * a;
  T first = detail::atan_tail(s) * (s * a) + a;
  T turns = left ? (steep ? T(1) : T(2)) : (steep ? T(1) : T(0));
  T mirrored = steep == left ? first : -first;
  return std::copysign(turns * Half::high + (mirrored + turns * Half::low), y);
}
}  // namespace thalweg::kernels::scalar

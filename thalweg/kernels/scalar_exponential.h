// exp, log and what is built from them: branch-free, so that a loop over them vectorises at any width.
// Polynomials are minimax fits (Remez, relative error) made for these intervals.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "thalweg/kernels/scalar_rounding.h"

namespace thalweg::kernels::scalar {
namespace detail {
/// x = n ln 2 + r with |r| <= ln 2 / 2; the integer n comes as the low bits of a word, ready to be shifted into an
/// exponent.
template <class T, class Bits> struct Reduction {
  T r;
  Bits n;
};

[[gnu::always_inline]] inline Reduction<float, uint32_t> reduce_by_ln2(float x) {
  constexpr float shift = 12582912.0f;  // 1.5 * 2^23: the sum's mantissa is the rounded quotient
  float k = x * 1.44269504f + shift;
  float n = k - shift;
  float r = x - n * 0.693359375f;  // exact: 10 bits times at most 9
  r = r + n * 2.12194440e-4f;
  return {r, std::bit_cast<uint32_t>(k)};
}
[[gnu::always_inline]] inline Reduction<double, uint64_t> reduce_by_ln2(double x) {
  constexpr double shift = 6755399441055744.0;  // 1.5 * 2^52
  double k = x * 1.4426950408889634074 + shift;
  double n = k - shift;
  double r = x - n * 6.93147180369123816490e-01;  // exact: 32 bits times at most 11
  r = r - n * 1.90821492927058770002e-10;
  return {r, std::bit_cast<uint64_t>(k)};
}

/// x * 2^n by adding to the exponent, for a normal result; only the low bits of n count.
[[gnu::always_inline]] inline float scale_by_power_of_two(float x, uint32_t n) {
  return std::bit_cast<float>(std::bit_cast<uint32_t>(x) + (n << 23));
}
[[gnu::always_inline]] inline double scale_by_power_of_two(double x, uint64_t n) {
  return std::bit_cast<double>(std::bit_cast<uint64_t>(x) + (n << 52));
}

/// exp(r) - 1 for |r| <= ln 2 / 2.
[[gnu::always_inline]] inline float expm1_reduced(float r) {
  float q = polynomial(r, 1.9915654e-04f, 1.3942047e-03f, 8.33327e-03f, 4.1666344e-02f, 1.6666667e-01f, 0.5f);
  return q * (r * r) + r;
}
[[gnu::always_inline]] inline double expm1_reduced(double r) {
  double q = polynomial(r, 2.0925427448210656e-09, 2.5110178926957902e-08, 2.755723955524834e-07, 2.755724116401833e-06,
                        2.480158736433027e-05, 0.00019841269888892874, 0.0013888888888864913, 0.008333333333320654,
                        0.041666666666666706, 0.16666666666666677, 0.5);
  return q * (r * r) + r;
}

/// Past `overflow` exp is infinite, past `half_overflow` exp / 2 is; below `underflow` it is subnormal and flushed to
/// 0.
template <class T> struct ExpLimits;
template <> struct ExpLimits<float> {
  static constexpr float overflow = 88.7228317f, half_overflow = 89.4159851f, underflow = -87.3365402f;
};
template <> struct ExpLimits<double> {
  static constexpr double overflow = 709.78271289338397, half_overflow = 710.47586007394386,
                          underflow = -708.39641853226408;
};

/// exp(x) within the limits, anything outside (NaN too).
template <class T> [[gnu::always_inline]] inline T exp_within(T x) {
  auto [r, n] = reduce_by_ln2(x);
  return scale_by_power_of_two(expm1_reduced(r) + T(1), n);
}

/// exp(x) / 2, whose largest argument is larger by ln 2; x >= 0.
template <class T> [[gnu::always_inline]] inline T half_exp(T x) {
  auto [r, n] = reduce_by_ln2(x);
  T result = scale_by_power_of_two(expm1_reduced(r) + T(1), n - 1);
  return x <= ExpLimits<T>::half_overflow ? result : x + std::numeric_limits<T>::infinity();
}

/// 2^x in double to a tenth of a float's last bit, for float functions that need spare digits; |x| <= 1000.
[[gnu::always_inline]] inline double exp2_for_float(double x) {
  constexpr double shift = 6755399441055744.0;
  double k = x + shift;
  double r = x - (k - shift);
  double p = polynomial(r, 0.00015345765414552282, 0.0013399958517711233, 0.009618489355892849, 0.05550328708581726,
                        0.2402264688451486, 0.6931472057701088, 1.0000000005557546);
  return scale_by_power_of_two(p, std::bit_cast<uint64_t>(k));
}

/// x = 2^e * (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), for positive normal x.
template <class T> struct Decomposition {
  T e, f;
};
[[gnu::always_inline]] inline Decomposition<float> decompose(float x) {
  constexpr uint32_t root_half = 0x3F3504F3, exponent = 0xFF800000;
  uint32_t bits = std::bit_cast<uint32_t>(x), above = bits - root_half;
  float e = static_cast<float>(static_cast<int32_t>(above) >> 23);
  return {e, std::bit_cast<float>(bits - (above & exponent)) - 1.0f};
}
[[gnu::always_inline]] inline Decomposition<double> decompose(double x) {
  constexpr uint64_t root_half = 0x3FE6A09E667F3BCD, one = 0x3FF0000000000000;
  uint64_t bits = std::bit_cast<uint64_t>(x) + (one - root_half);
  // AVX2 cannot convert 64-bit integers: put the exponent into the mantissa of 2^52 and take that and 1023 off.
  double e = std::bit_cast<double>((bits >> 52) | 0x4330000000000000) - 4503599627371519.0;
  return {e, std::bit_cast<double>((bits & 0x000FFFFFFFFFFFFF) + root_half) - 1.0};
}

/// log2(x) in double to about 3e-14, for float functions that need spare digits; positive normal x.
[[gnu::always_inline]] inline double log2_for_float(double x) {
  auto [e, f] = decompose(x);
  double s = f / (f + 2.0);
  double p = polynomial(s * s, 0.2833343225996607, 0.3198766463224177, 0.41220992437296483, 0.5770779361186024,
                        0.9617966941332518, 2.88539008177784);
  return p * s + e;
}

/// Natural logarithm of a positive normal number.
[[gnu::always_inline]] inline float log_within(float x) {
  auto [e, f] = decompose(x);
  float p = polynomial_by_halves(f, -7.8603156e-02f, 1.2890081e-01f, -1.313214e-01f, 1.4180204e-01f, -1.6624144e-01f,
                                 2.0002319e-01f, -2.5000823e-01f, 3.3333316e-01f, -0.5f);
  float y = p * (f * f) + f;
  return y + e * 0.693147181f;
}
[[gnu::always_inline]] inline double log_within(double x) {
  auto [e, f] = decompose(x);
  double s = f / (f + 2.0);
  double z = s * s;
  double p = polynomial(z, 0.1482730806698072, 0.153110574119911, 0.18183675381835984, 0.22222196560099472,
                        0.2857142876068606, 0.39999999999338964, 0.6666666666666745);
  // log(1 + f) = f - (h - s (h + z p)) with h = f^2 / 2: the large part f is exact.
  double h = 0.5 * f * f;
  double inner = s * (p * z + h) + e * 1.90821492927058770002e-10;
  return e * 6.93147180369123816490e-01 - ((h - inner) - f);
}

/// log(1 + x) for finite x > -1, without the sign of 0.
template <class T> [[gnu::always_inline]] inline T log1p_within(T x) {
  T u = x + T(1);
  // What the rounding of u lost; for large x the 1 itself, read from the other side.
  T lost = x < T(1) ? x - (u - T(1)) : T(1) - (u - x);
  return log_within(u) + lost / u;
}
}  // namespace detail

/// e^x; a result below the smallest normal number is 0. The range is checked last: what huge arguments do before does
/// not matter, and clamping them first is slower (the compiler folds the clamped values through the whole polynomial).
template <class T> [[gnu::always_inline]] inline T exp(T x) {
  T result = detail::exp_within(x);
  T beyond = x + std::numeric_limits<T>::infinity();  // infinity, or NaN for NaN, whose exponent was tampered with
  result = x <= detail::ExpLimits<T>::overflow ? result : beyond;
  return x < detail::ExpLimits<T>::underflow ? T(0) : result;
}

/// e^x - 1, exact near 0.
template <class T> [[gnu::always_inline]] inline T expm1(T x) {
  auto [r, n] = detail::reduce_by_ln2(x);
  T half_scale = detail::scale_by_power_of_two(T(0.5), n);  // halved: the largest power of two needed is not a number
  T result = (detail::expm1_reduced(r) * half_scale + (half_scale - T(0.5))) * T(2);
  result = x > detail::ExpLimits<T>::overflow ? std::numeric_limits<T>::infinity() : result;
  result = x < T(-40) ? T(-1) : result;
  return x == T(0) ? x : result;
}

/// Natural logarithm; -infinity at 0, NaN below. A subnormal number counts as 0, as in TensorFlow and in threads that
/// flush them.
template <class T> [[gnu::always_inline]] inline T log(T x) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  T result = x < infinity ? detail::log_within(x) : x;
  T below = x < T(0) ? std::numeric_limits<T>::quiet_NaN() : -infinity;
  return x < std::numeric_limits<T>::min() ? below : result;
}

/// log(1 + x), exact near 0; -infinity at -1, NaN below.
template <class T> [[gnu::always_inline]] inline T log1p(T x) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  T result = x < infinity ? detail::log1p_within(x) : x;
  T below = x < T(-1) ? std::numeric_limits<T>::quiet_NaN() : -infinity;
  result = x <= T(-1) ? below : result;
  return x == T(0) ? x : result;
}

/// Square root.
template <class T> [[gnu::always_inline]] inline T sqrt(T x) { return std::sqrt(x); }

/// 1 / sqrt(x); -infinity at -0.
template <class T> [[gnu::always_inline]] inline T rsqrt(T x) { return T(1) / std::sqrt(x); }

/// 1 / (1 + e^-x).
template <class T> [[gnu::always_inline]] inline T sigmoid(T x) { return T(1) / (exp(-x) + T(1)); }

/// log(1 + e^x), without overflow.
template <class T> [[gnu::always_inline]] inline T softplus(T x) {
  T positive = x < T(0) ? T(0) : x;  // NaN stays
  T minus = -std::abs(x);
  T rest = detail::log1p_within(detail::exp_within(minus));
  return positive + (minus < detail::ExpLimits<T>::underflow ? T(0) : rest);
}

/// x^y with the edges of C's pow.
[[gnu::always_inline]] inline float pow(float x, float y) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  float magnitude = std::abs(x);
  double logarithm = detail::log2_for_float(static_cast<double>(magnitude));
  logarithm = magnitude < infinity ? logarithm : static_cast<double>(magnitude);
  logarithm = magnitude == 0.0f ? -static_cast<double>(infinity) : logarithm;
  double product = static_cast<double>(y) * logarithm;
  float result = static_cast<float>(detail::exp2_for_float(product));
  result = product > 129.0 ? infinity : result;
  result = product < -150.0 ? 0.0f : result;
  float half = y * 0.5f;
  bool whole = floor(y) == y;
  bool odd = whole & (floor(half) != half);
  result = ((x < 0.0f) & !whole & (magnitude < infinity)) ? std::numeric_limits<float>::quiet_NaN() : result;
  result = odd ? std::copysign(result, x) : result;
  bool one = (x == 1.0f) | (y == 0.0f) | ((magnitude == 1.0f) & (std::abs(y) == infinity));
  return one ? 1.0f : result;
}
/// x^y in double: the C library's, which keeps the digits a vector loop would lose.
[[gnu::always_inline]] inline double pow(double x, double y) { return std::pow(x, y); }
}  // namespace thalweg::kernels::scalar

// Hyperbolic functions and their inverses.
#pragma once
#include "thalweg/kernels/scalar_exponential.h"

namespace thalweg::kernels::scalar {
/// Hyperbolic tangent: t / (t + 2) with t = e^(2|x|) - 1.
[[gnu::always_inline]] inline float tanh(float x) {
  float magnitude = std::abs(x);
  // As expm1, but with a shorter polynomial and ln 2 in one piece: the quotient forgives both.
  constexpr float shift = 12582912.0f;
  float k = magnitude * 2.88539008f + shift;
  float r = (magnitude + magnitude) - (k - shift) * 0.693147181f;
  float q = polynomial(r, 1.3947582e-03f, 8.367248e-03f, 4.1666266e-02f, 1.6666538e-01f, 0.5f);
  float p = q * (r * r) + r;
  float scale = detail::scale_by_power_of_two(1.0f, std::bit_cast<uint32_t>(k));
  float t = p * scale + (scale - 1.0f);
  float result = t / (t + 2.0f);
  return std::copysign(magnitude > 9.02f ? 1.0f : result, x);
}
[[gnu::always_inline]] inline double tanh(double x) {
  double magnitude = std::abs(x);
  double t = expm1(magnitude + magnitude);
  double result = t / (t + 2.0);
  return std::copysign(magnitude > 22.0 ? 1.0 : result, x);
}

/// Hyperbolic sine.
[[gnu::always_inline]] inline float sinh(float x) {
  float s = x * x;
  float p = polynomial(s, 2.8175891e-06f, 1.9836053e-04f, 8.3333505e-03f, 1.6666667e-01f);
  float small = p * s * x + x;
  float magnitude = std::abs(x);
  float half = detail::half_exp(magnitude);  // e^|x| / 2: no early overflow
  float large = std::copysign(half - 0.25f / half, x);
  return magnitude < 1.0f ? small : large;
}
[[gnu::always_inline]] inline double sinh(double x) { return std::sinh(x); }

/// Hyperbolic cosine.
template <class T> [[gnu::always_inline]] inline T cosh(T x) {
  T half = detail::half_exp(std::abs(x));
  return half + T(0.25) / half;
}

/// Inverse hyperbolic sine; the float one computes in double, where the sum under the logarithm keeps its digits.
[[gnu::always_inline]] inline float asinh(float x) {
  double magnitude = static_cast<double>(std::abs(x));
  double s = magnitude * magnitude;
  double large = detail::log2_for_float(magnitude + std::sqrt(s + 1.0)) * 0.6931471805599453;
  double small = magnitude - magnitude * s * (1.0 / 6.0);
  float result = static_cast<float>(magnitude < 0.001 ? small : large);
  result = std::abs(x) < std::numeric_limits<float>::infinity() ? result : std::abs(x);
  return std::copysign(result, x);
}
[[gnu::always_inline]] inline double asinh(double x) { return std::asinh(x); }

/// Inverse hyperbolic cosine; NaN below 1.
[[gnu::always_inline]] inline float acosh(float x) {
  double wide = static_cast<double>(x);
  double result = detail::log2_for_float(wide + std::sqrt((wide - 1.0) * (wide + 1.0))) * 0.6931471805599453;
  float narrow = static_cast<float>(result);
  narrow = x < std::numeric_limits<float>::infinity() ? narrow : x;
  return x < 1.0f ? std::numeric_limits<float>::quiet_NaN() : narrow;
}
[[gnu::always_inline]] inline double acosh(double x) { return std::acosh(x); }

/// Inverse hyperbolic tangent; infinite at -1 and 1, NaN outside.
[[gnu::always_inline]] inline float atanh(float x) {
  double magnitude = static_cast<double>(std::abs(x));
  double large = detail::log2_for_float((1.0 + magnitude) / (1.0 - magnitude)) * 0.34657359027997264;
  double small = magnitude + magnitude * (magnitude * magnitude) * (1.0 / 3.0);
  float result = static_cast<float>(magnitude < 0.001 ? small : large);
  result = std::abs(x) < 1.0f ? result : std::numeric_limits<float>::quiet_NaN();
  result = std::abs(x) == 1.0f ? std::numeric_limits<float>::infinity() : result;
  return std::copysign(result, x);
}
[[gnu::always_inline]] inline double atanh(double x) { return std::atanh(x); }
}  // namespace thalweg::kernels::scalar

// Rounding to whole numbers without a call, so that loops vectorise on plain SSE2 as well.
#pragma once
#include <cmath>
#include <limits>

namespace thalweg::kernels::scalar {
/// Evaluates a polynomial by Horner's rule; coefficients from the highest power down.
template <class T, class... Coefficients>
[[gnu::always_inline]] inline T polynomial(T x, T highest, Coefficients... rest) {
  T y = highest;
  ((y = y * x + rest), ...);
  return y;
}

/// The same value with the even and the odd powers apart: as many operations, but two chains of half the length, which
/// is what a processor waits for where x^2 is needed anyway.
template <class T, class... Coefficients>
[[gnu::always_inline]] inline T polynomial_by_halves(T x, Coefficients... coefficients) {
  constexpr int count = sizeof...(coefficients);
  const T c[] = {coefficients...};
  T square = x * x;
  T first = c[0], second = c[1];
  for (int i = 2; i < count; i += 2) first = first * square + c[i];
  for (int i = 3; i < count; i += 2) second = second * square + c[i];
  return count % 2 ? second * x + first : first * x + second;
}

/// Nearest whole number, halves to even; keeps -0, infinities and NaN.
template <class T> [[gnu::always_inline]] inline T rint(T x) {
  // From 2^(digits - 1) on every value is whole; below, adding that number leaves no room for a fraction.
  constexpr T whole = T(1) / std::numeric_limits<T>::epsilon();
  T magnitude = std::abs(x);
  T rounded = (magnitude + whole) - whole;
  return std::copysign(magnitude < whole ? rounded : magnitude, x);
}

/// Greatest whole number that is not above x.
template <class T> [[gnu::always_inline]] inline T floor(T x) {
  T rounded = rint(x);
  return rounded > x ? rounded - T(1) : rounded;
}

/// Least whole number that is not below x; -0 for x in (-1, 0].
template <class T> [[gnu::always_inline]] inline T ceil(T x) {
  T rounded = rint(x);
  return std::copysign(rounded < x ? rounded + T(1) : rounded, x);
}

/// TensorFlow's Round: halves to even.
template <class T> [[gnu::always_inline]] inline T round(T x) { return rint(x); }
}  // namespace thalweg::kernels::scalar

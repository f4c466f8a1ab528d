// Inverse error function and normal quantile: a rough formula, then third-order steps in double.
#pragma once
#include <cmath>

#include "thalweg/kernels/scalar_gamma.h"

namespace thalweg::kernels::scalar {
namespace detail {
/// y with erf(y) = x for 0 <= x < 1. `complement` is 1 - x, which the caller may know to more digits.
inline double inverse_erf(double x, double complement) {
  constexpr double root_pi = 1.7724538509055160273;
  double y;
  if (x < 0.25) {
    y = 0.5 * root_pi * x * (1.0 + pi / 12.0 * x * x);
  } else {  // Winitzki: within 0.4 %
    double logarithm = std::log(complement * (1.0 + x));
    double t = 2.0 / (pi * 0.147) + 0.5 * logarithm;
    y = std::sqrt(std::sqrt(t * t - logarithm / 0.147) - t);
  }
  for (int i = 0; i < 3; ++i) {
    double error = x < 0.5 ? std::erf(y) - x : complement - std::erfc(y);
    double step = 0.5 * root_pi * error * std::exp(y * y);
    y -= step / (1.0 + y * step);
  }
  return y;
}

inline double erfinv(double x) {
  double magnitude = std::abs(x);
  if (!(magnitude < 1.0)) return magnitude == 1.0 ? std::copysign(infinite, x) : not_a_number;
  return std::copysign(inverse_erf(magnitude, 1.0 - magnitude), x);
}

/// Quantile of the standard normal distribution for p <= 1/2, as a positive number.
inline double upper_normal_quantile(double p) {
  constexpr double root_two = 1.4142135623730950488;
  if (p > 0.05) return root_two * inverse_erf(1.0 - 2.0 * p, 2.0 * p);
  double t = std::sqrt(-2.0 * std::log(p));  // Abramowitz and Stegun 26.2.23: within 4.5e-4
  double y = t - polynomial(t, 0.010328, 0.802853, 2.515517) / polynomial(t, 0.001308, 0.189269, 1.432788, 1.0);
  if (p < 1e-250) {  // Q itself would be denormal: its logarithm from the asymptotic series
    for (int i = 0; i < 6; ++i) {
      double u = 1.0 / (y * y), series = 1 - u * (1 - 3 * u * (1 - 5 * u * (1 - 7 * u * (1 - 9 * u))));
      double log_tail = -0.5 * y * y - std::log(y * std::sqrt(2.0 * pi)) + std::log(series);
      y += (log_tail - std::log(p)) / (y + 1.0 / y);
    }
    return y;
  }
  // Newton on log Q(y) = log p: far out Q itself is too curved.
  for (int i = 0; i < 3; ++i) {
    double tail = 0.5 * std::erfc(y / root_two);
    double density = std::exp(-0.5 * y * y) / std::sqrt(2.0 * pi);
    y += tail / density * std::log(tail / p);
  }
  return y;
}

inline double ndtri(double p) {
  if (!(p >= 0.0 && p <= 1.0)) return not_a_number;
  if (p == 0.0) return -infinite;
  if (p == 1.0) return infinite;
  if (p == 0.5) return 0.0;
  return p < 0.5 ? -upper_normal_quantile(p) : upper_normal_quantile(1.0 - p);
}
}  // namespace detail

/// Inverse of erf; infinite at -1 and 1, NaN outside.
template <class T> [[gnu::always_inline]] inline T erfinv(T x) { return static_cast<T>(detail::erfinv(x)); }

/// Quantile of the standard normal distribution; infinite at 0 and 1, NaN outside.
template <class T> [[gnu::always_inline]] inline T ndtri(T p) { return static_cast<T>(detail::ndtri(p)); }
}  // namespace thalweg::kernels::scalar

// The gamma family: computed in double for both types, right before fast (zeta to as many digits as the type has).
// Edges are TensorFlow's.
#pragma once
#include <cmath>
#include <limits>
#include <type_traits>

#include "thalweg/kernels/scalar_exponential.h"
#include "thalweg/kernels/scalar_rounding.h"

namespace thalweg::kernels::scalar {
namespace detail {
inline constexpr double pi = 3.14159265358979323846;
inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
inline constexpr double infinite = std::numeric_limits<double>::infinity();

inline double log_gamma(double x) {
  int sign;  // std::lgamma would write the global signgam from every thread
  return ::lgamma_r(x, &sign);
}

/// log Gamma(x) - ((x - 1/2) log x - x + log(2 pi) / 2), for x >= 10.
inline double stirling_correction(double x) {
  double s = 1.0 / (x * x);
  return polynomial(s, 1.0 / 156, -691.0 / 360360, 1.0 / 1188, -1.0 / 1680, 1.0 / 1260, -1.0 / 360, 1.0 / 12) / x;
}

/// u - log(1 + u) without cancellation near 0.
inline double minus_log1p_tail(double u) {
  if (std::abs(u) > 0.4) return u - std::log1p(u);
  // With s = u / (2 + u): log(1 + u) = 2 atanh(s), and u - 2 s = s u.
  double s = u / (2.0 + u), square = s * s, power = s * square, sum = 0.0;
  for (int k = 3; k < 60; k += 2, power *= square) {
    double term = power / k;
    sum += term;
    if (std::abs(term) < 1e-18 * std::abs(sum)) break;
  }
  return s * u - 2.0 * sum;
}

inline double digamma(double x) {
  if (x <= 0.0) {
    double fraction = x - std::nearbyint(x);
    if (!(std::abs(fraction) > 0.0)) return not_a_number;  // the poles, and -infinity
    return digamma(1.0 - x) - (std::abs(fraction) == 0.5 ? 0.0 : pi / std::tan(pi * fraction));
  }
  if (x == infinite) return x;
  double sum = 0.0;
  for (; x < 10.0; x += 1.0) sum -= 1.0 / x;
  double s = 1.0 / (x * x);
  double tail = s * polynomial(s, 1.0 / 12, -691.0 / 32760, 1.0 / 132, -1.0 / 240, 1.0 / 252, -1.0 / 120, 1.0 / 12);
  return sum + (std::log(x) - 0.5 / x - tail);
}

/// q^-x for q > 0, to the digits that a result of type T needs.
template <class T> [[gnu::always_inline]] inline double inverse_power(double q, double x) {
  if constexpr (std::is_same_v<T, double>) return std::pow(q, -x);
  else {
    double exponent = -x * log2_for_float(q);
    return exponent < -1000.0 ? 0.0 : exp2_for_float(exponent < 1000.0 ? exponent : 1000.0);
  }
}

/// Hurwitz zeta for x > 1, q > 0 by the Euler-Maclaurin formula, after a few terms of the sum itself.
template <class T> inline double hurwitz_zeta(double x, double q) {
  constexpr int terms = std::is_same_v<T, double> ? 10 : 4;
  constexpr double digit = std::is_same_v<T, double> ? 1e-17 : 1e-9;
  constexpr double coefficients[] = {// B(2k) / (2k)!
                                     1.0 / 12,
                                     -1.0 / 720,
                                     1.0 / 30240,
                                     -1.0 / 1209600,
                                     1.0 / 47900160,
                                     -691.0 / 1307674368000.0,
                                     1.0 / 74724249600.0,
                                     -3617.0 / 10670622842880000.0};
  double sum = 0.0;
  for (int k = 0; k < terms; ++k, q += 1.0) {
    double term = inverse_power<T>(q, x);
    sum += term;
    if (term <= digit * sum * (x - 1.0) / (q + x)) return sum;  // what follows is below a last digit
  }
  double power = inverse_power<T>(q, x);
  sum += power * q / (x - 1.0) + 0.5 * power;
  double factor = x, scale = power / q;
  for (int k = 0; k < 8; ++k) {
    double term = coefficients[k] * factor * scale;
    sum += term;
    if (std::abs(term) < digit * sum) break;
    factor *= (x + 2 * k + 1) * (x + 2 * k + 2);
    scale /= q * q;
  }
  return sum;
}

template <class T> inline double zeta(double x, double q) {
  if (x == 1.0) return infinite;
  if (!(x > 1.0) || std::isnan(q)) return not_a_number;
  if (q == infinite) return 0.0;
  bool whole = std::floor(x) == x;
  double half = 0.5 * x;
  bool even = whole && std::floor(half) == half;
  if (q <= 0.0) {
    double below = -q - std::floor(-q);  // from q up to the next term with a positive base: 1 - below
    if (!(below > 0.0)) return even ? infinite : not_a_number;
    if (!whole) return not_a_number;
    if (x == infinite) return infinite;
    // The terms with a negative base, summed from the other side: no loop over |q| of them.
    double negative = hurwitz_zeta<T>(x, below) - hurwitz_zeta<T>(x, 1.0 - q);
    return hurwitz_zeta<T>(x, 1.0 - below) + (even ? negative : -negative);
  }
  if (x == infinite) return std::pow(q, -x);
  return hurwitz_zeta<T>(x, q);
}

template <class T> inline double polygamma(double n, double x) {
  if (!(n >= 0.0) || std::floor(n) != n) return not_a_number;
  if (n == 0.0) return digamma(x);
  double half = 0.5 * n;
  double magnitude = std::exp(log_gamma(n + 1.0)) * zeta<T>(n + 1.0, x);
  return std::floor(half) == half && n != infinite ? -magnitude : magnitude;
}

/// x^a e^-x / Gamma(a).
inline double gamma_density(double a, double x) {
  if (a < 10.0) return std::exp(a * std::log(x) - x - log_gamma(a));
  return std::sqrt(a / (2.0 * pi)) * std::exp(-a * minus_log1p_tail((x - a) / a) - stirling_correction(a));
}

/// Lower regularised incomplete gamma by its power series, for x < a + 1.
inline double igamma_series(double a, double x) {
  double term = 1.0, sum = 1.0;
  for (int n = 1; n < 100000 && term > 1e-17 * sum; ++n) {
    term *= x / (a + n);
    sum += term;
  }
  return sum * gamma_density(a, x) / a;
}

/// Upper one by Lentz's evaluation of its continued fraction, for x >= a + 1.
inline double igammac_fraction(double a, double x) {
  constexpr double tiny = 1e-300;
  double b = x + 1.0 - a, c = 1.0 / tiny, d = 1.0 / b, h = d;
  for (int n = 1; n < 100000; ++n) {
    double an = -n * (n - a);
    b += 2.0;
    d = an * d + b;
    c = b + an / c;
    if (std::abs(d) < tiny) d = tiny;
    if (std::abs(c) < tiny) c = tiny;
    d = 1.0 / d;
    double factor = d * c;
    h *= factor;
    if (std::abs(factor - 1.0) < 2e-16) break;
  }
  return h * gamma_density(a, x);
}

/// Both for large a by Temme's uniform expansion; eta^2 / 2 = u - log(1 + u), u = x / a - 1.
inline double igamma_uniform(double a, double x, bool upper) {
  double u = (x - a) / a;
  double eta = std::copysign(std::sqrt(2.0 * minus_log1p_tail(u)), u);
  double c0 = std::abs(eta) < 0.02 ? polynomial(eta, 1.0 / 2835, 1.0 / 864, -2.0 / 135, 1.0 / 12, -1.0 / 3)
                                   : 1.0 / u - 1.0 / eta;
  double c1 = std::abs(eta) < 0.02 ? -1.0 / 540 - eta / 288
                                   : 1.0 / (eta * eta * eta) - (1.0 / u + 1.0) / (u * u) - 1.0 / (12.0 * u);
  double rest = std::exp(-0.5 * a * eta * eta) / std::sqrt(2.0 * pi * a) * (c0 + c1 / a);
  double argument = eta * std::sqrt(0.5 * a);
  return upper ? 0.5 * std::erfc(argument) + rest : 0.5 * std::erfc(-argument) - rest;
}

inline double igamma(double a, double x) {
  if (x == 0.0) return 0.0;
  if (!(x > 0.0) || !(a > 0.0)) return not_a_number;
  if (a == infinite) return 0.0;
  if (x == infinite) return 1.0;
  if (a > 1e5) return igamma_uniform(a, x, false);
  return x < a + 1.0 ? igamma_series(a, x) : 1.0 - igammac_fraction(a, x);
}

inline double igammac(double a, double x) {
  if (!(x >= 0.0) || !(a > 0.0)) return not_a_number;
  if (x == infinite) return 0.0;
  if (x == 0.0 || a == infinite) return 1.0;
  if (a > 1e5) return igamma_uniform(a, x, true);
  return x < a + 1.0 ? 1.0 - igamma_series(a, x) : igammac_fraction(a, x);
}

/// How a gamma distributed x moves with a while P(a, x) stays: -(dP/da) / (dP/dx). The power series and the continued
/// fraction of P with their derivatives by a; the density divides out, so that nothing underflows.
inline double gamma_move_series(double a, double x) {
  double term = 1.0, sum = 1.0, slope = 0.0, harmonic = 0.0;
  for (int n = 1; n < 100000 && term > 1e-17 * sum; ++n) {
    term *= x / (a + n);
    harmonic += 1.0 / (a + n);
    sum += term;
    slope -= term * harmonic;
  }
  return -x / a * (sum * (std::log(x) - digamma(a + 1.0)) + slope);
}
inline double gamma_move_fraction(double a, double x) {
  constexpr double tiny = 1e-300;
  double b = x + 1.0 - a, c = 1.0 / tiny, d = 1.0 / b, h = d;
  double slope_c = 0.0, slope_d = d * d, slope = d;  // by a: of c, of d and of log h
  for (int n = 1; n < 100000; ++n) {
    double an = -n * (n - a);
    b += 2.0;
    slope_d = n * d + an * slope_d - 1.0;
    d = an * d + b;
    slope_c = n / c - an / c * (slope_c / c) - 1.0;
    c = b + an / c;
    if (std::abs(d) < tiny) d = tiny;
    if (std::abs(c) < tiny) c = tiny;
    d = 1.0 / d;
    slope_d *= -d * d;
    double factor = d * c, change = slope_d / d + slope_c / c;
    h *= factor;
    slope += change;
    if (std::abs(factor - 1.0) < 2e-16 && std::abs(change) < 1e-16 * (1.0 + std::abs(slope))) break;
  }
  return x * h * (std::log(x) - digamma(a) + slope);
}
/// For large a by Temme's uniform expansion, of which eta sqrt(a) and the first correction c0 stay together.
inline double gamma_move_uniform(double a, double x) {
  double u = (x - a) / a, ratio = 1.0;
  double eta = std::copysign(std::sqrt(2.0 * minus_log1p_tail(u)), u);
  if (u != 0.0) ratio = eta / u;
  double c0, slope;
  if (std::abs(eta) < 0.02) {
    c0 = polynomial(eta, 1.0 / 2835, 1.0 / 864, -2.0 / 135, 1.0 / 12, -1.0 / 3);
    slope = polynomial(eta, 4.0 / 2835, 3.0 / 864, -4.0 / 135, 1.0 / 12);
  } else {
    c0 = 1.0 / u - 1.0 / eta;
    slope = 1.0 / (eta * eta) - ratio * (1.0 + u) / (u * u);
  }
  double correction = -0.5 * (c0 + slope * eta) / (a * (1.0 + eta * c0));
  return (1.0 + u) * (1.0 + ratio * (correction - 0.5 * eta));
}
inline double gamma_move(double a, double x) {
  if (x == 0.0) return 0.0;
  if (!(x > 0.0) || !(a > 0.0)) return not_a_number;
  if (a == infinite || x == infinite) return 0.0;
  if (a > 1e5 && std::abs(x - a) < 0.5 * a) return gamma_move_uniform(a, x);
  return x < a + 1.0 ? gamma_move_series(a, x) : gamma_move_fraction(a, x);
}
inline double igamma_grad_a(double a, double x) {
  double move = gamma_move(a, x);
  return move == 0.0 || std::isnan(move) ? move : -(move / x) * gamma_density(a, x);
}

/// x^a (1 - x)^b / B(a, b).
inline double beta_density(double a, double b, double x) {
  double sum = a + b;
  if (a < 10.0 || b < 10.0) {
    double larger = a > b ? a : b, smaller = a > b ? b : a;
    double log_beta = log_gamma(smaller);
    if (larger < 10.0) log_beta += log_gamma(larger) - log_gamma(sum);
    else  // the two large logarithms cancel: subtract their Stirling formulas term by term
      log_beta += smaller - (larger - 0.5) * std::log1p(smaller / larger) - smaller * std::log(sum) +
                  stirling_correction(larger) - stirling_correction(sum);
    return std::exp(a * std::log(x) + b * std::log1p(-x) - log_beta);
  }
  double distance = (x * b - (1.0 - x) * a) / sum;
  double deviance = a * minus_log1p_tail(distance * sum / a) + b * minus_log1p_tail(-distance * sum / b);
  double correction = stirling_correction(a) + stirling_correction(b) - stirling_correction(sum);
  return std::sqrt(a / sum * b / (2.0 * pi)) * std::exp(-deviance - correction);
}

/// Regularised incomplete beta by Lentz's evaluation of its continued fraction, for x below the mean.
inline double betainc_fraction(double a, double b, double x) {
  constexpr double tiny = 1e-300;
  double c = 1.0, d = 1.0 - (a + b) * x / (a + 1.0);
  d = 1.0 / (std::abs(d) < tiny ? tiny : d);
  double h = d;
  for (int m = 1; m < 20000; ++m) {
    double even = m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m));
    double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0));
    d = 1.0 + even * d;
    c = 1.0 + even / c;
    d = 1.0 / (std::abs(d) < tiny ? tiny : d);
    if (std::abs(c) < tiny) c = tiny;
    h *= d * c;
    d = 1.0 + odd * d;
    c = 1.0 + odd / c;
    d = 1.0 / (std::abs(d) < tiny ? tiny : d);
    if (std::abs(c) < tiny) c = tiny;
    double factor = d * c;
    h *= factor;
    if (std::abs(factor - 1.0) < 2e-16) break;
  }
  return h * beta_density(a, b, x) / a;
}

inline double betainc(double a, double b, double x) {
  if (a <= 0.0 || b <= 0.0 || !(x >= 0.0 && x <= 1.0)) return not_a_number;
  if (x == 0.0 || x == 1.0) return x;
  if (!(a < infinite) || !(b < infinite)) return not_a_number;
  return x < (a + 1.0) / (a + b + 2.0) ? betainc_fraction(a, b, x) : 1.0 - betainc_fraction(b, a, 1.0 - x);
}
}  // namespace detail

/// log |Gamma(x)|; infinite at the poles 0, -1, -2, ... and at both infinities.
template <class T> [[gnu::always_inline]] inline T lgamma(T x) { return static_cast<T>(detail::log_gamma(x)); }

/// Derivative of lgamma; NaN at the poles.
template <class T> [[gnu::always_inline]] inline T digamma(T x) { return static_cast<T>(detail::digamma(x)); }

/// Hurwitz zeta: sum of (q + k)^-x over k = 0, 1, ...; infinite at x = 1, NaN for x < 1.
template <class T> [[gnu::always_inline]] inline T zeta(T x, T q) { return static_cast<T>(detail::zeta<T>(x, q)); }

/// n-th derivative of digamma for whole n >= 0, else NaN.
template <class T> [[gnu::always_inline]] inline T polygamma(T n, T x) {
  return static_cast<T>(detail::polygamma<T>(n, x));
}

/// Lower regularised incomplete gamma function P(a, x); NaN for a <= 0 or x < 0.
template <class T> [[gnu::always_inline]] inline T igamma(T a, T x) { return static_cast<T>(detail::igamma(a, x)); }

/// Upper regularised incomplete gamma function Q(a, x); NaN for a <= 0 or x < 0.
template <class T> [[gnu::always_inline]] inline T igammac(T a, T x) { return static_cast<T>(detail::igammac(a, x)); }

/// The derivative of P(a, x) by a.
template <class T> [[gnu::always_inline]] inline T igamma_grad_a(T a, T x) {
  return static_cast<T>(detail::igamma_grad_a(a, x));
}

/// The derivative by a of a number x drawn from the gamma distribution of shape a.
template <class T> [[gnu::always_inline]] inline T gamma_sample_grad(T a, T x) {
  return static_cast<T>(detail::gamma_move(a, x));
}

/// Regularised incomplete beta function I_x(a, b); NaN for a <= 0, b <= 0 or x outside [0, 1].
template <class T> [[gnu::always_inline]] inline T betainc(T a, T b, T x) {
  return static_cast<T>(detail::betainc(a, b, x));
}
}  // namespace thalweg::kernels::scalar

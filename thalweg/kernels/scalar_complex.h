// Complex overloads of the scalar functions; apart because <complex> is slow to compile.
// They are the C library's, which follows C's annex G at the edges, except where it has none or TensorFlow differs, and
// for sign, sqrt and log of complex64, which vectorise.
#pragma once
#include <cmath>
#include <complex>
#include <limits>

#include "thalweg/kernels/scalar_exponential.h"
#include "thalweg/kernels/scalar_trigonometric.h"

namespace thalweg::kernels::scalar {
/// Modulus, without overflow on the way.
template <class T> [[gnu::always_inline]] inline T abs(const std::complex<T>& x) { return std::abs(x); }

/// x / |x|, and 0 at 0.
template <class T> [[gnu::always_inline]] inline std::complex<T> sign(const std::complex<T>& x) {
  T modulus = std::abs(x);
  return modulus == T(0) ? std::complex<T>() : x / modulus;
}
/// With the modulus in double, as the C library's hypotf has it.
[[gnu::always_inline]] inline std::complex<float> sign(const std::complex<float>& x) {
  double a = static_cast<double>(x.real()), b = static_cast<double>(x.imag());
  float modulus = static_cast<float>(std::sqrt(a * a + b * b));
  bool zero = modulus == 0.0f;
  return {zero ? 0.0f : x.real() / modulus, zero ? 0.0f : x.imag() / modulus};
}

/// 1 / x, scaled against overflow; NaN at 0 and at infinity, as in TensorFlow.
template <class T> [[gnu::always_inline]] inline std::complex<T> reciprocal(const std::complex<T>& x) {
  T real = std::abs(x.real()), imaginary = std::abs(x.imag());
  T scale = real > imaginary ? real : imaginary;
  T a = x.real() / scale, b = x.imag() / scale;
  T norm = a * a + b * b;
  return {a / norm / scale, -b / norm / scale};
}

/// Principal square root.
template <class T> [[gnu::always_inline]] inline std::complex<T> sqrt(const std::complex<T>& x) { return std::sqrt(x); }
/// In double, where squares of floats neither overflow nor vanish: t = sqrt((|a| + |x|) / 2) is the larger part of the
/// root of x = a + i b, and b / (2 t) the other one.
[[gnu::always_inline]] inline std::complex<float> sqrt(const std::complex<float>& x) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  double a = static_cast<double>(x.real()), b = static_cast<double>(x.imag());
  double t = std::sqrt(0.5 * (std::abs(a) + std::sqrt(a * a + b * b)));
  double other = t == 0.0 ? 0.0 : 0.5 * std::abs(b) / t;
  float large = static_cast<float>(t), small = static_cast<float>(other);
  float real = x.real() < 0.0f ? small : large, imaginary = x.real() < 0.0f ? large : small;
  // The edges of C's annex G, where infinity meets NaN or infinity.
  bool is_infinite = std::abs(x.imag()) == infinity;
  real = is_infinite | (x.real() == infinity) ? infinity : real;
  imaginary = is_infinite | (x.real() == -infinity) ? infinity : imaginary;
  return {real, std::copysign(imaginary, x.imag())};
}

/// 1 / sqrt(x). On the negative axis the result is below the real axis whatever the sign of the zero, as in TensorFlow.
template <class T> [[gnu::always_inline]] inline std::complex<T> rsqrt(const std::complex<T>& x) {
  bool negative = (x.real() < T(0)) & (x.imag() == T(0));
  T below = T(-1) / std::sqrt(-x.real());
  std::complex<T> inverse = T(1) / scalar::sqrt(x);
  return {negative ? T(0) : inverse.real(), negative ? below : inverse.imag()};
}

/// e^x.
template <class T> [[gnu::always_inline]] inline std::complex<T> exp(const std::complex<T>& x) { return std::exp(x); }

/// e^x - 1 = expm1(a) cos(b) - 2 sin(b/2)^2 + i e^a sin(b) for x = a + i b: both parts keep their digits near 0.
template <class T> [[gnu::always_inline]] inline std::complex<T> expm1(const std::complex<T>& x) {
  std::complex<T> whole = std::exp(x);
  T half = std::sin(T(0.5) * x.imag());
  T real = std::expm1(x.real()) * std::cos(x.imag()) - T(2) * half * half;
  return {std::isfinite(real) ? real : whole.real() - T(1), whole.imag()};
}

/// Principal logarithm.
template <class T> [[gnu::always_inline]] inline std::complex<T> log(const std::complex<T>& x) { return std::log(x); }
/// In double, like sqrt. Near |x| = 1 from |x|^2 - 1 = (a - 1) (a + 1) + b^2 with a the larger part, which keeps its
/// digits.
[[gnu::always_inline]] inline std::complex<float> log(const std::complex<float>& x) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  float real = std::abs(x.real()), imaginary = std::abs(x.imag());
  double a = static_cast<double>(real > imaginary ? real : imaginary);
  double b = static_cast<double>(real > imaginary ? imaginary : real);
  double square = a * a + b * b, excess = (a - 1.0) * (a + 1.0) + b * b;
  double near = scalar::log1p(excess), far = scalar::log(square);
  double logarithm = 0.5 * (std::abs(excess) < 0.5 ? near : far);
  bool is_infinite = (real == infinity) | (imaginary == infinity);  // beside NaN too
  return {is_infinite ? infinity : static_cast<float>(logarithm), scalar::atan2(x.imag(), x.real())};
}

/// log(1 + x); near 0 the modulus is |1 + x|^2 = 1 + (a (2 + a) + b^2).
template <class T> [[gnu::always_inline]] inline std::complex<T> log1p(const std::complex<T>& x) {
  T a = x.real(), b = x.imag();
  std::complex<T> whole = std::log(std::complex<T>(T(1) + a, b));
  bool near = std::abs(a) < T(0.5) && std::abs(b) < T(0.5);
  return {near ? T(0.5) * std::log1p(a * (T(2) + a) + b * b) : whole.real(), whole.imag()};
}

/// 1 / (1 + e^-x).
template <class T> [[gnu::always_inline]] inline std::complex<T> sigmoid(const std::complex<T>& x) {
  return T(1) / (T(1) + std::exp(-x));
}

/// x^y = e^(y log x); 1 for y = 0.
template <class T>
[[gnu::always_inline]] inline std::complex<T> pow(const std::complex<T>& x, const std::complex<T>& y) {
  return std::pow(x, y);
}

/// Trigonometric and hyperbolic functions and their principal inverses.
template <class T> [[gnu::always_inline]] inline std::complex<T> sin(const std::complex<T>& x) { return std::sin(x); }
template <class T> [[gnu::always_inline]] inline std::complex<T> cos(const std::complex<T>& x) { return std::cos(x); }
template <class T> [[gnu::always_inline]] inline std::complex<T> tan(const std::complex<T>& x) { return std::tan(x); }
template <class T> [[gnu::always_inline]] inline std::complex<T> sinh(const std::complex<T>& x) { return std::sinh(x); }
template <class T> [[gnu::always_inline]] inline std::complex<T> cosh(const std::complex<T>& x) { return std::cosh(x); }
template <class T> [[gnu::always_inline]] inline std::complex<T> tanh(const std::complex<T>& x) { return std::tanh(x); }
template <class T> [[gnu::always_inline]] inline std::complex<T> asin(const std::complex<T>& x) { return std::asin(x); }
template <class T> [[gnu::always_inline]] inline std::complex<T> acos(const std::complex<T>& x) { return std::acos(x); }
template <class T> [[gnu::always_inline]] inline std::complex<T> atan(const std::complex<T>& x) { return std::atan(x); }
template <class T> [[gnu::always_inline]] inline std::complex<T> asinh(const std::complex<T>& x) {
  return std::asinh(x);
}
template <class T> [[gnu::always_inline]] inline std::complex<T> acosh(const std::complex<T>& x) {
  return std::acosh(x);
}
template <class T> [[gnu::always_inline]] inline std::complex<T> atanh(const std::complex<T>& x) {
  return std::atanh(x);
}
}  // namespace thalweg::kernels::scalar

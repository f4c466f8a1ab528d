// The error function and its complement.
#pragma once
#include "thalweg/kernels/scalar_exponential.h"

namespace thalweg::kernels::scalar {
/// Error function; for float a polynomial up to 1, beyond 1 - p(x)^8 up to where it rounds to 1.
[[gnu::always_inline]] inline float erf(float x) {
  float magnitude = std::abs(x);
  float s = x * x;
  float small = magnitude * polynomial(s, 7.850522e-05f, -8.0092653e-04f, 5.1882314e-03f, -2.6853766e-02f,
                                       1.1283584e-01f, -3.7612626e-01f, 1.1283791f);
  float root = polynomial(magnitude, 1.4973435e-04f, -2.4685205e-03f, 1.2920677e-02f, -1.1361985e-02f, -6.1440546e-02f,
                          -1.4505151e-01f, 1.0008323f);
  float square = root * root;
  float fourth = square * square;
  float result = magnitude < 1.0f ? small : 1.0f - fourth * fourth;
  return std::copysign(magnitude > 3.84f ? 1.0f : result, x);
}
/// In double a polynomial up to 1; beyond, 1 - e^(-x^2) R(t) / (1 + 2 x) with t = (x - 2) / (x + 2).
[[gnu::always_inline]] inline double erf(double x) {
  double magnitude = std::abs(x);
  double s = magnitude * magnitude;
  double small = magnitude * polynomial(s, -7.77944891324782e-10, 1.3710969859773255e-08, -1.6206311317613116e-07,
                                        1.644713125315939e-06, -1.492471227639966e-05, 0.00012055293575585293,
                                        -0.0008548325929271576, 0.00522397760611762, -0.026866170643111375,
                                        0.11283791670944185, -0.3761263890318352, 1.1283791670955126);
  double t = (magnitude - 2.0) / (magnitude + 2.0);
  double r = polynomial(t, 2.0965682421254807e-05, 0.00015006000241370965, 0.00020120149778199135,
                        -0.0004557913998923102, -0.0014567328969913094, 0.001271429865887149, 0.008722663461970287,
                        -0.008034016185935631, -0.054220001226589425, 0.16405128002923575, -0.16603039761427368,
                        -0.0927638265857082, 1.2769783815525284);
  double large = 1.0 - exp(-s) * r / (2.0 * magnitude + 1.0);
  double result = magnitude < 1.0 ? small : large;
  return std::copysign(magnitude > 6.0 ? 1.0 : result, x);
}

/// 1 - erf(x) without cancellation; the float one computes e^(-x^2) R(t) / (1 + 2 x) in double, t = (x - 4) / (x + 4).
[[gnu::always_inline]] inline float erfc(float x) {
  double magnitude = static_cast<double>(std::abs(x));
  double t = (magnitude - 4.0) / (magnitude + 4.0);
  double r = polynomial(t, -0.000639705593149068, -0.0011288297726719328, 0.005052466827247535, -0.016021628776797824,
                        0.037219628624830144, -0.06635619180945336, 0.0937213615578993, -0.10103762418021539,
                        0.06809784715995332, 0.015379622536074387, -0.13962113116098981, 1.2329951187795216);
  double tail = detail::exp2_for_float(magnitude * magnitude * -1.4426950408889634) * r / (2.0 * magnitude + 1.0);
  tail = magnitude > 10.2 ? 0.0 : tail;
  return static_cast<float>(x < 0.0f ? 2.0 - tail : tail);
}
[[gnu::always_inline]] inline double erfc(double x) { return std::erfc(x); }
}  // namespace thalweg::kernels::scalar

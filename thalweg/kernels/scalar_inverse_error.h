// Inverse error function and normal quantile.
#pragma once
#include <cmath>
#include <limits>

#include "thalweg/kernels/scalar_exponential.h"

namespace thalweg::kernels::scalar {
namespace detail {
/// y >= 0 whose upper normal tail is m = 1/2 - z, for 0 <= z <= 1/2; both are given, since either may have more digits
/// than the other leaves. Near the middle y = z P(r) / Q(r) with r = 0.1345 - z^2, in the tail y = t - P(t - 2) / Q(t -
/// 2) with t = sqrt(-2 log m). The coefficients are rational fits made in 70 digits (least squares of the relative
/// error of y at Chebyshev nodes, weights moved toward the largest errors), off by 1.4e-9 (float) and 7e-17 (double)
/// down to the smallest subnormal m. With these variables they are positive, so that nothing cancels.
[[gnu::always_inline]] inline double upper_normal_quantile(float z, float m) {
  float r = 0.1345f - z * z;
  // The tail needs more digits than a float has where the logarithm is small.
  double t = std::sqrt(-1.3862943611198906 * log2_for_float(static_cast<double>(m)));
  float beyond = static_cast<float>(t - 2.0);
  bool is_middle = r > 0.0f;
  float over = is_middle ? polynomial(r, 19.0584915f, 66.2712202f, 29.8205775f, 3.02971107f)
                         : polynomial(beyond, 3.72878935e-06f, 2.73902272e-03f, 8.27144608e-02f, 5.51856518e-01f,
                                      8.98480356e-01f);
  float under = is_middle
                    ? polynomial(r, 23.5817286f, 36.341296f, 11.8272166f, 1.0f)
                    : polynomial(beyond, 4.76389541e-04f, 2.21278742e-02f, 2.43867129e-01f, 8.86371195e-01f, 1.0f);
  double quotient = static_cast<double>(over / under);
  double end = m == 0.0f ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  return m > 0.0f ? (is_middle ? static_cast<double>(z) * quotient : t - quotient) : end;
}
[[gnu::always_inline]] inline double upper_normal_quantile(double z, double m) {
  double r = 0.1345 - z * z, t = std::sqrt(-2.0 * log_within(m));
  double beyond = t - 2.0;
  bool is_middle = r > 0.0;
  double over =
      is_middle ? polynomial(r, 108.46920541137386, 1367.1482769098218, 2674.842397066764, 1792.6780459864128,
                             515.2563535656843, 65.54275667787145, 3.0297110785812267)
                : polynomial(beyond, 2.6276869520222627e-14, 2.195262532662869e-10, 7.221421914260608e-08,
                             6.657617727803436e-06, 0.00024748792096091296, 0.004427577413541044, 0.04266760164865635,
                             0.2371145584903703, 0.7631644368802923, 1.3027394244011048, 0.8984803715012497);
  double under = is_middle
                     ? polynomial(r, 220.04221259158766, 1165.2902400280918, 1573.5014949403119, 843.3717295826416,
                                  207.93363051155382, 23.61784052526562, 1.0)
                     : polynomial(beyond, 2.7709610233212363e-11, 1.1707895471226155e-08, 1.317790865874581e-06,
                                  5.942536066148409e-05, 0.001300631092340005, 0.015572404032409112,
                                  0.11021293228532063, 0.4762688241642768, 1.2286520784219337, 1.7220966752492322, 1.0);
  double quotient = over / under;
  double end = m == 0.0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  return m > 0.0 ? (is_middle ? z * quotient : t - quotient) : end;
}
}  // namespace detail

/// Inverse of erf; infinite at -1 and 1, NaN outside.
template <class T> [[gnu::always_inline]] inline T erfinv(T x) {
  T magnitude = std::abs(x);
  double y = detail::upper_normal_quantile(T(0.5) * magnitude, T(0.5) * (T(1) - magnitude));
  return std::copysign(static_cast<T>(y * 0.70710678118654752), x);
}

/// Quantile of the standard normal distribution; infinite at 0 and 1, NaN outside.
template <class T> [[gnu::always_inline]] inline T ndtri(T p) {
  bool is_lower = p < T(0.5);
  T m = is_lower ? p : T(1) - p;
  T y = static_cast<T>(detail::upper_normal_quantile(T(0.5) - m, m));
  return is_lower ? -y : y;
}
}  // namespace thalweg::kernels::scalar

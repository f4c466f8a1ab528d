// Functions defined by an integral: Dawson, exponential, Fresnel, Spence. Computed in double for both types.
#pragma once
#include <cmath>
#include <limits>

#include "thalweg/kernels/scalar_chebyshev.h"
#include "thalweg/kernels/scalar_gamma.h"

namespace thalweg::kernels::scalar {
namespace detail {
/// dawsn(x) / x on [0, 2], in x^2.
inline constexpr double dawson_near[] = {0.4410406953812108,     -0.39123921020678876,    0.12750248104023815,
                                         -0.03226539423443118,   0.006621382082397935,    -0.0011383378087073276,
                                         0.0001680248882818195,  -2.170167693150586e-05,  2.489630283036481e-06,
                                         -2.567687962431865e-07, 2.4044785516810898e-08,  -2.061400624084799e-09,
                                         1.629312713332284e-10,  -1.1943935250188665e-11, 8.162835366150306e-13,
                                         -5.224558681934986e-14, 3.144145283086303e-15,   -1.7853929949067343e-16};

/// x dawsn(x) on [2, 5].
inline constexpr double dawson_middle[] = {
    0.5388525900622496,      -0.04040896347403325,    0.016700217748950173,    -0.005711794006358755,
    0.001368832599076354,    -1.9448476212895788e-05, -0.0002005073033121094,  0.00012661147547493354,
    -4.624773087734535e-05,  9.495423616391415e-06,   2.9595837368420827e-07,  -1.0433940496975549e-06,
    4.023062954837182e-07,   -6.775698238645647e-08,  -6.892260136219537e-09,  7.286818142413722e-09,
    -1.8558850353644099e-09, 8.726553758631305e-11,   8.95198704290466e-11,    -2.957812687539205e-11,
    2.698180324125886e-12,   9.073130934122139e-13,   -3.5362742687558656e-13, 3.6289737129125555e-14,
    8.650591349420038e-15,   -3.4583429267717855e-15, 3.253336825233994e-16,   8.118003617408943e-17,
    -2.845247709665369e-17};

/// x dawsn(x) on [5, infinity), in 1/x^2.
inline constexpr double dawson_far[] = {0.5052465199077777,      0.005332594427422036,    8.85533671420732e-05,
                                        2.584841984005503e-06,   1.1223753891246858e-07,  6.732468572166737e-09,
                                        5.400107833909702e-10,   5.744649131410629e-11,   7.99993281296062e-12,
                                        1.3515027900472426e-12,  2.2959364018456163e-13,  2.4013996605627538e-14,
                                        -5.597657640645069e-15,  -4.4255869885007335e-15, -1.3828461658020002e-15,
                                        -1.4514205760330854e-16, 7.772884740793366e-17,   4.0971046792634656e-17};

/// Li2(z) / z on [-1/2, 1/2].
inline constexpr double dilogarithm[] = {
    1.0149416064096537,     0.13148012838765802,    0.015313452518102082,   0.002272188943655959,
    0.00038516199300815945, 7.103404374209115e-05,  1.3885622487404779e-05, 2.8323954583854513e-06,
    5.968314737835964e-07,  1.2902312437546724e-07, 2.8475309127972237e-08, 6.392641519505728e-09,
    1.4558235675968631e-09, 3.356030027905024e-10,  7.818019409066589e-11,  1.8379324194103908e-11,
    4.355524622917214e-12,  1.0395111785603755e-12, 2.496666278162975e-13,  6.030470288343577e-14,
    1.4640624936086265e-14, 3.570903196070032e-15,  8.746346791364233e-16,  2.1505456792131715e-16,
    5.3064798693556575e-17, 1.3136479985932125e-17};

/// S(x) / x^3 on [0, 2.5], in x^4.
inline constexpr double fresnel_sin_near[] = {0.13731418077153454,     -0.16960110942188242,    0.11972244946441143,
                                              -0.06682747887872158,    0.02369897694891726,     -0.0054552598760263605,
                                              0.0008685834651337593,   -0.00010109296316378186, 8.977617585237801e-06,
                                              -6.288000115046214e-07,  3.565188007583185e-08,   -1.6709016343051067e-09,
                                              6.584983337650556e-11,   -2.21355991286889e-12,   6.423967722207285e-14,
                                              -1.6262360081997799e-15, 3.623474949675941e-17};

/// C(x) / x on [0, 2.5], in x^4.
inline constexpr double fresnel_cos_near[] = {0.34000378753284183,    -0.21463555314242846,    0.15086068597273897,
                                              -0.16275298115965597,   0.09439188697085799,     -0.030258674844348032,
                                              0.006136259345258138,   -0.0008630100768587364,  8.952601506384834e-05,
                                              -7.155197218935395e-06, 4.5507060807857273e-07,  -2.3613846621675632e-08,
                                              1.0198188673971249e-09, -3.7256112709362435e-11, 1.1669697174334323e-12,
                                              -3.170123708177304e-14, 7.542382946843456e-16,   -1.5850932611248597e-17};

/// pi x f(x) on [2.5, infinity), in 1/(pi x^2)^2.
inline constexpr double fresnel_f[] = {0.9963328957401564,      -0.003598309670657881,   6.571370067989755e-05,
                                       -2.8536780198887793e-06, 2.0392432873227112e-07,  -2.0266109330631773e-08,
                                       2.552087597911368e-09,   -3.845541164875694e-10,  6.675316364065206e-11,
                                       -1.2999222228183651e-11, 2.7854753661035737e-12,  -6.472837551675955e-13,
                                       1.6129097288670446e-13,  -4.271416785005461e-14,  1.1935909122483213e-14,
                                       -3.4986337790445387e-15, 1.0704597151201907e-15,  -3.4046904742558257e-16,
                                       1.1217459941997248e-16,  -3.8168960882542417e-17, 1.3377953507119546e-17};

/// pi^2 x^3 g(x) on [2.5, infinity), in 1/(pi x^2)^2.
inline constexpr double fresnel_g[] = {
    0.982434032233484,      -0.01700279800137119,    0.0005287544471589305,  -3.1278400741370834e-05,
    2.7605485861992255e-06, -3.211089249673797e-07,  4.578135622392606e-08,  -7.637872578693759e-09,
    1.4448487265855392e-09, -3.0303289556955057e-10, 6.930478759520513e-11,  -1.7066500942834794e-11,
    4.480592314031894e-12,  -1.2442427970638398e-12, 3.6313309725247755e-13, -1.1079432976543775e-13,
    3.51833687037071e-14,   -1.1585086601591264e-14, 3.942881111955888e-15,  -1.3831925795114216e-15,
    4.989590813819003e-16,  -1.8469233353862457e-16};

inline double dawsn(double x) {
  double a = std::abs(x);
  if (a <= 2.0) return x * chebyshev(dawson_near, x * x, 0.0, 4.0);
  double product = a <= 5.0 ? chebyshev(dawson_middle, a, 2.0, 5.0) : chebyshev(dawson_far, 1.0 / a / a, 0.0, 0.04);
  return product / x;
}

inline double expint(double x) {
  if (x < 0.0 || !(x < infinite)) return not_a_number;
  double sum = 0.0, term = 1.0;
  if (x < 40.0) {  // the power series: every term is positive
    for (int k = 1; k < 300; ++k) {
      term *= x / k;
      sum += term / k;
      if (term < 1e-18 * sum) break;
    }
    return 0.57721566490153286061 + std::log(x) + sum;
  }
  for (int k = 1; k < 40 && term > 1e-18; ++k) {  // the asymptotic one: its smallest term is below a last digit
    sum += term;
    term *= k / x;
  }
  return std::exp(x) / x * sum;
}

/// Auxiliary functions: S = 1/2 - f cos - g sin, C = 1/2 + f sin - g cos of the angle pi x^2 / 2, for x > 2.5.
struct FresnelTail {
  double f, g, sine, cosine;
};
inline FresnelTail fresnel_tail(double x) {
  double s = pi * x * x, w = 1.0 / s / s;
  constexpr double end = 0.002593822301243847;  // w at 2.5
  // The angle's whole turns are taken off x^2 (mod 4), split so that the rest of the product is not lost.
  double high = static_cast<double>(static_cast<float>(x)), low = x - high;
  double square = std::fmod(high * high, 4.0) + std::fmod(2.0 * high * low, 4.0) + low * low;
  double angle = 0.5 * pi * std::fmod(square, 4.0);
  return {chebyshev(fresnel_f, w, 0.0, end) / (pi * x), chebyshev(fresnel_g, w, 0.0, end) / (s * pi * x),
          std::sin(angle), std::cos(angle)};
}
inline double fresnel_sin(double x) {
  double a = std::abs(x);
  if (a <= 2.5) return x * x * x * chebyshev(fresnel_sin_near, x * x * x * x, 0.0, 39.0625);
  if (a > 1e16) return std::copysign(0.5, x);
  FresnelTail tail = fresnel_tail(a);
  return std::copysign(0.5 - tail.f * tail.cosine - tail.g * tail.sine, x);
}
inline double fresnel_cos(double x) {
  double a = std::abs(x);
  if (a <= 2.5) return x * chebyshev(fresnel_cos_near, x * x * x * x, 0.0, 39.0625);
  if (a > 1e16) return std::copysign(0.5, x);
  FresnelTail tail = fresnel_tail(a);
  return std::copysign(0.5 + tail.f * tail.sine - tail.g * tail.cosine, x);
}

/// Li2(1 - x); the reflections bring the argument of the series into [-1/2, 1/2].
inline double spence(double x) {
  constexpr double sixth = pi * pi / 6.0;
  if (x < 0.0 || !(x < infinite)) return not_a_number;
  if (x == 0.0) return sixth;
  auto series = [](double z) { return z * chebyshev(dilogarithm, z, -0.5, 0.5); };
  if (x < 0.5) return sixth - std::log(x) * std::log1p(-x) - series(x);
  if (x <= 1.5) return series(1.0 - x);
  double logarithm = std::log(x);
  if (x <= 2.0) return -series((x - 1.0) / x) - 0.5 * logarithm * logarithm;
  return series(1.0 / x) - sixth - logarithm * (std::log1p(-1.0 / x) + 0.5 * logarithm);
}
}  // namespace detail

/// Dawson's integral e^(-x^2) times the integral of e^(t^2) from 0 to x.
template <class T> [[gnu::always_inline]] inline T dawsn(T x) { return static_cast<T>(detail::dawsn(x)); }

/// Exponential integral Ei(x) for x >= 0; NaN below and at infinity.
template <class T> [[gnu::always_inline]] inline T expint(T x) { return static_cast<T>(detail::expint(x)); }

/// Fresnel integrals of sin(pi t^2 / 2) and cos(pi t^2 / 2) from 0 to x.
template <class T> [[gnu::always_inline]] inline T fresnel_sin(T x) { return static_cast<T>(detail::fresnel_sin(x)); }
template <class T> [[gnu::always_inline]] inline T fresnel_cos(T x) { return static_cast<T>(detail::fresnel_cos(x)); }

/// Spence's integral of log(t) / (1 - t) from 1 to x; NaN below 0.
template <class T> [[gnu::always_inline]] inline T spence(T x) { return static_cast<T>(detail::spence(x)); }
}  // namespace thalweg::kernels::scalar

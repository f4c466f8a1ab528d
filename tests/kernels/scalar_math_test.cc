// Elementary scalar functions: error against the C library in a wider type, edges, and the same bits at any position.
#include "thalweg/kernels/scalar_math.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "thalweg/kernels/scalar_special.h"

namespace {
namespace scalar = thalweg::kernels::scalar;
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

template <class T> using Loop = void (*)(const T*, T*, int64_t);

template <class T, auto F> void run_baseline(const T* x, T* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = F(x[i]);
}
template <class T, auto F> [[gnu::target("avx2,fma,bmi2")]] void run_avx2(const T* x, T* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = F(x[i]);
}
template <class T, auto F>
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi2,prefer-vector-width=512")]] void run_avx512(const T* x,
                                                                                                            T* y,
                                                                                                            int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = F(x[i]);
}

/// The copies of a loop this machine can run.
template <class T, auto F> std::vector<Loop<T>> copies() {
  std::vector<Loop<T>> loops = {run_baseline<T, F>};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) loops.push_back(run_avx2<T, F>);
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    loops.push_back(run_avx512<T, F>);
  return loops;
}

struct FloatCase {
  const char* name;
  std::vector<Loop<float>> loops;
  double (*exact)(double);
  double bound;  // ulp
};
struct DoubleCase {
  const char* name;
  std::vector<Loop<double>> loops;
  long double (*exact)(long double);
  double bound;
};

const std::vector<FloatCase>& float_cases() {
  static const std::vector<FloatCase> cases = {
      {"exp", copies<float, [](float x) { return scalar::exp(x); }>(), std::exp, 1.5},
      {"expm1", copies<float, [](float x) { return scalar::expm1(x); }>(), std::expm1, 2},
      {"log", copies<float, [](float x) { return scalar::log(x); }>(), std::log, 1.5},
      {"log1p", copies<float, [](float x) { return scalar::log1p(x); }>(), std::log1p, 2},
      {"sin", copies<float, [](float x) { return scalar::sin(x); }>(), std::sin, 2},
      {"cos", copies<float, [](float x) { return scalar::cos(x); }>(), std::cos, 2},
      {"tan", copies<float, [](float x) { return scalar::tan(x); }>(), std::tan, 3.5},
      {"tanh", copies<float, [](float x) { return scalar::tanh(x); }>(), std::tanh, 3},
      {"sigmoid", copies<float, [](float x) { return scalar::sigmoid(x); }>(),
       [](double x) { return 1.0 / (1.0 + std::exp(-x)); }, 3},
      {"sinh", copies<float, [](float x) { return scalar::sinh(x); }>(), std::sinh, 2},
      {"cosh", copies<float, [](float x) { return scalar::cosh(x); }>(), std::cosh, 2},
      {"asin", copies<float, [](float x) { return scalar::asin(x); }>(), std::asin, 3},
      {"acos", copies<float, [](float x) { return scalar::acos(x); }>(), std::acos, 2},
      {"atan", copies<float, [](float x) { return scalar::atan(x); }>(), std::atan, 2},
      {"atan2(x, -1.7)", copies<float, [](float x) { return scalar::atan2(x, -1.7f); }>(),
       [](double x) { return std::atan2(x, static_cast<double>(-1.7f)); }, 2},
      {"atan2(2.3, x)", copies<float, [](float x) { return scalar::atan2(2.3f, x); }>(),
       [](double x) { return std::atan2(static_cast<double>(2.3f), x); }, 2},
      {"asinh", copies<float, [](float x) { return scalar::asinh(x); }>(), std::asinh, 1},
      {"acosh", copies<float, [](float x) { return scalar::acosh(x); }>(), std::acosh, 1},
      {"atanh", copies<float, [](float x) { return scalar::atanh(x); }>(), std::atanh, 1},
      {"erf", copies<float, [](float x) { return scalar::erf(x); }>(), std::erf, 3.5},
      {"erfc", copies<float, [](float x) { return scalar::erfc(x); }>(), std::erfc, 1},
      {"erfinv", copies<float, [](float x) { return scalar::erfinv(x); }>(), scalar::erfinv<double>, 4},
      {"ndtri", copies<float, [](float x) { return scalar::ndtri(x); }>(), scalar::ndtri<double>, 4},
      {"bessel_i0", copies<float, [](float x) { return scalar::bessel_i0(x); }>(), scalar::bessel_i0<double>, 1},
      {"bessel_i1", copies<float, [](float x) { return scalar::bessel_i1(x); }>(), scalar::bessel_i1<double>, 1},
      {"bessel_i0e", copies<float, [](float x) { return scalar::bessel_i0e(x); }>(), scalar::bessel_i0e<double>, 1},
      {"bessel_i1e", copies<float, [](float x) { return scalar::bessel_i1e(x); }>(), scalar::bessel_i1e<double>, 1},
      {"sqrt", copies<float, [](float x) { return scalar::sqrt(x); }>(), std::sqrt, 0.5},
      {"rsqrt", copies<float, [](float x) { return scalar::rsqrt(x); }>(), [](double x) { return 1.0 / std::sqrt(x); },
       2},
      {"softplus", copies<float, [](float x) { return scalar::softplus(x); }>(),
       [](double x) { return (x > 0.0 ? x : 0.0) + std::log1p(std::exp(-std::abs(x))); }, 2.5},
      {"rint", copies<float, [](float x) { return scalar::rint(x); }>(), std::nearbyint, 0},
      {"floor", copies<float, [](float x) { return scalar::floor(x); }>(), std::floor, 0},
      {"ceil", copies<float, [](float x) { return scalar::ceil(x); }>(), std::ceil, 0},
      {"pow(x, 1.7)", copies<float, [](float x) { return scalar::pow(x, 1.7f); }>(),
       [](double x) { return std::pow(x, static_cast<double>(1.7f)); }, 1},
      {"pow(x, -3)", copies<float, [](float x) { return scalar::pow(x, -3.0f); }>(),
       [](double x) { return std::pow(x, -3.0); }, 1},
      {"pow(1.7, x)", copies<float, [](float x) { return scalar::pow(1.7f, x); }>(),
       [](double x) { return std::pow(static_cast<double>(1.7f), x); }, 1},
  };
  return cases;
}

const std::vector<DoubleCase>& double_cases() {
  static const std::vector<DoubleCase> cases = {
      {"exp", copies<double, [](double x) { return scalar::exp(x); }>(), std::exp, 1.5},
      {"expm1", copies<double, [](double x) { return scalar::expm1(x); }>(), std::expm1, 3},
      {"log", copies<double, [](double x) { return scalar::log(x); }>(), std::log, 1.5},
      {"log1p", copies<double, [](double x) { return scalar::log1p(x); }>(), std::log1p, 2},
      {"tanh", copies<double, [](double x) { return scalar::tanh(x); }>(), std::tanh, 4},
      {"cosh", copies<double, [](double x) { return scalar::cosh(x); }>(), std::cosh, 2},
      {"sigmoid", copies<double, [](double x) { return scalar::sigmoid(x); }>(),
       [](long double x) { return 1.0L / (1.0L + std::exp(-x)); }, 3},
      {"softplus", copies<double, [](double x) { return scalar::softplus(x); }>(),
       [](long double x) { return (x > 0.0L ? x : 0.0L) + std::log1p(std::exp(-std::abs(x))); }, 3},
      {"atan", copies<double, [](double x) { return scalar::atan(x); }>(), std::atan, 2},
      {"atan2(x, 1.3)", copies<double, [](double x) { return scalar::atan2(x, 1.3); }>(),
       [](long double x) { return std::atan2(x, static_cast<long double>(1.3)); }, 2},
      {"atan2(-0.4, x)", copies<double, [](double x) { return scalar::atan2(-0.4, x); }>(),
       [](long double x) { return std::atan2(static_cast<long double>(-0.4), x); }, 2},
      {"erf", copies<double, [](double x) { return scalar::erf(x); }>(), std::erf, 3},
      {"rint", copies<double, [](double x) { return scalar::rint(x); }>(), std::nearbyint, 0},
      {"floor", copies<double, [](double x) { return scalar::floor(x); }>(), std::floor, 0},
      {"ceil", copies<double, [](double x) { return scalar::ceil(x); }>(), std::ceil, 0},
  };
  return cases;
}

/// Error in units of the last place; a wrong NaN, infinity or sign is infinitely wrong, a subnormal may be 0.
template <class T, class Wide> double ulp_error(T got, Wide exact) {
  constexpr double wrong = std::numeric_limits<double>::infinity();
  using Limits = std::numeric_limits<T>;
  T nearest = static_cast<T>(exact);
  if (std::isnan(nearest) || std::isnan(got)) return std::isnan(nearest) && std::isnan(got) ? 0.0 : wrong;
  if (got == nearest) return std::signbit(got) == std::signbit(nearest) ? 0.0 : wrong;
  Wide smallest = static_cast<Wide>(Limits::min());
  if (std::abs(exact) < smallest) return std::abs(static_cast<Wide>(got) - exact) <= smallest ? 0.0 : wrong;
  // Past the largest number the next step of the same size stands for infinity.
  Wide edge = std::ldexp(Wide(1), Limits::max_exponent);
  Wide value = std::isinf(got) ? std::copysign(edge, static_cast<Wide>(got)) : static_cast<Wide>(got);
  Wide reference = std::isinf(nearest) ? std::copysign(edge, exact) : exact;
  return static_cast<double>(std::abs(value - reference) /
                             std::ldexp(Wide(1), std::ilogb(reference) - Limits::digits + 1));
}

template <class T, class Case> void check_block(const Case& c, const std::vector<T>& x, double& worst, T& where) {
  using Wide = decltype(c.exact(0));
  std::vector<Wide> exact(x.size());
  for (size_t i = 0; i < x.size(); ++i) exact[i] = c.exact(static_cast<Wide>(x[i]));
  std::vector<T> y(x.size());
  for (Loop<T> loop : c.loops) {
    loop(x.data(), y.data(), static_cast<int64_t>(x.size()));
    for (size_t i = 0; i < x.size(); ++i) {
      double error = ulp_error(y[i], exact[i]);
      if (error > worst && std::fpclassify(x[i]) == FP_SUBNORMAL)  // may count as 0
        error = std::min(error, ulp_error(y[i], c.exact(std::copysign(Wide(0), static_cast<Wide>(x[i])))));
      if (error > worst) worst = error, where = x[i];
    }
  }
}

TEST(ScalarMath, FloatFunctionsStayWithinTheirErrorOverTheWholeLine) {
  constexpr uint64_t step = 2039, block = 4096;  // about 2.1 million bit patterns
  for (const FloatCase& c : float_cases()) {
    double worst = 0.0;
    float where = 0.0f;
    std::vector<float> x(block);
    for (uint64_t first = 0; first < uint64_t{1} << 32; first += block * step) {
      for (uint64_t i = 0; i < block; ++i) x[i] = std::bit_cast<float>(static_cast<uint32_t>(first + i * step));
      check_block(c, x, worst, where);
    }
    EXPECT_LE(worst, c.bound) << c.name << " at " << where;
  }
}

TEST(ScalarMath, DoubleFunctionsStayWithinTheirError) {
  for (const DoubleCase& c : double_cases()) {
    double worst = 0.0, where = 0.0;
    std::vector<double> x;
    for (uint64_t i = 0; i < 60000; ++i) x.push_back(std::bit_cast<double>(i * 307445734561823));
    for (int i = -40000; i <= 40000; ++i) x.push_back(i * 0.000937);  // where the functions are not flat
    for (int i = -4000; i <= 4000; ++i) x.push_back(i * 0.1791);
    check_block(c, x, worst, where);
    EXPECT_LE(worst, c.bound) << c.name << " at " << where;
  }
}

template <class T, class Case> void check_positions(const std::vector<Case>& cases, T low, T high) {
  constexpr int64_t n = 1003;
  std::vector<T> x(n), y(n);
  for (int64_t i = 0; i < n; ++i)
    x[static_cast<size_t>(i)] = low + (high - low) * static_cast<T>(i * 389 % n) / static_cast<T>(n);
  x[5] = std::numeric_limits<T>::quiet_NaN();
  x[1001] = std::numeric_limits<T>::infinity();
  for (const Case& c : cases)
    for (Loop<T> loop : c.loops) {
      loop(x.data(), y.data(), n);
      for (size_t i = 0; i < x.size(); ++i) {
        T alone = 0;
        loop(&x[i], &alone, 1);
        if (std::isnan(alone) && std::isnan(y[i])) continue;
        ASSERT_TRUE(alone == y[i] && std::signbit(alone) == std::signbit(y[i])) << c.name << " of " << x[i];
      }
    }
}

TEST(ScalarMath, AnElementHasTheSameBitsAtAnyPosition) {
  check_positions(float_cases(), -12.0f, 12.0f);
  check_positions(float_cases(), -1.0f, 1.0f);
  check_positions(double_cases(), -12.0, 12.0);
}

TEST(ScalarMath, LimitedTrigonometricFunctionsHaveTheSameBits) {
  for (float x = 1e-30f; x < scalar::trigonometric_limit; x *= 1.0173f)
    for (float value : {x, -x}) {
      ASSERT_EQ(scalar::sin(value), scalar::sin_limited(value)) << value;
      ASSERT_EQ(scalar::cos(value), scalar::cos_limited(value)) << value;
      ASSERT_EQ(scalar::tan(value), scalar::tan_limited(value)) << value;
    }
}

struct Edge {
  const char* name;
  float got, expected;
};

TEST(ScalarMath, Edges) {
  constexpr float pi = 3.14159265f;
  const Edge edges[] = {
      {"exp(inf)", scalar::exp(infinity), infinity},
      {"exp(-inf)", scalar::exp(-infinity), 0.0f},
      {"exp(0)", scalar::exp(0.0f), 1.0f},
      {"exp(nan)", scalar::exp(nan), nan},
      {"expm1(-0)", scalar::expm1(-0.0f), -0.0f},
      {"expm1(-inf)", scalar::expm1(-infinity), -1.0f},
      {"expm1(inf)", scalar::expm1(infinity), infinity},
      {"log(0)", scalar::log(0.0f), -infinity},
      {"log(-0)", scalar::log(-0.0f), -infinity},
      {"log(-1)", scalar::log(-1.0f), nan},
      {"log(inf)", scalar::log(infinity), infinity},
      {"log(-inf)", scalar::log(-infinity), nan},
      {"log(1)", scalar::log(1.0f), 0.0f},
      {"log1p(-1)", scalar::log1p(-1.0f), -infinity},
      {"log1p(-0)", scalar::log1p(-0.0f), -0.0f},
      {"log1p(inf)", scalar::log1p(infinity), infinity},
      {"log1p(-2)", scalar::log1p(-2.0f), nan},
      {"sin(-0)", scalar::sin(-0.0f), -0.0f},
      {"sin(inf)", scalar::sin(infinity), nan},
      {"cos(-inf)", scalar::cos(-infinity), nan},
      {"tan(nan)", scalar::tan(nan), nan},
      {"tanh(inf)", scalar::tanh(infinity), 1.0f},
      {"tanh(-inf)", scalar::tanh(-infinity), -1.0f},
      {"tanh(-0)", scalar::tanh(-0.0f), -0.0f},
      {"sigmoid(-inf)", scalar::sigmoid(-infinity), 0.0f},
      {"sigmoid(inf)", scalar::sigmoid(infinity), 1.0f},
      {"sinh(-inf)", scalar::sinh(-infinity), -infinity},
      {"cosh(-inf)", scalar::cosh(-infinity), infinity},
      {"asin(1.1)", scalar::asin(1.1f), nan},
      {"asin(-0)", scalar::asin(-0.0f), -0.0f},
      {"acos(1)", scalar::acos(1.0f), 0.0f},
      {"acos(-1)", scalar::acos(-1.0f), pi},
      {"atan(inf)", scalar::atan(infinity), pi / 2},
      {"atan(-inf)", scalar::atan(-infinity), -pi / 2},
      {"atan2(0, -1)", scalar::atan2(0.0f, -1.0f), pi},
      {"atan2(-0, -0)", scalar::atan2(-0.0f, -0.0f), -pi},
      {"atan2(-0, 0)", scalar::atan2(-0.0f, 0.0f), -0.0f},
      {"atan2(inf, inf)", scalar::atan2(infinity, infinity), pi / 4},
      {"atan2(inf, -inf)", scalar::atan2(infinity, -infinity), 3 * pi / 4},
      {"atan2(-1, -0)", scalar::atan2(-1.0f, -0.0f), -pi / 2},
      {"atan2(0, nan)", scalar::atan2(0.0f, nan), nan},
      {"atan2(nan, 0)", scalar::atan2(nan, 0.0f), nan},
      {"asinh(-inf)", scalar::asinh(-infinity), -infinity},
      {"acosh(1)", scalar::acosh(1.0f), 0.0f},
      {"acosh(0.5)", scalar::acosh(0.5f), nan},
      {"atanh(-1)", scalar::atanh(-1.0f), -infinity},
      {"atanh(2)", scalar::atanh(2.0f), nan},
      {"erf(-inf)", scalar::erf(-infinity), -1.0f},
      {"erfc(-inf)", scalar::erfc(-infinity), 2.0f},
      {"erfc(inf)", scalar::erfc(infinity), 0.0f},
      {"rsqrt(0)", scalar::rsqrt(0.0f), infinity},
      {"rsqrt(-0)", scalar::rsqrt(-0.0f), -infinity},
      {"rsqrt(inf)", scalar::rsqrt(infinity), 0.0f},
      {"softplus(inf)", scalar::softplus(infinity), infinity},
      {"softplus(-inf)", scalar::softplus(-infinity), 0.0f},
      {"softplus(nan)", scalar::softplus(nan), nan},
      {"rint(2.5)", scalar::rint(2.5f), 2.0f},
      {"rint(-0.5)", scalar::rint(-0.5f), -0.0f},
      {"round(1.5)", scalar::round(1.5f), 2.0f},
      {"ceil(-0.5)", scalar::ceil(-0.5f), -0.0f},
      {"floor(-0)", scalar::floor(-0.0f), -0.0f},
  };
  for (const Edge& edge : edges) {
    if (std::isnan(edge.expected)) EXPECT_TRUE(std::isnan(edge.got)) << edge.name << " = " << edge.got;
    else
      EXPECT_TRUE(edge.got == edge.expected && std::signbit(edge.got) == std::signbit(edge.expected))
          << edge.name << " = " << edge.got;
  }
}

TEST(ScalarMath, PowHasTheEdgesOfC) {
  const float values[] = {0.0f, -0.0f, 1.0f,  -1.0f,  2.0f, -2.0f,       0.5f,     -0.5f,     3.0f, -3.0f,
                          1.5f, -1.5f, 1e30f, -1e30f, 1e8f, 16777217.0f, infinity, -infinity, nan};
  for (float x : values)
    for (float y : values) {
      double exact = std::pow(static_cast<double>(x), static_cast<double>(y));
      EXPECT_LE(ulp_error(scalar::pow(x, y), exact), 1.0) << x << " ^ " << y << " = " << scalar::pow(x, y);
    }
}
}  // namespace

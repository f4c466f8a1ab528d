// Worst error of a float function over all 2^32 inputs: `scalar_ulp NAME [step]`, or `scalar_ulp all step`.
// A subnormal result may be flushed to 0, and a subnormal input may count as 0.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <vector>

#include "thalweg/kernels/scalar_math.h"

namespace {
namespace scalar = thalweg::kernels::scalar;
using Loop = void (*)(const float*, float*, int64_t);

struct Function {
  const char* name;
  Loop loop;
  double (*exact)(double);
};

template <auto F> [[gnu::target("avx2,fma,bmi2")]] void run_avx2(const float* x, float* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = F(x[i]);
}
template <auto F> void run_baseline(const float* x, float* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = F(x[i]);
}
template <auto F> Loop choose() { return __builtin_cpu_supports("avx2") ? run_avx2<F> : run_baseline<F>; }

const Function functions[] = {
    {"exp", choose<[](float x) { return scalar::exp(x); }>(), std::exp},
    {"expm1", choose<[](float x) { return scalar::expm1(x); }>(), std::expm1},
    {"log", choose<[](float x) { return scalar::log(x); }>(), std::log},
    {"log1p", choose<[](float x) { return scalar::log1p(x); }>(), std::log1p},
    {"sin", choose<[](float x) { return scalar::sin(x); }>(), std::sin},
    {"cos", choose<[](float x) { return scalar::cos(x); }>(), std::cos},
    {"tan", choose<[](float x) { return scalar::tan(x); }>(), std::tan},
    {"tanh", choose<[](float x) { return scalar::tanh(x); }>(), std::tanh},
    {"sigmoid", choose<[](float x) { return scalar::sigmoid(x); }>(),
     [](double x) { return 1.0 / (1.0 + std::exp(-x)); }},
    {"sinh", choose<[](float x) { return scalar::sinh(x); }>(), std::sinh},
    {"cosh", choose<[](float x) { return scalar::cosh(x); }>(), std::cosh},
    {"asin", choose<[](float x) { return scalar::asin(x); }>(), std::asin},
    {"acos", choose<[](float x) { return scalar::acos(x); }>(), std::acos},
    {"atan", choose<[](float x) { return scalar::atan(x); }>(), std::atan},
    {"asinh", choose<[](float x) { return scalar::asinh(x); }>(), std::asinh},
    {"acosh", choose<[](float x) { return scalar::acosh(x); }>(), std::acosh},
    {"atanh", choose<[](float x) { return scalar::atanh(x); }>(), std::atanh},
    {"erf", choose<[](float x) { return scalar::erf(x); }>(), std::erf},
    {"erfc", choose<[](float x) { return scalar::erfc(x); }>(), std::erfc},
    {"sqrt", choose<[](float x) { return scalar::sqrt(x); }>(), std::sqrt},
    {"rsqrt", choose<[](float x) { return scalar::rsqrt(x); }>(), [](double x) { return 1.0 / std::sqrt(x); }},
    {"softplus", choose<[](float x) { return scalar::softplus(x); }>(),
     [](double x) { return (x > 0.0 ? x : 0.0) + std::log1p(std::exp(-std::abs(x))); }},
    {"rint", choose<[](float x) { return scalar::rint(x); }>(), std::nearbyint},
    {"floor", choose<[](float x) { return scalar::floor(x); }>(), std::floor},
    {"ceil", choose<[](float x) { return scalar::ceil(x); }>(), std::ceil},
    {"pow(x, 1.7)", choose<[](float x) { return scalar::pow(x, 1.7f); }>(),
     [](double x) { return std::pow(x, static_cast<double>(1.7f)); }},
    {"pow(1.7, x)", choose<[](float x) { return scalar::pow(1.7f, x); }>(),
     [](double x) { return std::pow(static_cast<double>(1.7f), x); }},
};

double ulp_error(float got, double exact) {
  float nearest = static_cast<float>(exact);
  if (std::isnan(nearest) || std::isnan(got)) return std::isnan(nearest) && std::isnan(got) ? 0.0 : INFINITY;
  if (got == nearest) return std::signbit(got) == std::signbit(nearest) ? 0.0 : INFINITY;
  // Past the largest float the next step of the same size stands for infinity.
  double value = std::isinf(got) ? std::copysign(0x1p128, got) : static_cast<double>(got);
  double reference = std::isinf(nearest) ? std::copysign(0x1p128, exact) : exact;
  int exponent = std::max(std::ilogb(reference), -126);
  if (std::abs(reference) < 0x1p-126) return std::abs(value - reference) <= 0x1p-126 ? 0.0 : INFINITY;
  return std::abs(value - reference) / std::ldexp(1.0, exponent - 23);
}

void sweep(const Function& function, uint64_t step) {
  constexpr int64_t block = 1 << 16;
  std::vector<float> x(block), y(block);
  double worst = 0.0;
  float where = 0.0f, result = 0.0f;
  for (uint64_t first = 0; first < uint64_t{1} << 32; first += block * step) {
    for (int64_t i = 0; i < block; ++i)
      x[static_cast<size_t>(i)] = std::bit_cast<float>(static_cast<uint32_t>(first + static_cast<uint64_t>(i) * step));
    function.loop(x.data(), y.data(), block);
    for (size_t i = 0; i < static_cast<size_t>(block); ++i) {
      double error = ulp_error(y[i], function.exact(static_cast<double>(x[i])));
      if (std::fpclassify(x[i]) == FP_SUBNORMAL)
        error = std::min(error, ulp_error(y[i], function.exact(std::copysign(0.0, static_cast<double>(x[i])))));
      if (error > worst) worst = error, where = x[i], result = y[i];
    }
  }
  std::printf("%-12s worst %6.3f ulp at %.9g (%a): %.9g, exact %.17g\n", function.name, worst,
              static_cast<double>(where), static_cast<double>(where), static_cast<double>(result),
              function.exact(static_cast<double>(where)));
}
}  // namespace

int main(int argc, char** argv) {
  std::string_view name = argc > 1 ? argv[1] : "";
  uint64_t step = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  if (step == 0) step = 1;
  bool found = false;
  for (const Function& function : functions)
    if (name == "all" || name == function.name) sweep(function, step), found = true;
  if (found) return 0;
  std::printf("usage: scalar_ulp NAME|all [step]\nnames:");
  for (const Function& function : functions) std::printf(" '%s'", function.name);
  std::printf("\n");
  return 1;
}

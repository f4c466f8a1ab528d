#include "thalweg/kernels/optimizer.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "thalweg/core/complex.h"
#include "thalweg/core/convert.h"
#include "thalweg/kernels/isa.h"
#include "thalweg/kernels/scalar_complex.h"

namespace thalweg::kernels {
namespace {

using scalar::rsqrt;
using std::sqrt;
template <class T>
  requires std::is_floating_point_v<T>
T rsqrt(T x) {
  return T(1) / std::sqrt(x);
}

// Each rule takes its scalars once and changes one element of each array by one of the gradient. `option` is what
// the enumeration says of it.
template <class T, bool option> struct GradientDescent {
  static constexpr int arrays = 1;
  T lr;
  explicit GradientDescent(const T* s) : lr(s[0]) {}
  void operator()(T& var, T g) const { var -= lr * g; }
};

template <class T, bool nesterov> struct Momentum {
  static constexpr int arrays = 2;
  T lr, momentum;
  explicit Momentum(const T* s) : lr(s[0]), momentum(s[1]) {}
  void operator()(T& var, T& accum, T g) const {
    accum = accum * momentum + g;
    if constexpr (nesterov) var -= g * lr + accum * momentum * lr;
    else var -= accum * lr;
  }
};

template <class T, bool nesterov> struct KerasMomentum {
  static constexpr int arrays = 2;
  T lr, momentum;
  explicit KerasMomentum(const T* s) : lr(s[0]), momentum(s[1]) {}
  void operator()(T& var, T& accum, T g) const {
    accum = accum * momentum - g * lr;
    if constexpr (nesterov) var += accum * momentum - g * lr;
    else var += accum;
  }
};

template <class T, bool nesterov> struct Adam {
  static constexpr int arrays = 3;
  T rate, beta1, rest1, rest2, epsilon;
  explicit Adam(const T* s)
      : rate(s[2] * sqrt(T(1) - s[1]) / (T(1) - s[0])),
        beta1(s[3]),
        rest1(T(1) - s[3]),
        rest2(T(1) - s[4]),
        epsilon(s[5]) {}
  void operator()(T& var, T& m, T& v, T g) const {
    m += (g - m) * rest1;
    v += (g * g - v) * rest2;
    if constexpr (nesterov) var -= (g * rest1 + beta1 * m) * rate / (sqrt(v) + epsilon);
    else var -= m * rate / (sqrt(v) + epsilon);
  }
};

template <class T, bool option> struct AdamAmsgrad {
  static constexpr int arrays = 4;
  T rate, rest1, rest2, epsilon;
  explicit AdamAmsgrad(const T* s)
      : rate(s[2] * sqrt(T(1) - s[1]) / (T(1) - s[0])), rest1(T(1) - s[3]), rest2(T(1) - s[4]), epsilon(s[5]) {}
  void operator()(T& var, T& m, T& v, T& largest, T g) const {
    m += (g - m) * rest1;
    v += (g * g - v) * rest2;
    largest = largest < v ? v : largest;
    var -= m * rate / (sqrt(largest) + epsilon);
  }
};

template <class T, bool accumulates> struct Adagrad {
  static constexpr int arrays = 2;
  T lr, epsilon;
  explicit Adagrad(const T* s) : lr(s[0]), epsilon(s[1]) {}
  void operator()(T& var, T& accum, T g) const {
    if constexpr (accumulates) accum += g * g;
    var -= g * lr / (sqrt(accum) + epsilon);
  }
};

template <class T, bool option> struct Adadelta {
  static constexpr int arrays = 3;
  T lr, rho, rest, epsilon;
  explicit Adadelta(const T* s) : lr(s[0]), rho(s[1]), rest(T(1) - s[1]), epsilon(s[2]) {}
  void operator()(T& var, T& accum, T& accum_update, T g) const {
    accum = accum * rho + g * g * rest;
    const T update = sqrt(accum_update + epsilon) * rsqrt(accum + epsilon) * g;
    accum_update = accum_update * rho + update * update * rest;
    var -= update * lr;
  }
};

template <class T, bool option> struct RmsProp {
  static constexpr int arrays = 3;
  T lr, rest, momentum, epsilon;
  explicit RmsProp(const T* s) : lr(s[0]), rest(T(1) - s[1]), momentum(s[2]), epsilon(s[3]) {}
  void operator()(T& var, T& ms, T& mom, T g) const {
    ms += (g * g - ms) * rest;
    mom = mom * momentum + rsqrt(ms + epsilon) * lr * g;
    var -= mom;
  }
};

template <class T, bool option> struct CenteredRmsProp {
  static constexpr int arrays = 4;
  T lr, rest, momentum, epsilon;
  explicit CenteredRmsProp(const T* s) : lr(s[0]), rest(T(1) - s[1]), momentum(s[2]), epsilon(s[3]) {}
  void operator()(T& var, T& mg, T& ms, T& mom, T g) const {
    ms += (g * g - ms) * rest;
    mg += (g - mg) * rest;
    mom = mom * momentum + rsqrt(ms - mg * mg + epsilon) * lr * g;
    var -= mom;
  }
};

template <class T, bool option> struct AdaMax {
  static constexpr int arrays = 3;
  T rate, rest1, beta2, epsilon;
  explicit AdaMax(const T* s) : rate(s[1] / (T(1) - s[0])), rest1(T(1) - s[2]), beta2(s[3]), epsilon(s[4]) {}
  void operator()(T& var, T& m, T& v, T g) const {
    m += (g - m) * rest1;
    const T faded = beta2 * v, size = std::abs(g);
    v = faded < size ? size : faded;
    var -= rate * m / (v + epsilon);
  }
};

// accum ^ -lr_power; -1/2 is what everybody takes.
struct Root {
  template <class T> T operator()(T accum, T) const { return std::sqrt(accum); }
};
struct Power {
  template <class T> T operator()(T accum, T lr_power) const { return std::pow(accum, -lr_power); }
};
template <class T, bool linear_has_rate, class P> struct Ftrl {
  static constexpr int arrays = 3;
  T lr, l1, l2, shrinkage, lr_power, inverse;
  explicit Ftrl(const T* s)
      : lr(s[0]), l1(s[1]), l2(T(2) * s[2]), shrinkage(T(2) * s[3]), lr_power(s[4]), inverse(T(1) / s[0]) {
    if constexpr (linear_has_rate) {
      l1 *= lr;
      l2 *= lr;
      inverse = T(1);
    } else {
      lr = T(1);
    }
  }
  void operator()(T& var, T& accum, T& linear, T g) const {
    const T sum = accum + g * g, after = P{}(sum, lr_power), before = P{}(accum, lr_power);
    linear += (g + shrinkage * var) * lr - (after - before) * inverse * var;
    accum = sum;
    const T quadratic = after * inverse + l2;
    const T beyond = (linear < T(0) ? -l1 : l1) - linear;
    var = std::abs(linear) > l1 ? beyond / quadratic : T(0);
  }
};
template <class T, bool linear_has_rate> using FtrlRoot = Ftrl<T, linear_has_rate, Root>;
template <class T, bool linear_has_rate> using FtrlPower = Ftrl<T, linear_has_rate, Power>;

template <class T, bool option> struct KerasRmsProp {
  static constexpr int arrays = 2;
  T lr, rest, epsilon;
  explicit KerasRmsProp(const T* s) : lr(s[0]), rest(T(1) - s[1]), epsilon(s[2]) {}
  void operator()(T& var, T& ms, T g) const {
    ms += (g * g - ms) * rest;
    var -= rsqrt(ms + epsilon) * lr * g;
  }
};

template <class T, bool option> struct KerasCenteredRmsProp {
  static constexpr int arrays = 3;
  T lr, rest, epsilon;
  explicit KerasCenteredRmsProp(const T* s) : lr(s[0]), rest(T(1) - s[1]), epsilon(s[2]) {}
  void operator()(T& var, T& mg, T& ms, T g) const {
    ms += (g * g - ms) * rest;
    mg += (g - mg) * rest;
    var -= rsqrt(ms - mg * mg + epsilon) * lr * g;
  }
};

template <class T, bool option> struct KerasAdagrad {
  static constexpr int arrays = 2;
  T lr, epsilon;
  explicit KerasAdagrad(const T* s) : lr(s[0]), epsilon(s[1]) {}
  void operator()(T& var, T& accum, T g) const {
    accum += g * g;
    var -= g * lr / sqrt(accum + epsilon);
  }
};

template <class T, bool option> struct KerasNadam {
  static constexpr int arrays = 3;
  T m_rate, grad_rate, rest1, rest2, share, epsilon;
  explicit KerasNadam(const T* s)
      : m_rate(s[0]), grad_rate(s[1]), rest1(T(1) - s[2]), rest2(T(1) - s[3]), share(T(1) / s[4]), epsilon(s[5]) {}
  void operator()(T& var, T& m, T& v, T g) const {
    m += (g - m) * rest1;
    v += (g * g - v) * rest2;
    var -= (m * m_rate + g * grad_rate) / (sqrt(v * share) + epsilon);
  }
};

template <class T, bool option> struct KerasLion {
  static constexpr int arrays = 2;
  T lr, beta1, rest1, beta2, rest2;
  explicit KerasLion(const T* s) : lr(s[0]), beta1(s[1]), rest1(T(1) - s[1]), beta2(s[2]), rest2(T(1) - s[2]) {}
  void operator()(T& var, T& m, T g) const {
    const T way = m * beta1 + g * rest1;
    var -= way > T(0) ? lr : way < T(0) ? -lr : way * lr;  // zero and NaN are their own signs
    m = m * beta2 + g * rest2;
  }
};

template <class Rule, class T>
[[gnu::always_inline]] inline void run_rule(void* const* arrays, const void* grad, const void* scalars, int64_t count) {
  const Rule rule(static_cast<const T*>(scalars));
  const T* g = static_cast<const T*>(grad);
  T* a = static_cast<T*>(arrays[0]);
  if constexpr (Rule::arrays == 1) {
#pragma GCC ivdep
    for (int64_t i = 0; i < count; ++i) rule(a[i], g[i]);
  } else if constexpr (Rule::arrays == 2) {
    T* b = static_cast<T*>(arrays[1]);
#pragma GCC ivdep
    for (int64_t i = 0; i < count; ++i) rule(a[i], b[i], g[i]);
  } else if constexpr (Rule::arrays == 3) {
    T *b = static_cast<T*>(arrays[1]), *c = static_cast<T*>(arrays[2]);
#pragma GCC ivdep
    for (int64_t i = 0; i < count; ++i) rule(a[i], b[i], c[i], g[i]);
  } else {
    T *b = static_cast<T*>(arrays[1]), *c = static_cast<T*>(arrays[2]), *d = static_cast<T*>(arrays[3]);
#pragma GCC ivdep
    for (int64_t i = 0; i < count; ++i) rule(a[i], b[i], c[i], d[i], g[i]);
  }
}
template <class Rule, class T> void run_baseline(void* const* a, const void* g, const void* s, int64_t n) {
  run_rule<Rule, T>(a, g, s, n);
}
template <class Rule, class T> THALWEG_AVX2 void run_avx2(void* const* a, const void* g, const void* s, int64_t n) {
  run_rule<Rule, T>(a, g, s, n);
}
template <class Rule, class T> THALWEG_AVX512 void run_avx512(void* const* a, const void* g, const void* s, int64_t n) {
  run_rule<Rule, T>(a, g, s, n);
}

using Loop = void (*)(void* const* arrays, const void* grad, const void* scalars, int64_t count);
template <class Rule, class T> Loop loop_of_rule() {
  static constexpr Loop loops[num_isas] = {run_baseline<Rule, T>, run_avx2<Rule, T>, run_avx512<Rule, T>};
  return loops[isa];
}
// The rules that complex numbers have too; the others compare.
template <template <class, bool> class Rule> Loop any_loop(DType dtype, bool option) {
  using Complex64 = std::complex<float>;
  using Complex128 = std::complex<double>;
  if (dtype == DType::complex64)
    return option ? run_baseline<Rule<Complex64, true>, Complex64> : run_baseline<Rule<Complex64, false>, Complex64>;
  if (dtype == DType::complex128)
    return option ? run_baseline<Rule<Complex128, true>, Complex128>
                  : run_baseline<Rule<Complex128, false>, Complex128>;
  if (dtype == DType::float64)
    return option ? loop_of_rule<Rule<double, true>, double>() : loop_of_rule<Rule<double, false>, double>();
  return option ? loop_of_rule<Rule<float, true>, float>() : loop_of_rule<Rule<float, false>, float>();
}
template <template <class, bool> class Rule> Loop real_loop(DType dtype, bool option) {
  if (dtype == DType::float64)
    return option ? loop_of_rule<Rule<double, true>, double>() : loop_of_rule<Rule<double, false>, double>();
  return option ? loop_of_rule<Rule<float, true>, float>() : loop_of_rule<Rule<float, false>, float>();
}

double real_scalar(DType dtype, const void* scalar) {
  double value = 0;
  convert_elements(dtype, scalar, DType::float64, &value, 1);
  return value;
}

}  // namespace

OptimizerStep::OptimizerStep(Step step, bool option, DType dtype, const void* const* scalars, int num_scalars)
    : dtype_(dtype) {
  const size_t bytes = is_half(dtype) ? sizeof(float) : size_of(dtype);
  for (int i = 0; i < num_scalars; ++i) {
    std::byte* to = scalars_ + static_cast<size_t>(i) * bytes;
    if (is_half(dtype)) convert_elements(dtype, scalars[i], DType::float32, to, 1);
    else std::memcpy(to, scalars[i], bytes);
  }
  switch (step) {
    case Step::gradient_descent:
      loop_ = any_loop<GradientDescent>(dtype, false);
      break;
    case Step::momentum:
      loop_ = any_loop<Momentum>(dtype, option);
      break;
    case Step::keras_momentum:
      loop_ = any_loop<KerasMomentum>(dtype, option);
      break;
    case Step::adam:
      loop_ = any_loop<Adam>(dtype, option);
      break;
    case Step::adam_amsgrad:
      loop_ = real_loop<AdamAmsgrad>(dtype, false);
      break;
    case Step::adagrad:
      loop_ = any_loop<Adagrad>(dtype, option);
      break;
    case Step::adadelta:
      loop_ = any_loop<Adadelta>(dtype, false);
      break;
    case Step::rms_prop:
      loop_ = any_loop<RmsProp>(dtype, false);
      break;
    case Step::centered_rms_prop:
      loop_ = any_loop<CenteredRmsProp>(dtype, false);
      break;
    case Step::ada_max:
      loop_ = real_loop<AdaMax>(dtype, false);
      break;
    case Step::ftrl:
      loop_ = real_scalar(dtype, scalars[4]) == -0.5 ? real_loop<FtrlRoot>(dtype, option)
                                                     : real_loop<FtrlPower>(dtype, option);
      break;
    case Step::keras_rms_prop:
      loop_ = real_loop<KerasRmsProp>(dtype, false);
      break;
    case Step::keras_centered_rms_prop:
      loop_ = real_loop<KerasCenteredRmsProp>(dtype, false);
      break;
    case Step::keras_adagrad:
      loop_ = real_loop<KerasAdagrad>(dtype, false);
      break;
    case Step::keras_nadam:
      loop_ = real_loop<KerasNadam>(dtype, false);
      break;
    case Step::keras_lion:
      loop_ = real_loop<KerasLion>(dtype, false);
      break;
  }
}

void OptimizerStep::run(void* const* arrays, int num_arrays, int64_t at, const void* grad, int64_t grad_at,
                        int64_t count) const {
  const auto bytes = static_cast<int64_t>(size_of(dtype_));
  void* from[max_arrays];
  for (int k = 0; k < num_arrays; ++k) from[k] = static_cast<char*>(arrays[k]) + at * bytes;
  const void* g = static_cast<const char*>(grad) + grad_at * bytes;
  if (!is_half(dtype_)) return loop_(from, g, scalars_, count);
  constexpr int64_t tile = 512;
  alignas(64) float wide[max_arrays + 1][tile];
  void* wide_arrays[max_arrays] = {wide[0], wide[1], wide[2], wide[3]};
  for (int64_t i = 0; i < count; i += tile) {
    const int64_t n = std::min(tile, count - i);
    for (int k = 0; k < num_arrays; ++k) widen_halves(dtype_, static_cast<const uint16_t*>(from[k]) + i, wide[k], n);
    widen_halves(dtype_, static_cast<const uint16_t*>(g) + i, wide[max_arrays], n);
    loop_(wide_arrays, wide[max_arrays], scalars_, n);
    for (int k = 0; k < num_arrays; ++k) narrow_halves(dtype_, wide[k], static_cast<uint16_t*>(from[k]) + i, n);
  }
}

}  // namespace thalweg::kernels

// Stockham's passes: each splits off one factor of the length and leaves its results in order, so nothing is shuffled
// at the end. A pass of radix r takes x[q + s (p + m j)], j < r, to y[q + s (r p + k)].
#include <algorithm>

#include "thalweg/kernels/fft_plan.h"
#include "thalweg/kernels/isa.h"

namespace thalweg::kernels {
namespace {

template <class R, int Lanes> struct VectorOf {
  using type [[gnu::vector_size(Lanes * sizeof(R)), gnu::may_alias]] = R;
};
template <class R> struct VectorOf<R, 1> {
  using type = R;
};

template <class R, int Lanes> struct Passes {
  using Vector = typename VectorOf<R, Lanes>::type;
  struct Number {
    Vector re, im;
  };

  [[gnu::always_inline]] static inline Number add(const Number& a, const Number& b) {
    return {a.re + b.re, a.im + b.im};
  }
  [[gnu::always_inline]] static inline Number sub(const Number& a, const Number& b) {
    return {a.re - b.re, a.im - b.im};
  }
  [[gnu::always_inline]] static inline Number times(const Number& a, std::complex<R> w) {
    return {a.re * w.real() - a.im * w.imag(), a.re * w.imag() + a.im * w.real()};
  }

  template <int Radix>
  [[gnu::always_inline]] static inline void butterfly(int radix, const std::complex<R>* roots, Number* x) {
    if constexpr (Radix == 2) {
      Number sum = add(x[0], x[1]);
      x[1] = sub(x[0], x[1]);
      x[0] = sum;
    } else if constexpr (Radix == 4) {
      Number a = add(x[0], x[2]), b = sub(x[0], x[2]), c = add(x[1], x[3]), d = sub(x[1], x[3]);
      x[0] = add(a, c);
      x[2] = sub(a, c);
      x[1] = {b.re + d.im, b.im - d.re};
      x[3] = {b.re - d.im, b.im + d.re};
    } else {
      // Odd: x[j] and x[r - j] meet conjugate roots, so their sum and difference serve two results at once.
      const int r = Radix ? Radix : radix, half = (r - 1) / 2;
      constexpr int most = Radix ? Radix : max_radix;
      Number sum[(most + 1) / 2], difference[(most + 1) / 2], first = x[0], total = x[0];
      for (int j = 1; j <= half; ++j) {
        sum[j] = add(x[j], x[r - j]);
        difference[j] = sub(x[j], x[r - j]);
        total = add(total, sum[j]);
      }
      x[0] = total;
      for (int k = 1; k <= half; ++k) {
        Number even = first, odd{};
        for (int j = 1, at = k; j <= half; ++j) {
          const std::complex<R> w = roots[at];
          even.re += sum[j].re * w.real(), even.im += sum[j].im * w.real();
          odd.re += difference[j].re * w.imag(), odd.im += difference[j].im * w.imag();
          at += k;
          if (at >= r) at -= r;
        }
        x[k] = {even.re - odd.im, even.im + odd.re};
        x[r - k] = {even.re + odd.im, even.im - odd.re};
      }
    }
  }

  template <int Radix>
  [[gnu::always_inline]] static inline void run(const FftPass& pass, const std::complex<R>* twiddles,
                                                const std::complex<R>* roots, const Number* x, Number* y) {
    const int r = Radix ? Radix : pass.radix;
    const int64_t m = pass.m, s = pass.s;
    for (int64_t p = 0; p < m; ++p) {
      const std::complex<R>* w = twiddles + p * (r - 1);
      for (int64_t q = 0; q < s; ++q) {
        Number t[Radix ? Radix : max_radix];
        for (int j = 0; j < r; ++j) t[j] = x[q + s * (p + m * j)];
        butterfly<Radix>(r, roots, t);
        Number* to = y + q + s * r * p;
        to[0] = t[0];
        if (p == 0)
          for (int k = 1; k < r; ++k) to[s * k] = t[k];
        else
          for (int k = 1; k < r; ++k) to[s * k] = times(t[k], w[k - 1]);
      }
    }
  }

  [[gnu::always_inline]] static inline R* run_all(const FftPlan<R>& plan, R* data, R* other) {
    auto *x = reinterpret_cast<Number*>(data), *y = reinterpret_cast<Number*>(other);
    for (const FftPass& pass : plan.passes) {
      const std::complex<R>*twiddles = plan.twiddles.data() + pass.twiddles, *roots = plan.roots.data() + pass.roots;
      switch (pass.radix) {
        case 2:
          run<2>(pass, twiddles, roots, x, y);
          break;
        case 3:
          run<3>(pass, twiddles, roots, x, y);
          break;
        case 4:
          run<4>(pass, twiddles, roots, x, y);
          break;
        case 5:
          run<5>(pass, twiddles, roots, x, y);
          break;
        case 7:
          run<7>(pass, twiddles, roots, x, y);
          break;
        default:
          run<0>(pass, twiddles, roots, x, y);
      }
      std::swap(x, y);
    }
    return reinterpret_cast<R*>(x);
  }

  static R* plain(const FftPlan<R>& plan, R* data, R* other) { return run_all(plan, data, other); }
  THALWEG_AVX2 static R* fast(const FftPlan<R>& plan, R* data, R* other) { return run_all(plan, data, other); }
};

}  // namespace

template <class R, int Lanes> R* run_passes(const FftPlan<R>& plan, R* data, R* other) {
  return isa >= avx2 ? Passes<R, Lanes>::fast(plan, data, other) : Passes<R, Lanes>::plain(plan, data, other);
}

template float* run_passes<float, 1>(const FftPlan<float>&, float*, float*);
template float* run_passes<float, 8>(const FftPlan<float>&, float*, float*);
template double* run_passes<double, 1>(const FftPlan<double>&, double*, double*);
template double* run_passes<double, 4>(const FftPlan<double>&, double*, double*);

}  // namespace thalweg::kernels

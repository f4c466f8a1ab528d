#include "thalweg/kernels/tridiagonal_perturbed.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "thalweg/kernels/lapack.h"

namespace thalweg::kernels {
namespace {

/// The upper triangle that elimination leaves: the diagonal and the two above it.
template <class T> struct Upper {
  std::vector<T> on, above, second;
  explicit Upper(int64_t n, const T* diagonals)
      : on(diagonals + n, diagonals + 2 * n), above(diagonals, diagonals + n), second(static_cast<size_t>(n), T(0)) {
    above.back() = T(0);
  }
  /// The rounding error of the largest element, at least the smallest normal number.
  Real<T> smallest_pivot() const {
    Real<T> largest = 0;
    for (const auto* diagonal : {&on, &above, &second})
      for (const T& value : *diagonal) largest = std::max(largest, std::abs(value));
    return std::max(largest * std::numeric_limits<Real<T>>::epsilon(), std::numeric_limits<Real<T>>::min());
  }
};

// Complex division squares the size of the divisor, which must not vanish: a power of two brings it near 1 first.
template <class T> T quotient(T a, T b) {
  const Real<T> size = std::abs(b);
  if (!(size > 0 && size < 1)) return a / b;
  const Real<T> scale = std::ldexp(Real<T>(1), -std::ilogb(size));
  return a * scale / (b * scale);
}

// x becomes the right side of the triangular equations.
template <class T> Upper<T> eliminate(int64_t n, int64_t k, const T* diagonals, T* x) {
  Upper<T> u(n, diagonals);
  const T* below = diagonals + 2 * n;
  Real<T> scale = std::abs(u.on[0]) + std::abs(u.above[0]);
  for (int64_t row = 0; row + 1 < n; ++row) {
    const auto i = static_cast<size_t>(row);
    const T lower = below[row + 1];
    const Real<T> next_scale = std::abs(lower) + std::abs(u.on[i + 1]) + std::abs(u.above[i + 1]);
    if (lower == T(0)) {
      scale = next_scale;
      continue;
    }
    const Real<T> pivot = u.on[i] == T(0) ? Real<T>(0) : std::abs(u.on[i]) / scale;
    T* here = x + row * k;
    if (std::abs(lower) / next_scale <= pivot) {
      const T factor = quotient(lower, u.on[i]);
      u.on[i + 1] -= factor * u.above[i];
      for (int64_t j = 0; j < k; ++j) here[k + j] -= factor * here[j];
      scale = next_scale;
      continue;
    }
    const T factor = quotient(u.on[i], lower), after = u.on[i + 1];
    u.on[i] = lower;
    u.on[i + 1] = u.above[i] - factor * after;
    u.second[i] = u.above[i + 1];
    u.above[i + 1] *= -factor;
    u.above[i] = after;
    for (int64_t j = 0; j < k; ++j) {
      const T before = here[j];
      here[j] = here[k + j];
      here[k + j] = before - factor * here[j];
    }
  }
  return u;
}

// The pivot, moved away from 0 until `largest` can be divided by it.
template <class T> T safe_pivot(T pivot, Real<T> largest, Real<T> smallest) {
  constexpr Real<T> tiny = std::numeric_limits<Real<T>>::min(), huge = 1 / tiny;
  Real<T> change = std::copysign(smallest, std::real(pivot));
  while (true) {
    const Real<T> size = std::abs(pivot);
    if (!(size < 1) || std::isnan(largest)) return pivot;
    if (size >= tiny && largest <= size * huge) return pivot;
    pivot += change;
    change *= 2;
  }
}

}  // namespace

template <class T> void solve_tridiagonal_perturbed(int64_t n, int64_t k, const T* diagonals, const T* b, T* x) {
  if (n == 0) return;
  std::copy_n(b, n * k, x);
  const Upper<T> u = eliminate(n, k, diagonals, x);
  const Real<T> smallest = u.smallest_pivot();
  for (int64_t row = n; row--;) {
    const auto i = static_cast<size_t>(row);
    T* here = x + row * k;
    Real<T> largest = 0;
    for (int64_t j = 0; j < k; ++j) {
      if (row + 1 < n) here[j] -= u.above[i] * here[k + j];
      if (row + 2 < n) here[j] -= u.second[i] * here[2 * k + j];
      largest = std::isnan(std::abs(here[j])) ? std::abs(here[j]) : std::max(largest, std::abs(here[j]));
    }
    const T pivot = safe_pivot(u.on[i], largest, smallest);
    for (int64_t j = 0; j < k; ++j) here[j] = quotient(here[j], pivot);
  }
}

template void solve_tridiagonal_perturbed(int64_t, int64_t, const float*, const float*, float*);
template void solve_tridiagonal_perturbed(int64_t, int64_t, const double*, const double*, double*);
template void solve_tridiagonal_perturbed(int64_t, int64_t, const std::complex<float>*, const std::complex<float>*,
                                          std::complex<float>*);
template void solve_tridiagonal_perturbed(int64_t, int64_t, const std::complex<double>*, const std::complex<double>*,
                                          std::complex<double>*);

}  // namespace thalweg::kernels

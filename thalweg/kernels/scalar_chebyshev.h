// Evaluation of Chebyshev series, which the special functions are tabulated in.
#pragma once
#include <cstddef>
#include <utility>

namespace thalweg::kernels::scalar::detail {
/// Sum of the first `terms` c[k] T_k(t), t the image of x in [low, high] on [-1, 1] (Clenshaw's recurrence). Written
/// out by the compiler, so that a loop over it vectorises.
template <size_t terms, size_t N>
[[gnu::always_inline]] inline double chebyshev_terms(const double (&c)[N], double x, double low, double high) {
  static_assert(terms <= N);
  double t = (2.0 * x - (low + high)) / (high - low);
  double next = 0.0, after = 0.0;
  [&]<size_t... from_end>(std::index_sequence<from_end...>) __attribute__((always_inline)) {
    ((after = std::exchange(next, c[terms - 1 - from_end] + 2.0 * t * next - after)), ...);
  }(std::make_index_sequence<terms - 1>());
  return c[0] + t * next - after;
}
template <size_t N>
[[gnu::always_inline]] inline double chebyshev(const double (&c)[N], double x, double low, double high) {
  return chebyshev_terms<N>(c, x, low, high);
}
}  // namespace thalweg::kernels::scalar::detail

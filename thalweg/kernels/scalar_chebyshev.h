// Evaluation of Chebyshev series, which the special functions are tabulated in.
#pragma once
#include <cstddef>

namespace thalweg::kernels::scalar::detail {
/// Sum of c[k] T_k(t), t the image of x in [low, high] on [-1, 1] (Clenshaw's recurrence).
template <size_t N> inline double chebyshev(const double (&c)[N], double x, double low, double high) {
  double t = (2.0 * x - (low + high)) / (high - low);
  double next = 0.0, after = 0.0;
  for (size_t k = N - 1; k > 0; --k) {
    double current = c[k] + 2.0 * t * next - after;
    after = next;
    next = current;
  }
  return c[0] + t * next - after;
}
}  // namespace thalweg::kernels::scalar::detail

// Functions of a whole matrix: exponential, square root, logarithm.
#include <algorithm>

#include "thalweg/kernels/lapack_call.h"

namespace thalweg::kernels {
namespace {

template <class T> Real<T> one_norm(int64_t n, const T* a) {
  Real<T> norm = 0;
  for (int64_t j = 0; j < n; ++j) {
    Real<T> sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += std::abs(a[i * n + j]);
    norm = std::max(norm, sum);
  }
  return norm;
}

// a = z t z^H with t upper triangular, both row-major; C is complex.
template <class C> bool schur(int64_t n, const C* a, C* t, C* z) {
  Work<C> columns(n * n), vectors(n * n), eigenvalues(n);
  Work<Real<C>> reals(n);
  transpose_matrix<C>(a, n, n, columns);
  auto gees = routine<C>(nullptr, nullptr, LAPACKE_cgees_work, LAPACKE_zgees_work);
  int sorted = 0, unused = 0;
  C query;
  gees(LAPACK_COL_MAJOR, 'V', 'N', nullptr, as_int(n), columns, as_int(n), &sorted, eigenvalues, vectors, as_int(n),
       &query, -1, reals, &unused);
  Work<C> work(work_size(query));
  int info = gees(LAPACK_COL_MAJOR, 'V', 'N', nullptr, as_int(n), columns, as_int(n), &sorted, eigenvalues, vectors,
                  as_int(n), work, work_size(query), reals, &unused);
  transpose_matrix<C>(columns, n, n, t);
  transpose_matrix<C>(vectors, n, n, z);
  return info == 0;
}

// r = sqrt(t), both upper triangular: r^2 = t, solved column by column from the diagonal upward.
template <class C> void triangular_square_root(int64_t n, const C* t, C* r) {
  std::fill(r, r + n * n, C{0});
  for (int64_t j = 0; j < n; ++j) {
    r[j * n + j] = std::sqrt(t[j * n + j]);
    for (int64_t i = j; i--;) {
      C sum = t[i * n + j];
      for (int64_t k = i + 1; k < j; ++k) sum -= r[i * n + k] * r[k * n + j];
      r[i * n + j] = sum / (r[i * n + i] + r[j * n + j]);
    }
  }
}

// z t z^H.
template <class C> void turn_back(int64_t n, const C* z, const C* t, C* out) {
  Work<C> product(n * n);
  multiply<C>(n, n, n, z, false, t, false, product);
  multiply<C>(n, n, n, product, false, z, true, out);
}

}  // namespace

// Scaling and squaring with a diagonal Pade approximant: of degree 13 in double, of degree 7 in float (Higham 2005,
// "The scaling and squaring method for the matrix exponential revisited": coefficients and the norms they are good
// for).
template <class T> void matrix_exponential(int64_t n, const T* a, T* out) {
  using R = Real<T>;
  if (n == 0) return;
  const int64_t count = n * n;
  if (!all_finite(a, count)) return fill_nan(out, count);
  constexpr bool wide = std::is_same_v<R, double>;
  constexpr double theta = wide ? 5.371920351148152 : 3.925724783138660;
  constexpr int degree = wide ? 13 : 7;
  double coefficients[degree + 1];  // (2d - j)! d! / ((2d)! (d - j)! j!), relative to the one before
  coefficients[0] = 1;
  for (int j = 1; j <= degree; ++j)
    coefficients[j] = coefficients[j - 1] * (degree - j + 1) / (static_cast<double>(2 * degree - j + 1) * j);

  int squarings = 0;
  R norm = one_norm(n, a);
  if (static_cast<double>(norm) > theta) squarings = std::min(std::ilogb(static_cast<double>(norm) / theta) + 1, 1100);
  Work<T> x(count), square(count), power(count), next(count), odd(count), even(count);
  for (int64_t i = 0; i < count; ++i) x[i] = a[i] * static_cast<R>(std::ldexp(1.0, -squarings));
  multiply<T>(n, n, n, x, false, x, false, square);
  auto diagonal = [&](T* m, double value) {
    std::fill(m, m + count, T{0});
    for (int64_t i = 0; i < n; ++i) m[i * n + i] = T(static_cast<R>(value));
  };
  // Odd and even powers apart: e^x = (even - odd)^-1 (even + odd).
  diagonal(odd, coefficients[1]);
  diagonal(even, coefficients[0]);
  diagonal(power, 1);
  for (int j = 2; j <= degree; j += 2) {
    multiply<T>(n, n, n, power, false, square, false, next);
    std::copy(static_cast<T*>(next), static_cast<T*>(next) + count, static_cast<T*>(power));
    for (int64_t i = 0; i < count; ++i) {
      even[i] += power[i] * static_cast<R>(coefficients[j]);
      if (j < degree) odd[i] += power[i] * static_cast<R>(coefficients[j + 1]);
    }
  }
  multiply<T>(n, n, n, x, false, odd, false, next);
  for (int64_t i = 0; i < count; ++i) {
    power[i] = even[i] - next[i];
    square[i] = even[i] + next[i];
  }
  if (!solve<T>(n, n, power, square, false, out)) return fill_nan(out, count);
  for (int k = 0; k < squarings; ++k) {
    multiply<T>(n, n, n, out, false, out, false, next);
    std::copy(static_cast<T*>(next), static_cast<T*>(next) + count, out);
  }
}

template <class T> void matrix_square_root(int64_t n, const T* a, T* out) {
  using C = std::complex<Real<T>>;
  if (n == 0) return;
  const int64_t count = n * n;
  if (!all_finite(a, count)) return fill_nan(out, count);
  Work<C> x(count), t(count), z(count), root(count);
  std::copy(a, a + count, static_cast<C*>(x));
  if (!schur<C>(n, x, t, z)) return fill_nan(out, count);
  if constexpr (!is_complex_number<T>) {
    // A negative real eigenvalue has no real root.
    const T tiny = one_norm<C>(n, t) * std::numeric_limits<T>::epsilon() * static_cast<T>(n);
    for (int64_t i = 0; i < n; ++i)
      if (t[i * n + i].real() < -tiny && std::abs(t[i * n + i].imag()) <= tiny) return fill_nan(out, count);
  }
  triangular_square_root<C>(n, t, root);
  turn_back<C>(n, z, root, x);
  for (int64_t i = 0; i < count; ++i)
    if constexpr (is_complex_number<T>) out[i] = x[i];
    else out[i] = x[i].real();
}

// Square roots until the matrix is near 1, then Gauss-Legendre quadrature of log(1 + x) = integral of x (1 + s x)^-1
// over [0, 1], which is the diagonal Pade approximant.
template <class T> void matrix_logarithm(int64_t n, const T* a, T* out) {
  using R = Real<T>;
  if (n == 0) return;
  const int64_t count = n * n;
  if (!all_finite(a, count)) return fill_nan(out, count);
  constexpr double nodes[] = {0.1488743389816312, 0.4333953941292472, 0.6794095682990244, 0.8650633666889845,
                              0.9739065285171717};
  constexpr double weights[] = {0.2955242247147529, 0.2692667193099963, 0.2190863625159820, 0.1494513491505806,
                                0.0666713443086881};
  Work<T> t(count), z(count), root(count), shifted(count), term(count), sum(count);
  if (!schur<T>(n, a, t, z)) return fill_nan(out, count);
  int roots = 0;
  auto distance = [&] {
    std::copy(static_cast<T*>(t), static_cast<T*>(t) + count, static_cast<T*>(shifted));
    for (int64_t i = 0; i < n; ++i) shifted[i * n + i] -= T{1};
    return one_norm<T>(n, shifted);
  };
  while (distance() > R(0.25) && roots < 100) {
    triangular_square_root<T>(n, t, root);
    std::copy(static_cast<T*>(root), static_cast<T*>(root) + count, static_cast<T*>(t));
    ++roots;
  }
  std::fill(static_cast<T*>(sum), static_cast<T*>(sum) + count, T{0});
  for (int k = 0; k < 10; ++k) {
    const auto s = static_cast<R>(0.5 + (k < 5 ? 0.5 : -0.5) * nodes[k % 5]);
    for (int64_t i = 0; i < count; ++i) root[i] = shifted[i] * s;
    for (int64_t i = 0; i < n; ++i) root[i * n + i] += T{1};
    std::copy(static_cast<T*>(shifted), static_cast<T*>(shifted) + count, static_cast<T*>(term));
    solve_triangular<T>(n, n, root, false, false, term);
    for (int64_t i = 0; i < count; ++i) sum[i] += term[i] * static_cast<R>(0.5 * weights[k % 5]);
  }
  for (int64_t i = 0; i < count; ++i) sum[i] *= static_cast<R>(std::ldexp(1.0, roots));
  turn_back<T>(n, z, sum, out);
}

#define THALWEG_INSTANTIATE(T)                             \
  template void matrix_exponential(int64_t, const T*, T*); \
  template void matrix_square_root(int64_t, const T*, T*);
THALWEG_INSTANTIATE(float)
THALWEG_INSTANTIATE(double)
THALWEG_INSTANTIATE(std::complex<float>)
THALWEG_INSTANTIATE(std::complex<double>)
#undef THALWEG_INSTANTIATE
template void matrix_logarithm(int64_t, const std::complex<float>*, std::complex<float>*);
template void matrix_logarithm(int64_t, const std::complex<double>*, std::complex<double>*);

}  // namespace thalweg::kernels

#include "thalweg/kernels/lapack.h"

#include <algorithm>

#include "thalweg/kernels/lapack_call.h"

namespace thalweg::kernels {
namespace {

constexpr int columns_first = LAPACK_COL_MAJOR;

// The LU factors of `lu`, column-major and in place; false where a pivot is 0 or NaN.
template <class T> bool factor(int64_t n, T* lu, int* pivots) {
  routine<T>(LAPACKE_sgetrf_work, LAPACKE_dgetrf_work, LAPACKE_cgetrf_work, LAPACKE_zgetrf_work)(
      columns_first, as_int(n), as_int(n), lu, as_int(n), pivots);
  for (int64_t i = 0; i < n; ++i)
    if (!(std::abs(lu[i * n + i]) > 0)) return false;
  return true;
}

// The LU factors of the rows of `a`, of which a line has `stride` elements, in place: the left half of the columns,
// what it leaves of the right half, and that. LAPACK weighs complex pivots by |re| + |im|, TensorFlow by their size.
template <class C> void factor_rows(int64_t m, int64_t n, C* a, int64_t stride, int* pivots) {
  if (n == 1) {
    int64_t best = 0;
    for (int64_t i = 1; i < m; ++i)
      if (std::abs(a[i * stride]) > std::abs(a[best * stride])) best = i;
    std::swap(a[0], a[best * stride]);
    pivots[0] = as_int(best);
    for (int64_t i = 1; i < m; ++i) a[i * stride] /= a[0];
    return;
  }
  const int64_t left = n / 2, right = n - left;
  C *upper = a + left, *rest = a + left * stride + left;
  auto exchange = [&](int64_t first, int64_t last, C* columns, int64_t count) {
    for (int64_t i = first; i < last; ++i)
      if (pivots[i] != i)
        std::swap_ranges(columns + i * stride, columns + i * stride + count, columns + pivots[i] * stride);
  };
  factor_rows<C>(m, left, a, stride, pivots);
  exchange(0, left, upper, right);
  const C one{1}, minus_one{-1};
  routine<C>(nullptr, nullptr, cblas_ctrsm, cblas_ztrsm)(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit,
                                                         as_int(left), as_int(right), &one, a, as_int(stride), upper,
                                                         as_int(stride));
  routine<C>(nullptr, nullptr, cblas_cgemm, cblas_zgemm)(
      CblasRowMajor, CblasNoTrans, CblasNoTrans, as_int(m - left), as_int(right), as_int(left), &minus_one,
      a + left * stride, as_int(stride), upper, as_int(stride), &one, rest, as_int(stride));
  factor_rows<C>(m - left, right, rest, stride, pivots + left);
  for (int64_t i = left; i < n; ++i) pivots[i] += as_int(left);
  exchange(left, n, a, left);
}

template <class T> void zero_above(int64_t n, T* a) {
  for (int64_t i = 0; i < n; ++i) std::fill(a + i * n + i + 1, a + (i + 1) * n, T{0});
}

}  // namespace

std::mutex& lapack_mutex() {
  static std::mutex mutex;
  return mutex;
}

// Row-major memory read column-major is the transpose: the lower triangle of a is the upper one of conj(a), and its
// factor u with u^H u = conj(a) lies exactly where l = u^T belongs.
template <class T> bool cholesky(int64_t n, const T* a, T* l) {
  if (n == 0) return true;
  std::copy(a, a + n * n, l);
  int info = routine<T>(LAPACKE_spotrf_work, LAPACKE_dpotrf_work, LAPACKE_cpotrf_work, LAPACKE_zpotrf_work)(
      columns_first, 'U', as_int(n), l, as_int(n));
  if (info != 0)
    for (int64_t i = 0; i < n; ++i) fill_nan(l + i * n, i + 1);
  zero_above(n, l);
  return info == 0;
}

// l^-H phi(l^H grad) l^-1, where phi keeps the lower triangle and halves the diagonal; then the symmetric part.
// Of both inputs only the lower triangle is read.
template <class T> void cholesky_gradient(int64_t n, const T* given, const T* grad, T* out) {
  if (n == 0) return;
  Work<T> l(n * n), lower(n * n), middle(n * n);
  std::copy(given, given + n * n, static_cast<T*>(l));
  zero_above<T>(n, l);
  std::copy(grad, grad + n * n, static_cast<T*>(lower));
  zero_above<T>(n, lower);
  multiply<T>(n, n, n, l, true, lower, false, middle);
  zero_above<T>(n, middle);
  for (int64_t i = 0; i < n; ++i) middle[i * n + i] *= Real<T>(0.5);
  solve_triangular<T>(n, n, l, true, true, middle);
  // x l = middle is l^H x^H = middle^H.
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) lower[j * n + i] = conjugate(middle[i * n + j]);
  solve_triangular<T>(n, n, l, true, true, lower);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) out[i * n + j] = (lower[i * n + j] + conjugate(lower[j * n + i])) * Real<T>(0.5);
}

template <class T> bool lu_factor(int64_t n, const T* a, T* lu, int32_t* permutation) {
  if (n == 0) return true;
  Work<int> pivots(n);
  if constexpr (is_complex_number<T>) {
    std::copy(a, a + n * n, lu);
    factor_rows<T>(n, n, lu, n, pivots);
    for (int64_t i = 0; i < n; ++i)
      if (!(std::abs(lu[i * n + i]) > 0)) return false;
  } else {
    Work<T> columns(n * n);
    transpose_matrix<T>(a, n, n, columns);
    if (!factor<T>(n, columns, pivots)) return false;
    transpose_matrix<T>(columns, n, n, lu);
    for (int64_t i = 0; i < n; ++i) --pivots[i];
  }
  for (int32_t i = 0; i < n; ++i) permutation[i] = i;
  for (int64_t i = 0; i < n; ++i) std::swap(permutation[i], permutation[pivots[i]]);
  return true;
}

template <class T> bool invert(int64_t n, const T* a, bool adjoint, T* inverse) {
  if (n == 0) return true;
  Work<T> columns(n * n);
  Work<int> pivots(n);
  transpose_matrix<T>(a, n, n, columns);
  if (!factor<T>(n, columns, pivots)) return false;
  auto getri = routine<T>(LAPACKE_sgetri_work, LAPACKE_dgetri_work, LAPACKE_cgetri_work, LAPACKE_zgetri_work);
  T query;
  getri(columns_first, as_int(n), columns, as_int(n), pivots, &query, -1);
  Work<T> work(work_size(query));
  getri(columns_first, as_int(n), columns, as_int(n), pivots, work, work_size(query));
  if (!adjoint) transpose_matrix<T>(columns, n, n, inverse);
  else std::transform(static_cast<T*>(columns), static_cast<T*>(columns) + n * n, inverse, conjugate<T>);
  return true;
}

template <class T> bool solve(int64_t n, int64_t k, const T* a, const T* b, bool adjoint, T* x) {
  if (n == 0) return true;
  Work<T> columns(n * n), right(n * k);
  Work<int> pivots(n);
  transpose_matrix<T>(a, n, n, columns);
  if (!factor<T>(n, columns, pivots)) return false;
  if (k == 0) return true;
  transpose_matrix<T>(b, n, k, right);
  routine<T>(LAPACKE_sgetrs_work, LAPACKE_dgetrs_work, LAPACKE_cgetrs_work, LAPACKE_zgetrs_work)(
      columns_first, adjoint ? 'C' : 'N', as_int(n), as_int(k), columns, as_int(n), pivots, right, as_int(n));
  transpose_matrix<T>(right, k, n, x);
  return true;
}

template <class T> void solve_triangular(int64_t n, int64_t k, const T* a, bool lower, bool adjoint, T* b) {
  if (n == 0 || k == 0) return;
  const auto side = lower ? CblasLower : CblasUpper;
  const auto op = adjoint ? CblasConjTrans : CblasNoTrans;
  if constexpr (is_complex_number<T>) {
    const T one{1};
    routine<T>(nullptr, nullptr, cblas_ctrsm, cblas_ztrsm)(CblasRowMajor, CblasLeft, side, op, CblasNonUnit, as_int(n),
                                                           as_int(k), &one, a, as_int(n), b, as_int(k));
  } else {
    routine<T>(cblas_strsm, cblas_dtrsm, nullptr, nullptr)(CblasRowMajor, CblasLeft, side, op, CblasNonUnit, as_int(n),
                                                           as_int(k), T{1}, a, as_int(n), b, as_int(k));
  }
}

template <class T> Determinant<T> determinant(int64_t n, const T* a) {
  Determinant<T> d;
  if (n == 0) return d;
  // The determinant of the transpose is the same, so the memory is read as it lies.
  Work<T> lu(n * n);
  Work<int> pivots(n);
  std::copy(a, a + n * n, static_cast<T*>(lu));
  if (!factor<T>(n, lu, pivots)) return {T{0}, T{0}, -std::numeric_limits<Real<T>>::infinity()};
  using Wide = std::conditional_t<is_complex_number<T>, std::complex<double>, double>;
  Wide value{1};  // times 2^exponent
  long exponent = 0;
  double logarithm = 0;
  for (int64_t i = 0; i < n; ++i) {
    Wide u = static_cast<Wide>(lu[i * n + i]);
    if (pivots[i] != i + 1) u = -u;
    double size = std::abs(u);
    value *= u;
    d.sign *= T(u / size);
    logarithm += std::log(size);
    int e = 0;
    if (std::frexp(std::abs(value), &e) != 0 && std::isfinite(std::abs(value)))
      value *= std::ldexp(1.0, -e), exponent += e;
  }
  exponent = std::clamp(exponent, -5000l, 5000l);
  if constexpr (is_complex_number<T>)
    d.value = T(static_cast<Real<T>>(std::ldexp(value.real(), static_cast<int>(exponent))),
                static_cast<Real<T>>(std::ldexp(value.imag(), static_cast<int>(exponent))));
  else d.value = static_cast<T>(std::ldexp(value, static_cast<int>(exponent)));
  d.log_absolute = static_cast<Real<T>>(logarithm);
  return d;
}

template <class T> bool least_squares_fast(int64_t m, int64_t n, int64_t k, const T* a, const T* b, double l2, T* x) {
  std::fill(x, x + n * k, T{0});
  if (m == 0 || n == 0 || k == 0) return true;
  const bool tall = m >= n;
  const int64_t p = std::min(m, n);
  Work<T> gram(p * p), lower(p * p), right(p * k);
  multiply<T>(p, p, std::max(m, n), a, tall, a, !tall, gram);
  for (int64_t i = 0; i < p; ++i) gram[i * p + i] += static_cast<Real<T>>(l2);
  if (!cholesky<T>(p, gram, lower)) return false;
  if (tall) multiply<T>(n, k, m, a, true, b, false, right);
  else std::copy(b, b + m * k, static_cast<T*>(right));
  solve_triangular<T>(p, k, lower, true, false, right);
  solve_triangular<T>(p, k, lower, true, true, right);
  if (tall) std::copy(static_cast<T*>(right), static_cast<T*>(right) + n * k, x);
  else multiply<T>(n, k, m, a, true, right, false, x);
  return true;
}

template <class T> bool least_squares(int64_t m, int64_t n, int64_t k, const T* a, const T* b, T* x) {
  std::fill(x, x + n * k, T{0});
  if (m == 0 || n == 0 || k == 0) return true;
  if (!all_finite(a, m * n) || !all_finite(b, m * k)) return fill_nan(x, n * k), true;
  const int64_t tall = std::max(m, n);
  Work<T> columns(m * n), right(tall * k);
  Work<int> order(n);
  std::fill(static_cast<int*>(order), static_cast<int*>(order) + n, 0);
  transpose_matrix<T>(a, m, n, columns);
  for (int64_t j = 0; j < k; ++j)
    for (int64_t i = 0; i < tall; ++i) right[j * tall + i] = i < m ? b[i * k + j] : T{0};
  const Real<T> threshold = std::numeric_limits<Real<T>>::epsilon() * static_cast<Real<T>>(std::min(m, n));
  int rank = 0;
  auto run = [&](T* work, int size) {
    if constexpr (is_complex_number<T>) {
      Work<Real<T>> reals(2 * n);
      return routine<T>(nullptr, nullptr, LAPACKE_cgelsy_work, LAPACKE_zgelsy_work)(
          columns_first, as_int(m), as_int(n), as_int(k), columns, as_int(m), right, as_int(tall), order, threshold,
          &rank, work, size, reals);
    } else {
      return routine<T>(LAPACKE_sgelsy_work, LAPACKE_dgelsy_work, nullptr, nullptr)(
          columns_first, as_int(m), as_int(n), as_int(k), columns, as_int(m), right, as_int(tall), order, threshold,
          &rank, work, size);
    }
  };
  T query;
  run(&query, -1);
  Work<T> work(work_size(query));
  if (run(work, work_size(query)) != 0) return false;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < k; ++j) x[i * k + j] = right[j * tall + i];
  return true;
}

// Elimination row by row, with exchange of neighbouring rows where the lower one has the larger pivot; that fills a
// second diagonal above.
template <class T> bool solve_tridiagonal(int64_t n, int64_t k, const T* diagonals, const T* b, bool pivoting, T* x) {
  if (n == 0) return true;
  Work<T> above(n), on(n), second(n);
  std::copy(diagonals, diagonals + n, static_cast<T*>(above));
  std::copy(diagonals + n, diagonals + 2 * n, static_cast<T*>(on));
  std::fill(static_cast<T*>(second), static_cast<T*>(second) + n, T{0});
  std::copy(b, b + n * k, x);
  const T* below = diagonals + 2 * n;
  above[n - 1] = T{0};
  for (int64_t i = 0; i + 1 < n; ++i) {
    T lower = below[i + 1];
    if (pivoting && std::abs(lower) > std::abs(on[i])) {
      std::swap(lower, on[i]);
      std::swap(above[i], on[i + 1]);
      std::swap(second[i], above[i + 1]);
      std::swap_ranges(x + i * k, x + (i + 1) * k, x + (i + 1) * k);
    }
    if (on[i] == T{0}) return false;
    const T factor = lower / on[i];
    on[i + 1] -= factor * above[i];
    above[i + 1] -= factor * second[i];
    for (int64_t j = 0; j < k; ++j) x[(i + 1) * k + j] -= factor * x[i * k + j];
  }
  if (on[n - 1] == T{0}) return false;
  for (int64_t i = n; i--;)
    for (int64_t j = 0; j < k; ++j) {
      T rest = x[i * k + j];
      if (i + 1 < n) rest -= above[i] * x[(i + 1) * k + j];
      if (i + 2 < n) rest -= second[i] * x[(i + 2) * k + j];
      x[i * k + j] = rest / on[i];
    }
  return true;
}

#define THALWEG_INSTANTIATE(T)                                                                 \
  template bool cholesky(int64_t, const T*, T*);                                               \
  template void cholesky_gradient(int64_t, const T*, const T*, T*);                            \
  template bool lu_factor(int64_t, const T*, T*, int32_t*);                                    \
  template bool invert(int64_t, const T*, bool, T*);                                           \
  template bool solve(int64_t, int64_t, const T*, const T*, bool, T*);                         \
  template void solve_triangular(int64_t, int64_t, const T*, bool, bool, T*);                  \
  template Determinant<T> determinant(int64_t, const T*);                                      \
  template bool least_squares_fast(int64_t, int64_t, int64_t, const T*, const T*, double, T*); \
  template bool least_squares(int64_t, int64_t, int64_t, const T*, const T*, T*);              \
  template bool solve_tridiagonal(int64_t, int64_t, const T*, const T*, bool, T*);
THALWEG_INSTANTIATE(float)
THALWEG_INSTANTIATE(double)
THALWEG_INSTANTIATE(std::complex<float>)
THALWEG_INSTANTIATE(std::complex<double>)
#undef THALWEG_INSTANTIATE

}  // namespace thalweg::kernels

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

// a = z t z^H, all row-major: t is upper triangular, where T is real with blocks of two rows for pairs of complex
// eigenvalues.
template <class T> bool schur(int64_t n, const T* a, T* t, T* z) {
  Work<T> columns(n * n), vectors(n * n), eigenvalues(2 * n);
  Work<Real<T>> reals(n);
  transpose_matrix<T>(a, n, n, columns);
  auto run = [&](T* work, int size) {
    int sorted = 0, unused = 0;
    if constexpr (is_complex_number<T>) {
      auto gees = routine<T>(nullptr, nullptr, LAPACKE_cgees_work, LAPACKE_zgees_work);
      return gees(LAPACK_COL_MAJOR, 'V', 'N', nullptr, as_int(n), columns, as_int(n), &sorted, eigenvalues, vectors,
                  as_int(n), work, size, reals, &unused);
    } else {
      auto gees = routine<T>(LAPACKE_sgees_work, LAPACKE_dgees_work, nullptr, nullptr);
      return gees(LAPACK_COL_MAJOR, 'V', 'N', nullptr, as_int(n), columns, as_int(n), &sorted, eigenvalues,
                  static_cast<T*>(eigenvalues) + n, vectors, as_int(n), work, size, &unused);
    }
  };
  T query;
  run(&query, -1);
  Work<T> work(work_size(query));
  const int info = run(work, work_size(query));
  transpose_matrix<T>(columns, n, n, t);
  transpose_matrix<T>(vectors, n, n, z);
  return info == 0;
}

template <class T> T dot(const T* a, const T* b, int64_t n) {
  if constexpr (is_complex_number<T>) {
    Real<T> real = 0, imaginary = 0;
#pragma omp simd reduction(+ : real, imaginary)
    for (int64_t k = 0; k < n; ++k) {
      real += a[k].real() * b[k].real() - a[k].imag() * b[k].imag();
      imaginary += a[k].real() * b[k].imag() + a[k].imag() * b[k].real();
    }
    return {real, imaginary};
  } else {
    T sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t k = 0; k < n; ++k) sum += a[k] * b[k];
    return sum;
  }
}

// Overwrites c [p, q], of p rows of 2, with x where a x + x b = c; a [p, p] and b [q, q] lie in rows of n.
template <class T> void solve_sylvester(int p, int q, const T* a, const T* b, int64_t n, T (&c)[2][2]) {
  const int size = p * q;
  T m[4][5] = {};
  for (int i = 0; i < p; ++i)
    for (int j = 0; j < q; ++j) {
      const int row = i * q + j;
      for (int k = 0; k < p; ++k) m[row][k * q + j] += a[i * n + k];
      for (int k = 0; k < q; ++k) m[row][i * q + k] += b[k * n + j];
      m[row][size] = c[i][j];
    }
  for (int k = 0; k < size; ++k) {
    int best = k;
    for (int i = k + 1; i < size; ++i)
      if (std::abs(m[i][k]) > std::abs(m[best][k])) best = i;
    std::swap_ranges(m[k], m[k] + size + 1, m[best]);
    for (int i = k + 1; i < size; ++i)
      for (int j = size; j >= k; --j) m[i][j] -= m[i][k] / m[k][k] * m[k][j];
  }
  for (int k = size; k--;) {
    T value = m[k][size];
    for (int j = k + 1; j < size; ++j) value -= m[k][j] * c[j / q][j % q];
    c[k / q][k % q] = value / m[k][k];
  }
}

// The root of a block [[a, b], [c, a]] of eigenvalues a +- i m: w + (block - a) / (2 w), w the real part of the roots.
template <class T> void block_square_root(const T* t, int64_t n, T* r) {
  const T a = t[0], m = std::sqrt(std::abs(t[1])) * std::sqrt(std::abs(t[n])), modulus = std::hypot(a, m);
  const T w = a > 0 ? std::sqrt((a + modulus) / 2) : m / std::sqrt(2 * (modulus - a));
  r[0] = r[n + 1] = w;
  r[1] = t[1] / (2 * w);
  r[n] = t[n] / (2 * w);
}

// r = sqrt(t), both as schur leaves them: r^2 = t, solved block column by block column from the diagonal upward
// (Bjorck and Hammarling 1983; real blocks: Higham 1987).
template <class T> void triangular_square_root(int64_t n, const T* t, T* r) {
  std::fill(r, r + n * n, T{0});
  auto is_block = [&](int64_t i) { return !is_complex_number<T> && i + 1 < n && t[(i + 1) * n + i] != T{0}; };
  Work<T> column(2 * n);  // the columns of r that are being computed, so that sums run straight through memory
  for (int64_t j = 0, q = 1; j < n; j += q) {
    q = is_block(j) ? 2 : 1;
    if constexpr (!is_complex_number<T>) {
      if (q == 2) block_square_root(t + j * n + j, n, r + j * n + j);
      else r[j * n + j] = std::sqrt(std::max(t[j * n + j], T{0}));  // what is below 0 is rounding
    } else {
      r[j * n + j] = std::sqrt(t[j * n + j]);
    }
    for (int64_t i = j; i > 0;) {
      const int p = i >= 2 && is_block(i - 2) ? 2 : 1;
      i -= p;
      T c[2][2];
      for (int64_t v = 0; v < q; ++v)
        for (int u = 0; u < p; ++u)
          c[u][v] = t[(i + u) * n + j + v] -
                    dot<T>(r + (i + u) * n + i + p, static_cast<T*>(column) + v * n + i + p, j - i - p);
      if (p == 1 && q == 1) c[0][0] /= r[i * n + i] + r[j * n + j];
      else solve_sylvester<T>(p, as_int(q), r + i * n + i, r + j * n + j, n, c);
      for (int64_t v = 0; v < q; ++v)
        for (int u = 0; u < p; ++u) r[(i + u) * n + j + v] = column[v * n + i + u] = c[u][v];
    }
  }
}

// z t z^H.
template <class C> void turn_back(int64_t n, const C* z, const C* t, C* out) {
  Work<C> product(n * n);
  multiply<C>(n, n, n, z, false, t, false, product);
  multiply<C>(n, n, n, product, false, z, true, out);
}

template <class T> bool is_hermitian(int64_t n, const T* a) {
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j <= i; ++j)
      if (a[i * n + j] != conjugate(a[j * n + i])) return false;
  return true;
}

// v sqrt(e) v^H from eigenvalues e and vectors v, for which there are faster ways than for the Schur form.
template <class T> void hermitian_square_root(int64_t n, const T* a, T* out) {
  Work<T> vectors(n * n), scaled(n * n);
  Work<Real<T>> eigenvalues(n);
  if (!hermitian_eigen<T>(n, a, eigenvalues, vectors)) return fill_nan(out, n * n);
  const Real<T> tiny = one_norm<T>(n, a) * std::numeric_limits<Real<T>>::epsilon() * static_cast<Real<T>>(n);
  if (!is_complex_number<T> && eigenvalues[0] < -tiny) return fill_nan(out, n * n);
  for (int64_t j = 0; j < n; ++j) {
    const Real<T> e = eigenvalues[j];
    T root = T(std::sqrt(std::max(e, Real<T>{0})));
    if constexpr (is_complex_number<T>) root = e < 0 ? T(0, std::sqrt(-e)) : root;
    for (int64_t i = 0; i < n; ++i) scaled[i * n + j] = vectors[i * n + j] * root;
  }
  multiply<T>(n, n, n, scaled, false, vectors, true, out);
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
  if (n == 0) return;
  const int64_t count = n * n;
  if (!all_finite(a, count)) return fill_nan(out, count);
  if (is_hermitian(n, a)) return hermitian_square_root(n, a, out);
  Work<T> t(count), z(count), root(count);
  if (!schur<T>(n, a, t, z)) return fill_nan(out, count);
  if constexpr (!is_complex_number<T>) {
    // A negative real eigenvalue has no real root.
    const T tiny = one_norm<T>(n, t) * std::numeric_limits<T>::epsilon() * static_cast<T>(n);
    for (int64_t i = 0; i < n; ++i) {
      const bool alone = (i == 0 || t[i * n + i - 1] == 0) && (i + 1 == n || t[(i + 1) * n + i] == 0);
      if (alone && t[i * n + i] < -tiny) return fill_nan(out, count);
    }
  }
  triangular_square_root<T>(n, t, root);
  turn_back<T>(n, z, root, out);
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

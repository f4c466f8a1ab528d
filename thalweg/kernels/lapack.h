// Decompositions of one dense matrix and solutions of linear equations, by LAPACK and BLAS. Matrices are row-major; T
// is float, double or a complex of them; outputs do not overlap inputs. Working memory is counted as tensors' memory
// is, so ResourceExhaustedError is what may be thrown. Infinite or NaN elements give false or NaN, never a loop without
// end.
#pragma once
#include <complex>
#include <cstdint>
#include <mutex>

namespace thalweg::kernels {

/// To be held around every call below: the serial OpenBLAS hands out its buffers without a lock, so two threads in it
/// at once spoil each other's results.
std::mutex& lapack_mutex();

template <class T> struct RealOf {
  using type = T;
};
template <class R> struct RealOf<std::complex<R>> {
  using type = R;
};
/// float for complex<float>, double for complex<double>, real types themselves.
template <class T> using Real = typename RealOf<T>::type;

/// l [n, n], lower triangular, with a = l l^H; only the lower triangle of a is read. False, and NaN in the lower
/// triangle, where a is not positive definite.
template <class T> bool cholesky(int64_t n, const T* a, T* l);
/// The gradient of a from the gradient of its Cholesky factor l, made symmetric.
template <class T> void cholesky_gradient(int64_t n, const T* l, const T* grad, T* out);

/// Row permutation[i] of a is row i of the product of `lu`'s two triangles, of which the lower has ones on its
/// diagonal. False where a pivot is 0 or NaN.
template <class T> bool lu_factor(int64_t n, const T* a, T* lu, int32_t* permutation);
/// Of a, or of its adjoint; false where it has no inverse.
template <class T> bool invert(int64_t n, const T* a, bool adjoint, T* inverse);
/// x [n, k] with a x = b, or a^H x = b; false where a has no inverse.
template <class T> bool solve(int64_t n, int64_t k, const T* a, const T* b, bool adjoint, T* x);
/// Overwrites b [n, k] with the solution of a triangular a.
template <class T> void solve_triangular(int64_t n, int64_t k, const T* a, bool lower, bool adjoint, T* b);

/// A determinant, and its sign and logarithm, which cannot overflow; 0, 0 and -infinity where a pivot is 0 or NaN.
template <class T> struct Determinant {
  T value = T{1};
  T sign = T{1};
  Real<T> log_absolute = 0;
};
template <class T> Determinant<T> determinant(int64_t n, const T* a);

/// q [m, p] with orthonormal columns and r [p, n] upper triangular; p is m where full, else min(m, n).
template <class T> void qr_factor(int64_t m, int64_t n, bool full, const T* a, T* q, T* r);
/// a = u diag(s) v^H with s falling; u [m, p], v [n, p], or square where full. Null u and v: s alone. False without
/// convergence.
template <class T> bool singular_values(int64_t m, int64_t n, bool full, const T* a, Real<T>* s, T* u, T* v);
/// Eigenvalues, rising, of a Hermitian matrix of which the lower triangle is read, and vectors as columns of v (or
/// null).
template <class T> bool hermitian_eigen(int64_t n, const T* a, Real<T>* e, T* v);
/// Eigenvalues of any square matrix, and vectors of length 1 as columns of v (or null).
template <class T> bool general_eigen(int64_t n, const T* a, std::complex<Real<T>>* e, std::complex<Real<T>>* v);

/// x [n, k] that minimises |a x - b|^2 + l2 |x|^2 through normal equations; false where those are singular.
template <class T> bool least_squares_fast(int64_t m, int64_t n, int64_t k, const T* a, const T* b, double l2, T* x);
/// The shortest x that minimises |a x - b|, for any rank of a.
template <class T> bool least_squares(int64_t m, int64_t n, int64_t k, const T* a, const T* b, T* x);

/// `diagonals` [3, n] holds what stands above, on and below the diagonal, column by column as the matrix has rows;
/// false where it is singular (or, without pivoting, meets a pivot of 0).
template <class T> bool solve_tridiagonal(int64_t n, int64_t k, const T* diagonals, const T* b, bool pivoting, T* x);

/// e^a.
template <class T> void matrix_exponential(int64_t n, const T* a, T* out);
/// The principal square root; NaN where a real matrix has no real one.
template <class T> void matrix_square_root(int64_t n, const T* a, T* out);
/// The principal logarithm, of complex types.
template <class T> void matrix_logarithm(int64_t n, const T* a, T* out);

}  // namespace thalweg::kernels

// Orthogonal factors, singular values and eigenvalues.
#include <algorithm>

#include "thalweg/kernels/lapack_call.h"

namespace thalweg::kernels {
namespace {

constexpr int columns_first = LAPACK_COL_MAJOR;

template <class T> void set_identity(int64_t n, T* a) {
  std::fill(a, a + n * n, T{0});
  for (int64_t i = 0; i < n; ++i) a[i * n + i] = T{1};
}

// `columns` is column-major [rows, count]; out is its conjugate, row-major.
template <class T> void store_conjugate(int64_t rows, int64_t count, const T* columns, T* out) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < count; ++j) out[i * count + j] = conjugate(columns[j * rows + i]);
}

}  // namespace

template <class T> void qr_factor(int64_t m, int64_t n, bool full, const T* a, T* q, T* r) {
  const int64_t reflections = std::min(m, n), p = full ? m : reflections;
  if (reflections == 0) {
    if (full) set_identity(m, q);
    return std::fill(r, r + p * n, T{0});
  }
  Work<T> columns(m * std::max(n, p)), tau(reflections);
  transpose_matrix<T>(a, m, n, columns);
  auto geqrf = routine<T>(LAPACKE_sgeqrf_work, LAPACKE_dgeqrf_work, LAPACKE_cgeqrf_work, LAPACKE_zgeqrf_work);
  auto generate = routine<T>(LAPACKE_sorgqr_work, LAPACKE_dorgqr_work, LAPACKE_cungqr_work, LAPACKE_zungqr_work);
  T query1, query2;
  geqrf(columns_first, as_int(m), as_int(n), columns, as_int(m), tau, &query1, -1);
  generate(columns_first, as_int(m), as_int(p), as_int(reflections), columns, as_int(m), tau, &query2, -1);
  const int size = std::max(work_size(query1), work_size(query2));
  Work<T> work(size);
  geqrf(columns_first, as_int(m), as_int(n), columns, as_int(m), tau, work, size);
  for (int64_t i = 0; i < p; ++i)
    for (int64_t j = 0; j < n; ++j) r[i * n + j] = i <= j ? columns[j * m + i] : T{0};
  generate(columns_first, as_int(m), as_int(p), as_int(reflections), columns, as_int(m), tau, work, size);
  transpose_matrix<T>(columns, p, m, q);
}

// Read column-major, a is its transpose a^T = x diag(s) y^H. Then a = (y^H)^T diag(s) x^T: u is y^H as it lies in
// memory, and v is conj(x).
template <class T> bool singular_values(int64_t m, int64_t n, bool full, const T* a, Real<T>* s, T* u, T* v) {
  const int64_t count = std::min(m, n), large = std::max(m, n);
  const bool vectors = u != nullptr;
  if (count == 0) {
    if (vectors && full) set_identity(m, u), set_identity(n, v);
    return true;
  }
  const int64_t p = full ? m : count, q = full ? n : count;
  if (!all_finite(a, m * n)) {
    fill_nan(s, count);
    if (vectors) fill_nan(u, m * p), fill_nan(v, n * q);
    return true;
  }
  Work<T> copy(m * n), x(vectors ? n * q : 1);
  const char job = !vectors ? 'N' : full ? 'A' : 'S';
  auto divide_and_conquer = [&](T* work, int size) {
    Work<int> integers(8 * count);
    if constexpr (is_complex_number<T>) {
      Work<Real<T>> reals(vectors ? count * std::max(5 * count + 7, 2 * large + 2 * count + 1) : 7 * count);
      return routine<T>(nullptr, nullptr, LAPACKE_cgesdd_work, LAPACKE_zgesdd_work)(
          columns_first, job, as_int(n), as_int(m), copy, as_int(n), s, x, as_int(n), u, as_int(p), work, size, reals,
          integers);
    } else {
      return routine<T>(LAPACKE_sgesdd_work, LAPACKE_dgesdd_work, nullptr, nullptr)(
          columns_first, job, as_int(n), as_int(m), copy, as_int(n), s, x, as_int(n), u, as_int(p), work, size,
          integers);
    }
  };
  auto by_rotations = [&](T* work, int size) {
    if constexpr (is_complex_number<T>) {
      Work<Real<T>> reals(5 * count);
      return routine<T>(nullptr, nullptr, LAPACKE_cgesvd_work, LAPACKE_zgesvd_work)(
          columns_first, job, job, as_int(n), as_int(m), copy, as_int(n), s, x, as_int(n), u, as_int(p), work, size,
          reals);
    } else {
      return routine<T>(LAPACKE_sgesvd_work, LAPACKE_dgesvd_work, nullptr, nullptr)(
          columns_first, job, job, as_int(n), as_int(m), copy, as_int(n), s, x, as_int(n), u, as_int(p), work, size);
    }
  };
  auto attempt = [&](auto& method) {
    std::copy(a, a + m * n, static_cast<T*>(copy));
    T query;
    method(&query, -1);
    Work<T> work(work_size(query));
    return method(work, work_size(query)) == 0;
  };
  T unused{};
  if (!vectors) u = &unused;  // LAPACK wants an address
  if (!attempt(divide_and_conquer) && !attempt(by_rotations)) return false;
  if (vectors) store_conjugate<T>(n, q, x, v);
  return true;
}

// Read column-major, a is conj(a), whose eigenvectors are the conjugates.
template <class T> bool hermitian_eigen(int64_t n, const T* a, Real<T>* e, T* v) {
  if (n == 0) return true;
  for (int64_t i = 0; i < n; ++i)
    if (!all_finite(a + i * n, i + 1)) return false;
  Work<T> copy(n * n);
  std::copy(a, a + n * n, static_cast<T*>(copy));
  const char job = v ? 'V' : 'N';
  int integer_query = 0, info = 0;
  T query;
  if constexpr (is_complex_number<T>) {
    auto heevd = routine<T>(nullptr, nullptr, LAPACKE_cheevd_work, LAPACKE_zheevd_work);
    Real<T> real_query;
    heevd(columns_first, job, 'U', as_int(n), copy, as_int(n), e, &query, -1, &real_query, -1, &integer_query, -1);
    Work<T> work(work_size(query));
    Work<Real<T>> reals(work_size(real_query));
    Work<int> integers(integer_query);
    info = heevd(columns_first, job, 'U', as_int(n), copy, as_int(n), e, work, work_size(query), reals,
                 work_size(real_query), integers, integer_query);
  } else {
    auto syevd = routine<T>(LAPACKE_ssyevd_work, LAPACKE_dsyevd_work, nullptr, nullptr);
    syevd(columns_first, job, 'U', as_int(n), copy, as_int(n), e, &query, -1, &integer_query, -1);
    Work<T> work(work_size(query));
    Work<int> integers(integer_query);
    info =
        syevd(columns_first, job, 'U', as_int(n), copy, as_int(n), e, work, work_size(query), integers, integer_query);
  }
  if (info == 0 && v) store_conjugate<T>(n, n, copy, v);
  return info == 0;
}

template <class T> bool general_eigen(int64_t n, const T* a, std::complex<Real<T>>* e, std::complex<Real<T>>* v) {
  using C = std::complex<Real<T>>;
  if (n == 0) return true;
  if (!all_finite(a, n * n)) return false;
  Work<T> columns(n * n), right(v ? n * n : 1);
  transpose_matrix<T>(a, n, n, columns);
  const char job = v ? 'V' : 'N';
  T query, unused{};
  if constexpr (is_complex_number<T>) {
    auto geev = routine<T>(nullptr, nullptr, LAPACKE_cgeev_work, LAPACKE_zgeev_work);
    Work<Real<T>> reals(2 * n);
    geev(columns_first, 'N', job, as_int(n), columns, as_int(n), e, &unused, as_int(n), right, as_int(n), &query, -1,
         reals);
    Work<T> work(work_size(query));
    if (geev(columns_first, 'N', job, as_int(n), columns, as_int(n), e, &unused, as_int(n), right, as_int(n), work,
             work_size(query), reals))
      return false;
    if (v) transpose_matrix<T>(right, n, n, v);
  } else {
    auto geev = routine<T>(LAPACKE_sgeev_work, LAPACKE_dgeev_work, nullptr, nullptr);
    Work<T> real(n), imaginary(n);
    geev(columns_first, 'N', job, as_int(n), columns, as_int(n), real, imaginary, &unused, as_int(n), right, as_int(n),
         &query, -1);
    Work<T> work(work_size(query));
    if (geev(columns_first, 'N', job, as_int(n), columns, as_int(n), real, imaginary, &unused, as_int(n), right,
             as_int(n), work, work_size(query)))
      return false;
    for (int64_t j = 0; j < n; ++j) e[j] = C(real[j], imaginary[j]);
    // A pair of conjugate eigenvalues has its vector in two columns, the real part before the imaginary one.
    for (int64_t j = 0; v && j < n; ++j) {
      const bool pair = imaginary[j] != 0 && j + 1 < n;
      for (int64_t i = 0; i < n; ++i) {
        v[i * n + j] = C(right[j * n + i], pair ? right[(j + 1) * n + i] : T{0});
        if (pair) v[i * n + j + 1] = std::conj(v[i * n + j]);
      }
      if (pair) ++j;
    }
  }
  return true;
}

#define THALWEG_INSTANTIATE(T)                                                       \
  template void qr_factor(int64_t, int64_t, bool, const T*, T*, T*);                 \
  template bool singular_values(int64_t, int64_t, bool, const T*, Real<T>*, T*, T*); \
  template bool hermitian_eigen(int64_t, const T*, Real<T>*, T*);                    \
  template bool general_eigen(int64_t, const T*, std::complex<Real<T>>*, std::complex<Real<T>>*);
THALWEG_INSTANTIATE(float)
THALWEG_INSTANTIATE(double)
THALWEG_INSTANTIATE(std::complex<float>)
THALWEG_INSTANTIATE(std::complex<double>)
#undef THALWEG_INSTANTIATE

}  // namespace thalweg::kernels

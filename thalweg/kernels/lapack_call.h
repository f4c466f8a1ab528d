// What the files that call LAPACK share: choosing a routine by type, working memory, layouts.
#pragma once
#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>

#define LAPACK_COMPLEX_CUSTOM
#define lapack_complex_float std::complex<float>
#define lapack_complex_double std::complex<double>
#include <cblas.h>
#include <lapacke.h>

#include "thalweg/core/allocator.h"
#include "thalweg/kernels/lapack.h"
#include "thalweg/kernels/layout.h"

namespace thalweg::kernels {

template <class T> inline constexpr bool is_complex_number = !std::is_same_v<T, Real<T>>;

/// The routine for T among those for float, double and the complexes of them.
template <class T, class S, class D, class C, class Z> constexpr auto routine(S s, D d, C c, Z z) {
  if constexpr (std::is_same_v<T, float>) return s;
  else if constexpr (std::is_same_v<T, double>) return d;
  else if constexpr (std::is_same_v<T, std::complex<float>>) return c;
  else return z;
}

/// Memory for `count` elements while a routine works; LAPACK wants at least one.
template <class T> class Work {
 public:
  explicit Work(int64_t count)
      : buffer_(Buffer::make(static_cast<size_t>(count > 0 ? count : 1) * sizeof(T), DType::invalid, 0)) {}
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;
  ~Work() { buffer_->drop(); }
  operator T*() const { return static_cast<T*>(buffer_->data); }  // NOLINT

 private:
  Buffer* buffer_;
};

/// The size of working memory that a routine asked for in its first element.
template <class T> int work_size(const T& query) { return static_cast<int>(std::real(query)) + 1; }

inline int as_int(int64_t n) { return static_cast<int>(n); }

template <class T> T conjugate(T x) {
  if constexpr (is_complex_number<T>) return std::conj(x);
  else return x;
}

template <class T> bool all_finite(const T* a, int64_t count) {
  // Any infinity or NaN turns this sum of zeros into NaN.
  Real<T> zeros = 0;
  auto* parts = reinterpret_cast<const Real<T>*>(a);
  for (int64_t i = 0, n = is_complex_number<T> ? 2 * count : count; i < n; ++i) zeros += parts[i] * 0;
  return zeros == 0;
}
template <class T> void fill_nan(T* out, int64_t count) {
  for (int64_t i = 0; i < count; ++i) out[i] = T(std::numeric_limits<Real<T>>::quiet_NaN());
}

/// c [m, n] = op(a) [m, k] op(b) [k, n], row-major.
template <class T>
void multiply(int64_t m, int64_t n, int64_t k, const T* a, bool adjoint_a, const T* b, bool adjoint_b, T* c) {
  const int lda = as_int(adjoint_a ? m : k), ldb = as_int(adjoint_b ? k : n);
  const auto op_a = adjoint_a ? CblasConjTrans : CblasNoTrans, op_b = adjoint_b ? CblasConjTrans : CblasNoTrans;
  if constexpr (is_complex_number<T>) {
    const T one{1}, zero{0};
    routine<T>(nullptr, nullptr, cblas_cgemm, cblas_zgemm)(CblasRowMajor, op_a, op_b, as_int(m), as_int(n), as_int(k),
                                                           &one, a, lda, b, ldb, &zero, c, as_int(n));
  } else {
    routine<T>(cblas_sgemm, cblas_dgemm, nullptr, nullptr)(CblasRowMajor, op_a, op_b, as_int(m), as_int(n), as_int(k),
                                                           T{1}, a, lda, b, ldb, T{0}, c, as_int(n));
  }
}

}  // namespace thalweg::kernels

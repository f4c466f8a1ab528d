#include "thalweg/kernels/gemm.h"

#include <algorithm>
#include <type_traits>

#include "thalweg/core/complex.h"
#include "thalweg/core/convert.h"
#include "thalweg/core/threads.h"
#include "thalweg/kernels/gemm_kernel.h"
#include "thalweg/kernels/scratch.h"

namespace thalweg::kernels {
namespace {

template <class T> Matrix<T> view(const T* data, bool transposed, int64_t rows, int64_t columns) {
  return transposed ? Matrix<T>{data, 1, rows} : Matrix<T>{data, columns, 1};
}

template <class T>
void real_product(const GemmShape& s, const T* a, const T* b, T* c, bool serial, const Epilogue* epilogue = nullptr,
                  KeptFilter* kept = nullptr) {
  real_gemm<T>(s.m, s.n, s.k, view(a, s.a != Operand::plain, s.m, s.k), view(b, s.b != Operand::plain, s.k, s.n), c,
               s.n, false, serial, epilogue, kept);
}

// Narrow types are widened whole, multiplied, and narrowed again: small beside the product itself.
template <class Stored, class Wide>
void widened_product(const GemmShape& s, const Stored* a, const Stored* b, Stored* c, bool serial) {
  Wide* wide_a = scratch<Wide>(Scratch::convert_a, s.m * s.k);
  Wide* wide_b = scratch<Wide>(Scratch::convert_b, s.k * s.n);
  Wide* wide_c = scratch<Wide>(Scratch::convert_c, s.m * s.n);
  convert_elements(dtype_of<Stored>, a, dtype_of<Wide>, wide_a, s.m * s.k);
  convert_elements(dtype_of<Stored>, b, dtype_of<Wide>, wide_b, s.k * s.n);
  real_product<Wide>(s, wide_a, wide_b, wide_c, serial);
  convert_elements(dtype_of<Wide>, wide_c, dtype_of<Stored>, c, s.m * s.n);
}

// A complex product is a real one of twice the rows and depth: row 2i of A is (Re, -Im), row 2i + 1 (Im, Re), and the
// rows of B are Re above Im. Then row 2i of the result is its real part, row 2i + 1 the imaginary one.
template <class R>
void complex_product(const GemmShape& s, const std::complex<R>* a, const std::complex<R>* b, std::complex<R>* c,
                     bool serial) {
  const int64_t m = s.m, n = s.n, k = s.k;
  R* real_a = scratch<R>(Scratch::convert_a, 4 * m * k);
  R* real_b = scratch<R>(Scratch::convert_b, 2 * k * n);
  R* real_c = scratch<R>(Scratch::convert_c, 2 * m * n);
  const R sign_a = s.a == Operand::adjoint ? R{-1} : R{1}, sign_b = s.b == Operand::adjoint ? R{-1} : R{1};
  for (int64_t i = 0; i < m; ++i)
    for (int64_t p = 0; p < k; ++p) {
      const std::complex<R> x = s.a == Operand::plain ? a[i * k + p] : a[p * m + i];
      const R im = sign_a * x.imag();
      real_a[2 * i * 2 * k + p] = x.real();
      real_a[2 * i * 2 * k + k + p] = -im;
      real_a[(2 * i + 1) * 2 * k + p] = im;
      real_a[(2 * i + 1) * 2 * k + k + p] = x.real();
    }
  for (int64_t p = 0; p < k; ++p)
    for (int64_t j = 0; j < n; ++j) {
      const std::complex<R> x = s.b == Operand::plain ? b[p * n + j] : b[j * k + p];
      real_b[p * n + j] = x.real();
      real_b[(k + p) * n + j] = sign_b * x.imag();
    }
  real_gemm<R>(2 * m, n, 2 * k, {real_a, 2 * k, 1}, {real_b, n, 1}, real_c, n, false, serial);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) c[i * n + j] = {real_c[2 * i * n + j], real_c[(2 * i + 1) * n + j]};
}

template <class T> void product(const GemmShape& s, const void* a, const void* b, void* c, bool serial) {
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  T* z = static_cast<T*>(c);
  if (s.m <= 0 || s.n <= 0) return;
  if (s.k <= 0) {
    std::fill_n(z, s.m * s.n, T{});
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    widened_product<T, float>(s, x, y, z, serial);
  } else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
    complex_product(s, x, y, z, serial);
  } else if constexpr (std::is_integral_v<T> && sizeof(T) < 4) {
    widened_product<T, uint32_t>(s, x, y, z, serial);
  } else if constexpr (std::is_integral_v<T>) {  // two's complement: signed and unsigned wrap to the same bits
    using U = std::make_unsigned_t<T>;
    real_product<U>(s, static_cast<const U*>(a), static_cast<const U*>(b), static_cast<U*>(c), serial);
  } else {
    real_product<T>(s, x, y, z, serial);
  }
}

void one_product(DType dtype, const GemmShape& s, const void* a, const void* b, void* c, bool serial) {
  switch (dtype) {
    case DType::float32:
      return product<float>(s, a, b, c, serial);
    case DType::float64:
      return product<double>(s, a, b, c, serial);
    case DType::float16:
      return product<Half>(s, a, b, c, serial);
    case DType::bfloat16:
      return product<BFloat16>(s, a, b, c, serial);
    case DType::int8:
      return product<int8_t>(s, a, b, c, serial);
    case DType::int16:
      return product<int16_t>(s, a, b, c, serial);
    case DType::int32:
      return product<int32_t>(s, a, b, c, serial);
    case DType::int64:
      return product<int64_t>(s, a, b, c, serial);
    case DType::uint8:
      return product<uint8_t>(s, a, b, c, serial);
    case DType::uint16:
      return product<uint16_t>(s, a, b, c, serial);
    case DType::uint32:
      return product<uint32_t>(s, a, b, c, serial);
    case DType::uint64:
      return product<uint64_t>(s, a, b, c, serial);
    case DType::complex64:
      return product<std::complex<float>>(s, a, b, c, serial);
    case DType::complex128:
      return product<std::complex<double>>(s, a, b, c, serial);
    default:
      return;
  }
}
}  // namespace

void gemm(DType dtype, const GemmShape& shape, const void* a, const void* b, void* c) {
  one_product(dtype, shape, a, b, c, false);
}

void gemm(DType dtype, const GemmShape& shape, const void* a, const void* b, void* c, const Epilogue* epilogue,
          KeptFilter* kept) {
  auto multiply = [&]<class T>(T* to) {
    real_product<T>(shape, static_cast<const T*>(a), static_cast<const T*>(b), to, false, epilogue, kept);
  };
  if (dtype == DType::float32) multiply(static_cast<float*>(c));
  else if (dtype == DType::float64) multiply(static_cast<double*>(c));
}

void gemm(DType dtype, bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const void* a,
          const void* b, void* c) {
  const Operand operands[2] = {Operand::plain, Operand::transposed};
  one_product(dtype, {m, n, k, operands[transpose_a], operands[transpose_b]}, a, b, c, false);
}

void batch_gemm(DType dtype, const GemmShape& shape, int64_t batch, const void* a, int64_t a_stride, const void* b,
                int64_t b_stride, void* c, int64_t c_stride) {
  const int64_t size = static_cast<int64_t>(size_of(dtype));
  auto item = [&](int64_t i, bool serial) {
    one_product(dtype, shape, static_cast<const char*>(a) + i * a_stride * size,
                static_cast<const char*>(b) + i * b_stride * size, static_cast<char*>(c) + i * c_stride * size, serial);
  };
  const double nanoseconds = 0.03 * static_cast<double>(shape.m) * static_cast<double>(shape.n) *
                                 static_cast<double>(std::max<int64_t>(shape.k, 1)) +
                             30;
  if (batch < 8 && nanoseconds > 2 * serial_nanoseconds) {  // few large ones: cut each
    for (int64_t i = 0; i < batch; ++i) item(i, false);
    return;
  }
  parallel_for(batch, nanoseconds, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) item(i, true);
  });
}

}  // namespace thalweg::kernels

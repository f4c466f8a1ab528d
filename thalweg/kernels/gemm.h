// Products of dense matrices of any number type.
#pragma once
#include <cstdint>

#include "thalweg/core/dtype.h"
#include "thalweg/kernels/epilogue.h"
#include "thalweg/kernels/kept_filter.h"

namespace thalweg::kernels {

/// How an operand is read: as it lies, or with rows and columns exchanged, or both exchanged and conjugated.
enum class Operand : uint8_t { plain, transposed, adjoint };

/// The sizes and operands of one product: C [m, n] = op(A) [m, k] op(B) [k, n], all dense and row-major.
/// A lies as [m, k], or as [k, m] where it is transposed; B likewise.
struct GemmShape {
  int64_t m = 0, n = 0, k = 0;
  Operand a = Operand::plain, b = Operand::plain;
};

/// C = op(A) op(B). Halves compute in float32, integers wrap around; k = 0 gives zeros. The bits do not depend on the
/// number of threads.
void gemm(DType dtype, const GemmShape& shape, const void* a, const void* b, void* c);
void gemm(DType dtype, bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const void* a,
          const void* b, void* c);

/// The same of float32 or float64, finished by an epilogue over the columns. `kept`, where it is given, belongs to B,
/// which is the same at every call.
void gemm(DType dtype, const GemmShape& shape, const void* a, const void* b, void* c, const Epilogue* epilogue,
          KeptFilter* kept);

/// `batch` products; the operands of one lie `..._stride` elements after those of the one before (0 repeats them).
void batch_gemm(DType dtype, const GemmShape& shape, int64_t batch, const void* a, int64_t a_stride, const void* b,
                int64_t b_stride, void* c, int64_t c_stride);

}  // namespace thalweg::kernels

// The matrix product of real numbers over strided operands: one blocked algorithm, register kernels per machine.
#pragma once
#include <cstdint>

#include "thalweg/kernels/epilogue.h"
#include "thalweg/kernels/kept_filter.h"

namespace thalweg::kernels {

/// An operand: element (i, j) lies at data[i * row + j * column].
template <class T> struct Matrix {
  const T* data = nullptr;
  int64_t row = 0, column = 0;
};

/// C (+)= A B with C row-major, `c_row` elements from row to row. Every element is one chain of multiply-adds over k
/// in rising order, so that no cut of the work changes a bit. T: float, double, uint32_t, uint64_t (wrapping).
/// `serial` keeps the work on the calling thread. The epilogue is for float and double; `kept` belongs to B.
template <class T>
void real_gemm(int64_t m, int64_t n, int64_t k, Matrix<T> a, Matrix<T> b, T* c, int64_t c_row, bool accumulate,
               bool serial, const Epilogue* epilogue = nullptr, KeptFilter* kept = nullptr);

}  // namespace thalweg::kernels

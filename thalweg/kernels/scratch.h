// Working memory of kernels: one growing buffer per thread and purpose, so that steady state allocates nothing.
#pragma once
#include <cstddef>

namespace thalweg::kernels {

/// The purposes; two kernels that call each other must use different ones.
enum class Scratch {
  gemm_a,
  gemm_b,
  gemm_edge,
  convert_a,
  convert_b,
  convert_c,
  columns,
  transpose_in,
  transpose_out,
  filter,
  partial,
  engine,
  engine_in,
  engine_out,
  pool_best,
  pool_where,
  pool_pixels,
  winograd_in,
  winograd_filter,
  winograd_out,
  row,
  epilogue,
  count
};

/// At least `bytes` bytes, 64-byte aligned, valid until this thread asks for the same purpose again.
void* scratch(Scratch purpose, size_t bytes);

template <class T> T* scratch(Scratch purpose, long long count) {
  return static_cast<T*>(scratch(purpose, static_cast<size_t>(count) * sizeof(T)));
}

}  // namespace thalweg::kernels

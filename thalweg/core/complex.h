// The complex element types; apart from dtype.h because <complex> is slow to compile.
#pragma once
#include <complex>

#include "thalweg/core/dtype.h"

namespace thalweg {
template <> inline constexpr DType dtype_of<std::complex<float>> = DType::complex64;
template <> inline constexpr DType dtype_of<std::complex<double>> = DType::complex128;
template <> struct CppTypeOf<DType::complex64> {
  using type = std::complex<float>;
};
template <> struct CppTypeOf<DType::complex128> {
  using type = std::complex<double>;
};
}  // namespace thalweg

// Kernels that only move elements are compiled by element size, not by dtype; kernels that compute, by type.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "thalweg/core/complex.h"
#include "thalweg/core/convert.h"
#include "thalweg/core/resource.h"
#include "thalweg/ops/op.h"

namespace thalweg::kernel {

/// An element of sixteen bytes.
struct Bytes16 {
  uint64_t low = 0, high = 0;
};

/// Calls `f(static_cast<T*>(nullptr))` with the type that stands for all elements of this size.
template <class F> decltype(auto) visit_size(DType dtype, const F& f) {
  if (dtype == DType::string) return f(static_cast<std::string*>(nullptr));
  if (is_object(dtype)) return f(static_cast<ResourceHandle*>(nullptr));
  switch (size_of(dtype)) {
    case 1:
      return f(static_cast<uint8_t*>(nullptr));
    case 2:
      return f(static_cast<uint16_t*>(nullptr));
    case 4:
      return f(static_cast<uint32_t*>(nullptr));
    case 8:
      return f(static_cast<uint64_t*>(nullptr));
    default:
      return f(static_cast<Bytes16*>(nullptr));
  }
}

namespace detail {
template <TypeSet S, DType D, class F> bool try_type(DType dtype, const F& f) {
  if constexpr (S.has(D)) {
    if (dtype == D) return f(static_cast<CppType<D>*>(nullptr)), true;
  }
  return false;
}
}  // namespace detail

/// Calls `f(static_cast<T*>(nullptr))` with the C++ type of a dtype that is in S.
template <TypeSet S, class F> void visit_type(DType dtype, const F& f) {
  using enum DType;
  (void)(detail::try_type<S, float32>(dtype, f) || detail::try_type<S, float64>(dtype, f) ||
         detail::try_type<S, int32>(dtype, f) || detail::try_type<S, int64>(dtype, f) ||
         detail::try_type<S, int8>(dtype, f) || detail::try_type<S, int16>(dtype, f) ||
         detail::try_type<S, uint8>(dtype, f) || detail::try_type<S, uint16>(dtype, f) ||
         detail::try_type<S, uint32>(dtype, f) || detail::try_type<S, uint64>(dtype, f) ||
         detail::try_type<S, bool_>(dtype, f) || detail::try_type<S, float16>(dtype, f) ||
         detail::try_type<S, bfloat16>(dtype, f) || detail::try_type<S, complex64>(dtype, f) ||
         detail::try_type<S, complex128>(dtype, f) || detail::try_type<S, string>(dtype, f));
}

/// Calls `f(copy)`, where `copy(in, out)` copies one row of `count` elements; rows of few bytes are copied in
/// registers.
template <class F> void visit_row_copy(DType dtype, int64_t count, const F& f) {
  if (is_object(dtype)) return f([=](const std::byte* in, std::byte* out) { copy_elements(dtype, in, out, count); });
  size_t bytes = static_cast<size_t>(count) * size_of(dtype);
  switch (bytes) {
    case 1:
      return f([](const std::byte* in, std::byte* out) { std::memcpy(out, in, 1); });
    case 2:
      return f([](const std::byte* in, std::byte* out) { std::memcpy(out, in, 2); });
    case 4:
      return f([](const std::byte* in, std::byte* out) { std::memcpy(out, in, 4); });
    case 8:
      return f([](const std::byte* in, std::byte* out) { std::memcpy(out, in, 8); });
    case 16:
      return f([](const std::byte* in, std::byte* out) { std::memcpy(out, in, 16); });
    default:
      return f([=](const std::byte* in, std::byte* out) { std::memcpy(out, in, bytes); });
  }
}

/// What arithmetic on an element is done in: float for the half types, else the type itself.
template <class T> using Wide = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;

/// How long moving one element takes, in nanoseconds: decides about threads.
constexpr double nanoseconds_to_move(DType dtype) {
  return is_object(dtype) ? 20 : 0.1 + 0.1 * static_cast<double>(size_of(dtype));
}

}  // namespace thalweg::kernel

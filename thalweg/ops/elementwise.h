// Makes the kernel of an element-wise op from one scalar lambda:
//   .kernel = kernel::unary<float_types>([](auto x) { return scalar::exp(x); })
#pragma once
#include "thalweg/kernels/elementwise.h"
#include "thalweg/ops/infer.h"
#include "thalweg/ops/op.h"

namespace thalweg::kernel {

void run_unary(const KernelCall& c);
void run_binary(const KernelCall& c);
void run_ternary(const KernelCall& c);

namespace detail {
template <TypeSet S, class F, class A, DType Out, bool RealPart, int Picoseconds>
inline constexpr kernels::UnaryLoops unary_table =
    kernels::detail::make_table<S, kernels::detail::Unary, F, A, kernels::UnaryLoops>(Picoseconds / 1000.0, Out,
                                                                                      RealPart);
template <TypeSet S, class F, class A, DType Out, int Picoseconds>
inline constexpr kernels::BinaryLoops binary_table =
    kernels::detail::make_table<S, kernels::detail::Binary, F, A, kernels::BinaryLoops>(Picoseconds / 1000.0, Out);
template <TypeSet S, class F, class A, int Picoseconds>
inline constexpr kernels::TernaryLoops ternary_table =
    kernels::detail::make_table<S, kernels::detail::Ternary, F, A, kernels::TernaryLoops>(Picoseconds / 1000.0,
                                                                                          DType::invalid);

template <class F, class A, class... X>
using ResultOf = decltype(kernels::detail::call<A, F>(std::declval<const A&>(), std::declval<const X&>()...));

// The first type of a set, to ask a lambda what it returns.
template <TypeSet S> constexpr DType first_of() {
  for (DType t :
       {DType::float32, DType::float64, DType::int32, DType::int64, DType::int8, DType::uint8, DType::bool_,
        DType::complex64, DType::complex128, DType::string, DType::uint16, DType::uint32, DType::uint64, DType::int16})
    if (S.has(t)) return t;
  return DType::float32;
}
template <class R> constexpr DType output_of() {
  using T = std::remove_cvref_t<R>;
  return std::is_same_v<T, bool> ? DType::bool_ : std::is_same_v<T, uint8_t> ? DType::uint8 : DType::invalid;
}
}  // namespace detail

/// How costly one element is, in picoseconds: decides from which size on threads share the work.
inline constexpr int cheap = 300, costly = 2'000, very_costly = 20'000;

/// `F` is called with one scalar of each type in S (and the attributes A, where they are named).
template <TypeSet S, class A = kernels::NoAttrs, int Picoseconds = cheap, class F> constexpr Kernel unary(F) {
  using T = CppType<detail::first_of<S>()>;
  using R = detail::ResultOf<F, A, T>;
  constexpr bool real_part = is_complex(detail::first_of<S>()) && std::is_floating_point_v<std::remove_cvref_t<R>>;
  constexpr DType out = is_integer(detail::first_of<S>()) || std::is_same_v<std::remove_cvref_t<R>, bool>
                            ? detail::output_of<R>()
                            : DType::invalid;
  return {run_unary, &detail::unary_table<S, F, A, out, real_part, Picoseconds>, S};
}
/// `F` is called with two scalars of one type.
template <TypeSet S, class A = kernels::NoAttrs, int Picoseconds = cheap, class F> constexpr Kernel binary(F) {
  using T = CppType<detail::first_of<S>()>;
  using R = detail::ResultOf<F, A, T, T>;
  constexpr DType out = std::is_same_v<std::remove_cvref_t<R>, bool> ? DType::bool_ : DType::invalid;
  return {run_binary, &detail::binary_table<S, F, A, out, Picoseconds>, S};
}
template <TypeSet S, class A = kernels::NoAttrs, int Picoseconds = cheap, class F> constexpr Kernel ternary(F) {
  return {run_ternary, &detail::ternary_table<S, F, A, Picoseconds>, S};
}

}  // namespace thalweg::kernel

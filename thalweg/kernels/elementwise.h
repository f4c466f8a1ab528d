// Element-wise kernels. Per op and dtype only an inner loop is compiled (three times for float, double and unary
// complex64, one per instruction set); broadcasting, half precision, short rows and threads are here once for all of
// them.
#pragma once
#include <array>
#include <cstdint>
#include <type_traits>

#include "thalweg/core/complex.h"
#include "thalweg/core/dtype.h"
#include "thalweg/core/shape.h"
#include "thalweg/kernels/isa.h"

namespace thalweg::kernels {

/// How a binary loop reads its operands: element by element, or one of them as a scalar.
enum Form : int { vector_vector = 0, scalar_vector = 1, vector_scalar = 2 };

using UnaryLoop = void (*)(const void* x, void* y, int64_t n, const void* attrs);
using BinaryLoop = void (*)(const void* a, const void* b, void* y, int64_t n, Form form, const void* attrs);
using TernaryLoop = void (*)(const void* a, const void* b, const void* c, void* y, int64_t n, const void* attrs);

/// The inner loops of one op, by dtype and instruction set: constant data, nothing runs at start-up.
template <class Loop> struct LoopTable {
  Loop at[num_dtypes][num_isas] = {};
  double nanoseconds = 0.3;       // per element, to decide about threads
  DType output = DType::invalid;  // bool or uint8 where the op makes those; invalid: the input's
  bool real_part = false;         // complex in, real out

  /// The dtype of the results.
  constexpr DType result(DType input) const {
    return output != DType::invalid ? output : real_part ? real_of(input) : input;
  }
};
using UnaryLoops = LoopTable<UnaryLoop>;
using BinaryLoops = LoopTable<BinaryLoop>;
using TernaryLoops = LoopTable<TernaryLoop>;

struct NoAttrs {};

namespace detail {

/// What an op on T stores: bool for predicates, the real type for complex -> real, uint8 where the lambda says so,
/// else T itself and never the promoted int.
template <class T, class Result> struct StoredOf {
  using type =
      std::conditional_t<std::is_same_v<Result, bool>, bool,
                         std::conditional_t<std::is_integral_v<T> && std::is_same_v<Result, uint8_t>, uint8_t, T>>;
};
template <class Part, class Result> struct StoredOf<std::complex<Part>, Result> {
  using type = std::conditional_t<std::is_same_v<Result, bool>, bool,
                                  std::conditional_t<std::is_same_v<Result, Part>, Part, std::complex<Part>>>;
};
template <class T, class Result> using Stored = typename StoredOf<T, std::remove_cvref_t<Result>>::type;

// Calls a lambda with or without the op's attributes.
template <class A, class F, class... X>
[[gnu::always_inline]] inline decltype(auto) call(const A& attrs, const X&... x) {
  if constexpr (std::is_same_v<A, NoAttrs>) return F{}(x...);
  else return F{}(x..., attrs);
}
template <class A>
[[gnu::always_inline]] inline A local_copy(const void* attrs) {  // read once: in the loop it costs a factor of nine
  if constexpr (std::is_same_v<A, NoAttrs>) return {};
  else return *static_cast<const A*>(attrs);
}

// The output may be one of the inputs (a donated temporary), so the loops say ivdep and not __restrict.
template <class T, class F, class A>
[[gnu::always_inline]] inline void unary_body(const void* x, void* y, int64_t n, const void* attrs) {
  using R = Stored<T, decltype(call<A, F>(std::declval<const A&>(), std::declval<const T&>()))>;
  const A local = local_copy<A>(attrs);
  if constexpr (std::is_same_v<T, bool>) {  // as bytes: GCC makes the loop from bool to bool thirty times slower
    using Byte = std::conditional_t<std::is_same_v<R, bool>, uint8_t, R>;
    auto* in = static_cast<const uint8_t*>(x);
    auto* out = static_cast<Byte*>(y);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<Byte>(call<A, F>(local, in[i] != 0));
    return;
  }
  auto* in = static_cast<const T*>(x);
  auto* out = static_cast<R*>(y);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<R>(call<A, F>(local, in[i]));
}
template <class T, class F, class A>
[[gnu::always_inline]] inline void binary_body(const void* pa, const void* pb, void* y, int64_t n, Form form,
                                               const void* attrs) {
  using R =
      Stored<T, decltype(call<A, F>(std::declval<const A&>(), std::declval<const T&>(), std::declval<const T&>()))>;
  const A local = local_copy<A>(attrs);
  auto* a = static_cast<const T*>(pa);
  auto* b = static_cast<const T*>(pb);
  auto* out = static_cast<R*>(y);
  if (form == vector_vector) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<R>(call<A, F>(local, a[i], b[i]));
  } else if (form == scalar_vector) {
    const T s = *a;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<R>(call<A, F>(local, s, b[i]));
  } else {
    const T s = *b;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<R>(call<A, F>(local, a[i], s));
  }
}
template <class T, class F, class A>
[[gnu::always_inline]] inline void ternary_body(const void* pa, const void* pb, const void* pc, void* y, int64_t n,
                                                const void* attrs) {
  const A local = local_copy<A>(attrs);
  auto* a = static_cast<const T*>(pa);
  auto* b = static_cast<const T*>(pb);
  auto* c = static_cast<const T*>(pc);
  auto* out = static_cast<T*>(y);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(call<A, F>(local, a[i], b[i], c[i]));
}

template <class T, class F, class A> struct Unary {
  static void plain(const void* x, void* y, int64_t n, const void* attrs) { unary_body<T, F, A>(x, y, n, attrs); }
  THALWEG_AVX2 static void v2(const void* x, void* y, int64_t n, const void* attrs) {
    unary_body<T, F, A>(x, y, n, attrs);
  }
  THALWEG_AVX512 static void v3(const void* x, void* y, int64_t n, const void* attrs) {
    unary_body<T, F, A>(x, y, n, attrs);
  }
};
template <class T, class F, class A> struct Binary {
  static void plain(const void* a, const void* b, void* y, int64_t n, Form f, const void* attrs) {
    binary_body<T, F, A>(a, b, y, n, f, attrs);
  }
  THALWEG_AVX2 static void v2(const void* a, const void* b, void* y, int64_t n, Form f, const void* attrs) {
    binary_body<T, F, A>(a, b, y, n, f, attrs);
  }
  THALWEG_AVX512 static void v3(const void* a, const void* b, void* y, int64_t n, Form f, const void* attrs) {
    binary_body<T, F, A>(a, b, y, n, f, attrs);
  }
};
template <class T, class F, class A> struct Ternary {
  static void plain(const void* a, const void* b, const void* c, void* y, int64_t n, const void* attrs) {
    ternary_body<T, F, A>(a, b, c, y, n, attrs);
  }
  THALWEG_AVX2 static void v2(const void* a, const void* b, const void* c, void* y, int64_t n, const void* attrs) {
    ternary_body<T, F, A>(a, b, c, y, n, attrs);
  }
  THALWEG_AVX512 static void v3(const void* a, const void* b, const void* c, void* y, int64_t n, const void* attrs) {
    ternary_body<T, F, A>(a, b, c, y, n, attrs);
  }
};

template <class T> inline constexpr bool is_hot = std::is_same_v<T, float> || std::is_same_v<T, double>;
/// Complex roots and logarithms gain from it too. Not operands in pairs: GCC 12 mixes up elements where it vectorises a
/// condition on them.
template <class T, class F, class A>
inline constexpr bool is_hot<Unary<T, F, A>> = is_hot<T> || std::is_same_v<T, std::complex<float>>;

template <TypeSet S, template <class, class, class> class Loops, class F, class A, DType D, class Table>
constexpr void fill(Table& table) {
  // float16 and bfloat16 run through the float32 loop, so that set is compiled whenever they are asked for.
  constexpr bool wanted = S.has(D) || (D == DType::float32 && !(S & half_types).empty());
  if constexpr (wanted) {
    using T = CppType<D>;
    auto& slot = table.at[static_cast<int>(D)];
    slot[0] = slot[1] = slot[2] = Loops<T, F, A>::plain;
    if constexpr (is_hot<T> || is_hot<Loops<T, F, A>>) {
      slot[1] = Loops<T, F, A>::v2;
      slot[2] = Loops<T, F, A>::v3;
    }
  }
}
template <TypeSet S, template <class, class, class> class Loops, class F, class A, class Table>
constexpr Table make_table(double nanoseconds, DType output, bool real_part = false) {
  Table table;
  table.nanoseconds = nanoseconds;
  table.output = output;
  table.real_part = real_part;
  fill<S, Loops, F, A, DType::float32>(table), fill<S, Loops, F, A, DType::float64>(table);
  fill<S, Loops, F, A, DType::int8>(table), fill<S, Loops, F, A, DType::int16>(table);
  fill<S, Loops, F, A, DType::int32>(table), fill<S, Loops, F, A, DType::int64>(table);
  fill<S, Loops, F, A, DType::uint8>(table), fill<S, Loops, F, A, DType::uint16>(table);
  fill<S, Loops, F, A, DType::uint32>(table), fill<S, Loops, F, A, DType::uint64>(table);
  fill<S, Loops, F, A, DType::bool_>(table), fill<S, Loops, F, A, DType::string>(table);
  fill<S, Loops, F, A, DType::complex64>(table), fill<S, Loops, F, A, DType::complex128>(table);
  return table;
}

}  // namespace detail

/// Runs a unary op over n elements; threads share large ones.
void run_unary(const UnaryLoops& loops, DType dtype, const void* x, void* y, int64_t n, const void* attrs);

/// Runs a binary op with NumPy's broadcasting; `shape` is what the shapes of a and b broadcast to.
void run_binary(const BinaryLoops& loops, DType dtype, const Shape& a_shape, const void* a, const Shape& b_shape,
                const void* b, const Shape& shape, void* y, const void* attrs);

/// The same with three operands.
void run_ternary(const TernaryLoops& loops, DType dtype, const Shape* const shapes[3], const void* const operands[3],
                 const Shape& shape, void* y, const void* attrs);

}  // namespace thalweg::kernels

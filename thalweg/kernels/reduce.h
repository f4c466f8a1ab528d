// Reductions over any set of axes. Per op and dtype two inner loops are compiled (along a row, and row by row into
// columns); axes, threads and half precision are handled once. Partial results are cut by the work and merged in order,
// so the bits are the same at any number of threads.
#pragma once
#include <cstdint>
#include <span>
#include <type_traits>

#include "thalweg/core/complex.h"
#include "thalweg/core/dtype.h"
#include "thalweg/core/shape.h"
#include "thalweg/kernels/isa.h"

namespace thalweg::kernels {

/// The loops of one reduction for one dtype. Accumulators have a type of their own (of `bytes` bytes).
struct ReduceLoops {
  void (*rows[num_isas])(const void* x, int64_t n, void* accumulator) = {};      // takes n elements in
  void (*columns[num_isas])(const void* x, int64_t n, void* accumulators) = {};  // element i goes to accumulator i
  void (*start)(void* accumulators, int64_t n) = nullptr;
  void (*merge)(void* accumulators, const void* others, int64_t n) = nullptr;
  void (*finish)(const void* accumulators, int64_t n, int64_t count, void* y) = nullptr;  // count: elements per result
  size_t bytes = 0;
};
struct ReduceTable {
  ReduceLoops at[num_dtypes] = {};
};

/// Reduces the axes that are true in `reduced`; y holds one element per remaining index, in row-major order.
void run_reduce(const ReduceTable& table, DType dtype, const Shape& shape, std::span<const bool> reduced, const void* x,
                void* y);

namespace detail {

inline constexpr int64_t lanes = 32;  // accumulators per row: a vector's worth on every instruction set

template <class R, class T>
[[gnu::always_inline]] inline void reduce_row(const void* px, int64_t n, void* accumulator) {
  using A = typename R::template Accumulator<T>;
  auto* x = static_cast<const T*>(px);
  A total = *static_cast<A*>(accumulator);
  int64_t i = 0;
  if (n >= lanes) {
    alignas(64) A lane[lanes];
    for (A& sum : lane) sum = R::template start<T>();
    for (; i + lanes <= n; i += lanes)
      for (int64_t k = 0; k < lanes; ++k) lane[k] = R::step(lane[k], x[i + k]);
    for (int64_t half = lanes / 2; half; half /= 2)
      for (int64_t k = 0; k < half; ++k) lane[k] = R::merge(lane[k], lane[k + half]);
    total = R::merge(total, lane[0]);
  }
  for (; i < n; ++i) total = R::step(total, x[i]);
  *static_cast<A*>(accumulator) = total;
}
template <class R, class T>
[[gnu::always_inline]] inline void reduce_columns(const void* px, int64_t n, void* accumulators) {
  using A = typename R::template Accumulator<T>;
  auto* x = static_cast<const T*>(px);
  auto* a = static_cast<A*>(accumulators);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) a[i] = R::step(a[i], x[i]);
}

template <class R, class T> struct ReduceOf {
  using A = typename R::template Accumulator<T>;
  static void rows(const void* x, int64_t n, void* a) { reduce_row<R, T>(x, n, a); }
  THALWEG_AVX2 static void rows2(const void* x, int64_t n, void* a) { reduce_row<R, T>(x, n, a); }
  THALWEG_AVX512 static void rows3(const void* x, int64_t n, void* a) { reduce_row<R, T>(x, n, a); }
  static void columns(const void* x, int64_t n, void* a) { reduce_columns<R, T>(x, n, a); }
  THALWEG_AVX2 static void columns2(const void* x, int64_t n, void* a) { reduce_columns<R, T>(x, n, a); }
  THALWEG_AVX512 static void columns3(const void* x, int64_t n, void* a) { reduce_columns<R, T>(x, n, a); }
  static void start(void* a, int64_t n) {
    for (int64_t i = 0; i < n; ++i) static_cast<A*>(a)[i] = R::template start<T>();
  }
  static void merge(void* a, const void* b, int64_t n) {
    for (int64_t i = 0; i < n; ++i)
      static_cast<A*>(a)[i] = R::merge(static_cast<A*>(a)[i], static_cast<const A*>(b)[i]);
  }
  static void finish(const void* a, int64_t n, int64_t count, void* y) {
    for (int64_t i = 0; i < n; ++i) static_cast<T*>(y)[i] = R::template finish<T>(static_cast<const A*>(a)[i], count);
  }
};

template <TypeSet S, class R, DType D> constexpr void fill_reduce(ReduceTable& table) {
  if constexpr (S.has(D) || (D == DType::float32 && !(S & half_types).empty())) {
    using T = CppType<D>;
    using F = ReduceOf<R, T>;
    ReduceLoops& l = table.at[static_cast<int>(D)];
    l = {{F::rows, F::rows, F::rows}, {F::columns, F::columns, F::columns}, F::start, F::merge, F::finish,
         sizeof(typename F::A)};
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
      l.rows[1] = F::rows2, l.rows[2] = F::rows3;
      l.columns[1] = F::columns2, l.columns[2] = F::columns3;
    }
  }
}

}  // namespace detail

/// The loops of reduction R (start, step, merge, finish) for the types of S.
template <TypeSet S, class R> constexpr ReduceTable make_reduce_table() {
  ReduceTable t;
  detail::fill_reduce<S, R, DType::float32>(t), detail::fill_reduce<S, R, DType::float64>(t);
  detail::fill_reduce<S, R, DType::int8>(t), detail::fill_reduce<S, R, DType::int16>(t);
  detail::fill_reduce<S, R, DType::int32>(t), detail::fill_reduce<S, R, DType::int64>(t);
  detail::fill_reduce<S, R, DType::uint8>(t), detail::fill_reduce<S, R, DType::uint16>(t);
  detail::fill_reduce<S, R, DType::uint32>(t), detail::fill_reduce<S, R, DType::uint64>(t);
  detail::fill_reduce<S, R, DType::bool_>(t);
  detail::fill_reduce<S, R, DType::complex64>(t), detail::fill_reduce<S, R, DType::complex128>(t);
  return t;
}

}  // namespace thalweg::kernels

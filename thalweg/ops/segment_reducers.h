// What a segment reduction does with its rows: where it starts, how it adds, how it ends.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "thalweg/ops/elements.h"
#include "thalweg/ops/op.h"

namespace thalweg::segment {

struct Sum {
  template <class W> static W start() { return W(0); }
  template <class W> static W add(W a, W b) {
    if constexpr (std::is_integral_v<W>) return static_cast<W>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    else return a + b;
  }
  template <class W> static W finish(W total, int64_t) { return total; }
};
struct Mean : Sum {
  template <class W> static W finish(W total, int64_t count) {
    if constexpr (std::is_integral_v<W>)
      return static_cast<W>(std::is_signed_v<W>
                                ? static_cast<int64_t>(total) / count
                                : static_cast<int64_t>(static_cast<uint64_t>(total) / static_cast<uint64_t>(count)));
    else if constexpr (std::is_floating_point_v<W>) return total / static_cast<W>(count);
    else return total / static_cast<typename W::value_type>(count);
  }
};
struct SqrtN : Sum {
  template <class W> static W finish(W total, int64_t count) {
    return total / static_cast<W>(std::sqrt(static_cast<double>(count)));
  }
};
struct Product {
  template <class W> static W start() { return W(1); }
  template <class W> static W add(W a, W b) {
    if constexpr (std::is_integral_v<W>) return static_cast<W>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    else return a * b;
  }
  template <class W> static W finish(W total, int64_t) { return total; }
};
// The value that any other replaces: an infinity where there is one.
template <class W> W below_all() {
  if constexpr (std::is_floating_point_v<W>) return -std::numeric_limits<W>::infinity();
  else return std::numeric_limits<W>::lowest();
}
template <class W> W above_all() {
  if constexpr (std::is_floating_point_v<W>) return std::numeric_limits<W>::infinity();
  else return std::numeric_limits<W>::max();
}
// NaN stays NaN.
struct Largest {
  template <class W> static W start() { return below_all<W>(); }
  template <class W> static W add(W a, W b) { return a < b || b != b ? b : a; }
  template <class W> static W finish(W total, int64_t) { return total; }
};
struct Smallest {
  template <class W> static W start() { return above_all<W>(); }
  template <class W> static W add(W a, W b) { return b < a || b != b ? b : a; }
  template <class W> static W finish(W total, int64_t) { return total; }
};

/// One segment that has rows: its id, and its rows [begin, end).
struct Run {
  int64_t id, begin, end;
};
/// The runs of sorted ids; fails when ids are negative or not sorted.
std::vector<Run> find_runs(const KernelCall& c, int input);

/// A tensor with one element per id, with dimensions of length 1 added so that it broadcasts against data.
Tensor with_rank_of(Tensor per_id, const Tensor& data);
/// How gradients reduce and spread again: the same formulas serve sorted and unsorted ids.
using Reduce = Tensor (*)(const Tensor& data, const Tensor& ids, const Tensor& num_segments);
using Spread = Tensor (*)(const Tensor& segments, const Tensor& ids);
/// The gradient of a product of each segment.
Tensor grad_of_product(const Tensor& data, const Tensor& ids, const Tensor& product, const Tensor& grad, Reduce sum,
                       Reduce multiply, Spread spread, const Tensor& num_segments);
/// The gradient of the largest or smallest of each segment.
Tensor grad_of_extreme(const Tensor& data, const Tensor& ids, const Tensor& extreme, const Tensor& grad, Reduce sum,
                       Spread spread, const Tensor& num_segments);

/// The loops of one reduction over one dtype. Totals are kept wider than half types; everything else is shared.
struct RowLoops {
  size_t total_size = 0;  // bytes of one total
  void (*start)(void* total, int64_t n) = nullptr;
  void (*add)(void* total, const void* row, int64_t n) = nullptr;
  void (*finish)(const void* total, void* out, int64_t n, int64_t count) = nullptr;
};
template <class R, class T> constexpr RowLoops make_row_loops() {
  using W = kernel::Wide<T>;
  return {sizeof(W), [](void* total, int64_t n) { std::fill_n(static_cast<W*>(total), n, R::template start<W>()); },
          [](void* total, const void* row, int64_t n) {
            for (int64_t k = 0; k < n; ++k) {
              W& sum = static_cast<W*>(total)[k];
              sum = R::add(sum, static_cast<W>(static_cast<const T*>(row)[k]));
            }
          },
          [](const void* total, void* out, int64_t n, int64_t count) {
            for (int64_t k = 0; k < n; ++k)
              static_cast<T*>(out)[k] = static_cast<T>(R::finish(static_cast<const W*>(total)[k], count));
          }};
}
template <TypeSet S, class R> RowLoops row_loops(DType dtype) {
  RowLoops loops;
  kernel::visit_type<S>(dtype, [&]<class T>(T*) { loops = make_row_loops<R, T>(); });
  return loops;
}

/// Reduces runs of rows of input 0 into output 0, which has `num_segments` rows. Row i of the runs is row `places[i]`
/// of the input, or row i without places. Segments without rows become what the reduction starts with, or 0.
void reduce_runs(const KernelCall& c, const RowLoops& loops, const std::vector<Run>& runs, const int64_t* places,
                 bool start_where_empty);

}  // namespace thalweg::segment

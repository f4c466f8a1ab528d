// What a segment reduction does with its rows: where it starts, how it adds, how it ends.
#pragma once
#include <cmath>
#include <limits>

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
    else return total / static_cast<W>(static_cast<float>(count));
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
// NaN loses against numbers here, as it does in TensorFlow.
struct Largest {
  template <class W> static W start() { return std::numeric_limits<W>::lowest(); }
  template <class W> static W add(W a, W b) { return a < b ? b : a; }
  template <class W> static W finish(W total, int64_t) { return total; }
};
struct Smallest {
  template <class W> static W start() { return std::numeric_limits<W>::max(); }
  template <class W> static W add(W a, W b) { return b < a ? b : a; }
  template <class W> static W finish(W total, int64_t) { return total; }
};

/// One segment that has rows: its id, and its rows [begin, end).
struct Run {
  int64_t id, begin, end;
};
/// The runs of sorted ids; fails when ids are negative or not sorted.
std::vector<Run> find_runs(const KernelCall& c, int input);

/// Reduces runs of rows into output 0, which has `num_segments` rows of `row` elements; `row_of(i)` is where row i of a
/// run is in data. Segments without rows become `empty`.
template <class R, class T, class RowOf>
void reduce_runs(const KernelCall& c, const std::vector<Run>& runs, int64_t num_segments, int64_t row, T empty,
                 const RowOf& row_of) {
  using W = kernel::Wide<T>;
  const T* in = c.input<T>(0);
  T* out = c.output<T>();
  auto num_runs = static_cast<int64_t>(runs.size());
  if (num_runs < num_segments) std::fill_n(out, num_segments * row, empty);
  if (row == 0 || num_runs == 0) return;
  double rows_per_run = static_cast<double>(runs.back().end) / static_cast<double>(num_runs);
  parallel_for(num_runs, 5 + rows_per_run * static_cast<double>(row), [&](int64_t begin, int64_t end) {
    std::vector<W> total(static_cast<size_t>(row));
    for (int64_t r = begin; r < end; ++r) {
      const Run& run = runs[static_cast<size_t>(r)];
      std::fill(total.begin(), total.end(), R::template start<W>());
      for (int64_t i = run.begin; i < run.end; ++i) {
        const T* x = in + row_of(i) * row;
        for (int64_t k = 0; k < row; ++k)
          total[static_cast<size_t>(k)] = R::add(total[static_cast<size_t>(k)], static_cast<W>(x[k]));
      }
      T* y = out + run.id * row;
      for (int64_t k = 0; k < row; ++k)
        y[k] = static_cast<T>(R::finish(total[static_cast<size_t>(k)], run.end - run.begin));
    }
  });
}

}  // namespace thalweg::segment

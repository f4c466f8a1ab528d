#include "thalweg/kernels/reduce.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "thalweg/core/convert.h"
#include "thalweg/core/threads.h"

namespace thalweg::kernels {
namespace {

constexpr double nanoseconds = 0.2;        // per element
constexpr int64_t part = 1 << 15;          // elements of one partial result
constexpr int64_t column_block = 1 << 10;  // columns that one thread takes

/// The axes from the innermost outward, with neighbours of one kind merged: kinds alternate.
struct Axes {
  int rank = 0;
  int64_t size[Shape::max_rank] = {};
  int64_t stride[Shape::max_rank] = {};
  bool reduced[Shape::max_rank] = {};

  Axes(const Shape& shape, std::span<const bool> which) {
    int64_t step = 1;
    for (int i = shape.rank() - 1; i >= 0; --i) {
      int64_t n = shape[i];
      bool r = which[static_cast<size_t>(i)];
      if (n != 1) {
        if (rank && reduced[rank - 1] == r) {
          size[rank - 1] *= n;
        } else {
          size[rank] = n;
          stride[rank] = step;
          reduced[rank++] = r;
        }
      }
      step *= n;
    }
  }
  int64_t count(bool r, int from) const {
    int64_t n = 1;
    for (int i = from; i < rank; ++i)
      if (reduced[i] == r) n *= size[i];
    return n;
  }
  /// The offset of the index-th combination of the axes of one kind from axis `from` on.
  int64_t offset(bool r, int from, int64_t index) const {
    int64_t at = 0;
    for (int i = from; i < rank; ++i) {
      if (reduced[i] != r) continue;
      at += index % size[i] * stride[i];
      index /= size[i];
    }
    return at;
  }
};

using Bytes = std::unique_ptr<char[]>;

// The innermost axis is reduced: each result is a number of rows.
void reduce_rows(const ReduceLoops& l, const Axes& axes, size_t in_bytes, size_t out_bytes, const char* x, char* y) {
  int64_t inner = axes.size[0], rows = axes.count(true, 1), results = axes.count(false, 0), each = inner * rows;
  auto one_row = [&](int64_t base, int64_t row, int64_t begin, int64_t n, void* a) {
    l.rows[isa](x + (base + axes.offset(true, 1, row) + begin) * static_cast<int64_t>(in_bytes), n, a);
  };
  if (each <= 2 * part || results >= 4 * num_threads()) {
    parallel_for(results, nanoseconds * static_cast<double>(each), [&](int64_t begin, int64_t end) {
      alignas(16) char a[32];
      for (int64_t r = begin; r < end; ++r) {
        l.start(a, 1);
        int64_t base = axes.offset(false, 1, r);
        for (int64_t row = 0; row < rows; ++row)
          for (int64_t i = 0; i < inner; i += part) one_row(base, row, i, std::min(part, inner - i), a);
        l.finish(a, 1, each, y + r * static_cast<int64_t>(out_bytes));
      }
    });
    return;
  }
  // Few results of many elements: cut each into parts, merge them in order.
  int64_t cuts = (inner + part - 1) / part, parts = cuts * rows;
  Bytes partial(new char[static_cast<size_t>(parts) * l.bytes + 64]);
  for (int64_t r = 0; r < results; ++r) {
    int64_t base = axes.offset(false, 1, r);
    l.start(partial.get(), parts);
    parallel_for(parts, nanoseconds * static_cast<double>(std::min(part, inner)), [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        int64_t i = p % cuts * part;
        one_row(base, p / cuts, i, std::min(part, inner - i), partial.get() + p * static_cast<int64_t>(l.bytes));
      }
    });
    alignas(16) char a[32];
    l.start(a, 1);
    for (int64_t p = 0; p < parts; ++p) l.merge(a, partial.get() + p * static_cast<int64_t>(l.bytes), 1);
    l.finish(a, 1, each, y + r * static_cast<int64_t>(out_bytes));
  }
}

// The innermost axis is kept: whole rows are added into rows of accumulators.
void reduce_columns(const ReduceLoops& l, const Axes& axes, size_t in_bytes, size_t out_bytes, const char* x, char* y) {
  int64_t inner = axes.size[0], rows = axes.count(true, 1), groups = axes.count(false, 1);
  int64_t blocks = (inner + column_block - 1) / column_block;
  auto add_rows = [&](int64_t base, int64_t column, int64_t n, int64_t first, int64_t last, char* a) {
    for (int64_t row = first; row < last; ++row)
      l.columns[isa](x + (base + axes.offset(true, 1, row) + column) * static_cast<int64_t>(in_bytes), n, a);
  };
  // Rows are cut by their number alone, and their parts merged in order.
  int64_t rows_per_part = std::max<int64_t>(part / std::min(inner, column_block), 1),
          cuts = (rows + rows_per_part - 1) / rows_per_part;
  bool split = groups * blocks < 4 && cuts > 1;
  if (!split) {
    parallel_for(groups * blocks, nanoseconds * static_cast<double>(rows * std::min(inner, column_block)),
                 [&](int64_t begin, int64_t end) {
                   Bytes a(new char[static_cast<size_t>(column_block) * l.bytes]);
                   for (int64_t k = begin; k < end; ++k) {
                     int64_t group = k / blocks, column = k % blocks * column_block,
                             n = std::min(column_block, inner - column);
                     l.start(a.get(), n);
                     add_rows(axes.offset(false, 1, group), column, n, 0, rows, a.get());
                     l.finish(a.get(), n, rows, y + (group * inner + column) * static_cast<int64_t>(out_bytes));
                   }
                 });
    return;
  }
  size_t row_bytes = static_cast<size_t>(inner) * l.bytes;
  Bytes partial(new char[row_bytes * static_cast<size_t>(cuts)]);
  for (int64_t group = 0; group < groups; ++group) {
    int64_t base = axes.offset(false, 1, group);
    parallel_for(cuts, nanoseconds * static_cast<double>(rows_per_part * inner), [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c) {
        char* a = partial.get() + static_cast<size_t>(c) * row_bytes;
        l.start(a, inner);
        add_rows(base, 0, inner, c * rows_per_part, std::min(rows, (c + 1) * rows_per_part), a);
      }
    });
    for (int64_t c = 1; c < cuts; ++c)
      l.merge(partial.get(), partial.get() + static_cast<size_t>(c) * row_bytes, inner);
    l.finish(partial.get(), inner, rows, y + group * inner * static_cast<int64_t>(out_bytes));
  }
}

}  // namespace

void run_reduce(const ReduceTable& table, DType dtype, const Shape& shape, std::span<const bool> reduced, const void* x,
                void* y) {
  int64_t total = shape.count(), results = 1;
  for (int i = 0; i < shape.rank(); ++i)
    if (!reduced[static_cast<size_t>(i)]) results *= shape[i];
  if (results == 0) return;
  if (is_half(dtype)) {  // through float, narrowed once
    std::unique_ptr<float[]> wide(new float[static_cast<size_t>(total)]), out(new float[static_cast<size_t>(results)]);
    widen_halves(dtype, static_cast<const uint16_t*>(x), wide.get(), total);
    run_reduce(table, DType::float32, shape, reduced, wide.get(), out.get());
    return narrow_halves(dtype, out.get(), static_cast<uint16_t*>(y), results);
  }
  const ReduceLoops& l = table.at[static_cast<int>(dtype)];
  size_t bytes = size_of(dtype);
  if (total == 0) {  // nothing to reduce: what the reduction starts from
    Bytes a(new char[static_cast<size_t>(results) * l.bytes]);
    l.start(a.get(), results);
    return l.finish(a.get(), results, 0, y);
  }
  Axes axes(shape, reduced);
  if (axes.rank == 0) {  // one element
    axes.rank = 1;
    axes.size[0] = axes.stride[0] = 1;
    axes.reduced[0] = true;
  }
  if (axes.reduced[0]) reduce_rows(l, axes, bytes, bytes, static_cast<const char*>(x), static_cast<char*>(y));
  else reduce_columns(l, axes, bytes, bytes, static_cast<const char*>(x), static_cast<char*>(y));
}

}  // namespace thalweg::kernels

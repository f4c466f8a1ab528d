#include "thalweg/kernels/gemm_kernel.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "thalweg/core/threads.h"
#include "thalweg/kernels/instruction_set.h"
#include "thalweg/kernels/scratch.h"

namespace thalweg::kernels {
namespace {

constexpr int max_rows = 12;
constexpr int64_t depth_block = 384;   // k of one pass: a panel of B stays in the first-level cache
constexpr int64_t row_block = 96;      // a multiple of 6 and of 12
constexpr int64_t column_block = 512;  // a multiple of every panel width

/// One register tile: `rows` x `columns` of C. Rows of B are `b_row` apart and as wide as a panel.
template <class T> struct Tile {
  int64_t k;
  const T* a;
  int64_t a_row, a_column;
  const T* b;
  int64_t b_row;
  T* c;
  int64_t c_row, c_column;
  int64_t columns;
  bool accumulate;
};

// Accumulators start from C where the product continues a sum: the chain of roundings is then the same for any cut.
template <class T, int lanes, int rows, int vectors> [[gnu::always_inline]] inline void tile_body(const Tile<T>& t) {
  typedef T Vector __attribute__((vector_size(lanes * sizeof(T))));
  constexpr int width = lanes * vectors;
  Vector sum[rows][vectors];
  const bool direct = t.columns == width && t.c_column == 1;
  T edge[rows][width];
  if (!t.accumulate) {
    for (int i = 0; i < rows; ++i)
      for (int v = 0; v < vectors; ++v) sum[i][v] = Vector{};
  } else if (direct) {
    for (int i = 0; i < rows; ++i)
      for (int v = 0; v < vectors; ++v) std::memcpy(&sum[i][v], t.c + i * t.c_row + v * lanes, sizeof(Vector));
  } else {
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < width; ++j) edge[i][j] = j < t.columns ? t.c[i * t.c_row + j * t.c_column] : T{};
    for (int i = 0; i < rows; ++i)
      for (int v = 0; v < vectors; ++v) std::memcpy(&sum[i][v], &edge[i][v * lanes], sizeof(Vector));
  }
  constexpr int groups = (rows + 2) / 3;  // three rows share a pointer: x86 addresses reach two strides from it
  const T* a[groups];
  for (int g = 0; g < groups; ++g) a[g] = t.a + 3 * g * t.a_row;
  const T* b = t.b;
  const int64_t a_row = t.a_row, a_column = t.a_column, b_row = t.b_row;
  for (int64_t p = t.k; p > 0; --p) {
    Vector x[vectors];
    for (int v = 0; v < vectors; ++v) std::memcpy(&x[v], b + v * lanes, sizeof(Vector));
#pragma GCC unroll 12
    for (int i = 0; i < rows; ++i) {
      const Vector y = a[i / 3][(i % 3) * a_row] - Vector{};
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) sum[i][v] += y * x[v];
    }
    for (int g = 0; g < groups; ++g) a[g] += a_column;
    b += b_row;
  }
  if (direct) {
    for (int i = 0; i < rows; ++i)
      for (int v = 0; v < vectors; ++v) std::memcpy(t.c + i * t.c_row + v * lanes, &sum[i][v], sizeof(Vector));
  } else {
    for (int i = 0; i < rows; ++i)
      for (int v = 0; v < vectors; ++v) std::memcpy(&edge[i][v * lanes], &sum[i][v], sizeof(Vector));
    if (t.c_column == 1) {
      for (int i = 0; i < rows; ++i)
        for (int64_t j = 0; j < t.columns; ++j) t.c[i * t.c_row + j] = edge[i][j];
    } else {
      for (int64_t j = 0; j < t.columns; ++j)
        for (int i = 0; i < rows; ++i) t.c[i * t.c_row + j * t.c_column] = edge[i][j];
    }
  }
}

template <class T, int rows, int vectors> void tile_baseline(const Tile<T>& t) {
  tile_body<T, 16 / sizeof(T), rows, vectors>(t);
}
template <class T, int rows, int vectors> THALWEG_TARGET_AVX2 void tile_avx2(const Tile<T>& t) {
  tile_body<T, 32 / sizeof(T), rows, vectors>(t);
}
template <class T, int rows, int vectors> THALWEG_TARGET_AVX512 void tile_avx512(const Tile<T>& t) {
  tile_body<T, 64 / sizeof(T), rows, vectors>(t);
}

/// The register kernels of one machine level, by number of rows and of vectors.
template <class T> struct Kernels {
  using Run = void (*)(const Tile<T>&);
  int rows = 6, lanes = 0;
  Run run[max_rows + 1][3] = {};
};

template <class T, int... row>
constexpr Kernels<T> make_kernels(InstructionSet level, std::integer_sequence<int, row...>) {
  Kernels<T> k;
  if (level == InstructionSet::avx512) {
    k.rows = 12;
    k.lanes = 64 / sizeof(T);
    ((k.run[row + 1][1] = tile_avx512<T, row + 1, 1>, k.run[row + 1][2] = tile_avx512<T, row + 1, 2>), ...);
  } else if (level == InstructionSet::avx2) {
    k.lanes = 32 / sizeof(T);
    ((k.run[row + 1][1] = tile_avx2<T, row % 6 + 1, 1>, k.run[row + 1][2] = tile_avx2<T, row % 6 + 1, 2>), ...);
  } else {
    k.lanes = 16 / sizeof(T);
    ((k.run[row + 1][1] = tile_baseline<T, row % 6 + 1, 1>, k.run[row + 1][2] = tile_baseline<T, row % 6 + 1, 2>), ...);
  }
  return k;
}

template <class T> const Kernels<T>& kernels() {
  using Rows = std::make_integer_sequence<int, max_rows>;
  static constexpr Kernels<T> levels[3] = {make_kernels<T>(InstructionSet::baseline, Rows{}),
                                           make_kernels<T>(InstructionSet::avx2, Rows{}),
                                           make_kernels<T>(InstructionSet::avx512, Rows{})};
  return levels[static_cast<int>(instruction_set())];
}

/// A product under way. B is either read in place (column 1) or packed in panels [k][width], zeros past the edge.
template <class T> struct Product {
  int64_t m, n, k;
  Matrix<T> a, b;
  T* c;
  int64_t c_row, c_column;
  bool accumulate;
  const T* packed_b = nullptr;
  int width = 0;
};

template <class T> void pack_panel(const Product<T>& p, int64_t column, T* to) {
  const int64_t width = p.width, columns = std::min<int64_t>(width, p.n - column);
  const T* from = p.b.data + column * p.b.column;
  if (p.b.column == 1) {
    for (int64_t i = 0; i < p.k; ++i, from += p.b.row, to += width) {
      if (columns == width) {
        std::memcpy(to, from, static_cast<size_t>(width) * sizeof(T));
      } else {
        for (int64_t j = 0; j < width; ++j) to[j] = j < columns ? from[j] : T{};
      }
    }
    return;
  }
  constexpr int64_t step = 16;  // so that the lines read stay in the cache until they are used up
  for (int64_t i = 0; i < p.k; i += step) {
    const int64_t end = std::min(p.k, i + step);
    for (int64_t j = 0; j < width; ++j)
      for (int64_t q = i; q < end; ++q) to[q * width + j] = j < columns ? from[q * p.b.row + j * p.b.column] : T{};
  }
}

// Reading a panel in place past the last column is harmless (those lanes are dropped) except at the end of the array,
// where the last rows are copied.
template <class T>
void edge_columns(const Product<T>& p, Tile<T> t, typename Kernels<T>::Run run, int64_t width, int64_t column,
                  int64_t depth) {
  int64_t safe = p.k;  // rows of B whose over-read stays inside the array
  if (p.b.row > 0) {
    const int64_t last = (p.k - 1) * p.b.row + p.n;
    safe = (last - column - width) / p.b.row + 1;
    if (last - column - width < 0) safe = 0;
  } else {
    safe = 0;
  }
  const int64_t direct = std::clamp<int64_t>(safe - depth, 0, t.k);
  const int64_t copied = t.k - direct;
  if (direct > 0) {
    Tile<T> first = t;
    first.k = direct;
    run(first);
    t.accumulate = true;
    t.a += direct * t.a_column;
    t.b += direct * t.b_row;
  }
  if (copied > 0 || direct == 0) {
    T small[8 * 64 / sizeof(T)];
    T* rows = copied * width <= static_cast<int64_t>(sizeof(small) / sizeof(T))
                  ? small
                  : scratch<T>(Scratch::gemm_edge, copied * width);
    for (int64_t q = 0; q < copied; ++q)
      for (int64_t j = 0; j < width; ++j) rows[q * width + j] = j < t.columns ? t.b[q * t.b_row + j] : T{};
    t.k = copied;
    t.b = rows;
    t.b_row = width;
    run(t);
  }
}

/// Computes rows [row, row_end) and columns [column, column_end) of C; `column` starts a panel.
template <class T>
void compute_block(const Product<T>& p, const Kernels<T>& kernel, int64_t row, int64_t row_end, int64_t column,
                   int64_t column_end) {
  const int64_t width = p.width;
  // A column-major A is gathered tile by tile; a row-major one is read in place unless many panels will pass over it.
  const bool gather = p.a.column != 1 && column_end - column > 2 * width;
  const bool compact = !gather && p.a.column == 1 && column_end - column >= 8 * width && p.k > depth_block;
  T* block = nullptr;
  if (gather || compact) block = scratch<T>(Scratch::gemm_a, (row_block + max_rows) * (depth_block + 16));
  for (int64_t depth = 0; depth < p.k; depth += depth_block) {
    const int64_t k = std::min(depth_block, p.k - depth);
    for (int64_t r = row; r < row_end; r += row_block) {
      const int64_t r_end = std::min(row_end, r + row_block);
      Matrix<T> a{p.a.data + r * p.a.row + depth * p.a.column, p.a.row, p.a.column};
      if (compact) {
        const int64_t stride = depth_block + 16;
        for (int64_t i = r; i < r_end; ++i)
          std::memcpy(block + (i - r) * stride, a.data + (i - r) * a.row, static_cast<size_t>(k) * sizeof(T));
        a = {block, stride, 1};
      } else if (gather) {
        for (int64_t i = r; i < r_end; i += kernel.rows) {
          const int64_t rows = std::min<int64_t>(kernel.rows, r_end - i);
          T* to = block + (i - r) * k;
          const T* from = a.data + (i - r) * a.row;
          for (int64_t q = 0; q < k; ++q)
            for (int64_t s = 0; s < rows; ++s) to[q * rows + s] = from[q * a.column + s * a.row];
        }
      }
      for (int64_t j = column; j < column_end; j += width) {
        Tile<T> t{k,
                  nullptr,
                  a.row,
                  a.column,
                  nullptr,
                  width,
                  nullptr,
                  p.c_row,
                  p.c_column,
                  std::min(width, column_end - j),
                  p.accumulate || depth > 0};
        const int vectors = t.columns <= kernel.lanes ? 1 : 2;
        if (p.packed_b) {
          t.b = p.packed_b + j * p.k + depth * width;
        } else {
          t.b = p.b.data + depth * p.b.row + j;
          t.b_row = p.b.row;
        }
        const int64_t loaded = vectors * kernel.lanes;
        const bool edge = !p.packed_b && t.columns < loaded;
        for (int64_t i = r; i < r_end; i += kernel.rows) {
          const int64_t rows = std::min<int64_t>(kernel.rows, r_end - i);
          if (gather) {
            t.a = block + (i - r) * k;
            t.a_row = 1;
            t.a_column = rows;
          } else {
            t.a = a.data + (i - r) * a.row;
          }
          t.c = p.c + i * p.c_row + j * p.c_column;
          const auto run = kernel.run[rows][vectors];
          if (edge) edge_columns(p, t, run, loaded, j, depth);
          else run(t);
        }
      }
    }
  }
}

template <class T> void multiply(Product<T>& p, bool serial) {
  const Kernels<T>& kernel = kernels<T>();
  p.width = 2 * kernel.lanes;
  const int64_t width = p.width;
  const double work = static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
  if (work < 400'000) serial = true;  // some 10 us
  const bool pack = p.b.column != 1 || p.m > 64;
  const int64_t panels = (p.n + width - 1) / width;
  if (pack) {
    T* packed = scratch<T>(Scratch::gemm_b, panels * width * p.k);
    p.packed_b = packed;
    auto pack_panels = [&](int64_t begin, int64_t end) {
      for (int64_t j = begin; j < end; ++j) pack_panel(p, j * width, packed + j * width * p.k);
    };
    if (serial) pack_panels(0, panels);
    else parallel_for(panels, 0.3 * static_cast<double>(width * p.k), pack_panels);
  }
  // Blocks of C small enough to share out evenly, large enough to be worth the hand-over.
  int64_t block_columns = std::min(column_block, panels * width), block_rows = row_block;
  if (serial) {
    for (int64_t j = 0; j < p.n; j += block_columns)
      compute_block(p, kernel, 0, p.m, j, std::min(p.n, j + block_columns));
    return;
  }
  auto blocks = [&] { return ((p.m + block_rows - 1) / block_rows) * ((p.n + block_columns - 1) / block_columns); };
  while (blocks() < 16 && block_columns > 4 * width) block_columns = (block_columns / 2 + width - 1) / width * width;
  while (blocks() < 16 && block_rows > 4 * kernel.rows && p.m > block_rows / 2)
    block_rows = (block_rows / 2 + kernel.rows - 1) / kernel.rows * kernel.rows;
  while (blocks() < 4 && block_columns > width) block_columns = (block_columns / 2 + width - 1) / width * width;
  const int64_t across = (p.n + block_columns - 1) / block_columns;
  const int64_t count = blocks();
  const double each = work / static_cast<double>(count);  // multiply-adds of one block
  const int64_t chunk = std::max<int64_t>(1, static_cast<int64_t>(400'000 / each));
  parallel_chunks(count, chunk, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      const int64_t row = block / across * block_rows, column = block % across * block_columns;
      compute_block(p, kernel, row, std::min(p.m, row + block_rows), column, std::min(p.n, column + block_columns));
    }
  });
}
}  // namespace

template <class T>
void real_gemm(int64_t m, int64_t n, int64_t k, Matrix<T> a, Matrix<T> b, T* c, int64_t c_row, bool accumulate,
               bool serial) {
  if (m <= 0 || n <= 0) return;
  if (k <= 0) {
    if (!accumulate)
      for (int64_t i = 0; i < m; ++i) std::fill_n(c + i * c_row, n, T{});
    return;
  }
  Product<T> p{m, n, k, a, b, c, c_row, 1, accumulate};
  // B would have to be packed for few rows of A: the transposed product packs the smaller operand instead.
  if (b.column != 1 && m < 64 && n > m)
    p = {n, m, k, {b.data, b.column, b.row}, {a.data, a.column, a.row}, c, 1, c_row, accumulate};
  multiply(p, serial);
}

template void real_gemm(int64_t, int64_t, int64_t, Matrix<float>, Matrix<float>, float*, int64_t, bool, bool);
template void real_gemm(int64_t, int64_t, int64_t, Matrix<double>, Matrix<double>, double*, int64_t, bool, bool);
template void real_gemm(int64_t, int64_t, int64_t, Matrix<uint32_t>, Matrix<uint32_t>, uint32_t*, int64_t, bool, bool);
template void real_gemm(int64_t, int64_t, int64_t, Matrix<uint64_t>, Matrix<uint64_t>, uint64_t*, int64_t, bool, bool);

}  // namespace thalweg::kernels

#include "thalweg/kernels/gemm_kernel.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "thalweg/core/threads.h"
#include "thalweg/kernels/isa.h"
#include "thalweg/kernels/scratch.h"
#include "thalweg/kernels/transpose_tile.h"

namespace thalweg::kernels {
namespace {

constexpr int max_rows = 12;
constexpr int64_t depth_block = 512;   // k of one pass: long, because every pass reads and writes C again
constexpr int64_t row_block = 96;      // a multiple of 6 and of 12; a block of A stays in the second-level cache
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
  using Vector [[gnu::vector_size(lanes * sizeof(T))]] = T;
  constexpr int width = lanes * vectors;
  // A tile that C has no room for, or whose columns lie apart, works on a copy.
  const bool whole = t.c_column == 1 && t.columns == width;
  T copy[rows][width];
  T* const c = whole ? t.c : &copy[0][0];
  const int64_t c_row = whole ? t.c_row : width;
  Vector sum[rows][vectors];
  if (t.accumulate) {
    if (!whole)
      for (int i = 0; i < rows; ++i)
        for (int64_t j = 0; j < width; ++j) copy[i][j] = j < t.columns ? t.c[i * t.c_row + j * t.c_column] : T{};
#pragma GCC unroll 12
    for (int i = 0; i < rows; ++i)
#pragma GCC unroll 8
      for (int v = 0; v < vectors; ++v) std::memcpy(&sum[i][v], c + i * c_row + v * lanes, sizeof(Vector));
  } else {
#pragma GCC unroll 12
    for (int i = 0; i < rows; ++i)
#pragma GCC unroll 8
      for (int v = 0; v < vectors; ++v) sum[i][v] = Vector{};
  }
  constexpr int groups = (rows + 2) / 3;  // three rows share a pointer: x86 addresses reach two strides from it
  const T* a[groups];
  for (int g = 0; g < groups; ++g) a[g] = t.a + 3 * g * t.a_row;
  const T* b = t.b;
  for (int i = 0; i < rows; ++i) __builtin_prefetch(t.c + (rows + i) * t.c_row, 1);  // what the next tile adds to
  const int64_t a_row = t.a_row, a_column = t.a_column, b_row = t.b_row;
  for (int64_t p = t.k; p > 0; --p) {
    Vector x[vectors];
    for (int v = 0; v < vectors; ++v) std::memcpy(&x[v], b + v * lanes, sizeof(Vector));
#pragma GCC unroll 12
    for (int i = 0; i < rows; ++i) {
      const Vector y = a[i / 3][(i % 3) * a_row] - Vector{};
#pragma GCC unroll 8
      for (int v = 0; v < vectors; ++v) sum[i][v] += y * x[v];
    }
    for (int g = 0; g < groups; ++g) a[g] += a_column;
    b += b_row;
  }
#pragma GCC unroll 12
  for (int i = 0; i < rows; ++i)
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) std::memcpy(c + i * c_row + v * lanes, &sum[i][v], sizeof(Vector));
  if (whole) return;
  if (t.c_column == 1) {
    for (int i = 0; i < rows; ++i) std::memcpy(t.c + i * t.c_row, copy[i], static_cast<size_t>(t.columns) * sizeof(T));
  } else {
    for (int64_t j = 0; j < t.columns; ++j)
      for (int i = 0; i < rows; ++i) t.c[i * t.c_row + j * t.c_column] = copy[i][j];
  }
}

template <class T, int rows, int vectors> void tile_baseline(const Tile<T>& t) {
  tile_body<T, 16 / sizeof(T), rows, vectors>(t);
}
template <class T, int rows, int vectors> THALWEG_AVX2 void tile_avx2(const Tile<T>& t) {
  tile_body<T, 32 / sizeof(T), rows, vectors>(t);
}
template <class T, int rows, int vectors> THALWEG_AVX512 void tile_avx512(const Tile<T>& t) {
  tile_body<T, 64 / sizeof(T), rows, vectors>(t);
}

/// The register kernels of one machine level, by number of rows and of vectors.
template <class T> struct Kernels {
  using Run = void (*)(const Tile<T>&);
  int rows = 6, lanes = 0;
  Run run[max_rows + 1][3] = {};
};

template <class T, int... row> constexpr Kernels<T> make_kernels(Isa level, std::integer_sequence<int, row...>) {
  Kernels<T> k;
  if (level == avx512) {
    k.rows = 12;
    k.lanes = 64 / sizeof(T);
    ((k.run[row + 1][1] = tile_avx512<T, row + 1, 1>, k.run[row + 1][2] = tile_avx512<T, row + 1, 2>), ...);
  } else if (level == avx2) {
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
  static constexpr Kernels<T> levels[3] = {make_kernels<T>(baseline, Rows{}), make_kernels<T>(avx2, Rows{}),
                                           make_kernels<T>(avx512, Rows{})};
  return levels[isa];
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
  const Epilogue* epilogue = nullptr;  // where columns of C lie side by side
};

// Copies rows [depth, depth + k) of the panel that starts at `column`.
template <class T> void copy_panel(const Product<T>& p, int64_t column, int64_t depth, int64_t k, T* to) {
  const int64_t width = p.width, columns = std::min<int64_t>(width, p.n - column);
  const T* from = p.b.data + column * p.b.column + depth * p.b.row;
  if (p.b.column == 1) {
    for (int64_t i = 0; i < k; ++i, from += p.b.row, to += width) {
      // What lies past the last column fills lanes that are dropped; only past the end of B there is nothing to read.
      if (columns == width || (p.k - 1 - depth - i) * p.b.row >= width - columns) {
        std::memcpy(to, from, static_cast<size_t>(width) * sizeof(T));
      } else {
        for (int64_t j = 0; j < width; ++j) to[j] = j < columns ? from[j] : T{};
      }
    }
    return;
  }
  if (p.b.row == 1) {
    transpose_strips(from, p.b.column, to, width, columns, k);
    if (columns < width)
      for (int64_t i = 0; i < k; ++i) std::fill(to + i * width + columns, to + (i + 1) * width, T{});
    return;
  }
  constexpr int64_t step = 16;  // so that the lines read stay in the cache until they are used up
  for (int64_t i = 0; i < k; i += step) {
    const int64_t end = std::min(k, i + step);
    for (int64_t j = 0; j < columns; ++j)
      for (int64_t q = i; q < end; ++q) to[q * width + j] = from[q * p.b.row + j * p.b.column];
    for (int64_t j = columns; j < width; ++j)
      for (int64_t q = i; q < end; ++q) to[q * width + j] = T{};
  }
}

// Interleaves `rows` rows of A as [k][rows].
template <class T, int rows> void gather_rows(const T* from, int64_t row, int64_t column, int64_t k, T* to) {
  for (int64_t q = 0; q < k; ++q, to += rows, from += column)
    for (int s = 0; s < rows; ++s) to[s] = from[s * row];
}
template <class T, int... row>
void gather_tile(Matrix<T> a, int64_t rows, int64_t k, T* to, std::integer_sequence<int, row...>) {
  if (a.row == 1) ((rows == row + 1 ? gather_rows<T, row + 1>(a.data, 1, a.column, k, to) : void()), ...);
  else ((rows == row + 1 ? gather_rows<T, row + 1>(a.data, a.row, a.column, k, to) : void()), ...);
}

/// Computes rows [row, row_end) and columns [column, column_end) of C; `column` starts a panel.
template <class T>
void compute_block(const Product<T>& p, const Kernels<T>& kernel, int64_t row, int64_t row_end, int64_t column,
                   int64_t column_end) {
  const int64_t width = p.width;
  // A column-major A is gathered tile by tile, unless it is shallow and its rows lie side by side: then a tile reads
  // few lines. A row-major one is read in place unless many panels will pass over it.
  const bool gather = p.a.column != 1 && column_end - column > 2 * width && (p.a.row != 1 || p.k > 64);
  const bool compact = !gather && p.a.column == 1 && column_end - column >= 8 * width && p.k > 256;
  constexpr int64_t small_size = 512;
  alignas(64) T small[small_size];  // a tiny product should not ask for thread storage
  T* block = nullptr;
  if (gather || compact) block = scratch<T>(Scratch::gemm_a, (row_block + max_rows) * (depth_block + 16));
  for (int64_t depth = 0; depth < p.k; depth += depth_block) {
    const int64_t k = std::min(depth_block, p.k - depth);
    for (int64_t r = row; r < row_end; r += row_block) {
      const int64_t r_end = std::min(row_end, r + row_block);
      // Tiles of nearly equal height: a tile of one or two rows would wait for its own sums.
      const int64_t tiles = (r_end - r + kernel.rows - 1) / kernel.rows, low = (r_end - r) / tiles;
      const int64_t high_tiles = r_end - r - low * tiles;
      Matrix<T> a{p.a.data + r * p.a.row + depth * p.a.column, p.a.row, p.a.column};
      if (compact) {
        const int64_t stride = depth_block + 16;
        for (int64_t i = r; i < r_end; ++i)
          std::memcpy(block + (i - r) * stride, a.data + (i - r) * a.row, static_cast<size_t>(k) * sizeof(T));
        a = {block, stride, 1};
      } else if (gather) {
        for (int64_t i = 0, tile = 0; tile < tiles; ++tile) {
          const int64_t rows = low + (tile < high_tiles);
          gather_tile<T>({a.data + i * a.row, a.row, a.column}, rows, k, block + i * k,
                         std::make_integer_sequence<int, max_rows>{});
          i += rows;
        }
      }
      for (int64_t j = column; j < column_end; j += width) {
        Tile<T> t{.k = k,
                  .a = nullptr,
                  .a_row = a.row,
                  .a_column = a.column,
                  .b = nullptr,
                  .b_row = width,
                  .c = nullptr,
                  .c_row = p.c_row,
                  .c_column = p.c_column,
                  .columns = std::min(width, column_end - j),
                  .accumulate = p.accumulate || depth > 0};
        const int vectors = t.columns <= kernel.lanes ? 1 : 2;
        if (p.packed_b) {
          t.b = p.packed_b + j * p.k + depth * width;
        } else if (t.columns == vectors * kernel.lanes) {
          t.b = p.b.data + depth * p.b.row + j;
          t.b_row = p.b.row;
        } else {  // the last panel is copied: loads must not pass the end of B
          T* edge = k * width <= small_size ? small : scratch<T>(Scratch::gemm_edge, k * width);
          copy_panel(p, j, depth, k, edge);
          t.b = edge;
        }
        for (int64_t i = 0, tile = 0; tile < tiles; ++tile) {
          const int64_t rows = low + (tile < high_tiles);
          if (gather) {
            t.a = block + i * k;
            t.a_row = 1;
            t.a_column = rows;
          } else {
            t.a = a.data + i * a.row;
          }
          t.c = p.c + (r + i) * p.c_row + j * p.c_column;
          kernel.run[rows][vectors](t);
          i += rows;
        }
      }
      if (p.epilogue && depth + k == p.k)
        p.epilogue->finish(p.c + r * p.c_row + column, r_end - r, p.c_row, column, column_end - column);
    }
  }
}

/// Four rows at once times a vector: four chains hide the latency of one.
template <class T> [[gnu::always_inline]] inline void dot_body(const T* a, int64_t row, const T* x, int64_t k, T* out) {
  T s0{}, s1{}, s2{}, s3{};
#pragma omp simd reduction(+ : s0, s1, s2, s3)
  for (int64_t i = 0; i < k; ++i) {
    s0 += a[i] * x[i];
    s1 += a[row + i] * x[i];
    s2 += a[2 * row + i] * x[i];
    s3 += a[3 * row + i] * x[i];
  }
  out[0] = s0;
  out[1] = s1;
  out[2] = s2;
  out[3] = s3;
}
/// c[j] += the sum over `rows` rows of x[q] b[q][j], eight rows in one pass.
template <class T>
[[gnu::always_inline]] inline void combine_body(const T* x, int64_t x_step, const T* b, int64_t row, int64_t rows, T* c,
                                                int64_t n) {
  int64_t q = 0;
  for (; q + 8 <= rows; q += 8) {
    const T* p = b + q * row;
    T f[8];
    for (int i = 0; i < 8; ++i) f[i] = x[(q + i) * x_step];
#pragma GCC ivdep
    for (int64_t j = 0; j < n; ++j) {
      T sum = c[j];
#pragma GCC unroll 8
      for (int i = 0; i < 8; ++i) sum += f[i] * p[i * row + j];
      c[j] = sum;
    }
  }
  for (; q < rows; ++q) {
    const T f = x[q * x_step];
#pragma GCC ivdep
    for (int64_t j = 0; j < n; ++j) c[j] += f * b[q * row + j];
  }
}

template <class T> struct VectorLoops {
  void (*dot)(const T*, int64_t, const T*, int64_t, T*);
  void (*combine)(const T*, int64_t, const T*, int64_t, int64_t, T*, int64_t);
};
template <class T> void dot_baseline(const T* a, int64_t row, const T* x, int64_t k, T* out) {
  dot_body(a, row, x, k, out);
}
template <class T> THALWEG_AVX2 void dot_avx2(const T* a, int64_t row, const T* x, int64_t k, T* out) {
  dot_body(a, row, x, k, out);
}
template <class T>
void combine_baseline(const T* x, int64_t x_step, const T* b, int64_t row, int64_t rows, T* c, int64_t n) {
  combine_body(x, x_step, b, row, rows, c, n);
}
template <class T>
THALWEG_AVX2 void combine_avx2(const T* x, int64_t x_step, const T* b, int64_t row, int64_t rows, T* c, int64_t n) {
  combine_body(x, x_step, b, row, rows, c, n);
}
template <class T> VectorLoops<T> vector_loops() {
  if (isa >= avx2) return {dot_avx2<T>, combine_avx2<T>};
  return {dot_baseline<T>, combine_baseline<T>};
}

/// A matrix of contiguous rows times a contiguous vector.
template <class T>
void rows_times_vector(int64_t rows, int64_t k, const T* a, int64_t a_row, const T* x, T* c, int64_t c_row,
                       bool accumulate, bool serial) {
  const auto dot = vector_loops<T>().dot;
  auto body = [=](int64_t begin, int64_t end) {
    for (int64_t group = begin; group < end; ++group) {
      const int64_t first = 4 * group, count = std::min<int64_t>(4, rows - first);
      T sum[4];
      if (count == 4) dot(a + first * a_row, a_row, x, k, sum);
      else
        for (int64_t i = 0; i < count; ++i) {
          T four[4];
          dot(a + (first + i) * a_row, 0, x, k, four);
          sum[i] = four[0];
        }
      for (int64_t i = 0; i < count; ++i) {
        T& out = c[(first + i) * c_row];
        out = accumulate ? out + sum[i] : sum[i];
      }
    }
  };
  if (serial) body(0, (rows + 3) / 4);
  else parallel_for((rows + 3) / 4, 0.3 * static_cast<double>(k) + 2, body);
}

/// A vector times a matrix of contiguous rows, which streams through once.
template <class T>
void vector_times_rows(int64_t n, int64_t k, const T* x, int64_t x_step, const T* b, int64_t b_row, T* c,
                       bool accumulate, bool serial) {
  const auto combine = vector_loops<T>().combine;
  auto body = [=](int64_t begin, int64_t end) {
    if (!accumulate) std::fill(c + begin, c + end, T{});
    combine(x, x_step, b + begin, b_row, k, c + begin, end - begin);
  };
  if (serial || n * k < 200'000) body(0, n);
  else parallel_chunks(n, std::max<int64_t>(512, 200'000 / k), body);
}

/// All of B in panels.
template <class T> void pack_panels(const Product<T>& p, bool serial, T* packed) {
  const int64_t width = p.width;
  auto pack = [&](int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; ++j) copy_panel(p, j * width, 0, p.k, packed + j * width * p.k);
  };
  const int64_t panels = (p.n + width - 1) / width;
  if (serial) pack(0, panels);
  else parallel_for(panels, 0.3 * static_cast<double>(width * p.k), pack);
}

template <class T> void multiply(Product<T>& p, bool serial, KeptFilter* kept) {
  const Kernels<T>& kernel = kernels<T>();
  p.width = 2 * kernel.lanes;
  const int64_t width = p.width;
  const double work = static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
  if (work < 400'000) serial = true;  // some 10 us
  // A copy of B pays where many rows pass over it, or where it is made once for all calls.
  const bool pack = p.b.column != 1 || p.m > 64 || (kept && p.m > 4);
  const int64_t panels = (p.n + width - 1) / width;
  if (pack) {
    const int64_t size = panels * width * p.k;
    if (kept) {
      p.packed_b = kept->get<T>(KeptOrder::panels, size, [&](T* to) { pack_panels(p, true, to); });
    } else {
      T* packed = scratch<T>(Scratch::gemm_b, size);
      pack_panels(p, serial, packed);
      p.packed_b = packed;
    }
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
               bool serial, const Epilogue* epilogue, KeptFilter* kept) {
  if (m <= 0 || n <= 0) return;
  // What is not finished block by block is finished as a whole: one row or column, or few rows.
  auto finish = [&] {
    if (epilogue) epilogue->finish(c, m, c_row, 0, n);
  };
  if (k <= 0) {
    if (!accumulate)
      for (int64_t i = 0; i < m; ++i) std::fill_n(c + i * c_row, n, T{});
    return finish();
  }
  if (n == 1 && a.column == 1 && b.row == 1) {
    rows_times_vector(m, k, a.data, a.row, b.data, c, c_row, accumulate, serial);
    return finish();
  }
  if (m == 1 && b.row == 1 && a.column == 1) {
    rows_times_vector(n, k, b.data, b.column, a.data, c, 1, accumulate, serial);
    return finish();
  }
  if (m == 1 && b.column == 1 && n >= 32) {
    vector_times_rows(n, k, a.data, a.column, b.data, b.row, c, accumulate, serial);
    return finish();
  }
  Product<T> p{m, n, k, a, b, c, c_row, 1, accumulate, nullptr, 0, epilogue};
  // B would have to be packed for few rows of A: the transposed product packs the smaller operand instead.
  if (b.column != 1 && !kept && m < 64 && n > m) {
    p = {n, m, k, {b.data, b.column, b.row}, {a.data, a.column, a.row}, c, 1, c_row, accumulate};
    multiply<T>(p, serial, nullptr);
    return finish();
  }
  multiply(p, serial, kept);
}

template void real_gemm(int64_t, int64_t, int64_t, Matrix<float>, Matrix<float>, float*, int64_t, bool, bool,
                        const Epilogue*, KeptFilter*);
template void real_gemm(int64_t, int64_t, int64_t, Matrix<double>, Matrix<double>, double*, int64_t, bool, bool,
                        const Epilogue*, KeptFilter*);
template void real_gemm(int64_t, int64_t, int64_t, Matrix<uint32_t>, Matrix<uint32_t>, uint32_t*, int64_t, bool, bool,
                        const Epilogue*, KeptFilter*);
template void real_gemm(int64_t, int64_t, int64_t, Matrix<uint64_t>, Matrix<uint64_t>, uint64_t*, int64_t, bool, bool,
                        const Epilogue*, KeptFilter*);

}  // namespace thalweg::kernels

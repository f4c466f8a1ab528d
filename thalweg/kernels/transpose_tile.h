// Transposes narrow strips of a matrix in registers.
#pragma once
#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace thalweg::kernels {

/// The elements of one cache line: the width of a strip.
template <class T>
inline constexpr int64_t transpose_tile_size =
    64 / static_cast<int64_t>(sizeof(T)) < 16 ? 64 / static_cast<int64_t>(sizeof(T)) : 16;

/// out[c][r] = in[r][c] for `rows` rows and `width` columns, at most a tile.
template <class T>
void transpose_strip(const T* in, int64_t in_stride, T* out, int64_t out_stride, int64_t rows, int64_t width) {
  constexpr int64_t tile = transpose_tile_size<T>;
  int64_t row = 0;
  if (width == tile)
    for (; row + tile <= rows; row += tile)
      for (int64_t c = 0; c < tile; ++c)
        for (int64_t r = 0; r < tile; ++r) out[c * out_stride + row + r] = in[(row + r) * in_stride + c];
  for (; row < rows; ++row)
    for (int64_t c = 0; c < width; ++c) out[c * out_stride + row] = in[row * in_stride + c];
}
void transpose_strip(const uint32_t* in, int64_t in_stride, uint32_t* out, int64_t out_stride, int64_t rows,
                     int64_t width);
void transpose_strip(const uint64_t* in, int64_t in_stride, uint64_t* out, int64_t out_stride, int64_t rows,
                     int64_t width);

/// out[c][r] = in[r][c] for any number of columns of four or eight bytes each.
template <class T>
void transpose_strips(const T* in, int64_t in_stride, T* out, int64_t out_stride, int64_t rows, int64_t columns) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  static_assert(sizeof(T) == sizeof(Bits));
  constexpr int64_t tile = transpose_tile_size<Bits>;
  for (int64_t c = 0; c < columns; c += tile)
    transpose_strip(reinterpret_cast<const Bits*>(in + c), in_stride, reinterpret_cast<Bits*>(out + c * out_stride),
                    out_stride, rows, std::min(tile, columns - c));
}

}  // namespace thalweg::kernels

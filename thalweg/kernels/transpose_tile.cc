#include "thalweg/kernels/transpose_tile.h"

#include <immintrin.h>

#include "thalweg/kernels/isa.h"

namespace thalweg::kernels {
namespace {

// Four columns of four rows.
inline void transpose_4x4(const float* in, int64_t in_stride, float* out, int64_t out_stride) {
  __m128 a = _mm_loadu_ps(in), b = _mm_loadu_ps(in + in_stride);
  __m128 c = _mm_loadu_ps(in + 2 * in_stride), d = _mm_loadu_ps(in + 3 * in_stride);
  _MM_TRANSPOSE4_PS(a, b, c, d);
  _mm_storeu_ps(out, a);
  _mm_storeu_ps(out + out_stride, b);
  _mm_storeu_ps(out + 2 * out_stride, c);
  _mm_storeu_ps(out + 3 * out_stride, d);
}

// Eight columns of eight rows: each register takes half of row r and half of row r + 4, which saves the lane swaps.
THALWEG_AVX2 [[gnu::always_inline]] inline void load_8x8(const float* in, int64_t in_stride, __m256 (&t)[8]) {
  auto pair = [&](int64_t row, int64_t column) __attribute__((always_inline, target("avx2,fma,bmi2"))) {
    __m256 low = _mm256_castps128_ps256(_mm_loadu_ps(in + row * in_stride + column));
    return _mm256_insertf128_ps(low, _mm_loadu_ps(in + (row + 4) * in_stride + column), 1);
  };
  for (int half = 0; half < 2; ++half) {
    __m256 a = pair(0, half * 4), b = pair(1, half * 4), c = pair(2, half * 4), d = pair(3, half * 4);
    __m256 ab = _mm256_unpacklo_ps(a, b), AB = _mm256_unpackhi_ps(a, b);
    __m256 cd = _mm256_unpacklo_ps(c, d), CD = _mm256_unpackhi_ps(c, d);
    t[half * 4 + 0] = _mm256_shuffle_ps(ab, cd, 0x44);
    t[half * 4 + 1] = _mm256_shuffle_ps(ab, cd, 0xee);
    t[half * 4 + 2] = _mm256_shuffle_ps(AB, CD, 0x44);
    t[half * 4 + 3] = _mm256_shuffle_ps(AB, CD, 0xee);
  }
}

// Sixteen rows at a time, so that each store fills a whole cache line of the output.
THALWEG_AVX2 void strip_of_16(const float* in, int64_t in_stride, float* out, int64_t out_stride, int64_t rows) {
  for (int64_t row = 0; row < rows; row += 16)
    for (int64_t column = 0; column < 16; column += 8) {
      const float* from = in + row * in_stride + column;
      __m256 upper[8], lower[8];
      load_8x8(from, in_stride, upper);
      load_8x8(from + 8 * in_stride, in_stride, lower);
      for (int c = 0; c < 8; ++c) {
        float* to = out + (column + c) * out_stride + row;
        _mm256_storeu_ps(to, upper[c]);
        _mm256_storeu_ps(to + 8, lower[c]);
      }
    }
}
void strip_of_16_plain(const float* in, int64_t in_stride, float* out, int64_t out_stride, int64_t rows) {
  for (int64_t row = 0; row < rows; row += 16)
    for (int64_t column = 0; column < 16; column += 4)
      for (int64_t r = row; r < row + 16; r += 4)
        transpose_4x4(in + r * in_stride + column, in_stride, out + column * out_stride + r, out_stride);
}

// Eight rows of eight columns of two-word elements, by pairs.
void strip_of_8(const double* in, int64_t in_stride, double* out, int64_t out_stride, int64_t rows) {
  for (int64_t row = 0; row < rows; row += 8)
    for (int64_t column = 0; column < 8; column += 2)
      for (int64_t r = row; r < row + 8; r += 2) {
        __m128d a = _mm_loadu_pd(in + r * in_stride + column), b = _mm_loadu_pd(in + (r + 1) * in_stride + column);
        _mm_storeu_pd(out + column * out_stride + r, _mm_unpacklo_pd(a, b));
        _mm_storeu_pd(out + (column + 1) * out_stride + r, _mm_unpackhi_pd(a, b));
      }
}

template <class T, class U, class Strip>
void run_strip(const T* in, int64_t in_stride, T* out, int64_t out_stride, int64_t rows, int64_t width, Strip strip) {
  int64_t whole = 0;
  if (width == transpose_tile_size<T>) {
    whole = rows / transpose_tile_size<T> * transpose_tile_size<T>;
    strip(reinterpret_cast<const U*>(in), in_stride, reinterpret_cast<U*>(out), out_stride, whole);
  }
  for (int64_t c = 0; c < width; ++c)
    for (int64_t r = whole; r < rows; ++r) out[c * out_stride + r] = in[r * in_stride + c];
}

}  // namespace

void transpose_strip(const uint32_t* in, int64_t in_stride, uint32_t* out, int64_t out_stride, int64_t rows,
                     int64_t width) {
  run_strip<uint32_t, float>(in, in_stride, out, out_stride, rows, width,
                             isa >= avx2 ? strip_of_16 : strip_of_16_plain);
}
void transpose_strip(const uint64_t* in, int64_t in_stride, uint64_t* out, int64_t out_stride, int64_t rows,
                     int64_t width) {
  run_strip<uint64_t, double>(in, in_stride, out, out_stride, rows, width, strip_of_8);
}

}  // namespace thalweg::kernels

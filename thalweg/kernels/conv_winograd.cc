#include "thalweg/kernels/conv_winograd.h"

#include <algorithm>
#include <cstring>

#include "thalweg/core/threads.h"
#include "thalweg/kernels/gemm_kernel.h"
#include "thalweg/kernels/isa.h"
#include "thalweg/kernels/layout.h"
#include "thalweg/kernels/scratch.h"

namespace thalweg::kernels {
namespace {

// A tile of output is 4x4, of input 6x6, and 36 products stand between them (Lavin and Gray, 2015):
// out = A^T [(G filter G^T) . (B^T in B)] A. All transforms work on eight or sixteen channels at a time.
constexpr int64_t points = 36;
using Eight [[gnu::vector_size(32)]] = float;
using Sixteen [[gnu::vector_size(64)]] = float;
template <class V> constexpr int64_t lanes = sizeof(V) / sizeof(float);

template <class V> [[gnu::always_inline]] inline void load(const float* from, V& to) {
  std::memcpy(&to, from, sizeof(to));
}
template <class V> [[gnu::always_inline]] inline void store(const V& from, float* to) {
  std::memcpy(to, &from, sizeof(from));
}

// B^T d for six values.
struct TransformIn {
  static constexpr int size = 6;
  template <class V> [[gnu::always_inline]] static void run(const V* d, V* out, int out_step) {
    const V d0 = d[0], d1 = d[1], d2 = d[2], d3 = d[3], d4 = d[4], d5 = d[5];
    const V a = d4 - 4 * d2, b = d3 - 4 * d1, c = d4 - d2, e = 2 * (d3 - d1);
    out[0] = 4 * d0 - 5 * d2 + d4;
    out[out_step] = a + b;
    out[2 * out_step] = a - b;
    out[3 * out_step] = c + e;
    out[4 * out_step] = c - e;
    out[5 * out_step] = 4 * d1 - 5 * d3 + d5;
  }
};

// A^T m: six values to four.
template <class V> [[gnu::always_inline]] inline void transform_out(const V* m, int step, V* out, int out_step) {
  const V a = m[step] + m[2 * step], b = m[step] - m[2 * step];
  const V c = m[3 * step] + m[4 * step], e = m[3 * step] - m[4 * step];
  out[0] = m[0] + a + c;
  out[out_step] = b + 2 * e;
  out[2 * out_step] = a + 4 * c;
  out[3 * out_step] = b + 8 * e + m[5 * step];
}

// A y: four values to six, the transpose of the above.
struct TransformOutGrad {
  static constexpr int size = 4;
  template <class V> [[gnu::always_inline]] static void run(const V* y, V* out, int out_step) {
    const V y0 = y[0], y1 = y[1], y2 = y[2], y3 = y[3];
    const V a = y0 + y2, b = y1 + y3, c = y0 + 4 * y2, e = 2 * y1 + 8 * y3;
    out[0] = y0;
    out[out_step] = a + b;
    out[2 * out_step] = a - b;
    out[3 * out_step] = c + e;
    out[4 * out_step] = c - e;
    out[5 * out_step] = y3;
  }
};

// G g: three values to six.
template <class V> [[gnu::always_inline]] inline void transform_filter(const V* g, int step, V* out, int out_step) {
  const V g0 = g[0], g1 = g[step], g2 = g[2 * step];
  const V a = (g0 + g2) * (-1.0f / 6), b = g1 * (1.0f / 6);
  const V c = g0 * (1.0f / 24) + g2 * (1.0f / 6), e = g1 * (1.0f / 12);
  out[0] = g0 * 0.25f;
  out[out_step] = a - b;
  out[2 * out_step] = a + b;
  out[3 * out_step] = c + e;
  out[4 * out_step] = c - e;
  out[5 * out_step] = g2;
}

// G^T u: six values to three.
template <class V>
[[gnu::always_inline]] inline void transform_filter_grad(const V* u, int step, V* out, int out_step) {
  const V a = u[step] + u[2 * step], b = u[2 * step] - u[step];
  const V c = u[3 * step] + u[4 * step], e = u[3 * step] - u[4 * step];
  out[0] = u[0] * 0.25f - a * (1.0f / 6) + c * (1.0f / 24);
  out[out_step] = b * (1.0f / 6) + e * (1.0f / 12);
  out[2 * out_step] = (c - a) * (1.0f / 6) + u[5 * step];
}

// Each transform goes over the columns, then over the rows. A column is read, transformed in registers and put by, a
// row likewise written: 36 vectors would not fit into registers.

/// Pixels, size x size of them, to 36 rows of `channels` floats that lie `stride` apart.
template <class Transform> struct FromPixels {
  template <class V>
  [[gnu::always_inline]] static void run(const float* const* pixels, int64_t channels, float* to, int64_t stride) {
    constexpr int size = Transform::size;
    for (int64_t c = 0; c < channels; c += lanes<V>) {
      V column[size], half[6 * size], row[6];
      for (int i = 0; i < size; ++i) {
#pragma GCC unroll 6
        for (int j = 0; j < size; ++j) load(pixels[size * j + i] + c, column[j]);
        Transform::run(column, half + i, size);
      }
      for (int i = 0; i < 6; ++i) {
        Transform::run(half + size * i, row, 1);
#pragma GCC unroll 6
        for (int j = 0; j < 6; ++j) store(row[j], to + (6 * i + j) * stride + c);
      }
    }
  }
};
using TileIn = FromPixels<TransformIn>;
using TileOutGrad = FromPixels<TransformOutGrad>;

/// The 36 sums of a tile to its 16 pixels; a null pixel lies outside.
struct TileOut {
  template <class V>
  [[gnu::always_inline]] static void run(const float* from, int64_t stride, int64_t channels, float* const* pixels) {
    for (int64_t c = 0; c < channels; c += lanes<V>) {
      V m[6], half[24], out[4];
      for (int i = 0; i < 6; ++i) {
#pragma GCC unroll 6
        for (int j = 0; j < 6; ++j) load(from + (6 * j + i) * stride + c, m[j]);
        transform_out(m, 1, half + i, 6);
      }
      for (int i = 0; i < 4; ++i) {
        transform_out(half + 6 * i, 1, out, 1);
#pragma GCC unroll 4
        for (int j = 0; j < 4; ++j)
          if (pixels[4 * i + j]) store(out[j], pixels[4 * i + j] + c);
      }
    }
  }
};

/// Filters [3, 3, count] to [36, count].
struct AllFilters {
  template <class V>
  [[gnu::always_inline]] static void run(const float* filter, int64_t count, int64_t begin, int64_t end, float* to) {
    for (int64_t c = begin; c < end; c += lanes<V>) {
      V g[9], half[18], out[36];
      for (int i = 0; i < 9; ++i) load(filter + i * count + c, g[i]);
      for (int i = 0; i < 3; ++i) transform_filter(g + i, 3, half + i, 3);
      for (int i = 0; i < 6; ++i) transform_filter(half + 3 * i, 1, out + 6 * i, 1);
      for (int i = 0; i < 36; ++i) store(out[i], to + i * count + c);
    }
  }
};

/// Sums of `slices` arrays [36, count] to filter gradients [3, 3, count].
struct AllFilterGrads {
  template <class V>
  [[gnu::always_inline]] static void run(const float* sums, int64_t slices, int64_t count, int64_t begin, int64_t end,
                                         float* to) {
    for (int64_t c = begin; c < end; c += lanes<V>) {
      V u[36], half[18], out[9];
      for (int i = 0; i < 36; ++i) {
        load(sums + i * count + c, u[i]);
        for (int64_t slice = 1; slice < slices; ++slice) {
          V more;
          load(sums + (slice * points + i) * count + c, more);
          u[i] += more;
        }
      }
      for (int i = 0; i < 6; ++i) transform_filter_grad(u + i, 6, half + i, 6);
      for (int i = 0; i < 3; ++i) transform_filter_grad(half + 6 * i, 1, out + 3 * i, 1);
      for (int i = 0; i < 9; ++i) store(out[i], to + i * count + c);
    }
  }
};

template <class Body, class... A> THALWEG_AVX2 void run_avx2(A... arguments) {
  Body::template run<Eight>(arguments...);
}
template <class Body, class... A> THALWEG_AVX512 void run_avx512(A... arguments) {
  Body::template run<Sixteen>(arguments...);
}
/// Runs a transform over so many channels, or filters, with the widest vectors that divide them.
template <class Body, class... A> void transform(int64_t channels, A... arguments) {
  if (isa == avx512 && channels % lanes<Sixteen> == 0) run_avx512<Body>(arguments...);
  else run_avx2<Body>(arguments...);
}

constexpr int64_t unit = lanes<Sixteen>;  // of filters: their number is a multiple of it, by `fits`

/// The tiles of a convolution, numbered over the batch.
struct Tiles {
  explicit Tiles(const ConvShape& s)
      : shape(s), across((s.out[2] + 3) / 4), per_image((s.out[1] + 3) / 4 * across), count(s.batch * per_image) {
    // A block's transformed pixels should stay in the second-level cache as far as they can.
    const int64_t rows = isa == avx512 ? 12 : 6;  // of a tile of matrix products
    block = std::clamp<int64_t>(160'000 / (points * (s.in_channels + s.out_channels)) / rows * rows, 24, 60);
  }
  void in_pixels(int64_t tile, const float* in, const float* zeros, const float** pixels) const {
    const int64_t image = tile / per_image, y0 = tile % per_image / across * 4 - shape.pads_before[1];
    const int64_t x0 = tile % across * 4 - shape.pads_before[2];
    const float* from = in + image * shape.in_pixels() * shape.in_channels;
    for (int64_t i = 0; i < 36; ++i) {
      const int64_t y = y0 + i / 6, x = x0 + i % 6;
      const bool inside = y >= 0 && y < shape.in[1] && x >= 0 && x < shape.in[2];
      pixels[i] = inside ? from + (y * shape.in[2] + x) * shape.in_channels : zeros;
    }
  }
  template <class T> void out_pixels(int64_t tile, T* out, T* outside, T** pixels) const {
    const int64_t image = tile / per_image, y0 = tile % per_image / across * 4, x0 = tile % across * 4;
    T* to = out + image * shape.out_pixels() * shape.out_channels;
    for (int64_t i = 0; i < 16; ++i) {
      const int64_t y = y0 + i / 4, x = x0 + i % 4;
      const bool inside = y < shape.out[1] && x < shape.out[2];
      pixels[i] = inside ? to + (y * shape.out[2] + x) * shape.out_channels : outside;
    }
  }
  const ConvShape& shape;
  int64_t across, per_image, count, block;
};

bool fits(const ConvShape& s) {
  if (isa < avx2 || s.groups != 1 || s.in[0] != 1 || s.filter[0] != 1 || s.out[0] != 1) return false;
  for (int axis = 1; axis < 3; ++axis)
    if (s.filter[axis] != 3 || s.strides[axis] != 1 || s.dilations[axis] != 1) return false;
  return s.in_channels % lanes<Eight> == 0 && s.out_channels % lanes<Eight> == 0 && s.in_channels >= 32 &&
         s.out_channels >= 32;
}

float* zeros(int64_t channels) {
  float* row = scratch<float>(Scratch::row, channels);
  std::fill_n(row, channels, 0.0f);
  return row;
}

void run_forward(const ConvShape& s, const float* in, const float* filter, float* out, const Epilogue* epilogue,
                 KeptFilter* kept) {
  const int64_t filters = s.in_channels * s.out_channels;
  const float* u = nullptr;
  if (kept) {
    u = kept->get<float>(KeptOrder::winograd, points * filters,
                         [&](float* to) { transform<AllFilters>(filters, filter, filters, int64_t{0}, filters, to); });
  } else {
    float* to = scratch<float>(Scratch::winograd_filter, points * filters);
    parallel_for(filters / unit, 16 * 5.0, [&](int64_t begin, int64_t end) {
      transform<AllFilters>(filters, filter, filters, begin * unit, end * unit, to);
    });
    u = to;
  }
  const Tiles tiles(s);
  // Tiles from `first` on that go through the 36 products together, and their transforms.
  struct Block {
    int64_t first, rows;
    float *v, *m;
  };
  auto block = [&](int64_t begin, int64_t end) {
    const int64_t rows = end - begin;
    return Block{begin, rows, scratch<float>(Scratch::winograd_in, points * rows * s.in_channels),
                 scratch<float>(Scratch::winograd_out, points * rows * s.out_channels)};
  };
  auto read = [&](const Block& b, int64_t begin, int64_t end) {
    const float* none = zeros(s.in_channels);
    for (int64_t row = begin; row < end; ++row) {
      const float* pixels[36];
      tiles.in_pixels(b.first + row, in, none, pixels);
      transform<TileIn>(s.in_channels, pixels, s.in_channels, b.v + row * s.in_channels, b.rows * s.in_channels);
    }
  };
  auto multiply = [&](const Block& b, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      real_gemm<float>(b.rows, s.out_channels, s.in_channels, {b.v + i * b.rows * s.in_channels, s.in_channels, 1},
                       {u + i * filters, s.out_channels, 1}, b.m + i * b.rows * s.out_channels, s.out_channels, false,
                       true);
  };
  auto write = [&](const Block& b, int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      float* pixels[16];
      tiles.out_pixels<float>(b.first + row, out, nullptr, pixels);
      transform<TileOut>(s.out_channels, b.m + row * s.out_channels, b.rows * s.out_channels, s.out_channels, pixels);
      for (int line = 0; epilogue && line < 4; ++line) {
        float** at = pixels + 4 * line;
        if (at[0]) epilogue->finish(at[0], std::count_if(at, at + 4, [](const float* p) { return p != nullptr; }));
      }
    }
  };
  if (tiles.count <= tiles.block) {  // one block: threads share its tiles and its products
    const Block b = block(0, tiles.count);
    parallel_chunks(b.rows, 2, [&](int64_t begin, int64_t end) { read(b, begin, end); });
    parallel_chunks(points, 2, [&](int64_t begin, int64_t end) { multiply(b, begin, end); });
    parallel_chunks(b.rows, 2, [&](int64_t begin, int64_t end) { write(b, begin, end); });
    return;
  }
  parallel_chunks(tiles.count, tiles.block, [&](int64_t begin, int64_t end) {
    const Block b = block(begin, end);
    read(b, 0, b.rows);
    multiply(b, 0, points);
    write(b, 0, b.rows);
  });
}

// The filter transform is done anew for every call: it must be small beside the products it saves.
bool pays(const ConvShape& s, int64_t least_tiles = 40) { return Tiles(s).count >= least_tiles; }
}  // namespace

bool winograd_forward(const ConvShape& s, const float* in, const float* filter, float* out, const Epilogue* epilogue,
                      KeptFilter* kept) {
  if (!fits(s) || !pays(s, 16)) return false;
  run_forward(s, in, filter, out, epilogue, kept);
  return true;
}

bool winograd_backward_input(const ConvShape& s, const float* filter, const float* out_grad, float* in_grad) {
  // The gradient is a convolution of out_grad with the filter turned by half a turn, its channels exchanged.
  ConvShape t = s;
  std::swap(t.in_channels, t.out_channels);
  for (int axis = 1; axis < 3; ++axis) {
    std::swap(t.in[axis], t.out[axis]);
    t.pads_before[axis] = 2 - s.pads_before[axis];
  }
  if (!fits(t) || !pays(t)) return false;
  const int64_t in_channels = s.in_channels, out_channels = s.out_channels;
  float* turned = scratch<float>(Scratch::filter, 9 * in_channels * out_channels);
  parallel_for(9, 0.7 * static_cast<double>(in_channels * out_channels), [&](int64_t begin, int64_t end) {
    for (int64_t tap = begin; tap < end; ++tap)
      transpose_matrix(filter + (8 - tap) * in_channels * out_channels, in_channels, out_channels,
                       turned + tap * in_channels * out_channels);
  });
  run_forward(t, out_grad, turned, in_grad, nullptr, nullptr);
  return true;
}

bool winograd_backward_filter(const ConvShape& s, const float* in, const float* out_grad, float* filter_grad) {
  // Past this size the 36 sums no longer stay in the cache from block to block.
  if (!fits(s) || !pays(s) || s.in_channels * s.out_channels > 20'000) return false;
  const Tiles tiles(s);
  const int64_t filters = s.in_channels * s.out_channels;
  // Each slice of the tiles sums into its own 36 matrices; the slices are added in order.
  const int64_t most = 8;
  const int64_t slice_tiles =
      std::max(tiles.block, ((tiles.count + most - 1) / most + tiles.block - 1) / tiles.block * tiles.block);
  const int64_t slices = (tiles.count + slice_tiles - 1) / slice_tiles;
  float* sums = scratch<float>(Scratch::partial, slices * points * filters);
  parallel_chunks(slices, 1, [&](int64_t first, int64_t last) {
    for (int64_t slice = first; slice < last; ++slice) {
      float* u = sums + slice * points * filters;
      const int64_t stop = std::min(tiles.count, (slice + 1) * slice_tiles);
      for (int64_t begin = slice * slice_tiles; begin < stop; begin += tiles.block) {
        const int64_t end = std::min(stop, begin + tiles.block), rows = end - begin;
        float* v = scratch<float>(Scratch::winograd_in, points * rows * s.in_channels);
        float* m = scratch<float>(Scratch::winograd_out, points * rows * s.out_channels);
        const float* none = zeros(std::max(s.in_channels, s.out_channels));
        for (int64_t tile = begin; tile < end; ++tile) {
          const float *pixels[36], *grads[16];
          tiles.in_pixels(tile, in, none, pixels);
          transform<TileIn>(s.in_channels, pixels, s.in_channels, v + (tile - begin) * s.in_channels,
                            rows * s.in_channels);
          tiles.out_pixels<const float>(tile, out_grad, none, grads);
          transform<TileOutGrad>(s.out_channels, grads, s.out_channels, m + (tile - begin) * s.out_channels,
                                 rows * s.out_channels);
        }
        for (int64_t i = 0; i < points; ++i)
          real_gemm<float>(s.in_channels, s.out_channels, rows, {v + i * rows * s.in_channels, 1, s.in_channels},
                           {m + i * rows * s.out_channels, s.out_channels, 1}, u + i * filters, s.out_channels,
                           begin > slice * slice_tiles, true);
      }
    }
  });
  parallel_for(filters / unit, 16 * 10.0, [&](int64_t begin, int64_t end) {
    transform<AllFilterGrads>(filters, sums, slices, filters, begin * unit, end * unit, filter_grad);
  });
  return true;
}

}  // namespace thalweg::kernels

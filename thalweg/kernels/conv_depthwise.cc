#include "thalweg/kernels/conv_depthwise.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "thalweg/core/threads.h"
#include "thalweg/kernels/isa.h"
#include "thalweg/kernels/scratch.h"

namespace thalweg::kernels {
namespace {

/// Two rows of channels whose products are summed.
template <class T> struct Pair {
  const T *a, *b;
};

// out[c] = sum over pairs of a[c] b[c]; the sums stay in registers.
template <class T, int bytes>
[[gnu::always_inline]] inline void sum_products_body(const Pair<T>* pairs, int64_t count, int64_t channels, T* out) {
  using Vector [[gnu::vector_size(bytes)]] = T;
  constexpr int64_t lanes = bytes / sizeof(T), block = 4 * lanes;
  int64_t c = 0;
  for (; c + block <= channels; c += block) {
    Vector sum[4] = {};
    for (int64_t i = 0; i < count; ++i)
      for (int v = 0; v < 4; ++v) {
        Vector a, b;
        std::memcpy(&a, pairs[i].a + c + v * lanes, sizeof(a));
        std::memcpy(&b, pairs[i].b + c + v * lanes, sizeof(b));
        sum[v] += a * b;
      }
    std::memcpy(out + c, sum, sizeof(sum));
  }
  for (; c + lanes <= channels; c += lanes) {
    Vector sum = {};
    for (int64_t i = 0; i < count; ++i) {
      Vector a, b;
      std::memcpy(&a, pairs[i].a + c, sizeof(a));
      std::memcpy(&b, pairs[i].b + c, sizeof(b));
      sum += a * b;
    }
    std::memcpy(out + c, &sum, sizeof(sum));
  }
  for (; c < channels; ++c) {
    T sum{};
    for (int64_t i = 0; i < count; ++i) sum += pairs[i].a[c] * pairs[i].b[c];
    out[c] = sum;
  }
}
template <class T>
[[gnu::always_inline]] inline void add_products_body(const T* a, const T* b, int64_t channels, T* sum) {
#pragma GCC ivdep
  for (int64_t c = 0; c < channels; ++c) sum[c] += a[c] * b[c];
}

template <class T> void sum_products_baseline(const Pair<T>* pairs, int64_t count, int64_t channels, T* out) {
  sum_products_body<T, 16>(pairs, count, channels, out);
}
template <class T> THALWEG_AVX2 void sum_products_avx2(const Pair<T>* pairs, int64_t count, int64_t channels, T* out) {
  sum_products_body<T, 32>(pairs, count, channels, out);
}
template <class T> void add_products_baseline(const T* a, const T* b, int64_t channels, T* sum) {
  add_products_body(a, b, channels, sum);
}
template <class T> THALWEG_AVX2 void add_products_avx2(const T* a, const T* b, int64_t channels, T* sum) {
  add_products_body(a, b, channels, sum);
}
template <class T> struct Loops {
  void (*sum_products)(const Pair<T>*, int64_t, int64_t, T*);
  void (*add_products)(const T*, const T*, int64_t, T*);
};
template <class T> Loops<T> loops() {
  if (isa >= avx2) return {sum_products_avx2<T>, add_products_avx2<T>};
  return {sum_products_baseline<T>, add_products_baseline<T>};
}

/// The input position under a tap, or -1 outside.
int64_t under(const ConvShape& s, int axis, int64_t out, int64_t tap) {
  const int64_t at = out * s.strides[axis] - s.pads_before[axis] + tap * s.dilations[axis];
  return at >= 0 && at < s.in[axis] ? at : -1;
}
/// The output position whose window has this input under a tap, or -1.
int64_t over(const ConvShape& s, int axis, int64_t in, int64_t tap) {
  const int64_t at = in + s.pads_before[axis] - tap * s.dilations[axis];
  if (at < 0 || at % s.strides[axis] != 0) return -1;
  return at / s.strides[axis] < s.out[axis] ? at / s.strides[axis] : -1;
}

/// Calls use(tap, pixel of the other array) for the taps that meet it. `find` is `under` or `over`.
template <class Use>
void for_taps(const ConvShape& s, int64_t (*find)(const ConvShape&, int, int64_t, int64_t), const int64_t* other,
              const int64_t (&at)[3], Use use) {
  for (int64_t d = 0; d < s.filter[0]; ++d) {
    const int64_t z = find(s, 0, at[0], d);
    for (int64_t h = 0; h < s.filter[1] && z >= 0; ++h) {
      const int64_t y = find(s, 1, at[1], h);
      for (int64_t w = 0; w < s.filter[2] && y >= 0; ++w) {
        const int64_t x = find(s, 2, at[2], w);
        if (x >= 0) use((d * s.filter[1] + h) * s.filter[2] + w, (z * other[1] + y) * other[2] + x);
      }
    }
  }
}

/// Calls body(image, position, index of the pixel in the array) for every pixel of [batch, sizes...].
template <class Body> void for_pixels(const ConvShape& s, const int64_t* sizes, Body body) {
  const int64_t rows = sizes[0] * sizes[1];
  const double cost = 0.3 * static_cast<double>(sizes[2] * s.taps() * s.out_channels);
  parallel_for(s.batch * rows, cost, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row)
      for (int64_t x = 0; x < sizes[2]; ++x) {
        const int64_t at[3] = {row % rows / sizes[1], row % sizes[1], x};
        body(row / rows, at, row * sizes[2] + x);
      }
  });
}
}  // namespace

template <class T>
void depthwise_forward(const ConvShape& s, const T* in, const T* filter, T* out, const Epilogue* epilogue) {
  const int64_t multiplier = s.group_out(), channels = s.in_channels;
  const auto sum_products = loops<T>().sum_products;
  for_pixels(s, s.out, [&](int64_t image, const int64_t(&at)[3], int64_t pixel) {
    Pair<T>* pairs = scratch<Pair<T>>(Scratch::columns, s.taps());
    int64_t count = 0;
    const T* from = in + image * s.in_pixels() * channels;
    for_taps(s, under, s.in, at, [&](int64_t tap, int64_t other) {
      pairs[count++] = {from + other * channels, filter + tap * s.out_channels};
    });
    T* to = out + pixel * s.out_channels;
    if (multiplier == 1) {
      sum_products(pairs, count, channels, to);
    } else {
      std::fill_n(to, s.out_channels, T{});
      for (int64_t i = 0; i < count; ++i)
        for (int64_t c = 0; c < channels; ++c)
          for (int64_t m = 0; m < multiplier; ++m)
            to[c * multiplier + m] += pairs[i].a[c] * pairs[i].b[c * multiplier + m];
    }
    if (epilogue) epilogue->finish(to, 1);
  });
}

template <class T> void depthwise_backward_input(const ConvShape& s, const T* filter, const T* out_grad, T* in_grad) {
  const int64_t multiplier = s.group_out(), channels = s.in_channels;
  const auto sum_products = loops<T>().sum_products;
  for_pixels(s, s.in, [&](int64_t image, const int64_t(&at)[3], int64_t pixel) {
    Pair<T>* pairs = scratch<Pair<T>>(Scratch::columns, s.taps());
    int64_t count = 0;
    const T* from = out_grad + image * s.out_pixels() * s.out_channels;
    for_taps(s, over, s.out, at, [&](int64_t tap, int64_t other) {
      pairs[count++] = {from + other * s.out_channels, filter + tap * s.out_channels};
    });
    T* to = in_grad + pixel * channels;
    if (multiplier == 1) return sum_products(pairs, count, channels, to);
    for (int64_t c = 0; c < channels; ++c) {
      T sum{};
      for (int64_t i = 0; i < count; ++i)
        for (int64_t j = c * multiplier; j < (c + 1) * multiplier; ++j) sum += pairs[i].a[j] * pairs[i].b[j];
      to[c] = sum;
    }
  });
}

template <class T> void depthwise_backward_filter(const ConvShape& s, const T* in, const T* out_grad, T* filter_grad) {
  const int64_t multiplier = s.group_out(), channels = s.in_channels, size = s.filter_size();
  const auto add_products = loops<T>().add_products;
  // A slice is a band of output rows of some images; each has its own sums, added in order afterwards.
  const int64_t rows = s.batch * s.out[0] * s.out[1], slices = std::clamp<int64_t>(rows / 8, 1, 16);
  const int64_t band = (rows + slices - 1) / slices;
  std::vector<T> partial(static_cast<size_t>(slices * size));
  parallel_chunks(slices, 1, [&](int64_t begin, int64_t end) {
    for (int64_t slice = begin; slice < end; ++slice) {
      T* sums = partial.data() + slice * size;
      for (int64_t row = slice * band; row < std::min(rows, (slice + 1) * band); ++row)
        for (int64_t x = 0; x < s.out[2]; ++x) {
          const int64_t image = row / (s.out[0] * s.out[1]);
          const int64_t at[3] = {row / s.out[1] % s.out[0], row % s.out[1], x};
          const T* g = out_grad + (row * s.out[2] + x) * s.out_channels;
          for_taps(s, under, s.in, at, [&](int64_t tap, int64_t other) {
            const T* from = in + (image * s.in_pixels() + other) * channels;
            T* to = sums + tap * s.out_channels;
            if (multiplier == 1) return add_products(from, g, channels, to);
            for (int64_t c = 0; c < channels; ++c)
              for (int64_t j = c * multiplier; j < (c + 1) * multiplier; ++j) to[j] += from[c] * g[j];
          });
        }
    }
  });
  for (int64_t i = 0; i < size; ++i) {
    T sum = partial[static_cast<size_t>(i)];
    for (int64_t slice = 1; slice < slices; ++slice) sum += partial[static_cast<size_t>(slice * size + i)];
    filter_grad[i] = sum;
  }
}

template void depthwise_forward(const ConvShape&, const float*, const float*, float*, const Epilogue*);
template void depthwise_forward(const ConvShape&, const double*, const double*, double*, const Epilogue*);
template void depthwise_forward(const ConvShape&, const uint32_t*, const uint32_t*, uint32_t*, const Epilogue*);
template void depthwise_backward_input(const ConvShape&, const float*, const float*, float*);
template void depthwise_backward_input(const ConvShape&, const double*, const double*, double*);
template void depthwise_backward_input(const ConvShape&, const uint32_t*, const uint32_t*, uint32_t*);
template void depthwise_backward_filter(const ConvShape&, const float*, const float*, float*);
template void depthwise_backward_filter(const ConvShape&, const double*, const double*, double*);
template void depthwise_backward_filter(const ConvShape&, const uint32_t*, const uint32_t*, uint32_t*);

}  // namespace thalweg::kernels

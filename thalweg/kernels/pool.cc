#include "thalweg/kernels/pool.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <memory>
#include <utility>

#include "thalweg/core/convert.h"
#include "thalweg/core/threads.h"
#include "thalweg/kernels/isa.h"
#include "thalweg/kernels/scratch.h"

namespace thalweg::kernels {
namespace {

/// The part of a window that lies inside the input.
struct Window {
  int64_t begin[3], end[3];
  int64_t count() const { return (end[0] - begin[0]) * (end[1] - begin[1]) * (end[2] - begin[2]); }
};

Window window_at(const PoolShape& s, int64_t z, int64_t y, int64_t x) {
  const int64_t at[3] = {z, y, x};
  Window w;
  for (int axis = 0; axis < 3; ++axis) {
    const int64_t start = at[axis] * s.strides[axis] - s.pads_before[axis];
    w.begin[axis] = std::max<int64_t>(0, start);
    w.end[axis] = std::max(w.begin[axis], std::min(s.in[axis], start + s.window[axis]));
  }
  return w;
}

template <class Use> void for_pixels(const PoolShape& s, const Window& w, Use use) {
  for (int64_t z = w.begin[0]; z < w.end[0]; ++z)
    for (int64_t y = w.begin[1]; y < w.end[1]; ++y)
      for (int64_t x = w.begin[2]; x < w.end[2]; ++x) use((z * s.in[1] + y) * s.in[2] + x);
}

// The loops over channels, copied for AVX2.
template <class T> struct Loops {
  void (*maximum)(const T* in, T* best, int64_t count);
  void (*first_maximum)(const T* in, int32_t place, T* best, int32_t* where, int64_t count);
  void (*add)(const T* in, T* sum, int64_t count);
  void (*add_scaled)(const T* in, T factor, T* sum, int64_t count);
  void (*add_where)(const T* grad, const int32_t* where, int32_t place, T* sum, int64_t count);
  void (*divide)(T* sum, T divisor, int64_t count);
};

template <class T> [[gnu::always_inline]] inline void maximum_body(const T* in, T* best, int64_t count) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) best[i] = in[i] > best[i] ? in[i] : best[i];
}
template <class T>
[[gnu::always_inline]] inline void first_maximum_body(const T* in, int32_t place, T* best, int32_t* where,
                                                      int64_t count) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) {
    const bool larger = in[i] > best[i];
    where[i] = larger ? place : where[i];
    best[i] = larger ? in[i] : best[i];
  }
}
template <class T> [[gnu::always_inline]] inline void add_body(const T* in, T* sum, int64_t count) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) sum[i] = static_cast<T>(sum[i] + in[i]);
}
template <class T> [[gnu::always_inline]] inline void add_scaled_body(const T* in, T factor, T* sum, int64_t count) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) sum[i] = static_cast<T>(sum[i] + in[i] * factor);
}
template <class T>
[[gnu::always_inline]] inline void add_where_body(const T* grad, const int32_t* where, int32_t place, T* sum,
                                                  int64_t count) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) sum[i] = static_cast<T>(sum[i] + (where[i] == place ? grad[i] : T{}));
}
template <class T> [[gnu::always_inline]] inline void divide_body(T* sum, T divisor, int64_t count) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) sum[i] = static_cast<T>(sum[i] / divisor);
}

template <class T> struct Baseline {
  static void maximum(const T* in, T* best, int64_t n) { maximum_body(in, best, n); }
  static void first_maximum(const T* in, int32_t place, T* best, int32_t* where, int64_t n) {
    first_maximum_body(in, place, best, where, n);
  }
  static void add(const T* in, T* sum, int64_t n) { add_body(in, sum, n); }
  static void add_scaled(const T* in, T factor, T* sum, int64_t n) { add_scaled_body(in, factor, sum, n); }
  static void add_where(const T* grad, const int32_t* where, int32_t place, T* sum, int64_t n) {
    add_where_body(grad, where, place, sum, n);
  }
  static void divide(T* sum, T divisor, int64_t n) { divide_body(sum, divisor, n); }
};
template <class T> struct Wide {
  THALWEG_AVX2 static void maximum(const T* in, T* best, int64_t n) { maximum_body(in, best, n); }
  THALWEG_AVX2 static void first_maximum(const T* in, int32_t place, T* best, int32_t* where, int64_t n) {
    first_maximum_body(in, place, best, where, n);
  }
  THALWEG_AVX2 static void add(const T* in, T* sum, int64_t n) { add_body(in, sum, n); }
  THALWEG_AVX2 static void add_scaled(const T* in, T factor, T* sum, int64_t n) { add_scaled_body(in, factor, sum, n); }
  THALWEG_AVX2 static void add_where(const T* grad, const int32_t* where, int32_t place, T* sum, int64_t n) {
    add_where_body(grad, where, place, sum, n);
  }
  THALWEG_AVX2 static void divide(T* sum, T divisor, int64_t n) { divide_body(sum, divisor, n); }
};
template <class T> const Loops<T>& loops() {
  using B = Baseline<T>;
  using W = Wide<T>;
  static constexpr Loops<T> plain = {B::maximum, B::first_maximum, B::add, B::add_scaled, B::add_where, B::divide};
  static constexpr Loops<T> wide = {W::maximum, W::first_maximum, W::add, W::add_scaled, W::add_where, W::divide};
  return isa >= avx2 ? wide : plain;
}

/// Calls `row(image, z, y)` for every row of output; rows may run at the same time.
template <class Row> void for_rows(const PoolShape& s, Row row) {
  const int64_t rows = s.out[0] * s.out[1];
  const double cost =
      0.3 * static_cast<double>(s.out[2] * s.channels) * static_cast<double>(s.window[0] * s.window[1] * s.window[2]);
  parallel_for(s.batch * rows, cost, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) row(i / rows, i % rows / s.out[1], i % s.out[1]);
  });
}

// The same for loops that add into the input: rows whose windows overlap must follow each other.
template <class Row> void for_scattering_rows(const PoolShape& s, Row row) {
  if (s.strides[0] >= s.window[0] && s.strides[1] >= s.window[1]) return for_rows(s, row);
  parallel_chunks(s.batch, 1, [&](int64_t begin, int64_t end) {
    for (int64_t image = begin; image < end; ++image)
      for (int64_t z = 0; z < s.out[0]; ++z)
        for (int64_t y = 0; y < s.out[1]; ++y) row(image, z, y);
  });
}

template <class T> void clear(T* data, int64_t count) {
  parallel_for(count, 0.1, [&](int64_t begin, int64_t end) { std::fill(data + begin, data + end, T{}); });
}

// Where the search for the largest element of a dtype starts; T is float for half precision.
template <class T> T lowest_of(DType dtype, bool finite) {
  if constexpr (std::is_floating_point_v<T>) {
    if (!finite) return -std::numeric_limits<T>::infinity();
    if (dtype == DType::float16) return T{-65504};
    if (dtype == DType::bfloat16) return static_cast<T>(-0x1.FEp127);
  }
  return std::numeric_limits<T>::lowest();
}

// NaN never wins, and from a finite start minus infinity does not either.
template <class T> void max_forward(const PoolShape& s, T lowest, const T* in, T* out) {
  const auto& loop = loops<T>();
  for_rows(s, [&](int64_t image, int64_t z, int64_t y) {
    const T* from = in + image * s.in_pixels() * s.channels;
    T* to = out + ((image * s.out[0] + z) * s.out[1] + y) * s.out[2] * s.channels;
    for (int64_t x = 0; x < s.out[2]; ++x, to += s.channels) {
      const Window w = window_at(s, z, y, x);
      std::fill_n(to, s.channels, lowest);
      for_pixels(s, w, [&](int64_t pixel) { loop.maximum(from + pixel * s.channels, to, s.channels); });
    }
  });
}

// Finds which pixel of the window won for each channel and gives it to use(pixels, number of pixels, winners, best).
template <class T, class Use> void winners(const PoolShape& s, const T* from, const Window& w, Use use) {
  const auto& loop = loops<T>();
  T* best = scratch<T>(Scratch::pool_best, s.channels);
  int32_t* where = scratch<int32_t>(Scratch::pool_where, s.channels);
  int64_t* pixels = scratch<int64_t>(Scratch::pool_pixels, w.count() + 1);
  int32_t count = 0;
  for_pixels(s, w, [&](int64_t pixel) {
    const T* values = from + pixel * s.channels;
    if (count == 0) {
      std::copy_n(values, s.channels, best);
      std::fill_n(where, s.channels, 0);
    } else {
      loop.first_maximum(values, count, best, where, s.channels);
    }
    pixels[count++] = pixel;
  });
  if (count > 0) use(pixels, count, where, best);
}

template <class T> void max_backward(const PoolShape& s, Ties ties, const T* in, const T* grad, T* in_grad) {
  const auto& loop = loops<T>();
  const int64_t image_size = s.in_pixels() * s.channels;
  clear(in_grad, s.batch * image_size);
  for_scattering_rows(s, [&](int64_t image, int64_t z, int64_t y) {
    const T* g = grad + ((image * s.out[0] + z) * s.out[1] + y) * s.out[2] * s.channels;
    T* to = in_grad + image * image_size;
    for (int64_t x = 0; x < s.out[2]; ++x, g += s.channels)
      winners(s, in + image * image_size, window_at(s, z, y, x),
              [&](const int64_t* pixels, int32_t count, const int32_t* where, const T* best) {
                if (ties == Ties::all)  // in TensorFlow minus infinity never wins
                  for (int32_t i = 0; i < count; ++i) {
                    const int64_t at = pixels[i] * s.channels;
                    for (int64_t c = 0; c < s.channels; ++c)
                      if (in[image * image_size + at + c] == best[c] && best[c] >= std::numeric_limits<T>::lowest())
                        to[at + c] = static_cast<T>(to[at + c] + g[c]);
                  }
                else if (count <= 16 && s.channels >= 4)
                  for (int32_t i = 0; i < count; ++i)
                    loop.add_where(g, where, i, to + pixels[i] * s.channels, s.channels);
                else
                  for (int64_t c = 0; c < s.channels; ++c) {
                    T& sum = to[pixels[where[c]] * s.channels + c];
                    sum = static_cast<T>(sum + g[c]);
                  }
              });
  });
}

template <class T> void max_second(const PoolShape& s, const T* in, const T* grad, T* out) {
  const int64_t image_size = s.in_pixels() * s.channels;
  for_rows(s, [&](int64_t image, int64_t z, int64_t y) {
    T* to = out + ((image * s.out[0] + z) * s.out[1] + y) * s.out[2] * s.channels;
    for (int64_t x = 0; x < s.out[2]; ++x, to += s.channels)
      winners(s, in + image * image_size, window_at(s, z, y, x),
              [&](const int64_t* pixels, int32_t, const int32_t* where, const T*) {
                for (int64_t c = 0; c < s.channels; ++c)
                  to[c] = grad[image * image_size + pixels[where[c]] * s.channels + c];
              });
  });
}

template <class T, class Index>
void max_argmax(const PoolShape& s, bool include_batch, const T* in, T* out, Index* argmax) {
  const int64_t image_size = s.in_pixels() * s.channels;
  for_rows(s, [&](int64_t image, int64_t z, int64_t y) {
    const int64_t row = ((image * s.out[0] + z) * s.out[1] + y) * s.out[2] * s.channels;
    for (int64_t x = 0; x < s.out[2]; ++x)
      winners(s, in + image * image_size, window_at(s, z, y, x),
              [&](const int64_t* pixels, int32_t, const int32_t* where, const T* best) {
                const int64_t at = row + x * s.channels, base = include_batch ? image * image_size : 0;
                std::copy_n(best, s.channels, out + at);
                for (int64_t c = 0; c < s.channels; ++c)
                  argmax[at + c] = static_cast<Index>(base + pixels[where[c]] * s.channels + c);
              });
  });
}

template <class T, class Index>
void route(const PoolShape& s, bool include_batch, const T* grad, const Index* argmax, T* in_grad) {
  const int64_t image_size = s.in_pixels() * s.channels, out_size = s.out_pixels() * s.channels;
  clear(in_grad, s.batch * image_size);
  // With the batch in the index an image may route into another, so all of them follow each other.
  parallel_chunks(s.batch, include_batch ? std::max<int64_t>(1, s.batch) : 1, [&](int64_t begin, int64_t end) {
    for (int64_t image = begin; image < end; ++image)
      for (int64_t i = image * out_size; i < (image + 1) * out_size; ++i) {
        const int64_t at = static_cast<int64_t>(argmax[i]);
        if (at < 0 || at >= (include_batch ? s.batch * image_size : image_size)) continue;
        T& sum = in_grad[(include_batch ? 0 : image * image_size) + at];
        sum = static_cast<T>(sum + grad[i]);
      }
  });
}

template <class T> void average_forward(const PoolShape& s, const T* in, T* out) {
  const auto& loop = loops<T>();
  for_rows(s, [&](int64_t image, int64_t z, int64_t y) {
    const T* from = in + image * s.in_pixels() * s.channels;
    T* to = out + ((image * s.out[0] + z) * s.out[1] + y) * s.out[2] * s.channels;
    for (int64_t x = 0; x < s.out[2]; ++x, to += s.channels) {
      const Window w = window_at(s, z, y, x);
      std::fill_n(to, s.channels, T{});
      for_pixels(s, w, [&](int64_t pixel) { loop.add(from + pixel * s.channels, to, s.channels); });
      if (w.count() > 0) loop.divide(to, static_cast<T>(w.count()), s.channels);
    }
  });
}

template <class T> void average_backward(const PoolShape& s, const T* grad, T* in_grad) {
  const auto& loop = loops<T>();
  clear(in_grad, s.batch * s.in_pixels() * s.channels);
  for_scattering_rows(s, [&](int64_t image, int64_t z, int64_t y) {
    const T* g = grad + ((image * s.out[0] + z) * s.out[1] + y) * s.out[2] * s.channels;
    T* to = in_grad + image * s.in_pixels() * s.channels;
    for (int64_t x = 0; x < s.out[2]; ++x, g += s.channels) {
      const Window w = window_at(s, z, y, x);
      const T factor = T{1} / static_cast<T>(std::max<int64_t>(1, w.count()));
      for_pixels(s, w, [&](int64_t pixel) { loop.add_scaled(g, factor, to + pixel * s.channels, s.channels); });
    }
  });
}

// Channels first is channels last with every plane an image of one channel.
PoolShape planes(const PoolShape& s) {
  PoolShape p = s;
  if (s.channels_first) {
    p.batch *= p.channels;
    p.channels = 1;
    p.channels_first = false;
  }
  return p;
}

bool is_empty(const PoolShape& s) {
  return s.batch <= 0 || s.channels <= 0 || s.out_pixels() <= 0 || s.in_pixels() <= 0;
}

// Calls compute(T*...) with the arrays as the type that computes; halves are widened, the last array is the result.
template <class Compute>
void dispatch(DType dtype, Compute compute, std::initializer_list<std::pair<const void*, int64_t>> arrays) {
  const auto* given = arrays.begin();
  const size_t count = arrays.size();
  auto call = [&]<class T>(T) {
    T* p[4] = {};
    for (size_t i = 0; i < count; ++i) p[i] = static_cast<T*>(const_cast<void*>(given[i].first));
    compute(p);
  };
  auto call_half = [&]<class T>(T) {
    std::unique_ptr<float[]> wide[4];
    float* p[4] = {};
    for (size_t i = 0; i < count; ++i) {
      wide[i] = std::make_unique_for_overwrite<float[]>(static_cast<size_t>(given[i].second));
      p[i] = wide[i].get();
      if (i + 1 < count) convert_elements(dtype_of<T>, given[i].first, DType::float32, p[i], given[i].second);
    }
    compute(p);
    convert_elements(DType::float32, p[count - 1], dtype_of<T>, const_cast<void*>(given[count - 1].first),
                     given[count - 1].second);
  };
  switch (dtype) {
    case DType::float32:
      return call(float{});
    case DType::float64:
      return call(double{});
    case DType::float16:
      return call_half(Half{});
    case DType::bfloat16:
      return call_half(BFloat16{});
    case DType::int8:
      return call(int8_t{});
    case DType::int16:
      return call(int16_t{});
    case DType::int32:
      return call(int32_t{});
    case DType::int64:
      return call(int64_t{});
    case DType::uint8:
      return call(uint8_t{});
    case DType::uint16:
      return call(uint16_t{});
    case DType::uint32:
      return call(uint32_t{});
    case DType::uint64:
      return call(uint64_t{});
    default:
      return;
  }
}

int64_t in_size(const PoolShape& s) { return s.batch * s.in_pixels() * s.channels; }
int64_t out_size(const PoolShape& s) { return s.batch * s.out_pixels() * s.channels; }

void clear_bytes(DType dtype, void* data, int64_t count) {
  if (count > 0) std::memset(data, 0, static_cast<size_t>(count) * size_of(dtype));
}
}  // namespace

void max_pool(DType dtype, const PoolShape& shape, bool from_finite, const void* in, void* out) {
  const PoolShape s = planes(shape);
  if (is_empty(s)) return;
  dispatch(dtype, [&]<class T>(T** p) { max_forward<T>(s, lowest_of<T>(dtype, from_finite), p[0], p[1]); },
           {{in, in_size(s)}, {out, out_size(s)}});
}

void max_pool_with_argmax(DType dtype, const PoolShape& shape, bool include_batch, DType index, const void* in,
                          void* out, void* argmax) {
  if (is_empty(shape)) return;
  dispatch(dtype,
           [&](auto** p) {
             if (index == DType::int32) max_argmax(shape, include_batch, p[0], p[1], static_cast<int32_t*>(argmax));
             else max_argmax(shape, include_batch, p[0], p[1], static_cast<int64_t*>(argmax));
           },
           {{in, in_size(shape)}, {out, out_size(shape)}});
}

void max_pool_grad(DType dtype, const PoolShape& shape, Ties ties, const void* in, const void* grad, void* in_grad) {
  const PoolShape s = planes(shape);
  if (is_empty(s)) return clear_bytes(dtype, in_grad, in_size(s));
  dispatch(dtype, [&](auto** p) { max_backward(s, ties, p[0], p[1], p[2]); },
           {{in, in_size(s)}, {grad, out_size(s)}, {in_grad, in_size(s)}});
}

void max_pool_grad_grad(DType dtype, const PoolShape& shape, const void* in, const void* grad, void* out) {
  const PoolShape s = planes(shape);
  if (is_empty(s)) return;
  dispatch(dtype, [&](auto** p) { max_second(s, p[0], p[1], p[2]); },
           {{in, in_size(s)}, {grad, in_size(s)}, {out, out_size(s)}});
}

void max_pool_grad_with_argmax(DType dtype, const PoolShape& shape, bool include_batch, DType index, const void* grad,
                               const void* argmax, void* in_grad) {
  if (is_empty(shape)) return clear_bytes(dtype, in_grad, in_size(shape));
  dispatch(dtype,
           [&](auto** p) {
             if (index == DType::int32) route(shape, include_batch, p[0], static_cast<const int32_t*>(argmax), p[1]);
             else route(shape, include_batch, p[0], static_cast<const int64_t*>(argmax), p[1]);
           },
           {{grad, out_size(shape)}, {in_grad, in_size(shape)}});
}

void average_pool(DType dtype, const PoolShape& shape, const void* in, void* out) {
  const PoolShape s = planes(shape);
  if (is_empty(s)) return;
  dispatch(dtype, [&](auto** p) { average_forward(s, p[0], p[1]); }, {{in, in_size(s)}, {out, out_size(s)}});
}

void average_pool_grad(DType dtype, const PoolShape& shape, const void* grad, void* in_grad) {
  const PoolShape s = planes(shape);
  if (is_empty(s)) return clear_bytes(dtype, in_grad, in_size(s));
  dispatch(dtype, [&](auto** p) { average_backward(s, p[0], p[1]); }, {{grad, out_size(s)}, {in_grad, in_size(s)}});
}

}  // namespace thalweg::kernels

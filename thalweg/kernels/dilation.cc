#include "thalweg/kernels/dilation.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "thalweg/core/threads.h"

namespace thalweg::kernels {
namespace {

/// The taps along one axis that lie inside the input.
struct Taps {
  Taps(const ConvShape& s, int axis, int64_t out) {
    const int64_t start = out * s.strides[axis] - s.pads_before[axis], step = s.dilations[axis];
    begin = start < 0 ? (-start + step - 1) / step : 0;
    end = start >= s.in[axis] ? 0 : std::min(s.filter[axis], (s.in[axis] - 1 - start) / step + 1);
  }
  int64_t begin, end;
};

/// The largest sum of one window: where its pixel lies in the image and its element in the filter, -1 of an empty one.
template <class T> struct Best {
  using Wide = std::conditional_t<std::is_class_v<T>, float, T>;
  Wide value = static_cast<Wide>(std::numeric_limits<Wide>::lowest());
  int64_t pixel = -1, tap = -1;
};
template <class T>
[[gnu::always_inline]] inline Best<T> best_of(const ConvShape& s, const T* image, const T* filter, const Taps& vertical,
                                              const Taps& horizontal, int64_t y, int64_t x, int64_t c) {
  using Wide = typename Best<T>::Wide;
  Best<T> best;
  for (int64_t h = vertical.begin; h < vertical.end; ++h)
    for (int64_t w = horizontal.begin; w < horizontal.end; ++w) {
      const int64_t at_y = y * s.strides[1] - s.pads_before[1] + h * s.dilations[1];
      const int64_t at_x = x * s.strides[2] - s.pads_before[2] + w * s.dilations[2];
      const int64_t pixel = (at_y * s.in[2] + at_x) * s.in_channels + c,
                    tap = (h * s.filter[2] + w) * s.in_channels + c;
      const Wide value = static_cast<Wide>(image[pixel]), weight = static_cast<Wide>(filter[tap]);
      Wide sum;
      if constexpr (std::is_integral_v<T>)
        sum = static_cast<T>(static_cast<uint64_t>(value) + static_cast<uint64_t>(weight));
      else sum = value + weight;
      if (sum > best.value || best.tap < 0) {
        best.value = sum > best.value ? sum : best.value;
        best.pixel = pixel;
        best.tap = tap;
      }
    }
  return best;
}
/// Calls use(place in the output, best of its window) for the rows [first, last) of all images.
template <class T, class Use>
void for_windows(const ConvShape& s, const T* in, const T* filter, int64_t first, int64_t last, const Use& use) {
  const int64_t channels = s.in_channels, rows = s.out[1], image_size = s.in[1] * s.in[2] * channels;
  for (int64_t row = first; row < last; ++row) {
    const int64_t y = row % rows;
    const Taps vertical(s, 1, y);
    for (int64_t x = 0; x < s.out[2]; ++x) {
      const Taps horizontal(s, 2, x);
      for (int64_t c = 0; c < channels; ++c)
        use((row * s.out[2] + x) * channels + c,
            best_of(s, in + row / rows * image_size, filter, vertical, horizontal, y, x, c));
    }
  }
}
double cost_of_row(const ConvShape& s) {
  return static_cast<double>(s.out[2] * s.in_channels) * static_cast<double>(s.taps());
}

template <class T> void dilate(const ConvShape& s, const T* in, const T* filter, T* out) {
  parallel_for(s.batch * s.out[1], cost_of_row(s), [&](int64_t first, int64_t last) {
    for_windows(s, in, filter, first, last,
                [&](int64_t at, const Best<T>& best) { out[at] = static_cast<T>(best.value); });
  });
}

template <class T> void add(T& sum, T grad) {
  if constexpr (std::is_class_v<T>) sum = static_cast<T>(static_cast<float>(sum) + static_cast<float>(grad));
  else if constexpr (std::is_integral_v<T>)
    sum = static_cast<T>(static_cast<uint64_t>(sum) + static_cast<uint64_t>(grad));
  else sum += grad;
}
// Images are independent of each other.
template <class T> void input_grad(const ConvShape& s, const T* in, const T* filter, const T* grad, T* in_grad) {
  const int64_t image_size = s.in[1] * s.in[2] * s.in_channels, out_size = s.out[1] * s.out[2] * s.in_channels;
  parallel_for(s.batch, cost_of_row(s) * static_cast<double>(s.out[1]), [&](int64_t first, int64_t last) {
    std::fill(in_grad + first * image_size, in_grad + last * image_size, T{});
    for_windows(s, in, filter, first * s.out[1], last * s.out[1], [&](int64_t at, const Best<T>& best) {
      if (best.tap >= 0) add(in_grad[at / out_size * image_size + best.pixel], grad[at]);
    });
  });
}
template <class T> void filter_grad(const ConvShape& s, const T* in, const T* filter, const T* grad, T* filter_grad) {
  std::fill_n(filter_grad, s.taps() * s.in_channels, T{});
  for_windows(s, in, filter, 0, s.batch * s.out[1], [&](int64_t at, const Best<T>& best) {
    if (best.tap >= 0) add(filter_grad[best.tap], grad[at]);
  });
}

template <class F> void visit(DType dtype, const F& f) {
  switch (dtype) {
    case DType::float32:
      return f(static_cast<float*>(nullptr));
    case DType::float64:
      return f(static_cast<double*>(nullptr));
    case DType::float16:
      return f(static_cast<Half*>(nullptr));
    case DType::bfloat16:
      return f(static_cast<BFloat16*>(nullptr));
    case DType::int8:
      return f(static_cast<int8_t*>(nullptr));
    case DType::int16:
      return f(static_cast<int16_t*>(nullptr));
    case DType::int32:
      return f(static_cast<int32_t*>(nullptr));
    case DType::int64:
      return f(static_cast<int64_t*>(nullptr));
    case DType::uint8:
      return f(static_cast<uint8_t*>(nullptr));
    case DType::uint16:
      return f(static_cast<uint16_t*>(nullptr));
    case DType::uint32:
      return f(static_cast<uint32_t*>(nullptr));
    case DType::uint64:
      return f(static_cast<uint64_t*>(nullptr));
    default:
      return;
  }
}

}  // namespace

void dilation(DType dtype, const ConvShape& s, const void* in, const void* filter, void* out) {
  visit(dtype, [&]<class T>(T*) {
    dilate(s, static_cast<const T*>(in), static_cast<const T*>(filter), static_cast<T*>(out));
  });
}
void dilation_input_grad(DType dtype, const ConvShape& s, const void* in, const void* filter, const void* grad,
                         void* in_grad) {
  visit(dtype, [&]<class T>(T*) {
    input_grad(s, static_cast<const T*>(in), static_cast<const T*>(filter), static_cast<const T*>(grad),
               static_cast<T*>(in_grad));
  });
}
void dilation_filter_grad(DType dtype, const ConvShape& s, const void* in, const void* filter, const void* grad,
                          void* filter_grad_out) {
  visit(dtype, [&]<class T>(T*) {
    filter_grad(s, static_cast<const T*>(in), static_cast<const T*>(filter), static_cast<const T*>(grad),
                static_cast<T*>(filter_grad_out));
  });
}

}  // namespace thalweg::kernels

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

template <class T> void dilate(const ConvShape& s, const T* in, const T* filter, T* out) {
  using Wide = std::conditional_t<std::is_class_v<T>, float, T>;
  const int64_t channels = s.in_channels, rows = s.out[1];
  const double cost = 1.0 * static_cast<double>(s.out[2] * channels) * static_cast<double>(s.taps());
  parallel_for(s.batch * rows, cost, [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) {
      const int64_t image = row / rows, y = row % rows;
      const Taps vertical(s, 1, y);
      for (int64_t x = 0; x < s.out[2]; ++x) {
        const Taps horizontal(s, 2, x);
        for (int64_t c = 0; c < channels; ++c) {
          Wide best = static_cast<Wide>(std::numeric_limits<Wide>::lowest());
          for (int64_t h = vertical.begin; h < vertical.end; ++h)
            for (int64_t w = horizontal.begin; w < horizontal.end; ++w) {
              const int64_t at_y = y * s.strides[1] - s.pads_before[1] + h * s.dilations[1];
              const int64_t at_x = x * s.strides[2] - s.pads_before[2] + w * s.dilations[2];
              const Wide pixel = static_cast<Wide>(in[((image * s.in[1] + at_y) * s.in[2] + at_x) * channels + c]);
              const Wide weight = static_cast<Wide>(filter[(h * s.filter[2] + w) * channels + c]);
              Wide sum;
              if constexpr (std::is_integral_v<T>)
                sum = static_cast<T>(static_cast<uint64_t>(pixel) + static_cast<uint64_t>(weight));
              else sum = pixel + weight;
              if (sum > best) best = sum;
            }
          out[(row * s.out[2] + x) * channels + c] = static_cast<T>(best);
        }
      }
    }
  });
}

template <class T> void typed(const ConvShape& s, const void* in, const void* filter, void* out) {
  dilate(s, static_cast<const T*>(in), static_cast<const T*>(filter), static_cast<T*>(out));
}

}  // namespace

void dilation(DType dtype, const ConvShape& s, const void* in, const void* filter, void* out) {
  switch (dtype) {
    case DType::float32:
      return typed<float>(s, in, filter, out);
    case DType::float64:
      return typed<double>(s, in, filter, out);
    case DType::float16:
      return typed<Half>(s, in, filter, out);
    case DType::bfloat16:
      return typed<BFloat16>(s, in, filter, out);
    case DType::int8:
      return typed<int8_t>(s, in, filter, out);
    case DType::int16:
      return typed<int16_t>(s, in, filter, out);
    case DType::int32:
      return typed<int32_t>(s, in, filter, out);
    case DType::int64:
      return typed<int64_t>(s, in, filter, out);
    case DType::uint8:
      return typed<uint8_t>(s, in, filter, out);
    case DType::uint16:
      return typed<uint16_t>(s, in, filter, out);
    case DType::uint32:
      return typed<uint32_t>(s, in, filter, out);
    case DType::uint64:
      return typed<uint64_t>(s, in, filter, out);
    default:
      return;
  }
}

}  // namespace thalweg::kernels

#include "thalweg/kernels/conv_columns.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "thalweg/core/threads.h"
#include "thalweg/kernels/gemm_kernel.h"
#include "thalweg/kernels/scratch.h"

namespace thalweg::kernels {
namespace {

/// Calls `use(tap, in_offset or -1)` for the window of output pixel `pixel`.
template <class Use> [[gnu::always_inline]] inline void for_window(const ConvShape& s, int64_t pixel, Use use) {
  const int64_t x = pixel % s.out[2], y = pixel / s.out[2] % s.out[1], z = pixel / s.out[2] / s.out[1];
  int64_t tap = 0;
  for (int64_t d = 0; d < s.filter[0]; ++d) {
    const int64_t in_z = z * s.strides[0] - s.pads_before[0] + d * s.dilations[0];
    for (int64_t h = 0; h < s.filter[1]; ++h) {
      const int64_t in_y = y * s.strides[1] - s.pads_before[1] + h * s.dilations[1];
      const bool row_inside = in_z >= 0 && in_z < s.in[0] && in_y >= 0 && in_y < s.in[1];
      for (int64_t w = 0; w < s.filter[2]; ++w, ++tap) {
        const int64_t in_x = x * s.strides[2] - s.pads_before[2] + w * s.dilations[2];
        const bool inside = row_inside && in_x >= 0 && in_x < s.in[2];
        use(tap, inside ? ((in_z * s.in[1] + in_y) * s.in[2] + in_x) * s.in_channels : -1);
      }
    }
  }
}

template <class T>
void gather(const ConvShape& s, const T* image, int64_t group, int64_t begin, int64_t end, T* columns) {
  const int64_t channels = s.group_in(), depth = s.taps() * channels;
  const T* from = image + group * channels;
  for (int64_t pixel = begin; pixel < end; ++pixel, columns += depth)
    for_window(s, pixel, [&](int64_t tap, int64_t offset) {
      T* to = columns + tap * channels;
      if (offset < 0) std::fill_n(to, channels, T{});
      else if (channels == 1) *to = from[offset];
      else std::copy_n(from + offset, channels, to);
    });
}

template <class T>
void scatter(const ConvShape& s, const T* columns, int64_t group, int64_t begin, int64_t end, T* image) {
  const int64_t channels = s.group_in(), depth = s.taps() * channels;
  T* to = image + group * channels;
  for (int64_t pixel = begin; pixel < end; ++pixel, columns += depth)
    for_window(s, pixel, [&](int64_t tap, int64_t offset) {
      if (offset < 0) return;
      const T* from = columns + tap * channels;
      for (int64_t c = 0; c < channels; ++c) to[offset + c] += from[c];
    });
}

/// So few numbers are gathered at once, for one product that all threads share: blocks of few pixels would each read
/// the whole filter.
constexpr int64_t small_columns = 500'000;

/// Pixels gathered at a time: the block should stay in the second-level cache; under giant windows it must stay small.
int64_t pixel_block(const ConvShape& s) {
  const int64_t depth = std::max<int64_t>(1, s.taps() * s.group_in());
  return std::min(std::clamp<int64_t>(65'536 / depth / 6 * 6, 24, 960), std::max<int64_t>(1, (1 << 24) / depth));
}
}  // namespace

template <class T>
void columns_forward(const ConvShape& s, const T* in, const T* filter, T* out, const Epilogue* epilogue,
                     KeptFilter* kept) {
  if (s.groups != 1) kept = nullptr;  // what is kept is one matrix
  const int64_t depth = s.taps() * s.group_in(), pixels = s.out_pixels(), block = pixel_block(s);
  if (const int64_t rows = s.batch * pixels; s.groups == 1 && rows * depth <= small_columns) {
    T* columns = scratch<T>(Scratch::columns, rows * depth);
    parallel_for(rows, 0.2 * static_cast<double>(depth), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin, stop; row < end; row = stop) {
        const int64_t image = row / pixels;
        stop = std::min(end, (image + 1) * pixels);
        gather(s, in + image * s.in_pixels() * s.in_channels, 0, row - image * pixels, stop - image * pixels,
               columns + row * depth);
      }
    });
    return real_gemm<T>(rows, s.out_channels, depth, {columns, depth, 1}, {filter, s.out_channels, 1}, out,
                        s.out_channels, false, false, epilogue, kept);
  }
  const int64_t blocks = (pixels + block - 1) / block;
  parallel_chunks(s.batch * blocks, 1, [&](int64_t begin, int64_t end) {
    T* columns = scratch<T>(Scratch::columns, block * depth);
    for (int64_t item = begin; item < end; ++item) {
      const int64_t image = item / blocks, first = item % blocks * block, last = std::min(pixels, first + block);
      for (int64_t group = 0; group < s.groups; ++group) {
        gather(s, in + image * s.in_pixels() * s.in_channels, group, first, last, columns);
        real_gemm<T>(last - first, s.group_out(), depth, {columns, depth, 1},
                     {filter + group * s.group_out(), s.out_channels, 1},
                     out + (image * pixels + first) * s.out_channels + group * s.group_out(), s.out_channels, false,
                     true, nullptr, kept);
      }
      if (epilogue) epilogue->finish(out + (image * pixels + first) * s.out_channels, last - first);
    }
  });
}

template <class T> void columns_backward_input(const ConvShape& s, const T* filter, const T* out_grad, T* in_grad) {
  const int64_t depth = s.taps() * s.group_in(), pixels = s.out_pixels(), block = pixel_block(s);
  const int64_t image_size = s.in_pixels() * s.in_channels;
  parallel_chunks(s.batch, 1, [&](int64_t begin, int64_t end) {
    T* columns = scratch<T>(Scratch::columns, block * depth);
    for (int64_t image = begin; image < end; ++image) {
      T* to = in_grad + image * image_size;
      std::fill_n(to, image_size, T{});
      for (int64_t first = 0; first < pixels; first += block) {
        const int64_t last = std::min(pixels, first + block);
        for (int64_t group = 0; group < s.groups; ++group) {
          real_gemm<T>(
              last - first, depth, s.group_out(),
              {out_grad + (image * pixels + first) * s.out_channels + group * s.group_out(), s.out_channels, 1},
              {filter + group * s.group_out(), 1, s.out_channels}, columns, depth, false, false);
          scatter(s, columns, group, first, last, to);
        }
      }
    }
  });
}

template <class T> void columns_backward_filter(const ConvShape& s, const T* in, const T* out_grad, T* filter_grad) {
  const int64_t depth = s.taps() * s.group_in(), pixels = s.out_pixels(), block = pixel_block(s);
  const int64_t size = s.filter_size();
  // Each slice of the batch sums into its own copy; the copies are added in order, whoever computed them.
  const int64_t slices = std::clamp<int64_t>(s.batch, 1, size > 4'000'000 ? 1 : 8),
                images = (s.batch + slices - 1) / slices;
  std::vector<T> partial(static_cast<size_t>(slices * size));
  parallel_chunks(slices, 1, [&](int64_t begin, int64_t end) {
    T* columns = scratch<T>(Scratch::columns, block * depth);
    for (int64_t slice = begin; slice < end; ++slice) {
      T* to = partial.data() + slice * size;
      for (int64_t image = slice * images; image < std::min(s.batch, (slice + 1) * images); ++image)
        for (int64_t first = 0; first < pixels; first += block) {
          const int64_t last = std::min(pixels, first + block);
          for (int64_t group = 0; group < s.groups; ++group) {
            gather(s, in + image * s.in_pixels() * s.in_channels, group, first, last, columns);
            real_gemm<T>(
                depth, s.group_out(), last - first, {columns, 1, depth},
                {out_grad + (image * pixels + first) * s.out_channels + group * s.group_out(), s.out_channels, 1},
                to + group * s.group_out(), s.out_channels, true, false);
          }
        }
    }
  });
  parallel_for(size, 0.3 * static_cast<double>(slices), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      T sum = partial[static_cast<size_t>(i)];
      for (int64_t slice = 1; slice < slices; ++slice) sum += partial[static_cast<size_t>(slice * size + i)];
      filter_grad[i] = sum;
    }
  });
}

template void columns_forward(const ConvShape&, const float*, const float*, float*, const Epilogue*, KeptFilter*);
template void columns_forward(const ConvShape&, const double*, const double*, double*, const Epilogue*, KeptFilter*);
template void columns_forward(const ConvShape&, const uint32_t*, const uint32_t*, uint32_t*, const Epilogue*,
                              KeptFilter*);
template void columns_backward_input(const ConvShape&, const float*, const float*, float*);
template void columns_backward_input(const ConvShape&, const double*, const double*, double*);
template void columns_backward_input(const ConvShape&, const uint32_t*, const uint32_t*, uint32_t*);
template void columns_backward_filter(const ConvShape&, const float*, const float*, float*);
template void columns_backward_filter(const ConvShape&, const double*, const double*, double*);
template void columns_backward_filter(const ConvShape&, const uint32_t*, const uint32_t*, uint32_t*);

}  // namespace thalweg::kernels

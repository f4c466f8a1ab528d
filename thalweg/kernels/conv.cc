#include "thalweg/kernels/conv.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>

#include "thalweg/core/convert.h"
#include "thalweg/core/threads.h"
#include "thalweg/kernels/conv_columns.h"
#include "thalweg/kernels/conv_depthwise.h"
#include "thalweg/kernels/conv_engine.h"
#include "thalweg/kernels/conv_winograd.h"
#include "thalweg/kernels/gemm_kernel.h"
#include "thalweg/kernels/layout.h"

namespace thalweg::kernels {
namespace {

// One pixel per window and nothing around it: the image is already the matrix.
bool is_pointwise(const ConvShape& s) {
  if (s.groups != 1) return false;
  for (int axis = 0; axis < 3; ++axis)
    if (s.filter[axis] != 1 || s.strides[axis] != 1 || s.pads_before[axis] != 0 || s.in[axis] != s.out[axis])
      return false;
  return true;
}

// Two cases where gathering beats the engine: strided single pixels, and filters so large beside the map that bringing
// them into the engine's order costs more than it saves.
bool prefers_columns(const ConvShape& s) {
  if (s.groups != 1) return false;
  return s.taps() == 1 || (s.batch * s.out_pixels() < 100 && s.in_channels >= 64);
}

std::atomic<bool> winograd_allowed{true};

template <class T>
void forward(const ConvShape& s, const T* in, const T* filter, T* out, const Epilogue* epilogue, KeptFilter* kept) {
  const int64_t rows = s.batch * s.out_pixels();
  if (is_pointwise(s))
    return real_gemm<T>(rows, s.out_channels, s.in_channels, {in, s.in_channels, 1}, {filter, s.out_channels, 1}, out,
                        s.out_channels, false, false, epilogue, kept);
  if constexpr (std::is_same_v<T, float>) {
    if (winograd_allowed && winograd_forward(s, in, filter, out, epilogue, kept)) return;
    if (!prefers_columns(s) && engine_forward(s, in, filter, out, epilogue, kept)) return;
  }
  if (is_depthwise(s)) return depthwise_forward(s, in, filter, out, epilogue);
  columns_forward(s, in, filter, out, epilogue, kept);
}

template <class T> void backward_input(const ConvShape& s, const T* filter, const T* out_grad, T* in_grad) {
  const int64_t rows = s.batch * s.out_pixels();
  if (is_pointwise(s))
    return real_gemm<T>(rows, s.in_channels, s.out_channels, {out_grad, s.out_channels, 1}, {filter, 1, s.out_channels},
                        in_grad, s.in_channels, false, false);
  if constexpr (std::is_same_v<T, float>) {
    if (winograd_allowed && winograd_backward_input(s, filter, out_grad, in_grad)) return;
    if (engine_backward_input(s, filter, out_grad, in_grad)) return;
  }
  if (is_depthwise(s)) return depthwise_backward_input(s, filter, out_grad, in_grad);
  columns_backward_input(s, filter, out_grad, in_grad);
}

template <class T> void backward_filter(const ConvShape& s, const T* in, const T* out_grad, T* filter_grad) {
  const int64_t rows = s.batch * s.out_pixels();
  if (is_pointwise(s))
    return real_gemm<T>(s.in_channels, s.out_channels, rows, {in, 1, s.in_channels}, {out_grad, s.out_channels, 1},
                        filter_grad, s.out_channels, false, false);
  if constexpr (std::is_same_v<T, float>) {
    if (winograd_allowed && winograd_backward_filter(s, in, out_grad, filter_grad)) return;
    if (engine_backward_filter(s, in, out_grad, filter_grad)) return;
  }
  if (is_depthwise(s)) return depthwise_backward_filter(s, in, out_grad, filter_grad);
  columns_backward_filter(s, in, out_grad, filter_grad);
}

/// Uninitialised elements that live as long as one call: new buffers of this size come from the kernel's zero pages.
template <class T> std::unique_ptr<T[]> buffer(int64_t count) {
  return std::make_unique_for_overwrite<T[]>(static_cast<size_t>(count));
}

/// [batch, channels, pixels] to [batch, pixels, channels], or back with the two exchanged.
template <class T> void exchange(const T* from, int64_t batch, int64_t rows, int64_t columns, T* to) {
  parallel_for(batch, static_cast<double>(rows * columns) * 0.5, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      transpose_matrix(from + i * rows * columns, rows, columns, to + i * rows * columns);
  });
}

// Runs `compute(shape, in, filter, out)` on channels-last arrays of the type that computes. `written` names the
// argument that is the result: 0 in, 1 filter, 2 out.
template <class Stored, class T, class Compute>
void arranged(const ConvShape& shape, const void* in, const void* filter, const void* out, int written,
              Compute compute) {
  const int64_t sizes[3] = {shape.batch * shape.in_pixels() * shape.in_channels, shape.filter_size(),
                            shape.batch * shape.out_pixels() * shape.out_channels};
  T* arrays[3] = {};
  std::unique_ptr<T[]> wide[3], moved[3];
  const void* given[3] = {in, filter, out};
  for (int i = 0; i < 3; ++i) {
    if constexpr (sizeof(Stored) == sizeof(T)) {
      arrays[i] = static_cast<T*>(const_cast<void*>(given[i]));
    } else {
      wide[i] = buffer<T>(sizes[i]);
      arrays[i] = wide[i].get();
      if (i != written) convert_elements(dtype_of<Stored>, given[i], dtype_of<T>, arrays[i], sizes[i]);
    }
  }
  ConvShape last = shape;
  last.channels_first = 0;
  T* used[3] = {arrays[0], arrays[1], arrays[2]};
  const int64_t pixels[3] = {shape.in_pixels(), 0, shape.out_pixels()};
  const int64_t channels[3] = {shape.in_channels, 0, shape.out_channels};
  for (int i : {0, 2}) {
    if (!shape.channels_first || channels[i] == 1 || pixels[i] == 1) continue;
    moved[i] = buffer<T>(sizes[i]);
    used[i] = moved[i].get();
    if (i != written) exchange(arrays[i], shape.batch, channels[i], pixels[i], used[i]);
  }
  compute(last, used[0], used[1], used[2]);
  if (used[written] != arrays[written])
    exchange(used[written], shape.batch, pixels[written], channels[written], arrays[written]);
  if constexpr (sizeof(Stored) != sizeof(T))
    convert_elements(dtype_of<T>, arrays[written], dtype_of<Stored>, const_cast<void*>(given[written]), sizes[written]);
}

template <class Compute>
void dispatch(DType dtype, const ConvShape& s, const void* in, const void* filter, const void* out, int written,
              Compute compute) {
  switch (dtype) {
    case DType::float32:
      return arranged<float, float>(s, in, filter, out, written, compute);
    case DType::float64:
      return arranged<double, double>(s, in, filter, out, written, compute);
    case DType::float16:
      return arranged<Half, float>(s, in, filter, out, written, compute);
    case DType::bfloat16:
      return arranged<BFloat16, float>(s, in, filter, out, written, compute);
    case DType::int32:
      return arranged<uint32_t, uint32_t>(s, in, filter, out, written, compute);
    default:
      return;
  }
}

bool is_empty(const ConvShape& s) {
  return s.batch <= 0 || s.in_pixels() <= 0 || s.out_pixels() <= 0 || s.in_channels <= 0 || s.out_channels <= 0 ||
         s.taps() <= 0 || s.group_in() <= 0;
}

void clear(DType dtype, void* data, int64_t count) {
  if (count > 0) std::memset(data, 0, static_cast<size_t>(count) * size_of(dtype));
}
}  // namespace

void allow_winograd(bool allowed) { winograd_allowed = allowed; }

void conv_forward(DType dtype, const ConvShape& s, const void* in, const void* filter, void* out,
                  const Epilogue* epilogue, KeptFilter* kept) {
  const bool empty = is_empty(s);
  if (empty && !epilogue) return clear(dtype, out, s.batch * s.out_pixels() * s.out_channels);
  dispatch(dtype, s, in, filter, out, 2, [&](const ConvShape& shape, auto* x, auto* w, auto* y) {
    if (!empty) return forward(shape, x, w, y, epilogue, kept);
    const int64_t pixels = shape.batch * shape.out_pixels();
    std::fill_n(y, pixels * shape.out_channels, 0);
    epilogue->finish(y, pixels);
  });
}

void conv_backward_input(DType dtype, const ConvShape& s, const void* filter, const void* out_grad, void* in_grad) {
  if (is_empty(s)) return clear(dtype, in_grad, s.batch * s.in_pixels() * s.in_channels);
  dispatch(dtype, s, in_grad, filter, out_grad, 0,
           [](const ConvShape& shape, auto* x, auto* w, auto* y) { backward_input(shape, w, y, x); });
}

void conv_backward_filter(DType dtype, const ConvShape& s, const void* in, const void* out_grad, void* filter_grad) {
  if (is_empty(s)) return clear(dtype, filter_grad, s.filter_size());
  dispatch(dtype, s, in, filter_grad, out_grad, 1,
           [](const ConvShape& shape, auto* x, auto* w, auto* y) { backward_filter(shape, x, y, w); });
}

}  // namespace thalweg::kernels

#include "thalweg/ops/signal.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "thalweg/core/error.h"
#include "thalweg/core/index.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/fft.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/gather.h"
#include "thalweg/ops/integers.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/padding.h"
#include "thalweg/ops/segments.h"
#include "thalweg/ops/shaping.h"
#include "thalweg/ops/transposing.h"

namespace thalweg::signal {
namespace {

constexpr int64_t longest = int64_t{1} << 31;

void require_positive(int64_t value, const char* function, const char* name) {
  if (value <= 0 || value >= longest)
    throw ValueError(std::string(function) + ": " + name + " must be positive and below 2^31, got " +
                     std::to_string(value));
}

Tensor raised_cosine(int64_t length, double base, double swing, const WindowOptions& options, const char* name) {
  if (length < 0 || length >= longest)
    throw ValueError(std::string(name) + ": window_length must lie between 0 and 2^31, got " + std::to_string(length));
  if (!is_floating(options.dtype)) throw ValueError(std::string(name) + ": dtype must be a floating point type");
  if (length == 1) return ones({1}, {.dtype = options.dtype});
  Tensor window = Tensor::empty(DType::float64, Shape{length});
  const double period = static_cast<double>(length - (options.periodic && length % 2 == 0 ? 0 : 1));
  for (int64_t i = 0; i < length; ++i)
    window.mutable_data<double>()[i] = base - swing * std::cos(2 * std::numbers::pi * static_cast<double>(i) / period);
  return cast(window, options.dtype);
}

// The least that holds n numbers; 0 of none.
int64_t power_of_two(int64_t n) {
  if (n == 0) return 0;
  int64_t power = 1;
  while (power < n) power *= 2;
  return power;
}

Tensor window_or_hann(const Tensor& window, int64_t length, DType dtype) {
  return window.defined() ? window : hann_window(length, {.dtype = dtype});
}

}  // namespace

Tensor hann_window(int64_t window_length, const WindowOptions& options) {
  return raised_cosine(window_length, 0.5, 0.5, options, "hann_window");
}
Tensor hamming_window(int64_t window_length, const WindowOptions& options) {
  return raised_cosine(window_length, 0.54, 0.46, options, "hamming_window");
}

Tensor frame(const TensorLike& signal, int64_t frame_length, int64_t frame_step, const FrameOptions& options) {
  if (frame_length < 0 || frame_length >= longest)
    throw ValueError("frame: frame_length must not be negative and be below 2^31, got " + std::to_string(frame_length));
  if (frame_step == 0 || frame_step <= -longest || frame_step >= longest)
    throw ValueError("frame: frame_step must not be 0 and be below 2^31, got " + std::to_string(frame_step));
  Tensor x = signal.own();
  const int rank = x.rank();
  if (rank < 1 || options.axis < -rank || options.axis >= rank)
    throw ValueError("frame: axis " + std::to_string(options.axis) + " is no axis of a signal of shape " +
                     x.shape().brackets());
  const int axis = static_cast<int>(options.axis < 0 ? options.axis + rank : options.axis);
  const int64_t samples = x.shape()[axis];
  if (samples < 0) throw ValueError("frame: the length of the signal must be known");
  // Backward steps leave a frame only where it is the whole signal.
  if (frame_step < 0 && (options.pad_end ? samples > 0 : samples < frame_length))
    throw InvalidArgumentError("frame: a signal of " + std::to_string(samples) + " samples has no frames of " +
                               std::to_string(frame_length) + " with frame_step " + std::to_string(frame_step));
  int64_t frames = samples < frame_length || (frame_step < 0 && samples > frame_length)
                       ? 0
                       : 1 + (samples - frame_length) / frame_step;
  if (options.pad_end) {
    const Tensor& given = options.pad_value;
    if (!number_types.has(x.dtype()) && (!given.defined() || given.dtype() != x.dtype()))
      throw TypeError("frame: a signal of dtype " + std::string(name_of(x.dtype())) +
                      " needs a pad_value of that dtype");
    Tensor pad_value;
    if (given.defined())
      pad_value = given.impl()->weak == Weak::strong ? cast(given, x.dtype()) : strengthen(given, x.dtype());
    frames = frame_step < 0 ? 0 : (samples + frame_step - 1) / frame_step;
    const int64_t missing = frames > 0 ? frame_length + frame_step * (frames - 1) - samples : 0;
    if (missing > 0) {
      std::vector<int64_t> paddings(2 * static_cast<size_t>(rank));
      paddings[2 * static_cast<size_t>(axis) + 1] = missing;
      x = pad(x, reshape(index_list(paddings), {rank, 2}), {.constant_values = pad_value});
    }
  }
  Tensor starts = expand_dims(range(index_scalar(frames)) * static_cast<int32_t>(frame_step), 1);
  return gather(x, starts + range(index_scalar(frame_length)), {.axis = axis});
}

Tensor overlap_and_add(const TensorLike& signal, int64_t frame_step) {
  Tensor x = signal.own();
  const int rank = x.rank();
  if (rank < 2 || x.shape()[-1] < 0 || x.shape()[-2] < 0)
    throw ValueError("overlap_and_add: signal must be [..., frames, frame_length] with known sides, got " +
                     x.shape().brackets());
  const int64_t frames = x.shape()[-2], length = x.shape()[-1];
  if (frame_step != 0 || length != 0) require_positive(frame_step, "overlap_and_add", "frame_step");
  if (length >= longest || frames >= longest)
    throw ValueError("overlap_and_add: signal must have fewer than 2^31 frames and samples in a frame, got " +
                     x.shape().brackets());
  const int64_t samples = std::max<int64_t>(0, (frames - 1) * frame_step + length);
  if (samples >= longest)
    throw ValueError("overlap_and_add: the result would have " + std::to_string(samples) + " samples");
  // The two inner dimensions come first, each pair adds to the sample it stands for, and the samples go last again.
  std::vector<int64_t> forward = {rank - 2, rank - 1}, back;
  for (int i = 0; i < rank - 2; ++i) forward.push_back(i), back.push_back(i + 1);
  back.push_back(0);
  Tensor starts = expand_dims(range(index_scalar(frames)) * static_cast<int32_t>(frame_step), 1);
  Tensor sample = starts + range(index_scalar(length));
  return transpose(math::unsorted_segment_sum(transpose(x, {.perm = forward}), sample, index_scalar(samples)),
                   {.perm = back});
}

Tensor stft(const TensorLike& signals, int64_t frame_length, int64_t frame_step, const StftOptions& options) {
  Tensor frames = frame(signals, frame_length, frame_step, {.pad_end = options.pad_end});
  const int64_t fft_length = options.fft_length.value_or(power_of_two(frame_length));
  Tensor windowed = frames * window_or_hann(options.window, frame_length, frames.dtype());
  return rfft(windowed, {.fft_length = index_list({{fft_length}})});
}

Tensor inverse_stft(const TensorLike& stfts, int64_t frame_length, int64_t frame_step,
                    const InverseStftOptions& options) {
  require_positive(frame_length, "inverse_stft", "frame_length");
  const int64_t fft_length = options.fft_length.value_or(power_of_two(frame_length));
  Tensor frames = irfft(stfts, {.fft_length = index_list({{fft_length}})});
  if (fft_length > frame_length) frames = frames(ellipsis, slice(0, frame_length));
  else if (fft_length < frame_length)
    frames = concat({frames, zeros_like(frames(ellipsis, slice(0, 1))) *
                                 ones({frame_length - fft_length}, {.dtype = frames.dtype()})},
                    -1);
  return overlap_and_add(frames * window_or_hann(options.window, frame_length, frames.dtype()), frame_step);
}

namespace {
const FunctionDef* const signal_functions[] = {
    &define_function<hann_window>({"signal.hann_window"}, {"window_length"}),
    &define_function<hamming_window>({"signal.hamming_window"}, {"window_length"}),
    &define_function<frame>({"signal.frame"}, {"signal", "frame_length", "frame_step"}),
    &define_function<overlap_and_add>({"signal.overlap_and_add"}, {"signal", "frame_step"}),
    &define_function<stft>({"signal.stft"}, {"signals", "frame_length", "frame_step"}),
    &define_function<inverse_stft>({"signal.inverse_stft"}, {"stfts", "frame_length", "frame_step"}),
};
}  // namespace

}  // namespace thalweg::signal

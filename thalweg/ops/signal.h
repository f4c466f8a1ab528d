// Frames of signals, windows, and transforms over short times.
#pragma once
#include <optional>
#include <string>

#include "thalweg/core/tensor.h"
#include "thalweg/ops/options.h"

namespace thalweg::signal {

struct WindowOptions {
  Flag periodic = true;  // for an even length: as if one more element followed
  DType dtype = DType::float32;
};
/// A raised cosine that falls to 0: 0.5 - 0.5 cos.
THALWEG_API Tensor hann_window(int64_t window_length, const WindowOptions& options = {});
/// A raised cosine that falls to 0.08: 0.54 - 0.46 cos.
THALWEG_API Tensor hamming_window(int64_t window_length, const WindowOptions& options = {});

struct FrameOptions {
  Flag pad_end = {};      // frames that reach past the end are filled up
  Tensor pad_value = {};  // 0 where left out
  int64_t axis = -1;
};
/// Overlapping frames of an axis: [..., samples, ...] becomes [..., frames, frame_length, ...].
THALWEG_API Tensor frame(const TensorLike& signal, int64_t frame_length, int64_t frame_step,
                         const FrameOptions& options = {});
/// Adds frames [..., frames, frame_length] where they overlap: [..., (frames - 1) * frame_step + frame_length].
THALWEG_API Tensor overlap_and_add(const TensorLike& signal, int64_t frame_step);

struct StftOptions {
  std::optional<int64_t> fft_length = {};  // the power of two that holds a frame where left out
  Tensor window = {};                      // a Hann window where left out
  Flag pad_end = {};
};
/// Fourier transforms of windowed frames: [..., samples] becomes [..., frames, fft_length / 2 + 1].
THALWEG_API Tensor stft(const TensorLike& signals, int64_t frame_length, int64_t frame_step,
                        const StftOptions& options = {});

struct InverseStftOptions {
  std::optional<int64_t> fft_length = {};
  Tensor window = {};
};
/// Signals from windowed frames' transforms, overlapped and added.
THALWEG_API Tensor inverse_stft(const TensorLike& stfts, int64_t frame_length, int64_t frame_step,
                                const InverseStftOptions& options = {});

struct DctOptions {
  int64_t type = 2;               // 1 to 4
  std::optional<int64_t> n = {};  // the input is cut or padded with zeros to this length
  int64_t axis = -1;              // no other is supported, as in TensorFlow
  std::string norm = "";          // or "ortho": the transform is orthogonal
};
/// The discrete cosine transform over the last dimension.
THALWEG_API Tensor dct(const TensorLike& input, const DctOptions& options = {});
/// The inverse of `dct`; without a norm up to the factor 2 n.
THALWEG_API Tensor idct(const TensorLike& input, const DctOptions& options = {});

}  // namespace thalweg::signal

// Fourier transforms over the innermost dimensions.
#pragma once
#include "thalweg/core/tensor.h"
#include "thalweg/ops/options.h"

namespace thalweg::signal {

/// The discrete Fourier transform over the last dimension.
THALWEG_API Tensor fft(const TensorLike& input);
/// The inverse of `fft`.
THALWEG_API Tensor ifft(const TensorLike& input);
/// The transform over the last two dimensions.
THALWEG_API Tensor fft2d(const TensorLike& input);
/// The inverse of `fft2d`.
THALWEG_API Tensor ifft2d(const TensorLike& input);
/// The transform over the last three dimensions.
THALWEG_API Tensor fft3d(const TensorLike& input);
/// The inverse of `fft3d`.
THALWEG_API Tensor ifft3d(const TensorLike& input);

struct RfftOptions {
  Tensor fft_length = {};  // one number per dimension: the input is cut or padded with zeros to it
};
/// The transform of real numbers over the last dimension; of the result, which is symmetric, the first half.
THALWEG_API Tensor rfft(const TensorLike& input_tensor, const RfftOptions& options = {});
/// The inverse of `rfft`; an odd length must be given.
THALWEG_API Tensor irfft(const TensorLike& input_tensor, const RfftOptions& options = {});
/// The transform of real numbers over the last two dimensions.
THALWEG_API Tensor rfft2d(const TensorLike& input_tensor, const RfftOptions& options = {});
/// The inverse of `rfft2d`.
THALWEG_API Tensor irfft2d(const TensorLike& input_tensor, const RfftOptions& options = {});
/// The transform of real numbers over the last three dimensions.
THALWEG_API Tensor rfft3d(const TensorLike& input_tensor, const RfftOptions& options = {});
/// The inverse of `rfft3d`.
THALWEG_API Tensor irfft3d(const TensorLike& input_tensor, const RfftOptions& options = {});

struct FftShiftOptions {
  Axis axes = {};  // all where left out
};
/// Moves the zero frequency to the middle.
THALWEG_API Tensor fftshift(const TensorLike& x, const FftShiftOptions& options = {});
/// Moves it back.
THALWEG_API Tensor ifftshift(const TensorLike& x, const FftShiftOptions& options = {});

// The same with an option by position (docs/decisions/0013).
template <As<Tensor> A = Tensor>
Tensor rfft(const TensorLike& input_tensor, const A& fft_length, RfftOptions options = {}) {
  return rfft(input_tensor, with(options, options.fft_length, fft_length));
}
template <As<Tensor> A = Tensor>
Tensor irfft(const TensorLike& input_tensor, const A& fft_length, RfftOptions options = {}) {
  return irfft(input_tensor, with(options, options.fft_length, fft_length));
}
template <As<Tensor> A = Tensor>
Tensor rfft2d(const TensorLike& input_tensor, const A& fft_length, RfftOptions options = {}) {
  return rfft2d(input_tensor, with(options, options.fft_length, fft_length));
}
template <As<Tensor> A = Tensor>
Tensor irfft2d(const TensorLike& input_tensor, const A& fft_length, RfftOptions options = {}) {
  return irfft2d(input_tensor, with(options, options.fft_length, fft_length));
}
template <As<Tensor> A = Tensor>
Tensor rfft3d(const TensorLike& input_tensor, const A& fft_length, RfftOptions options = {}) {
  return rfft3d(input_tensor, with(options, options.fft_length, fft_length));
}
template <As<Tensor> A = Tensor>
Tensor irfft3d(const TensorLike& input_tensor, const A& fft_length, RfftOptions options = {}) {
  return irfft3d(input_tensor, with(options, options.fft_length, fft_length));
}
template <As<Axis> A = Axis> Tensor fftshift(const TensorLike& x, const A& axes, FftShiftOptions options = {}) {
  return fftshift(x, with(options, options.axes, axes));
}
template <As<Axis> A = Axis> Tensor ifftshift(const TensorLike& x, const A& axes, FftShiftOptions options = {}) {
  return ifftshift(x, with(options, options.axes, axes));
}

}  // namespace thalweg::signal

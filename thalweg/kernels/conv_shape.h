// The sizes of a convolution, shared by every kernel that computes one.
#pragma once
#include <cstdint>

namespace thalweg::kernels {

/// A convolution over up to three spatial dimensions [depth, height, width]; in two dimensions depth is 1.
/// Filters lie as [depth, height, width, in_channels / groups, out_channels].
struct ConvShape {
  int64_t batch = 0, in_channels = 0, out_channels = 0, groups = 1;
  int64_t in[3] = {1, 1, 1}, filter[3] = {1, 1, 1}, out[3] = {1, 1, 1};
  int64_t strides[3] = {1, 1, 1}, dilations[3] = {1, 1, 1};
  int64_t pads_before[3] = {0, 0, 0};
  /// Activations lie as [batch, channels, spatial...] instead of [batch, spatial..., channels].
  int64_t channels_first = 0;

  bool operator==(const ConvShape&) const = default;

  int64_t in_pixels() const { return in[0] * in[1] * in[2]; }
  int64_t out_pixels() const { return out[0] * out[1] * out[2]; }
  int64_t taps() const { return filter[0] * filter[1] * filter[2]; }
  int64_t group_in() const { return in_channels / groups; }
  int64_t group_out() const { return out_channels / groups; }
  int64_t filter_size() const { return taps() * group_in() * out_channels; }
  /// How far the last window reaches past the input; negative where it does not reach the end.
  int64_t pad_after(int axis) const {
    return (out[axis] - 1) * strides[axis] + (filter[axis] - 1) * dilations[axis] + 1 - in[axis] - pads_before[axis];
  }
  /// Multiply-adds of one image.
  double image_work() const {
    return static_cast<double>(out_pixels()) * static_cast<double>(taps() * group_in()) *
           static_cast<double>(out_channels);
  }
};

}  // namespace thalweg::kernels

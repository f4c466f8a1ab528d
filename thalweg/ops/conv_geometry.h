// The geometry that convolutions and pools share: where batch, channels and space lie in a tensor, and how a window
// moves over space.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "thalweg/ops/op.h"
#include "thalweg/ops/window_options.h"

namespace thalweg {

/// The attributes that describe it, under TensorFlow's names; lists have one number per dimension of the input.
struct WindowAttrs {
  std::string_view padding = "VALID", data_format = "NHWC";
  std::span<const int64_t> strides = {}, dilations = {}, explicit_paddings = {};
  std::span<const int64_t> ksize = {};  // of pools; the windows of convolutions are their filters
  const char* dilations_name = "dilations";
  bool allows_explicit = false;
};

/// Where windows lie along one dimension: how many there are, and how far the first begins before the input.
struct Along {
  int64_t count = unknown, before = 0;
};

/// The attributes, checked. Space has up to three dimensions; arrays are indexed by them in order.
class Geometry {
 public:
  /// Nothing when the attributes are good, else what is wrong with them.
  std::string read(int spatial, const WindowAttrs& attrs);

  int spatial() const { return spatial_; }
  int rank() const { return spatial_ + 2; }
  bool channels_first() const { return channels_first_; }
  int channel_axis() const { return channels_first_ ? 1 : spatial_ + 1; }
  /// The axis of dimension i of space.
  int axis(int i) const { return channels_first_ ? i + 2 : i + 1; }
  int64_t stride(int i) const { return strides_[i]; }
  int64_t dilation(int i) const { return dilations_[i]; }
  /// The window of a pool, and along its channels.
  int64_t window(int i) const { return windows_[i]; }
  int64_t channel_window() const { return channel_window_; }

  /// Windows of `size` elements along dimension i of an input; unknown where the sizes are. Says what is wrong where
  /// none can lie.
  std::string along(int i, int64_t length, int64_t size, Along& result) const;

  /// A tensor [batch, space..., channels] in this order of dimensions.
  Shape arrange(int64_t batch, std::span<const int64_t> space, int64_t channels) const;

 private:
  enum class Kind { same, valid, given };
  std::string read_paddings(const WindowAttrs& attrs);

  int spatial_ = 2;
  bool channels_first_ = false;
  Kind padding_ = Kind::valid;
  int64_t strides_[3] = {1, 1, 1}, dilations_[3] = {1, 1, 1}, windows_[3] = {1, 1, 1};
  int64_t before_[3] = {}, after_[3] = {};
  int64_t channel_window_ = 1;
};

/// The geometry of a call, in infer or in a kernel.
template <class Call> Geometry read_geometry(const Call& c, int spatial, const WindowAttrs& attrs) {
  Geometry geometry;
  if (std::string why = geometry.read(spatial, attrs); !why.empty()) [[unlikely]]
    c.fail(why);
  return geometry;
}
template <class Call>
Along windows_along(const Call& c, const Geometry& geometry, int i, int64_t length, int64_t size) {
  Along result;
  if (std::string why = geometry.along(i, length, size, result); !why.empty()) [[unlikely]]
    c.fail(why);
  return result;
}

/// The shape that an int32 or int64 input says; where its value is not known, of this rank.
Shape sizes_input(const InferCall& c, int i, int rank);

/// For public functions: one number per dimension of a tensor with `spatial` dimensions of space, from one number, one
/// per dimension of space, or all of them; 1 where nothing is given. ValueError names the function's argument.
std::vector<int64_t> all_dimensions(const Sizes& sizes, int spatial, std::string_view data_format, const char* name);
/// Whether channels follow the batch ("NCHW"); false for an empty name.
bool is_channels_first(std::string_view data_format);
/// The axis of the channels, from the front.
inline int channel_axis(std::string_view data_format, int rank) {
  return is_channels_first(data_format) ? 1 : rank - 1;
}
/// The name of the layout that has this many dimensions of space.
std::string layout_name(int spatial, bool channels_first);
/// A padding of one dimension of space as one of two, of which the first has length 1.
Padding widen_padding(const Padding& padding, bool channels_first);

}  // namespace thalweg

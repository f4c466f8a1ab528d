// The functions that are compositions of convolutions over two or three dimensions.
#include "thalweg/ops/conv.h"

#include "thalweg/core/error.h"
#include "thalweg/core/index.h"
#include "thalweg/ops/conv_geometry.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/integers.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/shaping.h"

namespace thalweg {
namespace {

// A line is an image of height 1.
struct Line {
  explicit Line(const std::string& data_format)
      : channels_first(data_format == "NCW" || data_format == "NCHW"), layout(channels_first ? "NCHW" : "NHWC") {
    if (!channels_first && data_format != "NWC" && data_format != "NHWC")
      throw ValueError("data_format must be \"NWC\" or \"NCW\", got \"" + data_format + '"');
  }
  // The new axis, from the end of an input that may have several dimensions of batch.
  int64_t axis() const { return channels_first ? -2 : -3; }
  Tensor widen(const Tensor& x) const { return expand_dims(x, axis()); }
  Tensor narrow(const Tensor& x) const { return squeeze(x, {.axis = axis()}); }
  Sizes sizes(const Sizes& given, const char* name) const {
    std::vector<int64_t> all = all_dimensions(given, 1, channels_first ? "NCW" : "NWC", name);
    all.insert(all.begin() + (channels_first ? 2 : 1), 1);
    return all;
  }
  bool channels_first;
  std::string layout;
};

int spatial_of(const Tensor& filters, const char* function) {
  int spatial = filters.rank() - 2;
  if (spatial < 1 || spatial > 3)
    throw ValueError(std::string(function) +
                     ": filters must have 1 to 3 dimensions of space and two of channels, got shape " +
                     filters.shape().brackets());
  return spatial;
}
std::string layout_or_default(const std::string& data_format, int spatial) {
  return data_format.empty() ? layout_name(spatial, false) : data_format;
}

}  // namespace

namespace nn {

Tensor conv1d(const Tensor& input, const Tensor& filters, const Conv1DOptions& o) {
  Line line(o.data_format);
  return line.narrow(conv2d(line.widen(input), expand_dims(filters, 0),
                            {.strides = line.sizes(o.stride, "stride"),
                             .padding = widen_padding(o.padding, line.channels_first),
                             .data_format = line.layout,
                             .dilations = line.sizes(o.dilations, "dilations")}));
}

Tensor convolution(const Tensor& input, const Tensor& filters, const ConvOptions& o) {
  int spatial = spatial_of(filters, "convolution");
  std::string layout = layout_or_default(o.data_format, spatial);
  if (spatial == 1) return conv1d(input, filters, {o.strides, o.padding, layout, o.dilations});
  if (spatial == 2) return conv2d(input, filters, {o.strides, o.padding, layout, o.dilations});
  return conv3d(input, filters, {o.strides, o.padding, layout, o.dilations});
}

Tensor conv1d_transpose(const Tensor& input, const Tensor& filters, const TensorLike& output_shape,
                        const Conv1DTransposeOptions& o) {
  Line line(o.data_format);
  Tensor dims = index_tensor(output_shape);
  Tensor one = dims.dtype() == DType::int64 ? Tensor(std::vector<int64_t>{1}) : Tensor(std::vector<int32_t>{1});
  int64_t at = line.channels_first ? 2 : 1;
  Tensor wide = concat({dims(slice(0, at)), one, dims(slice_from(at))}, 0);
  return line.narrow(conv2d_transpose(line.widen(input), expand_dims(filters, 0), wide,
                                      {.strides = line.sizes(o.strides, "strides"),
                                       .padding = widen_padding(o.padding, line.channels_first),
                                       .data_format = line.layout,
                                       .dilations = line.sizes(o.dilations, "dilations")}));
}

Tensor conv_transpose(const Tensor& input, const Tensor& filters, const TensorLike& output_shape,
                      const ConvTransposeOptions& o) {
  int spatial = spatial_of(filters, "conv_transpose");
  std::string layout = layout_or_default(o.data_format, spatial);
  if (spatial == 1) return conv1d_transpose(input, filters, output_shape, {o.strides, o.padding, layout, o.dilations});
  if (spatial == 2) return conv2d_transpose(input, filters, output_shape, {o.strides, o.padding, layout, o.dilations});
  return conv3d_transpose(input, filters, output_shape, {o.strides, o.padding, layout, o.dilations});
}

Tensor atrous_conv2d(const Tensor& value, const Tensor& filters, int64_t rate, const std::string& padding) {
  return conv2d(value, filters, {.padding = padding, .dilations = rate});
}

}  // namespace nn

namespace {
const FunctionDef* const conv_functions[] = {
    &define_function<Tensor(const Tensor&, const Tensor&, const nn::Conv1DOptions&), nn::conv1d>({"nn.conv1d"},
                                                                                                 {"input", "filters"}),
    &define_function<Tensor(const Tensor&, const Tensor&, const nn::ConvOptions&), nn::convolution>(
        {"nn.convolution"}, {"input", "filters"}),
    &define_function<Tensor(const Tensor&, const Tensor&, const TensorLike&, const nn::Conv1DTransposeOptions&),
                     nn::conv1d_transpose>({"nn.conv1d_transpose"}, {"input", "filters", "output_shape"}),
    &define_function<Tensor(const Tensor&, const Tensor&, const TensorLike&, const nn::ConvTransposeOptions&),
                     nn::conv_transpose>({"nn.conv_transpose"}, {"input", "filters", "output_shape"}),
    &define_function<nn::atrous_conv2d>({"nn.atrous_conv2d"}, {"value", "filters", "rate", "padding"}),
};
}  // namespace

}  // namespace thalweg

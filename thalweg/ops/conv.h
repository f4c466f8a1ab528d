// Convolutions over one, two and three dimensions of space, and what is made of them.
#pragma once
#include "thalweg/core/tensor.h"
#include "thalweg/ops/window_options.h"

namespace thalweg::nn {

struct Conv1DOptions {
  Sizes stride = 1;
  Padding padding = "VALID";
  std::string data_format = "NWC";  // or "NCW"
  Sizes dilations = {};             // 1 where left out
};
struct Conv2DOptions {
  Sizes strides = 1;
  Padding padding = "VALID";
  std::string data_format = "NHWC";  // or "NCHW"
  Sizes dilations = {};
};
struct Conv3DOptions {
  Sizes strides = 1;
  Padding padding = "VALID";
  std::string data_format = "NDHWC";  // or "NCDHW"
  Sizes dilations = {};
};
/// For functions that find the number of dimensions themselves; an empty data_format has the channels last.
struct ConvOptions {
  Sizes strides = {};
  Padding padding = "VALID";
  std::string data_format = "";
  Sizes dilations = {};
};

/// Convolves [batch..., width, channels] with filters [width, in_channels, out_channels].
THALWEG_API Tensor conv1d(const Tensor& input, const Tensor& filters, const Conv1DOptions& options = {});
/// Convolves [batch..., height, width, channels] with filters [height, width, in_channels, out_channels]; with fewer
/// in_channels than the input has, in groups.
THALWEG_API Tensor conv2d(const Tensor& input, const Tensor& filters, const Conv2DOptions& options = {});
/// Convolves [batch..., depth, height, width, channels] with filters [depth, height, width, in_channels, out_channels].
THALWEG_API Tensor conv3d(const Tensor& input, const Tensor& filters, const Conv3DOptions& options = {});
/// A convolution over as many dimensions of space as the filters have: one, two or three.
THALWEG_API Tensor convolution(const Tensor& input, const Tensor& filters, const ConvOptions& options = {});

struct Conv1DTransposeOptions {
  Sizes strides = 1;
  Padding padding = "SAME";
  std::string data_format = "NWC";
  Sizes dilations = {};
};
struct Conv2DTransposeOptions {
  Sizes strides = 1;
  Padding padding = "SAME";
  std::string data_format = "NHWC";
  Sizes dilations = {};
};
struct Conv3DTransposeOptions {
  Sizes strides = 1;
  Padding padding = "SAME";
  std::string data_format = "NDHWC";
  Sizes dilations = {};
};
struct ConvTransposeOptions {
  Sizes strides = 1;
  Padding padding = "SAME";
  std::string data_format = "";
  Sizes dilations = {};
};

/// The gradient of conv1d with respect to its input, of shape `output_shape`; filters [width, out, in].
THALWEG_API Tensor conv1d_transpose(const Tensor& input, const Tensor& filters, const TensorLike& output_shape,
                                    const Conv1DTransposeOptions& options = {});
/// The gradient of conv2d with respect to its input; filters [height, width, out, in].
THALWEG_API Tensor conv2d_transpose(const Tensor& input, const Tensor& filters, const TensorLike& output_shape,
                                    const Conv2DTransposeOptions& options = {});
/// The gradient of conv3d with respect to its input; filters [depth, height, width, out, in].
THALWEG_API Tensor conv3d_transpose(const Tensor& input, const Tensor& filters, const TensorLike& output_shape,
                                    const Conv3DTransposeOptions& options = {});
/// The one of these three that the filters are for.
THALWEG_API Tensor conv_transpose(const Tensor& input, const Tensor& filters, const TensorLike& output_shape,
                                  const ConvTransposeOptions& options = {});

/// Convolves each channel of [batch, height, width, channels] by itself, with filters [height, width, channels,
/// multiplier].
THALWEG_API Tensor depthwise_conv2d(const Tensor& input, const Tensor& filter, const ConvOptions& options = {});
/// depthwise_conv2d, then a mixture of channels by filters [1, 1, channels * multiplier, out_channels].
THALWEG_API Tensor separable_conv2d(const Tensor& input, const Tensor& depthwise_filter, const Tensor& pointwise_filter,
                                    const ConvOptions& options = {});
/// conv2d whose filters look at every `rate`-th pixel.
THALWEG_API Tensor atrous_conv2d(const Tensor& value, const Tensor& filters, int64_t rate, const std::string& padding);

struct Dilation2DOptions {
  Sizes strides = 1;
  Padding padding = "VALID";
  std::string data_format = "NHWC";
  Sizes dilations = {};
};
/// The largest sum of pixel and filter [height, width, channels] in each window: greyscale dilation.
THALWEG_API Tensor dilation2d(const Tensor& input, const Tensor& filters, const Dilation2DOptions& options = {});
/// The smallest difference of pixel and filter in each window: greyscale erosion.
THALWEG_API Tensor erosion2d(const Tensor& value, const Tensor& filters, const Dilation2DOptions& options = {});

// The same with an option by position (docs/decisions/0013).
template <As<Sizes> A = Sizes, As<Padding> B = Padding>
Tensor conv1d(const Tensor& input, const Tensor& filters, const A& stride, const B& padding,
              Conv1DOptions options = {}) {
  return conv1d(input, filters, with(options, options.stride, stride, options.padding, padding));
}
template <As<Sizes> A = Sizes, As<Padding> B = Padding>
Tensor conv2d(const Tensor& input, const Tensor& filters, const A& strides, const B& padding,
              Conv2DOptions options = {}) {
  return conv2d(input, filters, with(options, options.strides, strides, options.padding, padding));
}
template <As<Sizes> A = Sizes, As<Padding> B = Padding>
Tensor conv3d(const Tensor& input, const Tensor& filters, const A& strides, const B& padding,
              Conv3DOptions options = {}) {
  return conv3d(input, filters, with(options, options.strides, strides, options.padding, padding));
}
template <As<Sizes> A = Sizes, As<Padding> B = Padding>
Tensor convolution(const Tensor& input, const Tensor& filters, const A& strides, const B& padding,
                   ConvOptions options = {}) {
  return convolution(input, filters, with(options, options.strides, strides, options.padding, padding));
}
template <As<Sizes> A = Sizes>
Tensor conv1d_transpose(const Tensor& input, const Tensor& filters, const TensorLike& output_shape, const A& strides,
                        Conv1DTransposeOptions options = {}) {
  return conv1d_transpose(input, filters, output_shape, with(options, options.strides, strides));
}
template <As<Sizes> A = Sizes>
Tensor conv2d_transpose(const Tensor& input, const Tensor& filters, const TensorLike& output_shape, const A& strides,
                        Conv2DTransposeOptions options = {}) {
  return conv2d_transpose(input, filters, output_shape, with(options, options.strides, strides));
}
template <As<Sizes> A = Sizes>
Tensor conv3d_transpose(const Tensor& input, const Tensor& filters, const TensorLike& output_shape, const A& strides,
                        Conv3DTransposeOptions options = {}) {
  return conv3d_transpose(input, filters, output_shape, with(options, options.strides, strides));
}
template <As<Sizes> A = Sizes>
Tensor conv_transpose(const Tensor& input, const Tensor& filters, const TensorLike& output_shape, const A& strides,
                      ConvTransposeOptions options = {}) {
  return conv_transpose(input, filters, output_shape, with(options, options.strides, strides));
}
template <As<Sizes> A = Sizes, As<Padding> B = Padding>
Tensor depthwise_conv2d(const Tensor& input, const Tensor& filter, const A& strides, const B& padding,
                        ConvOptions options = {}) {
  return depthwise_conv2d(input, filter, with(options, options.strides, strides, options.padding, padding));
}
template <As<Sizes> A = Sizes, As<Padding> B = Padding>
Tensor separable_conv2d(const Tensor& input, const Tensor& depthwise_filter, const Tensor& pointwise_filter,
                        const A& strides, const B& padding, ConvOptions options = {}) {
  return separable_conv2d(input, depthwise_filter, pointwise_filter,
                          with(options, options.strides, strides, options.padding, padding));
}

}  // namespace thalweg::nn

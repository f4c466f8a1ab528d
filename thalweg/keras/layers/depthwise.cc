// Convolutions of each channel by itself, and those that mix the channels afterwards.
#include "thalweg/core/error.h"
#include "thalweg/keras/layers/convolution.h"
#include "thalweg/keras/layers/windows.h"
#include "thalweg/ops/conv.h"
#include "thalweg/ops/shaping.h"

namespace thalweg::keras::layers {
namespace {

/// The options in the form for images; a sequence is an image of height 1.
template <int N, class Options> nn::ConvOptions image_options(const Options& options) {
  const int64_t stride = options.strides.axes()[0], dilation = options.dilation_rate.axes()[0];
  return {.strides = N == 1 ? Sizes({stride, stride}) : options.strides,
          .padding = windows::window_padding(options.padding),
          .data_format = windows::layout(2, options.data_format),
          .dilations = N == 1 ? Sizes({1, dilation}) : options.dilation_rate};
}
/// Calls `f` with the input as images.
template <int N, class F> Tensor as_images(const Tensor& x, const std::string& data_format, const F& f) {
  if constexpr (N == 2) return f(x);
  else {
    const int64_t axis = windows::is_channels_first(data_format) ? 2 : 1;
    return squeeze(f(expand_dims(x, axis)), {.axis = axis});
  }
}
template <int N> Tensor filter_of_images(const Variable& kernel) {
  return N == 2 ? kernel.value() : expand_dims(kernel, 0);
}

template <int N> struct DepthwiseConvLayer {
  Sizes kernel_size = {};
  DepthwiseConvOptions options = {};
  Variable depthwise_kernel = {}, bias = {};

  static constexpr const char* class_name = N == 1 ? "DepthwiseConv1D" : "DepthwiseConv2D";

  void check() {
    windows::check_convolution(N, kernel_size, options);
    windows::check_strides(options.strides, options.dilation_rate, options.padding, false);
  }
  void build(const Shape& input) {
    const int64_t channels = windows::channels_of(input, N, options.data_format);
    Shape kernel_shape(kernel_size.axes());
    kernel_shape.push_back(channels);
    kernel_shape.push_back(options.depth_multiplier);
    depthwise_kernel = add_weight(kernel_shape, {.initializer = options.depthwise_initializer,
                                                 .regularizer = options.depthwise_regularizer,
                                                 .constraint = options.depthwise_constraint});
    bias = windows::add_bias(channels * options.depth_multiplier, options);
  }
  InputSpec input_spec() const {
    InputSpec spec{.min_ndim = N + 2};
    if (depthwise_kernel.defined())
      spec.axes = {{windows::channel_axis(N, options.data_format), depthwise_kernel.shape()[N]}};
    return spec;
  }
  Tensor call(const Tensor& x) {
    windows::check_windows(x.shape(), kernel_size, options.padding, options.data_format, options.dilation_rate);
    Tensor y = as_images<N>(x, options.data_format, [&](const Tensor& images) {
      return nn::depthwise_conv2d(images, filter_of_images<N>(depthwise_kernel), image_options<N>(options));
    });
    return windows::finish(y, bias, options.activation, N, options.data_format);
  }
  Shape compute_output_shape(const Shape& input) {
    Shape output = windows::convolved_shape(*this, input, N);
    int64_t& channels = output[windows::channel_axis(N, options.data_format)];
    if (channels >= 0) channels *= options.depth_multiplier;
    return output;
  }
};

template <int N> struct SeparableConvLayer {
  int64_t filters = 0;
  Sizes kernel_size = {};
  SeparableConvOptions options = {};
  Variable depthwise_kernel = {}, pointwise_kernel = {}, bias = {};

  static constexpr const char* class_name = N == 1 ? "SeparableConv1D" : "SeparableConv2D";

  void check() {
    windows::check_filters(filters);
    windows::check_convolution(N, kernel_size, options);
    windows::check_groups(filters, options.groups);
    windows::check_strides(options.strides, options.dilation_rate, options.padding, N == 1);
  }
  void build(const Shape& input) {
    const int64_t channels = windows::channels_of(input, N, options.data_format);
    Shape depthwise(kernel_size.axes()), pointwise(std::vector<int64_t>(N, 1));
    depthwise.push_back(channels);
    depthwise.push_back(options.depth_multiplier);
    pointwise.push_back(channels * options.depth_multiplier);
    pointwise.push_back(filters);
    depthwise_kernel = add_weight(depthwise, {.initializer = options.depthwise_initializer,
                                              .regularizer = options.depthwise_regularizer,
                                              .constraint = options.depthwise_constraint});
    pointwise_kernel = add_weight(pointwise, {.initializer = options.pointwise_initializer,
                                              .regularizer = options.pointwise_regularizer,
                                              .constraint = options.pointwise_constraint});
    bias = windows::add_bias(filters, options);
  }
  InputSpec input_spec() const {
    if (!depthwise_kernel.defined()) return {.min_ndim = N + 2};
    return {.min_ndim = N + 2, .axes = {{windows::channel_axis(N, options.data_format), depthwise_kernel.shape()[N]}}};
  }
  Tensor call(const Tensor& given) {
    windows::check_windows(given.shape(), kernel_size, options.padding, options.data_format, options.dilation_rate);
    Tensor x = options.padding == "causal" ? windows::pad_causally(given, kernel_size.axes()[0],
                                                                   options.dilation_rate.axes()[0], options.data_format)
                                           : given;
    Tensor y = as_images<N>(x, options.data_format, [&](const Tensor& images) {
      return nn::separable_conv2d(images, filter_of_images<N>(depthwise_kernel), filter_of_images<N>(pointwise_kernel),
                                  image_options<N>(options));
    });
    return windows::finish(y, bias, options.activation, N, options.data_format);
  }
  Shape compute_output_shape(const Shape& input) {
    Shape output = windows::convolved_shape(*this, input, N);
    output[windows::channel_axis(N, options.data_format)] = filters;
    return output;
  }
};

const bool depthwise_aliases[] = {
    register_alias("layer", "SeparableConvolution1D", "SeparableConv1D"),
    register_alias("layer", "SeparableConvolution2D", "SeparableConv2D"),
};

}  // namespace

Layer DepthwiseConv1D(const Sizes& kernel_size, const DepthwiseConvOptions& options) {
  return DepthwiseConvLayer<1>{kernel_size, options};
}
Layer DepthwiseConv2D(const Sizes& kernel_size, const DepthwiseConvOptions& options) {
  return DepthwiseConvLayer<2>{kernel_size, options};
}
Layer SeparableConv1D(int64_t filters, const Sizes& kernel_size, const SeparableConvOptions& options) {
  return SeparableConvLayer<1>{filters, kernel_size, options};
}
Layer SeparableConv2D(int64_t filters, const Sizes& kernel_size, const SeparableConvOptions& options) {
  return SeparableConvLayer<2>{filters, kernel_size, options};
}

}  // namespace thalweg::keras::layers

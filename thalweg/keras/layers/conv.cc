#include "thalweg/ops/conv.h"

#include "thalweg/core/error.h"
#include "thalweg/keras/layers/convolution.h"
#include "thalweg/keras/layers/windows.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/splitting.h"

namespace thalweg::keras::layers {
namespace {

template <int N> struct ConvLayer {
  int64_t filters = 0;
  Sizes kernel_size = {};
  ConvOptions options = {};
  Variable kernel = {}, bias = {};

  static constexpr const char* class_name = N == 1 ? "Conv1D" : N == 2 ? "Conv2D" : "Conv3D";

  void check() {
    windows::check_filters(filters);
    windows::check_convolution(N, kernel_size, options);
    windows::check_groups(filters, options.groups);
    windows::check_strides(options.strides, options.dilation_rate, options.padding, N == 1);
  }
  void build(const Shape& input) {
    const int64_t channels = windows::channels_of(input, N, options.data_format);
    if (channels % options.groups != 0)
      throw ValueError(
          "The number of input channels must be evenly divisible by the number of groups. Received groups=" +
          std::to_string(options.groups) + ", but the input has " + std::to_string(channels) +
          " channels (full input shape is " + input.str() + ").");
    if (options.groups < 0)
      throw ValueError("Dimension " + std::to_string(channels / options.groups) + " must be >= 0");
    compute_output_shape(input);
    Shape kernel_shape(kernel_size.axes());
    kernel_shape.push_back(channels / options.groups);
    kernel_shape.push_back(filters);
    kernel = add_weight(kernel_shape, {.initializer = options.kernel_initializer,
                                       .regularizer = options.kernel_regularizer,
                                       .constraint = options.kernel_constraint});
    bias = windows::add_bias(filters, options);
  }
  InputSpec input_spec() const {
    InputSpec spec{.min_ndim = N + 2};
    if (kernel.defined())
      spec.axes = {{windows::channel_axis(N, options.data_format), kernel.shape()[N] * options.groups}};
    return spec;
  }
  Tensor call(const Tensor& x) {
    windows::check_windows(x.shape(), kernel_size, options.padding, options.data_format, options.dilation_rate);
    Tensor y = options.padding == "causal"
                   ? convolve(windows::pad_causally(x, kernel_size.axes()[0], options.dilation_rate.axes()[0],
                                                    options.data_format))
                   : convolve(x);
    return windows::finish(y, bias, options.activation, N, options.data_format);
  }
  Tensor convolve(const Tensor& x) const {
    const nn::ConvOptions how = {.strides = options.strides,
                                 .padding = windows::window_padding(options.padding),
                                 .data_format = windows::layout(N, options.data_format),
                                 .dilations = options.dilation_rate};
    if (N < 3 || options.groups == 1) return nn::convolution(x, kernel, how);
    // The kernel for volumes knows no groups.
    const int axis = windows::channel_axis(N, options.data_format);
    std::vector<Tensor> parts = split(x, options.groups, {.axis = axis}),
                        kernels = split(kernel, options.groups, {.axis = -1});
    for (size_t i = 0; i < parts.size(); ++i) parts[i] = nn::convolution(parts[i], kernels[i], how);
    return concat(parts, axis);
  }
  Shape compute_output_shape(const Shape& input) {
    Shape output = windows::convolved_shape(*this, input, N);
    output[windows::channel_axis(N, options.data_format)] = filters;
    return output;
  }
};

const bool conv_aliases[] = {
    register_alias("layer", "Convolution1D", "Conv1D"),
    register_alias("layer", "Convolution2D", "Conv2D"),
    register_alias("layer", "Convolution3D", "Conv3D"),
};

}  // namespace

Layer Conv1D(int64_t filters, const Sizes& kernel_size, const ConvOptions& options) {
  return ConvLayer<1>{filters, kernel_size, options};
}
Layer Conv2D(int64_t filters, const Sizes& kernel_size, const ConvOptions& options) {
  return ConvLayer<2>{filters, kernel_size, options};
}
Layer Conv3D(int64_t filters, const Sizes& kernel_size, const ConvOptions& options) {
  return ConvLayer<3>{filters, kernel_size, options};
}

}  // namespace thalweg::keras::layers

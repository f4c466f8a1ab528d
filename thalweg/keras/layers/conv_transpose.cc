#include "thalweg/core/error.h"
#include "thalweg/keras/layers/convolution.h"
#include "thalweg/keras/layers/windows.h"
#include "thalweg/ops/conv.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/shaping.h"

namespace thalweg::keras::layers {
namespace {

template <int N> struct ConvTransposeLayer {
  using Options = std::conditional_t<N == 3, Conv3DTransposeOptions, ConvTransposeOptions>;
  int64_t filters = 0;
  Sizes kernel_size = {};
  Options options = {};
  Variable kernel = {}, bias = {};

  static constexpr const char* class_name = N == 1 ? "Conv1DTranspose" : N == 2 ? "Conv2DTranspose" : "Conv3DTranspose";

  void check() {
    windows::check_filters(filters);
    windows::check_convolution(N, kernel_size, options);
    windows::check_groups(filters, options.groups);
    windows::check_strides(options.strides, options.dilation_rate, options.padding, false);
    if (!options.output_padding.given()) return;
    options.output_padding = windows::normalized(options.output_padding, N, "output_padding", true);
    for (size_t i = 0; i < N; ++i)
      if (options.output_padding.axes()[i] >= options.strides.axes()[i])
        throw ValueError(
            "Strides must be greater than output padding. Received strides=" + windows::text(options.strides) +
            ", output_padding=" + windows::text(options.output_padding) + ".");
  }
  void complete_config(Value& config) const {
    if (N == 3) config.erase("dilation_rate");
  }
  Sizes dilation_rate() const {
    if constexpr (N < 3) return options.dilation_rate;
    else return std::vector<int64_t>(N, 1);
  }
  void build(const Shape& input) {
    if (input.rank() != N + 2)
      throw ValueError("Inputs should have rank " + std::to_string(N + 2) + ". Received input_shape=" + input.str() +
                       ".");
    const int64_t channels = windows::channels_of(input, N, options.data_format);
    Shape kernel_shape(kernel_size.axes());
    kernel_shape.push_back(filters);
    kernel_shape.push_back(channels);
    kernel = add_weight(kernel_shape, {.initializer = options.kernel_initializer,
                                       .regularizer = options.kernel_regularizer,
                                       .constraint = options.kernel_constraint});
    bias = windows::add_bias(filters, options);
  }
  InputSpec input_spec() const {
    if (!kernel.defined()) return {.min_ndim = N + 2};
    return {.ndim = N + 2, .axes = {{windows::channel_axis(N, options.data_format), kernel.shape()[-1]}}};
  }
  Tensor call(const Tensor& x) {
    const Shape output = compute_output_shape(x.shape());
    Tensor y = nn::conv_transpose(x, kernel, output_sizes(x, output),
                                  {.strides = options.strides,
                                   .padding = windows::window_padding(options.padding),
                                   .data_format = windows::layout(N, options.data_format),
                                   .dilations = dilation_rate()});
    if (!(y.shape() == output)) y = ensure_shape(y, output);  // the sizes of space are known where the batch is not
    return windows::finish(y, bias, options.activation, N, options.data_format);
  }
  Shape compute_output_shape(const Shape& input) {
    Shape output =
        windows::with_space(input, N, options.data_format, [&](int i, int64_t size) { return length(i, size); });
    output[windows::channel_axis(N, options.data_format)] = filters;
    return output;
  }

  int64_t length(int i, int64_t size) const {
    const auto at = static_cast<size_t>(i);
    return windows::transposed_length(size, kernel_size.axes()[at], options.padding,
                                      options.output_padding.given() ? options.output_padding.axes()[at] : -1,
                                      options.strides.axes()[at], dilation_rate().axes()[at]);
  }
  // The shape of the output as a tensor; what is not known now is computed from the input's.
  Tensor output_sizes(const Tensor& x, const Shape& output) const {
    if (output.is_fully_defined()) return Tensor(std::vector<int32_t>(output.begin(), output.end()));
    const int first = windows::is_channels_first(options.data_format) ? 2 : 1;
    Tensor sizes = shape(x);
    auto number = [](int64_t size) { return Tensor(static_cast<int32_t>(size)); };
    std::vector<Tensor> dims;
    for (int axis = 0; axis < output.rank(); ++axis) {
      if (output[axis] >= 0) dims.push_back(number(output[axis]));
      else if (axis == 0) dims.push_back(sizes(0));
      else
        dims.push_back(sizes(axis) * number(length(axis - first, 1) - length(axis - first, 0)) +
                       number(length(axis - first, 0)));
    }
    return stack(dims);
  }
};

const bool conv_transpose_aliases[] = {
    register_alias("layer", "Convolution1DTranspose", "Conv1DTranspose"),
    register_alias("layer", "Convolution2DTranspose", "Conv2DTranspose"),
    register_alias("layer", "Convolution3DTranspose", "Conv3DTranspose"),
};

}  // namespace

Layer Conv1DTranspose(int64_t filters, const Sizes& kernel_size, const ConvTransposeOptions& options) {
  return ConvTransposeLayer<1>{filters, kernel_size, options};
}
Layer Conv2DTranspose(int64_t filters, const Sizes& kernel_size, const ConvTransposeOptions& options) {
  return ConvTransposeLayer<2>{filters, kernel_size, options};
}
Layer Conv3DTranspose(int64_t filters, const Sizes& kernel_size, const Conv3DTransposeOptions& options) {
  return ConvTransposeLayer<3>{filters, kernel_size, options};
}

}  // namespace thalweg::keras::layers

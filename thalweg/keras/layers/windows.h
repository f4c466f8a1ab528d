// What layers with windows over space (convolutions, pools, paddings) have in common: options in their full form, in
// Keras's words where they are wrong, and the sizes that follow from them.
#pragma once
#include "thalweg/keras/layer.h"
#include "thalweg/ops/window_options.h"

namespace thalweg::keras::layers::windows {

/// One number as one for each of n dimensions; ValueError where the list is of another length or has numbers below 1
/// (below 0 where zeros are allowed).
Sizes normalized(const Sizes& sizes, int n, const char* name, bool allows_zero = false);
/// "valid", "same" or "causal", in small letters.
std::string normalized_padding(const std::string& padding);
/// "channels_last" where it is left out.
std::string normalized_data_format(const std::string& data_format);
/// `(2, 2)`, as Python prints it.
std::string text(const Sizes& sizes);
/// `[2, 7, 4]`
std::string list_text(const Shape& shape);

inline bool is_channels_first(const std::string& data_format) { return data_format == "channels_first"; }
/// TensorFlow's name of the layout: "NHWC".
std::string layout(int spatial, const std::string& data_format);
/// TensorFlow's name of the padding: "VALID"; that of causal layers comes before.
std::string window_padding(const std::string& padding);

/// The length of the output along one dimension; unknown where the input's is. May be negative.
int64_t output_length(int64_t length, int64_t window, const std::string& padding, int64_t stride, int64_t dilation = 1);
/// The same for a transposed convolution; `output_padding` is negative where it is not given.
int64_t transposed_length(int64_t length, int64_t window, const std::string& padding, int64_t output_padding,
                          int64_t stride, int64_t dilation);

/// The dimension of channels, which must be known.
int64_t channels_of(const Shape& input, int spatial, const std::string& data_format);
/// The axis of channels, from the end.
inline int channel_axis(int spatial, const std::string& data_format) {
  return is_channels_first(data_format) ? -1 - spatial : -1;
}
/// A shape [batch..., space..., channels] with other sizes of space; `f(i, size)` gives them.
template <class F> Shape with_space(Shape shape, int spatial, const std::string& data_format, const F& f) {
  const int first = is_channels_first(data_format) ? -spatial : -1 - spatial;
  for (int i = 0; i < spatial; ++i) shape[first + i] = f(i, shape[first + i]);
  return shape;
}

/// ValueError: windows find no place in the input.
[[noreturn]] void refuse_input(const Shape& input);

/// Kernels give nothing for an input that is smaller than a window; a model refuses it while it is put together.
void check_windows(const Shape& input, const Sizes& windows, const std::string& padding, const std::string& data_format,
                   const Sizes& dilation = 1);

/// Zeros before the first of the steps, as many as windows look back.
Tensor pad_causally(const Tensor& x, int64_t window, int64_t dilation, const std::string& data_format);
/// The bias, if there is one, then the activation, if there is one.
Tensor finish(const Tensor& x, const Variable& bias, const keras::Activation& activation, int spatial,
              const std::string& data_format);

/// What all convolutions check when they are made.
template <class Options> void check_convolution(int spatial, Sizes& kernel_size, Options& options) {
  kernel_size = normalized(kernel_size, spatial, "kernel_size");
  options.strides = normalized(options.strides, spatial, "strides", true);
  options.padding = normalized_padding(options.padding);
  options.data_format = normalized_data_format(options.data_format);
  if constexpr (requires { options.dilation_rate; })
    options.dilation_rate = normalized(options.dilation_rate, spatial, "dilation_rate");
  if (options.groups == 0) options.groups = 1;
}
/// And what they check then: strides, padding, dilation.
void check_strides(const Sizes& strides, const Sizes& dilation_rate, const std::string& padding, bool allows_causal);
void check_filters(int64_t filters);
void check_groups(int64_t filters, int64_t groups);

/// A bias of the layer that is being built.
template <class Options> Variable add_bias(int64_t filters, const Options& options) {
  if (!options.use_bias) return {};
  return add_weight({filters}, {.name = "bias",
                                .initializer = options.bias_initializer,
                                .regularizer = options.bias_regularizer,
                                .constraint = options.bias_constraint});
}

/// The shape of a convolution's input with the sizes of its output's space; ValueError where there is no place for it.
template <class L> Shape convolved_shape(const L& layer, const Shape& input, int spatial) {
  return with_space(input, spatial, layer.options.data_format, [&](int i, int64_t size) {
    const auto at = static_cast<size_t>(i);
    const int64_t length = output_length(size, layer.kernel_size.axes()[at], layer.options.padding,
                                         layer.options.strides.axes()[at], layer.options.dilation_rate.axes()[at]);
    if (size >= 0 && length < 0) refuse_input(input);
    return length;
  });
}

/// The layer that is being built or called.
const std::string& layer_name();

}  // namespace thalweg::keras::layers::windows

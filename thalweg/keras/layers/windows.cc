#include "thalweg/keras/layers/windows.h"

#include <algorithm>

#include "thalweg/core/error.h"
#include "thalweg/keras/call_context.h"
#include "thalweg/ops/conv_geometry.h"
#include "thalweg/ops/losses.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/padding.h"
#include "thalweg/ops/shaping.h"

namespace thalweg::keras::layers::windows {
namespace {

std::string in_small_letters(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  return text;
}

}  // namespace

Sizes normalized(const Sizes& sizes, int n, const char* name, bool allows_zero) {
  const Value given = keras::to_value(sizes);
  const std::string message = "The `" + std::string(name) + "` argument must be a tuple of " + std::to_string(n) +
                              " integers. Received: " + (given.is_none() ? "None" : given.json());
  std::vector<int64_t> all = sizes.axes();
  if (sizes.is_single()) all.assign(static_cast<size_t>(n), all[0]);
  if (!sizes.given() || all.size() != static_cast<size_t>(n)) throw ValueError(message);
  for (int64_t size : all)
    if (size < (allows_zero ? 0 : 1))
      throw ValueError(message + " including {" + std::to_string(size) + "} that does not satisfy the requirement `" +
                       (allows_zero ? ">= 0" : "> 0") + "`.");
  return all;
}

std::string normalized_padding(const std::string& padding) {
  std::string known = in_small_letters(padding);
  if (known != "valid" && known != "same" && known != "causal")
    throw ValueError(
        "The `padding` argument must be a list/tuple or one of \"valid\", \"same\" (or \"causal\", only for `Conv1D). "
        "Received: " +
        known);
  return known;
}

std::string normalized_data_format(const std::string& data_format) {
  if (data_format.empty()) return "channels_last";
  std::string known = in_small_letters(data_format);
  if (known != "channels_first" && known != "channels_last")
    throw ValueError("The `data_format` argument must be one of \"channels_first\", \"channels_last\". Received: " +
                     data_format);
  return known;
}

std::string text(const Sizes& sizes) { return Shape(sizes.axes()).str(); }
std::string list_text(const Shape& shape) {
  std::string all;
  for (int64_t dim : shape) all += (all.empty() ? "" : ", ") + (dim < 0 ? std::string("None") : std::to_string(dim));
  return "[" + all + "]";
}

std::string layout(int spatial, const std::string& data_format) {
  return layout_name(spatial, is_channels_first(data_format));
}
std::string window_padding(const std::string& padding) { return padding == "same" ? "SAME" : "VALID"; }

int64_t output_length(int64_t length, int64_t window, const std::string& padding, int64_t stride, int64_t dilation) {
  if (length < 0) return unknown;
  const int64_t reach = (window - 1) * dilation + 1;
  const int64_t places = padding == "valid" ? length - reach + 1 : length;
  // Rounded up; negative numbers down, as Python divides.
  const int64_t sum = places + stride - 1;
  return sum >= 0 ? sum / stride : -((-sum + stride - 1) / stride);
}

int64_t transposed_length(int64_t length, int64_t window, const std::string& padding, int64_t output_padding,
                          int64_t stride, int64_t dilation) {
  if (length < 0) return unknown;
  const int64_t reach = (window - 1) * dilation + 1;
  if (output_padding < 0) return length * stride + (padding == "valid" ? std::max<int64_t>(reach - stride, 0) : 0);
  const int64_t removed = padding == "same" ? reach / 2 : 0;
  return (length - 1) * stride + reach - 2 * removed + output_padding;
}

int64_t channels_of(const Shape& input, int spatial, const std::string& data_format) {
  const int axis = channel_axis(spatial, data_format);
  if (input[axis] < 0)
    throw ValueError("The channel dimension of the inputs should be defined. The input_shape received is " +
                     input.str() + ", where axis " + std::to_string(axis) +
                     " (0-based) is the channel dimension, which found to be `None`.");
  return input[axis];
}

Tensor pad_causally(const Tensor& x, int64_t window, int64_t dilation, const std::string& data_format) {
  std::vector<int64_t> paddings(2 * static_cast<size_t>(x.rank()), 0);
  const int axis = x.rank() - (is_channels_first(data_format) ? 1 : 2);
  paddings[2 * static_cast<size_t>(axis)] = dilation * (window - 1);
  return pad(x, Tensor(paddings, Shape{x.rank(), 2}));
}

Tensor finish(const Tensor& x, const Variable& bias, const Activation& activation, int spatial,
              const std::string& data_format) {
  Tensor y = x;
  if (bias.defined()) {
    if (!is_channels_first(data_format)) {
      y = nn::bias_add(y, bias);
    } else if (x.rank() == spatial + 2) {
      y = nn::bias_add(y, bias, {.data_format = "NCHW"});
    } else {
      // Several dimensions of batch.
      std::vector<int64_t> dims(static_cast<size_t>(spatial + 1), 1);
      dims[0] = bias.shape()[0];
      y = y + reshape(bias, Tensor(dims));
    }
  }
  return activation.defined() ? activation(y) : y;
}

void check_strides(const Sizes& strides, const Sizes& dilation_rate, const std::string& padding, bool allows_causal) {
  auto largest = [](const Sizes& sizes) { return *std::max_element(sizes.axes().begin(), sizes.axes().end()); };
  for (int64_t stride : strides.axes())
    if (stride == 0) throw ValueError("The argument `strides` cannot contains 0(s). Received: " + text(strides));
  if (padding == "causal" && !allows_causal)
    throw ValueError("Causal padding is only supported for `Conv1D`and `SeparableConv1D`.");
  if (largest(strides) > 1 && dilation_rate.given() && largest(dilation_rate) > 1)
    throw ValueError("`strides > 1` not supported in conjunction with `dilation_rate > 1`. Received: strides=" +
                     text(strides) + " and dilation_rate=" + text(dilation_rate));
}

void check_filters(int64_t filters) {
  if (filters <= 0)
    throw ValueError("Invalid value for argument `filters`. Expected a strictly positive value. Received filters=" +
                     std::to_string(filters) + ".");
}
void check_groups(int64_t filters, int64_t groups) {
  if (filters % groups != 0)
    throw ValueError("The number of filters must be evenly divisible by the number of groups. Received: groups=" +
                     std::to_string(groups) + ", filters=" + std::to_string(filters));
}

const std::string& layer_name() {
  static const std::string none;
  const detail::CallContext* context = detail::CallContext::current();
  return context ? context->layer().name : none;
}

void check_windows(const Shape& input, const Sizes& windows, const std::string& padding, const std::string& data_format,
                   const Sizes& dilation) {
  if (!detail::Recording::is_on() || padding != "valid") return;
  const std::vector<int64_t>& sizes = windows.axes();
  const std::vector<int64_t>& rates = dilation.axes();
  with_space(input, static_cast<int>(sizes.size()), data_format, [&](int i, int64_t size) {
    const auto at = static_cast<size_t>(i);
    const int64_t reach = (sizes[at] - 1) * (dilation.is_single() ? rates[0] : rates[at]) + 1;
    if (size >= 0 && size < reach)
      throw ValueError("Negative dimension size caused by subtracting " + std::to_string(reach) + " from " +
                       std::to_string(size));
    return size;
  });
}

void refuse_input(const Shape& input) {
  throw ValueError("One of the dimensions in the output is <= 0 due to downsampling in " + layer_name() +
                   ". Consider increasing the input size. Received input shape " + list_text(input) +
                   " which would produce output shape with a zero or negative value in a dimension.");
}

}  // namespace thalweg::keras::layers::windows

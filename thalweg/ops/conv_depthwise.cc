#include "thalweg/core/error.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/conv.h"
#include "thalweg/ops/conv_rules.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/shaping.h"

namespace thalweg {
namespace {

struct DepthwiseAttrs {
  std::vector<int64_t> strides = {};
  std::string padding = "";
  std::vector<int64_t> explicit_paddings = {};
  std::string data_format = "NHWC";
  std::vector<int64_t> dilations = {1, 1, 1, 1};
};
template <class Call> ConvRule depthwise_rule(const Call& c) {
  const auto& a = c.template attrs<DepthwiseAttrs>();
  return {2,
          Channels::depthwise,
          {a.padding, a.data_format, a.strides, a.dilations, a.explicit_paddings, {}, "dilations", true}};
}

extern const Op &DepthwiseConv2dNative, &DepthwiseConv2dNativeBackpropFilter, &DepthwiseConv2dNativeBackpropInput;

const Op& DepthwiseConv2dNative = define_op({
    .name = "DepthwiseConv2dNative",
    .doc = "The convolution of each channel of images by itself, with filters [height, width, channels, multiplier].",
    .signature = "input: T, filter: T -> output: T",
    .types = {{"T", float_types}},
    .attrs = attrs_of<DepthwiseAttrs>(),
    .infer = [](InferCall& c) { infer_conv(c, depthwise_rule(c)); },
    .kernel = {[](const KernelCall& c) { run_conv(c, depthwise_rule(c)); }},
    .grad =
        [](GradCall& g) {
          const auto& a = g.attrs<DepthwiseAttrs>();
          const Tensor &x = g.input(0), &w = g.input(1), &d = g.output_grad();
          if (g.wants(0)) g.input_grad(0, apply1(DepthwiseConv2dNativeBackpropInput, {shape(x), w, d}, a));
          if (g.wants(1)) g.input_grad(1, apply1(DepthwiseConv2dNativeBackpropFilter, {x, shape(w), d}, a));
        },
    .grad_reads = reads::inputs<0, 1>,
    .traits = {.layout = Layout::prefers_channels_last},
});

const Op& DepthwiseConv2dNativeBackpropFilter = define_op({
    .name = "DepthwiseConv2dNativeBackpropFilter",
    .doc = "The gradient of DepthwiseConv2dNative with respect to its filter.",
    .signature = "input: T, filter_sizes: int32, out_backprop: T -> output: T",
    .types = {{"T", float_types}},
    .attrs = attrs_of<DepthwiseAttrs>(),
    .infer = [](InferCall& c) { infer_conv_filter_grad(c, depthwise_rule(c)); },
    .kernel = {[](const KernelCall& c) { run_conv_filter_grad(c, depthwise_rule(c)); }},
    .grad =
        [](GradCall& g) {
          const auto& a = g.attrs<DepthwiseAttrs>();
          const Tensor &x = g.input(0), &d = g.output_grad();
          if (g.wants(0)) g.input_grad(0, apply1(DepthwiseConv2dNativeBackpropInput, {shape(x), d, g.input(2)}, a));
          if (g.wants(2)) g.input_grad(2, apply1(DepthwiseConv2dNative, {x, d}, a));
        },
    .grad_reads = reads::inputs<0, 2>,
});

const Op& DepthwiseConv2dNativeBackpropInput = define_op({
    .name = "DepthwiseConv2dNativeBackpropInput",
    .doc = "The gradient of DepthwiseConv2dNative with respect to its input.",
    .signature = "input_sizes: int32, filter: T, out_backprop: T -> output: T",
    .types = {{"T", float_types}},
    .attrs = attrs_of<DepthwiseAttrs>(),
    .infer = [](InferCall& c) { infer_conv_input_grad(c, depthwise_rule(c)); },
    .kernel = {[](const KernelCall& c) { run_conv_input_grad(c, depthwise_rule(c)); }},
    .grad =
        [](GradCall& g) {
          const auto& a = g.attrs<DepthwiseAttrs>();
          const Tensor &w = g.input(1), &d = g.output_grad();
          if (g.wants(1)) g.input_grad(1, apply1(DepthwiseConv2dNativeBackpropFilter, {d, shape(w), g.input(2)}, a));
          if (g.wants(2)) g.input_grad(2, apply1(DepthwiseConv2dNative, {d, w}, a));
        },
    .grad_reads = reads::inputs<1, 2>,
});

}  // namespace

Tensor nn::depthwise_conv2d(const Tensor& input, const Tensor& filter, const ConvOptions& o) {
  std::string layout = o.data_format.empty() ? "NHWC" : o.data_format;
  return apply1(
      DepthwiseConv2dNative, {input, filter},
      DepthwiseAttrs{all_dimensions(o.strides, 2, layout, "strides"), o.padding.name(), o.padding.explicit_paddings(),
                     layout, all_dimensions(o.dilations, 2, layout, "dilations")});
}

Tensor nn::separable_conv2d(const Tensor& input, const Tensor& depthwise_filter, const Tensor& pointwise_filter,
                            const ConvOptions& options) {
  const Shape& s = pointwise_filter.shape();
  auto is_one = [](int64_t dim) { return dim == 1 || dim == unknown; };
  if (s.has_rank() && (s.rank() != 4 || !is_one(s[0]) || !is_one(s[1])))
    throw ValueError("separable_conv2d: pointwise_filter must have shape [1, 1, channels, out_channels], got " +
                     s.brackets());
  Tensor separate = depthwise_conv2d(input, depthwise_filter, options);
  return conv2d(separate, pointwise_filter,
                {.data_format = options.data_format.empty() ? "NHWC" : options.data_format});
}

namespace {
const FunctionDef* const conv_depthwise_functions[] = {
    &define_function<Tensor(const Tensor&, const Tensor&, const nn::ConvOptions&), nn::depthwise_conv2d>(
        {"nn.depthwise_conv2d"}, {"input", "filter"}),
    &define_function<Tensor(const Tensor&, const Tensor&, const Tensor&, const nn::ConvOptions&), nn::separable_conv2d>(
        {"nn.separable_conv2d"}, {"input", "depthwise_filter", "pointwise_filter"}),
};
}  // namespace

}  // namespace thalweg

#include "thalweg/ops/apply.h"
#include "thalweg/ops/conv.h"
#include "thalweg/ops/conv_rules.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/shaping.h"

namespace thalweg {
namespace {

struct Conv2DAttrs {
  std::vector<int64_t> strides = {};
  bool use_cudnn_on_gpu = true;
  std::string padding = "";
  std::vector<int64_t> explicit_paddings = {};
  std::string data_format = "NHWC";
  std::vector<int64_t> dilations = {1, 1, 1, 1};
};
template <class Call> ConvRule conv2d_rule(const Call& c) {
  const auto& a = c.template attrs<Conv2DAttrs>();
  return {2,
          Channels::grouped,
          {a.padding, a.data_format, a.strides, a.dilations, a.explicit_paddings, {}, "dilations", true}};
}

extern const Op &Conv2D, &Conv2DBackpropFilter, &Conv2DBackpropInput;

const Op& Conv2D = define_op({
    .name = "Conv2D",
    .doc = "The convolution of images with filters [height, width, in_channels / groups, out_channels].",
    .signature = "input: T, filter: T -> output: T",
    .types = {{"T", float_types | types(int32)}},
    .attrs = attrs_of<Conv2DAttrs>(),
    .infer = [](InferCall& c) { infer_conv(c, conv2d_rule(c)); },
    .kernel = {[](const KernelCall& c) { run_conv(c, conv2d_rule(c)); }},
    .grad =
        [](GradCall& g) {
          const auto& a = g.attrs<Conv2DAttrs>();
          const Tensor &x = g.input(0), &w = g.input(1), &d = g.output_grad();
          if (g.wants(0)) g.input_grad(0, apply1(Conv2DBackpropInput, {shape(x), w, d}, a));
          if (g.wants(1)) g.input_grad(1, apply1(Conv2DBackpropFilter, {x, shape(w), d}, a));
        },
    .grad_reads = reads::inputs<0, 1>,
    .traits = {.never_fails = true, .layout = Layout::prefers_channels_last},
});

const Op& Conv2DBackpropFilter = define_op({
    .name = "Conv2DBackpropFilter",
    .doc = "The gradient of Conv2D with respect to its filter.",
    .signature = "input: T, filter_sizes: int32, out_backprop: T -> output: T",
    .types = {{"T", float_types}},
    .attrs = attrs_of<Conv2DAttrs>(),
    .infer = [](InferCall& c) { infer_conv_filter_grad(c, conv2d_rule(c)); },
    .kernel = {[](const KernelCall& c) { run_conv_filter_grad(c, conv2d_rule(c)); }},
    .grad =
        [](GradCall& g) {
          const auto& a = g.attrs<Conv2DAttrs>();
          const Tensor &x = g.input(0), &d = g.output_grad();
          if (g.wants(0)) g.input_grad(0, apply1(Conv2DBackpropInput, {shape(x), d, g.input(2)}, a));
          if (g.wants(2)) g.input_grad(2, apply1(Conv2D, {x, d}, a));
        },
    .grad_reads = reads::inputs<0, 2>,
});

const Op& Conv2DBackpropInput = define_op({
    .name = "Conv2DBackpropInput",
    .doc = "The gradient of Conv2D with respect to its input. input_sizes may be height and width alone.",
    .signature = "input_sizes: int32, filter: T, out_backprop: T -> output: T",
    .types = {{"T", float_types | types(int32)}},
    .attrs = attrs_of<Conv2DAttrs>(),
    .infer = [](InferCall& c) { infer_conv_input_grad(c, conv2d_rule(c)); },
    .kernel = {[](const KernelCall& c) { run_conv_input_grad(c, conv2d_rule(c)); }},
    .grad =
        [](GradCall& g) {
          const auto& a = g.attrs<Conv2DAttrs>();
          const Tensor &w = g.input(1), &d = g.output_grad();
          if (g.wants(1)) g.input_grad(1, apply1(Conv2DBackpropFilter, {d, shape(w), g.input(2)}, a));
          if (g.wants(2)) g.input_grad(2, apply1(Conv2D, {d, w}, a));
        },
    .grad_reads = reads::inputs<1, 2>,
});

Conv2DAttrs conv2d_attrs(const Sizes& strides, const Padding& padding, const std::string& data_format,
                         const Sizes& dilations) {
  return {.strides = all_dimensions(strides, 2, data_format, "strides"),
          .padding = padding.name(),
          .explicit_paddings = padding.explicit_paddings(),
          .data_format = data_format,
          .dilations = all_dimensions(dilations, 2, data_format, "dilations")};
}

}  // namespace

Tensor nn::conv2d(const Tensor& input, const Tensor& filters, const Conv2DOptions& o) {
  Conv2DAttrs attrs = conv2d_attrs(o.strides, o.padding, o.data_format, o.dilations);
  return with_one_batch(input, 4, [&](const Tensor& x) { return apply1(Conv2D, {x, filters}, attrs); });
}

Tensor nn::conv2d_transpose(const Tensor& input, const Tensor& filters, const TensorLike& output_shape,
                            const Conv2DTransposeOptions& o) {
  return apply1(Conv2DBackpropInput, {output_shape, filters, input},
                conv2d_attrs(o.strides, o.padding, o.data_format, o.dilations));
}

namespace {
const FunctionDef* const conv2d_functions[] = {
    &define_function<Tensor(const Tensor&, const Tensor&, const nn::Conv2DOptions&), nn::conv2d>({"nn.conv2d"},
                                                                                                 {"input", "filters"}),
    &define_function<Tensor(const Tensor&, const Tensor&, const TensorLike&, const nn::Conv2DTransposeOptions&),
                     nn::conv2d_transpose>({"nn.conv2d_transpose"}, {"input", "filters", "output_shape"}),
};
}  // namespace

}  // namespace thalweg

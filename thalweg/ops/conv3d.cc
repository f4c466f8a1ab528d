#include "thalweg/core/error.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/conv.h"
#include "thalweg/ops/conv_rules.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/shaping.h"

namespace thalweg {
namespace {

struct Conv3DAttrs {
  std::vector<int64_t> strides = {};
  std::string padding = "";
  std::string data_format = "NDHWC";
  std::vector<int64_t> dilations = {1, 1, 1, 1, 1};
};
template <class Call> ConvRule conv3d_rule(const Call& c) {
  const auto& a = c.template attrs<Conv3DAttrs>();
  return {3, Channels::whole, {a.padding, a.data_format, a.strides, a.dilations}};
}

extern const Op &Conv3D, &Conv3DBackpropFilterV2, &Conv3DBackpropInputV2;

const Op& Conv3D = define_op({
    .name = "Conv3D",
    .doc = "The convolution of volumes with filters [depth, height, width, in_channels, out_channels].",
    .signature = "input: T, filter: T -> output: T",
    .types = {{"T", float_types}},
    .attrs = attrs_of<Conv3DAttrs>(),
    .infer = [](InferCall& c) { infer_conv(c, conv3d_rule(c)); },
    .kernel = {[](const KernelCall& c) { run_conv(c, conv3d_rule(c)); }},
    .grad =
        [](GradCall& g) {
          const auto& a = g.attrs<Conv3DAttrs>();
          const Tensor &x = g.input(0), &w = g.input(1), &d = g.output_grad();
          if (g.wants(0)) g.input_grad(0, apply1(Conv3DBackpropInputV2, {shape(x), w, d}, a));
          if (g.wants(1)) g.input_grad(1, apply1(Conv3DBackpropFilterV2, {x, shape(w), d}, a));
        },
    .grad_reads = reads::inputs<0, 1>,
});

const Op& Conv3DBackpropFilterV2 = define_op({
    .name = "Conv3DBackpropFilterV2",
    .doc = "The gradient of Conv3D with respect to its filter.",
    .signature = "input: T, filter_sizes: int32, out_backprop: T -> output: T",
    .types = {{"T", float_types}},
    .attrs = attrs_of<Conv3DAttrs>(),
    .infer = [](InferCall& c) { infer_conv_filter_grad(c, conv3d_rule(c)); },
    .kernel = {[](const KernelCall& c) { run_conv_filter_grad(c, conv3d_rule(c)); }},
    .grad =
        [](GradCall& g) {
          const auto& a = g.attrs<Conv3DAttrs>();
          const Tensor &x = g.input(0), &d = g.output_grad();
          if (g.wants(0)) g.input_grad(0, apply1(Conv3DBackpropInputV2, {shape(x), d, g.input(2)}, a));
          if (g.wants(2)) g.input_grad(2, apply1(Conv3D, {x, d}, a));
        },
    .grad_reads = reads::inputs<0, 2>,
});

const Op& Conv3DBackpropInputV2 = define_op({
    .name = "Conv3DBackpropInputV2",
    .doc = "The gradient of Conv3D with respect to its input.",
    .signature = "input_sizes: Tshape, filter: T, out_backprop: T -> output: T",
    .types = {{"T", float_types}, {"Tshape", index_types}},
    .attrs = attrs_of<Conv3DAttrs>(),
    .infer = [](InferCall& c) { infer_conv_input_grad(c, conv3d_rule(c)); },
    .kernel = {[](const KernelCall& c) { run_conv_input_grad(c, conv3d_rule(c)); }},
    .grad =
        [](GradCall& g) {
          const auto& a = g.attrs<Conv3DAttrs>();
          const Tensor &w = g.input(1), &d = g.output_grad();
          if (g.wants(1)) g.input_grad(1, apply1(Conv3DBackpropFilterV2, {d, shape(w), g.input(2)}, a));
          if (g.wants(2)) g.input_grad(2, apply1(Conv3D, {d, w}, a));
        },
    .grad_reads = reads::inputs<1, 2>,
});

Conv3DAttrs conv3d_attrs(const Sizes& strides, const Padding& padding, const std::string& data_format,
                         const Sizes& dilations) {
  if (padding.is_explicit()) throw ValueError("padding of three dimensions of space must be \"SAME\" or \"VALID\"");
  return {all_dimensions(strides, 3, data_format, "strides"), padding.name(), data_format,
          all_dimensions(dilations, 3, data_format, "dilations")};
}

}  // namespace

Tensor nn::conv3d(const Tensor& input, const Tensor& filters, const Conv3DOptions& o) {
  Conv3DAttrs attrs = conv3d_attrs(o.strides, o.padding, o.data_format, o.dilations);
  return with_one_batch(input, 5, [&](const Tensor& x) { return apply1(Conv3D, {x, filters}, attrs); });
}

Tensor nn::conv3d_transpose(const Tensor& input, const Tensor& filters, const TensorLike& output_shape,
                            const Conv3DTransposeOptions& o) {
  return apply1(Conv3DBackpropInputV2, {output_shape, filters, input},
                conv3d_attrs(o.strides, o.padding, o.data_format, o.dilations));
}

namespace {
const FunctionDef* const conv3d_functions[] = {
    &define_function<Tensor(const Tensor&, const Tensor&, const nn::Conv3DOptions&), nn::conv3d>({"nn.conv3d"},
                                                                                                 {"input", "filters"}),
    &define_function<Tensor(const Tensor&, const Tensor&, const TensorLike&, const nn::Conv3DTransposeOptions&),
                     nn::conv3d_transpose>({"nn.conv3d_transpose"}, {"input", "filters", "output_shape"}),
};
}  // namespace

}  // namespace thalweg

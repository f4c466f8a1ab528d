#include "thalweg/kernels/dilation.h"

#include <limits>

#include "thalweg/core/error.h"
#include "thalweg/core/index.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/conv.h"
#include "thalweg/ops/conv_geometry.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/ordering.h"
#include "thalweg/ops/patches.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/selection.h"
#include "thalweg/ops/shaping.h"

namespace thalweg {
namespace {

struct Dilation2DAttrs {
  std::vector<int64_t> strides = {};
  std::vector<int64_t> rates = {};
  std::string padding = "";
};
template <class Call> Geometry geometry(const Call& c) {
  const auto& a = c.template attrs<Dilation2DAttrs>();
  // An empty list would pass for one of ones.
  if (a.rates.size() != 4) c.fail("rates must have 4 numbers, got " + std::to_string(a.rates.size()));
  return read_geometry(c, 2,
                       {.padding = a.padding, .strides = a.strides, .dilations = a.rates, .dilations_name = "rates"});
}

// The shape of the result of images and a filter, inputs 0 and 1.
Shape dilated_shape(const InferCall& c) {
  Geometry g = geometry(c);
  c.require_rank(0, 4);
  c.require_rank(1, 3);
  Shape input = c.shape(0).has_rank() ? c.shape(0) : Shape::of_rank(4);
  Shape filter = c.shape(1).has_rank() ? c.shape(1) : Shape::of_rank(3);
  if (filter[0] == 0 || filter[1] == 0) c.fail("the filter " + filter.brackets() + " is empty");
  if (input[3] >= 0 && filter[2] >= 0 && input[3] != filter[2])
    c.fail("the input " + input.brackets() + " and the filter " + filter.brackets() + " must have as many channels");
  int64_t space[2];
  for (int i = 0; i < 2; ++i) space[i] = windows_along(c, g, i, input[1 + i], filter[i]).count;
  return g.arrange(input[0], space, input[3] >= 0 ? input[3] : filter[2]);
}
kernels::ConvShape conv_shape(const KernelCall& c, const Shape& out) {
  Geometry g = geometry(c);
  const Shape &input = c.shape(0), &filter = c.shape(1);
  kernels::ConvShape s;
  s.batch = input[0];
  s.in_channels = s.out_channels = s.groups = input[3];
  for (int i = 0; i < 2; ++i) {
    s.in[1 + i] = input[1 + i];
    s.filter[1 + i] = filter[i];
    s.out[1 + i] = out[1 + i];
    s.strides[1 + i] = g.stride(i);
    s.dilations[1 + i] = g.dilation(i);
    s.pads_before[1 + i] = windows_along(c, g, i, input[1 + i], filter[i]).before;
  }
  return s;
}
// input, filter, out_backprop -> the gradient of one of the first two.
template <int Of> void infer_dilation_grad(InferCall& c) {
  Shape out = dilated_shape(c);
  if (!c.shape(2).is_compatible_with(out))
    c.fail("out_backprop must have shape " + out.brackets() + ", got " + c.shape(2).brackets());
  c.output(0, c.shape(Of).has_rank() ? c.shape(Of) : Shape::of_rank(Of == 0 ? 4 : 3));
}

// The windows of images, one element of the filter after the other: [batch, height, width, taps, channels].
Tensor windows_of(const Tensor& images, const Dilation2DAttrs& a, const Shape& filter) {
  Tensor patches = image::extract_patches(images, {1, filter[0], filter[1], 1}, a.strides, a.rates, a.padding);
  Tensor dims = shape(patches);
  return reshape(
      patches,
      concat({dims(slice(0, 3)), Tensor(std::vector<int32_t>{static_cast<int32_t>(filter[0] * filter[1]), -1})}, 0));
}
// Both gradients are linear in out_backprop: back comes what stands where each window had its largest sum. Nothing
// comes back to the images and the filter, which only decide where that is.
template <int Of> void grad_of_dilation_grad(GradCall& g) {
  const auto& a = g.attrs<Dilation2DAttrs>();
  const Tensor &images = g.input(0), &filter = g.input(1), &d = g.output_grad();
  const Shape& shape = filter.shape();
  if (g.wants(0)) g.input_grad(0, zeros_like(images));
  if (g.wants(1)) g.input_grad(1, zeros_like(filter));
  if (!g.wants(2)) return;
  if (!shape.has_rank() || shape[0] < 0 || shape[1] < 0)
    throw ValueError("the gradient of " + std::string(g.op.name) + " needs a filter of known sides, got shape " +
                     shape.brackets());
  const int64_t taps = shape[0] * shape[1];
  auto flat = [&](const Tensor& t) { return reshape(t, {taps, -1}); };
  Tensor sums = windows_of(images, a, shape) + flat(filter), inside = windows_of(ones_like(images), a, shape);
  Tensor best = argmax(where(equal(inside, 0), std::numeric_limits<double>::lowest(), sums), {.axis = 3});
  Tensor chosen = one_hot(best, taps, {.axis = 3, .dtype = d.dtype()});
  g.input_grad(2, reduce_sum(chosen * (Of == 0 ? windows_of(d, a, shape) : flat(d)), {.axis = 3}));
}

extern const Op &Dilation2DBackpropInput, &Dilation2DBackpropFilter;

const Op& Dilation2D = define_op({
    .name = "Dilation2D",
    .doc = "The largest sum of pixel and filter in each window of images; filters [height, width, channels].",
    .signature = "input: T, filter: T -> output: T",
    .types = {{"T", real_types}},
    .attrs = attrs_of<Dilation2DAttrs>(),
    .infer = [](InferCall& c) { c.output(0, dilated_shape(c)); },
    .kernel = {[](const KernelCall& c) {
      const Shape& out = c.output_shape();
      if (out.count() > 0) kernels::dilation(c.dtype(), conv_shape(c, out), c.input(0), c.input(1), c.output());
    }},
    .grad =
        [](GradCall& g) {
          const auto& a = g.attrs<Dilation2DAttrs>();
          const Tensor &x = g.input(0), &w = g.input(1), &d = g.output_grad();
          if (g.wants(0)) g.input_grad(0, apply1(Dilation2DBackpropInput, {x, w, d}, a));
          if (g.wants(1)) g.input_grad(1, apply1(Dilation2DBackpropFilter, {x, w, d}, a));
        },
    .grad_reads = reads::inputs<0, 1>,
});

const Op& Dilation2DBackpropInput = define_op({
    .name = "Dilation2DBackpropInput",
    .doc = "The gradient of Dilation2D with respect to its input: the first of equal sums receives it.",
    .signature = "input: T, filter: T, out_backprop: T -> in_backprop: T",
    .types = {{"T", real_types}},
    .attrs = attrs_of<Dilation2DAttrs>(),
    .infer = infer_dilation_grad<0>,
    .kernel = {[](const KernelCall& c) {
      if (c.output_shape().count() > 0)
        kernels::dilation_input_grad(c.dtype(), conv_shape(c, c.shape(2)), c.input(0), c.input(1), c.input(2),
                                     c.output());
    }},
    .grad = grad_of_dilation_grad<0>,
    .grad_reads = reads::inputs<0, 1>,
});

const Op& Dilation2DBackpropFilter = define_op({
    .name = "Dilation2DBackpropFilter",
    .doc = "The gradient of Dilation2D with respect to its filter: the first of equal sums receives it.",
    .signature = "input: T, filter: T, out_backprop: T -> filter_backprop: T",
    .types = {{"T", real_types}},
    .attrs = attrs_of<Dilation2DAttrs>(),
    .infer = infer_dilation_grad<1>,
    .kernel = {[](const KernelCall& c) {
      if (c.output_shape().count() > 0)
        kernels::dilation_filter_grad(c.dtype(), conv_shape(c, c.shape(2)), c.input(0), c.input(1), c.input(2),
                                      c.output());
    }},
    .grad = grad_of_dilation_grad<1>,
    .grad_reads = reads::inputs<0, 1>,
});

}  // namespace

namespace nn {

Tensor dilation2d(const Tensor& input, const Tensor& filters, const Dilation2DOptions& o) {
  if (o.data_format != "NHWC")
    throw ValueError("dilation2d: data_format must be \"NHWC\", got \"" + o.data_format + '"');
  return apply1(Dilation2D, {input, filters},
                Dilation2DAttrs{all_dimensions(o.strides, 2, o.data_format, "strides"),
                                all_dimensions(o.dilations, 2, o.data_format, "dilations"), o.padding.name()});
}

Tensor erosion2d(const Tensor& value, const Tensor& filters, const Dilation2DOptions& options) {
  return -dilation2d(-value, reverse(filters, {0, 1}), options);
}

}  // namespace nn

namespace {
const FunctionDef* const dilation_functions[] = {
    &define_function<nn::dilation2d>({"nn.dilation2d"}, {"input", "filters"}),
    &define_function<nn::erosion2d>({"nn.erosion2d"}, {"value", "filters"}),
};
}  // namespace

}  // namespace thalweg

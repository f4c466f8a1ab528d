#include "thalweg/kernels/dilation.h"

#include "thalweg/core/error.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/conv.h"
#include "thalweg/ops/conv_geometry.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/ordering.h"

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

void infer_dilation(InferCall& c) {
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
  c.output(0, g.arrange(input[0], space, input[3] >= 0 ? input[3] : filter[2]));
}

void run_dilation(const KernelCall& c) {
  Geometry g = geometry(c);
  const Shape &input = c.shape(0), &filter = c.shape(1), &out = c.output_shape();
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
  if (out.count() > 0) kernels::dilation(c.dtype(), s, c.input(0), c.input(1), c.output());
}

const Op& Dilation2D = define_op({
    .name = "Dilation2D",
    .doc = "The largest sum of pixel and filter in each window of images; filters [height, width, channels].",
    .signature = "input: T, filter: T -> output: T",
    .types = {{"T", real_types}},
    .attrs = attrs_of<Dilation2DAttrs>(),
    .infer = infer_dilation,
    .kernel = {run_dilation},
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
const FunctionDef* const functions[] = {
    &define_function<nn::dilation2d>({"nn.dilation2d"}, {"input", "filters"}),
    &define_function<nn::erosion2d>({"nn.erosion2d"}, {"value", "filters"}),
};
}  // namespace

}  // namespace thalweg

#include "thalweg/core/error.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/pool.h"
#include "thalweg/ops/pool_rules.h"
#include "thalweg/ops/shaping.h"

namespace thalweg {
namespace {

struct AvgPoolAttrs {
  std::vector<int64_t> ksize = {};
  std::vector<int64_t> strides = {};
  std::string padding = "";
  std::string data_format = "NHWC";
};
struct AvgPool3DAttrs {
  std::vector<int64_t> ksize = {};
  std::vector<int64_t> strides = {};
  std::string padding = "";
  std::string data_format = "NDHWC";
};

template <class Attrs> constexpr int spatial = std::is_same_v<Attrs, AvgPoolAttrs> ? 2 : 3;
template <class Attrs, class Call> Geometry geometry(const Call& c) {
  const auto& a = c.template attrs<Attrs>();
  if (a.ksize.empty()) c.fail("ksize must have " + std::to_string(spatial<Attrs> + 2) + " numbers, got none");
  return read_geometry(c, spatial<Attrs>,
                       {.padding = a.padding, .data_format = a.data_format, .strides = a.strides, .ksize = a.ksize});
}

template <class Attrs> void infer_average(InferCall& c) {
  Geometry g = geometry<Attrs>(c);
  c.output(0, pooled_shape(c, g, pool_input(c, g, 0), false));
}
template <class Attrs> void run_average(const KernelCall& c) {
  kernels::average_pool(c.dtype(), pool_shape(c, geometry<Attrs>(c), c.shape(0), c.output_shape()), c.input(0),
                        c.output());
}
template <class Attrs> void infer_average_grad(InferCall& c) {
  Geometry g = geometry<Attrs>(c);
  Shape input = sizes_input(c, 0, g.rank());
  pool_input(c, g, 1);
  require_shape(c, 1, pooled_shape(c, g, input, false));
  c.output(0, input);
}
template <class Attrs> void run_average_grad(const KernelCall& c) {
  kernels::average_pool_grad(c.dtype(1), pool_shape(c, geometry<Attrs>(c), c.output_shape(), c.shape(1)), c.input(1),
                             c.output());
}

extern const Op &AvgPoolGrad, &AvgPool3DGrad;

const Op& AvgPool = define_op({
    .name = "AvgPool",
    .doc = "The mean of each window of images; what lies outside of the image does not count.",
    .signature = "value: T -> output: T",
    .types = {{"T", float_types}},
    .attrs = attrs_of<AvgPoolAttrs>(),
    .infer = infer_average<AvgPoolAttrs>,
    .kernel = {run_average<AvgPoolAttrs>},
    .grad =
        [](GradCall& g) {
          g.input_grad(0, apply1(AvgPoolGrad, {shape(g.input()), g.output_grad()}, g.attrs<AvgPoolAttrs>()));
        },
    .grad_reads = reads::nothing,
    .traits = {.layout = Layout::follows},
});

const Op& AvgPoolGrad = define_op({
    .name = "AvgPoolGrad",
    .doc = "The gradient of AvgPool: every element of a window receives its share.",
    .signature = "orig_input_shape: int32, grad: T -> output: T",
    .types = {{"T", float_types}},
    .attrs = attrs_of<AvgPoolAttrs>(),
    .infer = infer_average_grad<AvgPoolAttrs>,
    .kernel = {run_average_grad<AvgPoolAttrs>},
    .grad = [](GradCall& g) { g.input_grad(1, apply1(AvgPool, {g.output_grad()}, g.attrs<AvgPoolAttrs>())); },
    .grad_reads = reads::nothing,
});

const Op& AvgPool3D = define_op({
    .name = "AvgPool3D",
    .doc = "The mean of each window of volumes; what lies outside of the volume does not count.",
    .signature = "input: T -> output: T",
    .types = {{"T", float_types}},
    .attrs = attrs_of<AvgPool3DAttrs>(),
    .infer = infer_average<AvgPool3DAttrs>,
    .kernel = {run_average<AvgPool3DAttrs>},
    .grad =
        [](GradCall& g) {
          g.input_grad(0, apply1(AvgPool3DGrad, {shape(g.input()), g.output_grad()}, g.attrs<AvgPool3DAttrs>()));
        },
    .grad_reads = reads::nothing,
});

const Op& AvgPool3DGrad = define_op({
    .name = "AvgPool3DGrad",
    .doc = "The gradient of AvgPool3D: every element of a window receives its share.",
    .signature = "orig_input_shape: int32, grad: T -> output: T",
    .types = {{"T", float_types}},
    .attrs = attrs_of<AvgPool3DAttrs>(),
    .infer = infer_average_grad<AvgPool3DAttrs>,
    .kernel = {run_average_grad<AvgPool3DAttrs>},
    .grad = [](GradCall& g) { g.input_grad(1, apply1(AvgPool3D, {g.output_grad()}, g.attrs<AvgPool3DAttrs>())); },
    .grad_reads = reads::nothing,
});

}  // namespace

namespace nn {

Tensor avg_pool2d(const Tensor& input, const Pool2DOptions& o) {
  return apply1(AvgPool, {input},
                AvgPoolAttrs{all_dimensions(o.ksize, 2, o.data_format, "ksize"),
                             all_dimensions(o.strides, 2, o.data_format, "strides"), o.padding.name(), o.data_format});
}

Tensor avg_pool3d(const Tensor& input, const Pool3DOptions& o) {
  return apply1(
      AvgPool3D, {input},
      AvgPool3DAttrs{all_dimensions(o.ksize, 3, o.data_format, "ksize"),
                     all_dimensions(o.strides, 3, o.data_format, "strides"), o.padding.name(), o.data_format});
}

}  // namespace nn

namespace {
const FunctionDef* const pool_average_functions[] = {
    &define_function<Tensor(const Tensor&, const nn::Pool2DOptions&), nn::avg_pool2d>({"nn.avg_pool2d"}, {"input"}),
    &define_function<Tensor(const Tensor&, const nn::Pool3DOptions&), nn::avg_pool3d>({"nn.avg_pool3d"}, {"input"}),
};
}  // namespace

}  // namespace thalweg

#include <limits>

#include "thalweg/core/error.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/integers.h"
#include "thalweg/ops/padding.h"
#include "thalweg/ops/pool.h"
#include "thalweg/ops/pool_rules.h"

namespace thalweg {
namespace {

struct MaxPoolAttrs {
  std::vector<int64_t> ksize = {};
  std::vector<int64_t> strides = {};
  std::string padding = "";
  std::vector<int64_t> explicit_paddings = {};
  std::string data_format = "NHWC";
};
struct MaxPoolGradGradAttrs {
  std::vector<int64_t> ksize = {};
  std::vector<int64_t> strides = {};
  std::string padding = "";
  std::string data_format = "NHWC";
};
struct MaxPoolV2Attrs {  // its gradients' too
  std::string padding = "";
  std::string data_format = "NHWC";
};
struct ArgmaxAttrs {
  std::vector<int64_t> ksize = {};
  std::vector<int64_t> strides = {};
  DType Targmax = DType::int64;
  std::string padding = "";
  bool include_batch_in_index = false;
};
struct MaxPool3DAttrs {
  std::vector<int64_t> ksize = {};
  std::vector<int64_t> strides = {};
  std::string padding = "";
  std::string data_format = "NDHWC";
};

// An empty ksize would pass for a convolution's geometry.
template <class Call> Geometry checked(const Call& c, int spatial, const WindowAttrs& attrs) {
  if (attrs.ksize.empty()) c.fail("ksize must have " + std::to_string(spatial + 2) + " numbers, got none");
  return read_geometry(c, spatial, attrs);
}
template <class Call> Geometry max_pool_geometry(const Call& c) {
  const auto& a = c.template attrs<MaxPoolAttrs>();
  return checked(c, 2,
                 {.padding = a.padding,
                  .data_format = a.data_format,
                  .strides = a.strides,
                  .explicit_paddings = a.explicit_paddings,
                  .ksize = a.ksize,
                  .allows_explicit = true});
}
template <class Call> Geometry grad_grad_geometry(const Call& c) {
  const auto& a = c.template attrs<MaxPoolGradGradAttrs>();
  return checked(c, 2, {.padding = a.padding, .data_format = a.data_format, .strides = a.strides, .ksize = a.ksize});
}
template <class Call> Geometry argmax_geometry(const Call& c) {
  const auto& a = c.template attrs<ArgmaxAttrs>();
  return checked(c, 2, {.padding = a.padding, .strides = a.strides, .ksize = a.ksize});
}
template <class Call> Geometry volume_geometry(const Call& c) {
  const auto& a = c.template attrs<MaxPool3DAttrs>();
  return checked(c, 3, {.padding = a.padding, .data_format = a.data_format, .strides = a.strides, .ksize = a.ksize});
}
// MaxPoolV2 and its gradients take windows and strides as inputs, the last two.
template <class Call> Geometry input_geometry(const Call& c) {
  const auto& a = c.template attrs<MaxPoolV2Attrs>();
  Integers ksize = integers(c, c.num_inputs() - 2), strides = integers(c, c.num_inputs() - 1);
  auto list = [](const Integers& v) { return std::span<const int64_t>(v.at, static_cast<size_t>(v.count)); };
  return checked(c, 2,
                 {.padding = a.padding, .data_format = a.data_format, .strides = list(strides), .ksize = list(ksize)});
}

// Whether windows and strides of MaxPoolV2 and its gradients have values.
bool has_geometry(const InferCall& c) {
  const int ksize = c.num_inputs() - 2, strides = c.num_inputs() - 1;
  c.require_rank(ksize, 1);
  c.require_rank(strides, 1);
  return c.has_value(ksize) && c.has_value(strides);
}
void infer_v2(InferCall& c) {
  c.require_rank(0, 4);
  if (!has_geometry(c)) return c.output(0, Shape::of_rank(4));
  Geometry g = input_geometry(c);
  c.output(0, pooled_shape(c, g, pool_input(c, g, 0), true));
}

// orig_input, orig_output, grad -> the gradient of the input.
void infer_grad(InferCall& c, const Geometry& g) {
  Shape input = pool_input(c, g, 0), pooled = pooled_shape(c, g, input, true);
  require_shape(c, 1, pooled);
  require_shape(c, 2, pooled);
  c.output(0, input);
}
// orig_input, orig_output, a gradient of the input's shape -> what of it stands where the maxima were.
void infer_grad_grad(InferCall& c, const Geometry& g) {
  Shape input = pool_input(c, g, 0), pooled = pooled_shape(c, g, input, true);
  require_shape(c, 1, pooled);
  require_shape(c, 2, input);
  c.output(0, pooled);
}
void run_grad_grad(const KernelCall& c, const Geometry& g) {
  kernels::max_pool_grad_grad(c.dtype(), pool_shape(c, g, c.shape(0), c.output_shape()), c.input(0), c.input(2),
                              c.output());
}
// The images only decide where the maxima are: nothing comes back to them.
void set_zeros(GradCall& g) {
  for (int i : {0, 1})
    if (g.wants(i)) g.input_grad(i, zeros_like(g.input(i)));
}
void run_grad(const KernelCall& c, const Geometry& g, kernels::Ties ties) {
  kernels::max_pool_grad(c.dtype(), pool_shape(c, g, c.shape(0), c.shape(2)), ties, c.input(0), c.input(2), c.output());
}
void run_max(const KernelCall& c, const Geometry& g) {
  kernels::max_pool(c.dtype(), pool_shape(c, g, c.shape(0), c.output_shape()), g.spatial() == 2, c.input(0),
                    c.output());
}

constexpr TypeSet max_types = float_types | types(int32, int64, uint8, int16, int8, uint16);
constexpr TypeSet volume_types = half_types | types(float32);

extern const Op &MaxPoolGrad, &MaxPoolGradV2, &MaxPoolGradGradV2, &MaxPool3DGrad, &MaxPool3DGradGrad;

const Op& MaxPool = define_op({
    .name = "MaxPool",
    .doc = "The largest element of each window of images, or of each group of channels.",
    .signature = "input: T -> output: T",
    .types = {{"T", max_types}},
    .attrs = attrs_of<MaxPoolAttrs>(),
    .infer =
        [](InferCall& c) {
          Geometry g = max_pool_geometry(c);
          c.output(0, pooled_shape(c, g, pool_input(c, g, 0), true));
        },
    .kernel = {[](const KernelCall& c) { run_max(c, max_pool_geometry(c)); }},
    .grad =
        [](GradCall& g) {
          g.input_grad(0, apply1(MaxPoolGrad, {g.input(), g.output(), g.output_grad()}, g.attrs<MaxPoolAttrs>()));
        },
    .grad_reads = reads::inputs<0> | reads::outputs<0>,
    .traits = {.layout = Layout::follows},
});

const Op& MaxPoolV2 = define_op({
    .name = "MaxPoolV2",
    .doc = "MaxPool with windows and strides as inputs.",
    .signature = "input: T, ksize: int32, strides: int32 -> output: T",
    .types = {{"T", max_types}},
    .attrs = attrs_of<MaxPoolV2Attrs>(),
    .infer = infer_v2,
    .kernel = {[](const KernelCall& c) {
      Geometry g = input_geometry(c);
      run_max(c, g);
    }},
    .grad =
        [](GradCall& g) {
          g.input_grad(0, apply1(MaxPoolGradV2, {g.input(0), g.output(), g.output_grad(), g.input(1), g.input(2)},
                                 g.attrs<MaxPoolV2Attrs>()));
        },
    .grad_reads = reads::inputs<0, 1, 2> | reads::outputs<0>,
});

const Op& MaxPoolGradV2 = define_op({
    .name = "MaxPoolGradV2",
    .doc = "The gradient of MaxPoolV2: the first of equal maxima receives it.",
    .signature = "orig_input: T, orig_output: T, grad: T, ksize: int32, strides: int32 -> output: T",
    .types = {{"T", real_types}},
    .attrs = attrs_of<MaxPoolV2Attrs>(),
    .infer =
        [](InferCall& c) {
          if (has_geometry(c)) return infer_grad(c, input_geometry(c));
          for (int i = 0; i < 3; ++i) c.require_rank(i, 4);
          c.output(0, c.shape(0).has_rank() ? c.shape(0) : Shape::of_rank(4));
        },
    .kernel = {[](const KernelCall& c) { run_grad(c, input_geometry(c), kernels::Ties::first); }},
    .grad =
        [](GradCall& g) {
          set_zeros(g);
          if (g.wants(2))
            g.input_grad(2, apply1(MaxPoolGradGradV2, {g.input(0), g.input(1), g.output_grad(), g.input(3), g.input(4)},
                                   g.attrs<MaxPoolV2Attrs>()));
        },
    .grad_reads = reads::inputs<0, 1, 3, 4>,
});

const Op& MaxPoolGradGradV2 = define_op({
    .name = "MaxPoolGradGradV2",
    .doc = "The gradient of MaxPoolGradV2 with respect to its gradient: the elements of grad where the maxima were.",
    .signature = "orig_input: T, orig_output: T, grad: T, ksize: int32, strides: int32 -> output: T",
    .types = {{"T", real_types}},
    .attrs = attrs_of<MaxPoolV2Attrs>(),
    .infer =
        [](InferCall& c) {
          if (has_geometry(c)) return infer_grad_grad(c, input_geometry(c));
          for (int i = 0; i < 3; ++i) c.require_rank(i, 4);
          c.output(0, c.shape(1).has_rank() ? c.shape(1) : Shape::of_rank(4));
        },
    .kernel = {[](const KernelCall& c) { run_grad_grad(c, input_geometry(c)); }},
    .grad =
        [](GradCall& g) {
          set_zeros(g);
          if (g.wants(2))
            g.input_grad(2, apply1(MaxPoolGradV2, {g.input(0), g.input(1), g.output_grad(), g.input(3), g.input(4)},
                                   g.attrs<MaxPoolV2Attrs>()));
        },
    .grad_reads = reads::inputs<0, 1, 3, 4>,
});

const Op& MaxPoolGradGrad = define_op({
    .name = "MaxPoolGradGrad",
    .doc = "The gradient of MaxPoolGrad with respect to its gradient: the elements of grad where the maxima were.",
    .signature = "orig_input: T, orig_output: T, grad: T -> output: T",
    .types = {{"T", real_types}},
    .attrs = attrs_of<MaxPoolGradGradAttrs>(),
    .infer = [](InferCall& c) { infer_grad_grad(c, grad_grad_geometry(c)); },
    .kernel = {[](const KernelCall& c) { run_grad_grad(c, grad_grad_geometry(c)); }},
    .grad =
        [](GradCall& g) {
          const auto& a = g.attrs<MaxPoolGradGradAttrs>();
          set_zeros(g);
          if (g.wants(2))
            g.input_grad(2, apply1(MaxPoolGrad, {g.input(0), g.input(1), g.output_grad()},
                                   MaxPoolAttrs{a.ksize, a.strides, a.padding, {}, a.data_format}));
        },
    .grad_reads = reads::inputs<0, 1>,
});

const Op& MaxPoolGrad = define_op({
    .name = "MaxPoolGrad",
    .doc = "The gradient of MaxPool: the first of equal maxima receives it.",
    .signature = "orig_input: T, orig_output: T, grad: T -> output: T",
    .types = {{"T", real_types}},
    .attrs = attrs_of<MaxPoolAttrs>(),
    .infer = [](InferCall& c) { infer_grad(c, max_pool_geometry(c)); },
    .kernel = {[](const KernelCall& c) { run_grad(c, max_pool_geometry(c), kernels::Ties::first); }},
    .grad =
        [](GradCall& g) {
          const auto& a = g.attrs<MaxPoolAttrs>();
          set_zeros(g);
          if (!g.wants(2)) return;
          Tensor x = g.input(0), d = g.output_grad();
          const bool padded = a.padding == "EXPLICIT";
          if (padded) {  // MaxPoolGradGrad knows no such padding
            Tensor paddings(a.explicit_paddings, Shape{4, 2});
            x = pad(x, paddings, {.constant_values = cast(-std::numeric_limits<double>::infinity(), x.dtype())});
            d = pad(d, paddings);
          }
          g.input_grad(2,
                       apply1(MaxPoolGradGrad, {x, g.input(1), d},
                              MaxPoolGradGradAttrs{a.ksize, a.strides, padded ? "VALID" : a.padding, a.data_format}));
        },
    .grad_reads = reads::inputs<0, 1>,
});

const Op& MaxPoolWithArgmax = define_op({
    .name = "MaxPoolWithArgmax",
    .doc = "MaxPool, and where each maximum lies in its flattened image or in the flattened batch.",
    .signature = "input: T -> output: T, argmax: Targmax",
    .types = {{"T", real_types}, {"Targmax", index_types}},
    .attrs = attrs_of<ArgmaxAttrs>(),
    .infer =
        [](InferCall& c) {
          Geometry g = argmax_geometry(c);
          Shape input = pool_input(c, g, 0);
          if (g.channel_window() > 1) c.fail("ksize must be 1 along the channels");
          if (input.is_fully_defined() && input.count() == 0) c.fail("the input " + input.brackets() + " is empty");
          Shape pooled = pooled_shape(c, g, input, false);
          c.output(0, pooled);
          c.output(1, pooled);
        },
    .kernel = {[](const KernelCall& c) {
      const auto& a = c.attrs<ArgmaxAttrs>();
      int64_t places = c.count(0) / (a.include_batch_in_index ? 1 : c.shape(0)[0]);
      if (a.Targmax == DType::int32 && places > INT32_MAX)
        c.fail("the indices of the input do not fit int32; use int64");
      kernels::max_pool_with_argmax(c.dtype(), pool_shape(c, argmax_geometry(c), c.shape(0), c.output_shape()),
                                    a.include_batch_in_index, a.Targmax, c.input(0), c.output(0), c.output(1));
    }},
    .grad =
        [](GradCall& g) {
          const auto& a = g.attrs<ArgmaxAttrs>();
          g.input_grad(0, apply1(MaxPoolGrad, {g.input(), g.output(), g.output_grad()},
                                 MaxPoolAttrs{a.ksize, a.strides, a.padding, {}, "NHWC"}));
        },
    .grad_reads = reads::inputs<0> | reads::outputs<0>,
});

const Op& MaxPool3D = define_op({
    .name = "MaxPool3D",
    .doc = "The largest element of each window of volumes.",
    .signature = "input: T -> output: T",
    .types = {{"T", volume_types}},
    .attrs = attrs_of<MaxPool3DAttrs>(),
    .infer =
        [](InferCall& c) {
          Geometry g = volume_geometry(c);
          c.output(0, pooled_shape(c, g, pool_input(c, g, 0), false));
        },
    .kernel = {[](const KernelCall& c) { run_max(c, volume_geometry(c)); }},
    .grad =
        [](GradCall& g) {
          g.input_grad(0, apply1(MaxPool3DGrad, {g.input(), g.output(), g.output_grad()}, g.attrs<MaxPool3DAttrs>()));
        },
    .grad_reads = reads::inputs<0> | reads::outputs<0>,
});

const Op& MaxPool3DGrad = define_op({
    .name = "MaxPool3DGrad",
    .doc = "The gradient of MaxPool3D: every one of equal maxima receives it.",
    .signature = "orig_input: TInput, orig_output: TInput, grad: T -> output: T",
    .types = {{"T", volume_types}, {"TInput", volume_types}},
    .attrs = attrs_of<MaxPool3DAttrs>(),
    .infer =
        [](InferCall& c) {
          c.require(c.dtype(0) == c.dtype(2), "orig_input and grad must have the same dtype");
          infer_grad(c, volume_geometry(c));
        },
    .kernel = {[](const KernelCall& c) { run_grad(c, volume_geometry(c), kernels::Ties::all); }},
    .grad =
        [](GradCall& g) {
          set_zeros(g);
          if (g.wants(2))
            g.input_grad(
                2, apply1(MaxPool3DGradGrad, {g.input(0), g.input(1), g.output_grad()}, g.attrs<MaxPool3DAttrs>()));
        },
    .grad_reads = reads::inputs<0, 1>,
});

const Op& MaxPool3DGradGrad = define_op({
    .name = "MaxPool3DGradGrad",
    .doc = "The gradient of MaxPool3DGrad with respect to its gradient: the elements of grad where the first of equal "
           "maxima were.",
    .signature = "orig_input: T, orig_output: T, grad: T -> output: T",
    .types = {{"T", volume_types}},
    .attrs = attrs_of<MaxPool3DAttrs>(),
    .infer = [](InferCall& c) { infer_grad_grad(c, volume_geometry(c)); },
    .kernel = {[](const KernelCall& c) { run_grad_grad(c, volume_geometry(c)); }},
    .grad =
        [](GradCall& g) {
          set_zeros(g);
          if (g.wants(2))
            g.input_grad(2,
                         apply1(MaxPool3DGrad, {g.input(0), g.input(1), g.output_grad()}, g.attrs<MaxPool3DAttrs>()));
        },
    .grad_reads = reads::inputs<0, 1>,
});

}  // namespace

namespace nn {

Tensor max_pool2d(const Tensor& input, const Pool2DOptions& o) {
  return apply1(MaxPool, {input},
                MaxPoolAttrs{all_dimensions(o.ksize, 2, o.data_format, "ksize"),
                             all_dimensions(o.strides, 2, o.data_format, "strides"), o.padding.name(),
                             o.padding.explicit_paddings(), o.data_format});
}

Tensor max_pool3d(const Tensor& input, const Pool3DOptions& o) {
  return apply1(
      MaxPool3D, {input},
      MaxPool3DAttrs{all_dimensions(o.ksize, 3, o.data_format, "ksize"),
                     all_dimensions(o.strides, 3, o.data_format, "strides"), o.padding.name(), o.data_format});
}

struct MaxPoolWithArgmax max_pool_with_argmax(const Tensor& input, const ArgmaxPoolOptions& o) {
  if (o.data_format != "NHWC")
    throw ValueError("max_pool_with_argmax: data_format must be \"NHWC\", got \"" + o.data_format + '"');
  auto [output, argmax] = apply_n<2>(thalweg::MaxPoolWithArgmax, {input},
                                     ArgmaxAttrs{all_dimensions(o.ksize, 2, o.data_format, "ksize"),
                                                 all_dimensions(o.strides, 2, o.data_format, "strides"), o.output_dtype,
                                                 o.padding.name(), o.include_batch_in_index});
  return {output, argmax};
}

}  // namespace nn

namespace {
const FunctionDef* const pool_max_functions[] = {
    &define_function<Tensor(const Tensor&, const nn::Pool2DOptions&), nn::max_pool2d>({"nn.max_pool2d"}, {"input"}),
    &define_function<Tensor(const Tensor&, const nn::Pool3DOptions&), nn::max_pool3d>({"nn.max_pool3d"}, {"input"}),
    &define_function<nn::MaxPoolWithArgmax(const Tensor&, const nn::ArgmaxPoolOptions&), nn::max_pool_with_argmax>(
        {"nn.max_pool_with_argmax"}, {"input"}),
};
}  // namespace

}  // namespace thalweg

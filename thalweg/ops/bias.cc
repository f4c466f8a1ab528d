#include "thalweg/core/error.h"
#include "thalweg/kernels/reduce.h"
#include "thalweg/kernels/scalar_arithmetic.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/broadcasting.h"
#include "thalweg/ops/conv_geometry.h"
#include "thalweg/ops/elementwise.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/losses.h"
#include "thalweg/ops/shaping.h"

namespace thalweg {
namespace {

struct BiasAttrs {
  std::string data_format = "NHWC";
};

void check_format(const InferCall& c, const std::string& data_format) {
  if (data_format != "NHWC" && data_format != "NCHW")
    c.fail("data_format must be \"NHWC\" or \"NCHW\", got \"" + data_format + '"');
}

void infer_bias_add(InferCall& c, const std::string& data_format) {
  check_format(c, data_format);
  c.require_rank_at_least(0, 2);
  c.require_rank(1, 1);
  Shape value = c.shape(0);
  if (value.has_rank() && c.shape(1).has_rank()) {
    int64_t& channels = value[channel_axis(data_format, value.rank())];
    int64_t bias = c.shape(1)[0];
    if (channels >= 0 && bias >= 0 && channels != bias)
      c.fail("bias must have one element for each of the " + std::to_string(channels) + " channels of value " +
             value.brackets() + ", got " + std::to_string(bias));
    if (channels < 0) channels = bias;
  }
  c.output(0, value);
}

constexpr Kernel adding = kernel::binary<number_types>([](auto x, auto b) { return kernels::scalar::add(x, b); });
void run_bias_add(const KernelCall& c, const std::string& data_format) {
  const Shape& value = c.shape(0);
  Shape bias = c.shape(1);
  for (int i = channel_axis(data_format, value.rank()) + 1; i < value.rank(); ++i) bias.push_back(1);
  kernels::run_binary(*static_cast<const kernels::BinaryLoops*>(adding.loops), c.dtype(), value, c.input(0), bias,
                      c.input(1), value, c.output(), nullptr);
}

struct SumOf {
  template <class T>
  using Accumulator =
      typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;
  template <class T> static Accumulator<T> start() { return {}; }
  template <class A, class T> static A step(A a, T x) { return static_cast<A>(a + static_cast<A>(x)); }
  template <class A> static A merge(A a, A b) { return static_cast<A>(a + b); }
  template <class T, class A> static T finish(A a, int64_t) { return static_cast<T>(a); }
};
constexpr kernels::ReduceTable sums = kernels::make_reduce_table<number_types, SumOf>();

const Op& BiasAddGrad = define_op({
    .name = "BiasAddGrad",
    .doc = "The gradient of BiasAdd with respect to its bias: the sum of each channel.",
    .signature = "out_backprop: T -> output: T",
    .types = {{"T", number_types}},
    .attrs = attrs_of<BiasAttrs>(),
    .infer =
        [](InferCall& c) {
          const std::string& format = c.attrs<BiasAttrs>().data_format;
          check_format(c, format);
          c.require_rank_at_least(0, 2);
          const Shape& s = c.shape(0);
          c.output(0, {s.has_rank() ? s[channel_axis(format, s.rank())] : unknown});
        },
    .kernel = {[](const KernelCall& c) {
      bool reduced[Shape::max_rank];
      int rank = c.shape(0).rank();
      std::fill_n(reduced, rank, true);
      reduced[channel_axis(c.attrs<BiasAttrs>().data_format, rank)] = false;
      Shape shape = c.shape(0);
      DType dtype = c.dtype();
      if (is_complex(dtype) && !reduced[rank - 1]) {  // their parts are channels
        dtype = real_of(dtype);
        shape[rank - 1] *= 2;
      }
      kernels::run_reduce(sums, dtype, shape, {reduced, static_cast<size_t>(rank)}, c.input(0), c.output());
    }},
    .grad =
        [](GradCall& g) {
          const Tensor& out = g.input();
          std::vector<int32_t> dims = {-1};
          if (g.attrs<BiasAttrs>().data_format == "NCHW" && out.rank() < 0)
            throw ValueError("the gradient of BiasAddGrad in NCHW needs an input of known rank");
          if (g.attrs<BiasAttrs>().data_format == "NCHW") dims.resize(static_cast<size_t>(out.rank() - 1), 1);
          g.input_grad(0, broadcast_to(reshape(g.output_grad(), dims), shape(out)));
        },
    .grad_reads = reads::nothing,
});

const Op& BiasAdd = define_op({
    .name = "BiasAdd",
    .doc = "value plus one number for each channel.",
    .signature = "value: T, bias: T -> output: T",
    .types = {{"T", number_types}},
    .attrs = attrs_of<BiasAttrs>(),
    .infer = [](InferCall& c) { infer_bias_add(c, c.attrs<BiasAttrs>().data_format); },
    .kernel = {[](const KernelCall& c) { run_bias_add(c, c.attrs<BiasAttrs>().data_format); }},
    .grad =
        [](GradCall& g) {
          g.input_grad(0, g.output_grad());
          if (g.wants(1)) g.input_grad(1, apply1(BiasAddGrad, {g.output_grad()}, g.attrs<BiasAttrs>()));
        },
    .grad_reads = reads::nothing,
    .traits = {.never_fails = true, .layout = Layout::follows},
});

const Op& BiasAddV1 = define_op({
    .name = "BiasAddV1",
    .doc = "BiasAdd with the channels last.",
    .signature = "value: T, bias: T -> output: T",
    .types = {{"T", number_types}},
    .infer = [](InferCall& c) { infer_bias_add(c, "NHWC"); },
    .kernel = {[](const KernelCall& c) { run_bias_add(c, "NHWC"); }},
    .grad =
        [](GradCall& g) {
          g.input_grad(0, g.output_grad());
          if (g.wants(1)) g.input_grad(1, apply1(BiasAddGrad, {g.output_grad()}));
        },
    .grad_reads = reads::nothing,
});

}  // namespace

Tensor nn::bias_add(const TensorLike& value, const TensorLike& bias, const BiasAddOptions& options) {
  const std::string& format = options.data_format;
  bool first = format.starts_with("NC"), last = format.empty() || (format.starts_with("N") && format.ends_with("C"));
  if (!first && !last)
    throw ValueError("bias_add: data_format must be of the form N...C or NC..., got \"" + format + '"');
  return apply1(BiasAdd, {value, bias}, BiasAttrs{first ? "NCHW" : "NHWC"});
}

namespace {
const FunctionDef* const bias_functions[] = {
    &define_function<nn::bias_add>({"nn.bias_add"}, {"value", "bias"}),
};
}  // namespace

}  // namespace thalweg

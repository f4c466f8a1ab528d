#include "thalweg/ops/fused.h"

#include "thalweg/kernels/gemm.h"
#include "thalweg/ops/conv_rules.h"
#include "thalweg/ops/elementwise.h"

namespace thalweg::fused {
namespace {

struct MatMulAttrs {
  bool transpose_a = false;
  bool transpose_b = false;
  std::vector<std::string> fused_ops = {};
  float epsilon = 0.0001f;
  float leakyrelu_alpha = 0.2f;
};
struct ConvAttrs {
  int64_t num_args = 0;
  int64_t num_host_args = 0;
  std::vector<int64_t> strides = {};
  std::string padding = "";
  std::vector<int64_t> explicit_paddings = {};
  std::string data_format = "NHWC";
  std::string filter_format = "HWIO";
  std::vector<int64_t> dilations = {1, 1, 1, 1};
  bool use_cudnn_on_gpu = true;
  std::vector<std::string> fused_ops = {};
  float epsilon = 0.0001f;
  float leakyrelu_alpha = 0.2f;
};

/// Attributes with a place for what is kept of the filter. They begin with A, so that rules for A read them too.
template <class A> struct Keeping {
  A attrs = {};
  std::shared_ptr<kernels::KeptFilter> kept = {};
};

template <Channels channels, class Call> ConvRule rule(const Call& c) {
  const auto& a = c.template attrs<ConvAttrs>();
  return {2, channels, {a.padding, a.data_format, a.strides, a.dilations, a.explicit_paddings, {}, "dilations", true}};
}

constexpr std::string_view activations[] = {"Relu", "Relu6", "Elu", "LeakyRelu", "Tanh", "Sigmoid"};

// A name's position among the activations, or -1.
int find_activation(std::string_view name) {
  for (size_t i = 0; i < std::size(activations); ++i)
    if (activations[i] == name) return static_cast<int>(i);
  return -1;
}
const kernels::UnaryLoops& activation_loops(std::string_view name) {
  static const auto loops = [] {
    std::array<const kernels::UnaryLoops*, std::size(activations)> found;
    for (size_t i = 0; i < found.size(); ++i)
      found[i] = static_cast<const kernels::UnaryLoops*>(find_op(activations[i])->kernel.loops);
    return found;
  }();
  return *loops[static_cast<size_t>(find_activation(name))];
}
const kernels::BinaryLoops& adding_loops() {
  static const auto& loops = *static_cast<const kernels::BinaryLoops*>(find_op("AddV2")->kernel.loops);
  return loops;
}

/// What `fused_ops` say.
struct Parts {
  bool known = false, adds_bias = false, normalizes = false, adds_array = false;
  std::string_view activation = "";
  int num_args() const { return (adds_bias ? 1 : 0) + (normalizes ? 4 : 0) + (adds_array ? 1 : 0); }
};
Parts parts_of(const std::vector<std::string>& ops) {
  Parts p;
  size_t i = 0;
  if (i < ops.size()) {
    p.adds_bias = ops[i] == "BiasAdd";
    p.normalizes = ops[i] == "FusedBatchNorm";
    i += p.adds_bias || p.normalizes;
  }
  if (i == 1 && i < ops.size() && ops[i] == "Add") p.adds_array = ++i != 0;
  if (i > 0 && i < ops.size() && is_activation(ops[i])) p.activation = ops[i++];
  p.known = i == ops.size();
  return p;
}

// Whether inputs from the third on suit what follows the contraction; `channels` may be unknown.
template <class A> void check_epilogue(const InferCall& c, const A& a, int64_t channels, bool may_be_empty) {
  Parts p = parts_of(a.fused_ops);
  if (!p.known || (a.fused_ops.empty() && !may_be_empty))
    c.fail(
        "fused_ops must be BiasAdd or FusedBatchNorm, perhaps with Add and then Relu, Relu6, Elu, LeakyRelu, Tanh or "
        "Sigmoid behind it, got " +
        to_string(AttrValue(a.fused_ops)));
  if (c.num_inputs() - 2 != p.num_args())
    c.fail("fused_ops take " + std::to_string(p.num_args()) + " of args, got " + std::to_string(c.num_inputs() - 2));
  if (p.normalizes && c.dtype(0) != DType::float32) c.fail("FusedBatchNorm is for float32");
  for (int i = 2; i < c.num_inputs(); ++i) {
    if (c.dtype(i) != c.dtype(0)) c.fail("args must have the dtype of the other inputs");
    if (p.adds_array && i + 1 == c.num_inputs()) break;
    if (c.shape(i).has_rank() && c.shape(i).rank() != 1) c.fail("args must be vectors, got " + c.shape(i).brackets());
    int64_t count = c.shape(i).has_rank() ? c.shape(i)[0] : unknown;
    if (channels >= 0 && count >= 0 && count != channels)
      c.fail("args must have one element for each of the " + std::to_string(channels) + " channels, got " +
             std::to_string(count));
  }
}

template <class A> kernels::Epilogue epilogue(const KernelCall& c, const A& a, int64_t channels) {
  const Parts p = parts_of(a.fused_ops);
  kernels::Epilogue made(c.dtype(), channels);
  const auto type = static_cast<size_t>(c.dtype());
  const kernels::BinaryLoop add = adding_loops().at[type][kernels::isa];
  if (p.adds_bias) made.add(add, c.input(2));
  else made.normalize(c.input<float>(2), c.input<float>(3), c.input<float>(4), c.input<float>(5), a.epsilon);
  if (p.adds_array) {
    const int i = c.num_inputs() - 1;
    if (!(c.shape(i) == c.output_shape()))
      c.fail("what is added must have the shape of the result, " + c.output_shape().brackets() + ", got " +
             c.shape(i).brackets());
    made.add_array(add, c.output(), c.input(i));
  }
  if (!p.activation.empty()) made.activate(activation_loops(p.activation).at[type][kernels::isa], &a.leakyrelu_alpha);
  return made;
}

template <bool keeps> void infer_matmul(InferCall& c) {
  const auto& a = c.attrs<MatMulAttrs>();
  c.require_rank(0, 2);
  c.require_rank(1, 2);
  Shape out = Shape::of_rank(2);
  const Shape &x = c.shape(0), &y = c.shape(1);
  if (x.has_rank()) out[0] = x[a.transpose_a ? 1 : 0];
  if (y.has_rank()) out[1] = y[a.transpose_b ? 0 : 1];
  if (x.has_rank() && y.has_rank()) {
    int64_t left = x[a.transpose_a ? 0 : 1], right = y[a.transpose_b ? 1 : 0];
    if (left >= 0 && right >= 0 && left != right)
      c.fail("inner dimensions differ: a is " + x.brackets() + (a.transpose_a ? " transposed" : "") + ", b is " +
             y.brackets() + (a.transpose_b ? " transposed" : ""));
  }
  check_epilogue(c, a, out[1], keeps);
  if (!a.fused_ops.empty() && a.fused_ops[0] != "BiasAdd") c.fail("a product of matrices is followed by BiasAdd");
  c.output(0, c.dtype(0), out);
}

void run_matmul(const KernelCall& c, kernels::KeptFilter* kept) {
  const auto& a = c.attrs<MatMulAttrs>();
  const kernels::Operand operands[2] = {kernels::Operand::plain, kernels::Operand::transposed};
  kernels::GemmShape shape{c.output_shape()[0], c.output_shape()[1], c.shape(0)[a.transpose_a ? 0 : 1],
                           operands[a.transpose_a], operands[a.transpose_b]};
  auto run = [&](const kernels::Epilogue* e) {
    kernels::gemm(c.dtype(), shape, c.input(0), c.input(1), c.output(), e, kept);
  };
  if (a.fused_ops.empty()) return run(nullptr);
  kernels::Epilogue made = epilogue(c, a, shape.n);
  run(&made);
}

template <Channels channels, bool keeps> void infer_conv(InferCall& c) {
  const auto& a = c.attrs<ConvAttrs>();
  if (a.num_host_args != 0) c.fail("num_host_args must be 0: they are for GPUs");
  if (a.filter_format != "HWIO") c.fail("filter_format must be HWIO, got " + a.filter_format);
  thalweg::infer_conv(c, rule<channels>(c));
  const Shape& filter = c.shape(1);
  int64_t made = filter.has_rank() ? filter[3] : unknown;
  if (channels == Channels::depthwise && made >= 0) made = filter[2] >= 0 ? filter[2] * made : unknown;
  check_epilogue(c, a, made, keeps);
  if (parts_of(a.fused_ops).adds_array && a.data_format != "NHWC") c.fail("Add is for channels that lie last");
}

template <Channels channels> void run_conv(const KernelCall& c, kernels::KeptFilter* kept) {
  const auto& a = c.attrs<ConvAttrs>();
  if (a.fused_ops.empty()) return thalweg::run_conv(c, rule<channels>(c), nullptr, kept);
  kernels::Epilogue made = epilogue(c, a, c.shape(2)[0]);
  thalweg::run_conv(c, rule<channels>(c), &made, kept);
}

constexpr const char* made_late = "it is made after gradients";

const Op& FusedMatMul = define_op({
    .name = "_FusedMatMul",
    .doc = "The product of two matrices, then what fused_ops name, with args as further inputs.",
    .signature = "a: T, b: T, args: num_args * T -> product: T",
    .types = {{"T", types(float32)}},
    .attrs = attrs_of<MatMulAttrs>(),
    .infer = infer_matmul<false>,
    .kernel = {[](const KernelCall& c) { run_matmul(c, nullptr); }},
    .traits = {.not_differentiable = made_late},
});

const Op& FusedConv2D = define_op({
    .name = "_FusedConv2D",
    .doc = "The convolution of images with filters, then what fused_ops name, with args as further inputs.",
    .signature = "input: T, filter: T, args: list TArgs -> output: T",
    .types = {{"T", types(float32, float64)}, {"TArgs", types(float32, float64)}},
    .attrs = attrs_of<ConvAttrs>(),
    .infer = infer_conv<Channels::grouped, false>,
    .kernel = {[](const KernelCall& c) { run_conv<Channels::grouped>(c, nullptr); }},
    .traits = {.not_differentiable = made_late},
});

// The rest lives in plans alone, so no registry knows it: TensorFlow has a name and no kernel for one, nothing for the
// others.
// Arguments are named as those of `like`.
Op in_plans_only(const Op& like, const char* name, const AttrType* attrs, void (*infer)(InferCall&), Kernel kernel) {
  Op op = like;
  op.name = name;
  op.attrs = attrs;
  op.infer = infer;
  op.kernel = kernel;
  op.grad = nullptr;
  op.traits.not_differentiable = made_late;
  return op;
}

// The attributes in a listing are those of A.
template <class A> const AttrType& keeping_attrs() {
  static const Keeping<A> none;
  static const AttrType type{attrs_of<A>()->rows,
                             [](const void* p) -> void* { return new Keeping<A>(*static_cast<const Keeping<A>*>(p)); },
                             [](void* p) { delete static_cast<Keeping<A>*>(p); }, &none};
  return type;
}
template <class A> kernels::KeptFilter* kept_in(const KernelCall& c) { return c.attrs<Keeping<A>>().kept.get(); }

}  // namespace

const Contraction* find_contraction(const Op& op) {
  static const Op depthwise = in_plans_only(FusedConv2D, "_FusedDepthwiseConv2dNative", attrs_of<ConvAttrs>(),
                                            infer_conv<Channels::depthwise, false>,
                                            {[](const KernelCall& c) { run_conv<Channels::depthwise>(c, nullptr); }});
  static const Op matmul = in_plans_only(FusedMatMul, "_KeptMatMul", &keeping_attrs<MatMulAttrs>(), infer_matmul<true>,
                                         {[](const KernelCall& c) { run_matmul(c, kept_in<MatMulAttrs>(c)); }});
  static const Op conv =
      in_plans_only(FusedConv2D, "_KeptConv2D", &keeping_attrs<ConvAttrs>(), infer_conv<Channels::grouped, true>,
                    {[](const KernelCall& c) { run_conv<Channels::grouped>(c, kept_in<ConvAttrs>(c)); }});
  static const Contraction all[] = {
      {find_op("MatMul"), &FusedMatMul, &matmul, types(DType::float32)},
      {find_op("Conv2D"), &FusedConv2D, &conv, types(DType::float32, DType::float64)},
      {find_op("DepthwiseConv2dNative"), &depthwise, nullptr, types(DType::float32, DType::float64)},
  };
  for (const Contraction& c : all)
    if (c.plain == &op || c.with_epilogue == &op) return &c;
  return nullptr;
}

bool is_activation(std::string_view op) { return find_activation(op) >= 0; }

Attrs keep_filter(const Op& with_kept_filter, AttrsRef with_epilogue) {
  auto make = [&]<class A>(const A& attrs) {
    Keeping<A> made{attrs, std::make_shared<kernels::KeptFilter>()};
    return Attrs(*with_kept_filter.attrs, made);
  };
  if (with_kept_filter.attrs == &keeping_attrs<MatMulAttrs>()) return make(with_epilogue.as<MatMulAttrs>());
  return make(with_epilogue.as<ConvAttrs>());
}

}  // namespace thalweg::fused

#include "thalweg/ops/math_complex.h"

#include <cmath>

#include "thalweg/core/error.h"
#include "thalweg/kernels/broadcast.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/division.h"
#include "thalweg/ops/elementwise.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_elementary.h"
#include "thalweg/ops/selection.h"

namespace thalweg {
namespace {

/// The type of the parts, which follows from the complex type and is checked against it.
struct PartsAttrs {
  DType Tout = DType::invalid;
};
void infer_part(InferCall& c) {
  DType part = real_of(c.dtype(0)), asked = c.attrs<PartsAttrs>().Tout;
  c.require(asked == DType::invalid || asked == part, "Tout must be the type of the parts of T");
  c.output(0, part, c.shape(0));
}
void infer_complex(InferCall& c) {
  DType whole = complex_of(c.dtype(0)), asked = c.attrs<PartsAttrs>().Tout;
  c.require(asked == DType::invalid || asked == whole, "Tout must be complex64 for float32 and complex128 for float64");
  c.output(0, whole, infer::broadcast_shape(c));
}

template <class T> void join_parts(const KernelCall& c) {
  kernels::BroadcastPlan<2> plan(c.output_shape(), {&c.shape(0), &c.shape(1)});
  int64_t inner = plan.size[0], rows = inner ? c.output_shape().count() / inner : 0;
  kernels::RowWalk<2> walk(plan, 0);
  auto* out = c.output<std::complex<T>>();
  for (int64_t row = 0; row < rows; ++row, walk.next())
    for (int64_t i = 0; i < inner; ++i)
      *out++ = {c.input<T>(0)[walk.offset[0] + i * plan.stride[0][0]],
                c.input<T>(1)[walk.offset[1] + i * plan.stride[1][0]]};
}

const Op& Complex = define_op({
    .name = "Complex",
    .doc = "real + i * imag.",
    .signature = "real: T, imag: T -> out: Tout",
    .types = {{"T", types(float32, float64)}, {"Tout", complex_types}},
    .attrs = attrs_of<PartsAttrs>(),
    .infer = infer_complex,
    .kernel = {[](const KernelCall& c) { c.dtype() == float32 ? join_parts<float>(c) : join_parts<double>(c); }},
    .grad =
        [](GradCall& g) {
          if (g.wants(0)) g.input_grad(0, math::real(g.output_grad()));
          if (g.wants(1)) g.input_grad(1, math::imag(g.output_grad()));
        },
    .grad_reads = reads::nothing,
    .traits = {.broadcasts = true},
});

const Op& Real = define_op({
    .name = "Real",
    .doc = "The real part.",
    .signature = "input: T -> output: Tout",
    .types = {{"Tout", types(float32, float64)}},
    .attrs = attrs_of<PartsAttrs>(),
    .infer = infer_part,
    .kernel = kernel::unary<complex_types>([](auto x) { return x.real(); }),
    .grad = [](GradCall& g) { g.input_grad(0, complex(g.output_grad(), zeros_like(g.output_grad()))); },
    .grad_reads = reads::nothing,
    .traits = elementwise,
});

const Op& Imag = define_op({
    .name = "Imag",
    .doc = "The imaginary part.",
    .signature = "input: T -> output: Tout",
    .types = {{"Tout", types(float32, float64)}},
    .attrs = attrs_of<PartsAttrs>(),
    .infer = infer_part,
    .kernel = kernel::unary<complex_types>([](auto x) { return x.imag(); }),
    .grad = [](GradCall& g) { g.input_grad(0, complex(zeros_like(g.output_grad()), g.output_grad())); },
    .grad_reads = reads::nothing,
    .traits = elementwise,
});

const Op& Angle = define_op({
    .name = "Angle",
    .doc = "The argument of a complex number.",
    .signature = "input: T -> output: Tout",
    .types = {{"Tout", types(float32, float64)}},
    .attrs = attrs_of<PartsAttrs>(),
    .infer = infer_part,
    .kernel = kernel::unary<complex_types>([](auto x) { return std::atan2(x.imag(), x.real()); }),
    .grad =
        [](GradCall& g) {
          Tensor turned = complex(math::imag(g.input()), math::real(g.input()));
          g.input_grad(0, -complex(g.output_grad(), zeros_like(g.output_grad())) * reciprocal(turned));
        },
    .grad_reads = reads::all_inputs,
    .traits = elementwise,
});

const Op& ComplexAbs = define_op({
    .name = "ComplexAbs",
    .doc = "The length of a complex number.",
    .signature = "x: T -> y: Tout",
    .types = {{"Tout", types(float32, float64)}},
    .attrs = attrs_of<PartsAttrs>(),
    .infer = infer_part,
    .kernel = kernel::unary<complex_types>([](auto x) { return std::hypot(x.real(), x.imag()); }),
    .grad =
        [](GradCall& g) {
          Tensor zero = zeros_like(g.output());
          g.input_grad(0, math::divide_no_nan(complex(g.output_grad(), zero), complex(g.output(), zero)) * g.input());
        },
    .traits = elementwise,
});

const Op& Conj = define_op({
    .name = "Conj",
    .doc = "The complex conjugate.",
    .signature = "input: T -> output: T",
    .infer = infer::like_input<0>,
    .kernel = kernel::unary<complex_types>([](auto x) { return decltype(x)(x.real(), -x.imag()); }),
    .grad = [](GradCall& g) { g.input_grad(0, math::conj(g.output_grad())); },
    .grad_reads = reads::nothing,
    .traits = {.elementwise = true, .twice = Twice::is_nothing},
});

}  // namespace

Tensor complex(const TensorLike& real, const TensorLike& imag) { return apply1(Complex, {real, imag}); }

namespace math {
namespace {
Tensor number(const char* name, const Tensor& input) {
  if (!number_types.has(input.dtype()))
    throw TypeError(std::string(name) + ": expected a tensor of numbers, got " + std::string(name_of(input.dtype())));
  return input;
}
}  // namespace
Tensor real(const Tensor& input) { return is_complex(input.dtype()) ? apply1(Real, {input}) : number("real", input); }
Tensor imag(const Tensor& input) { return is_complex(input.dtype()) ? apply1(Imag, {input}) : zeros_like(input); }
Tensor angle(const Tensor& input) {
  if (is_complex(input.dtype())) return apply1(Angle, {input});
  Tensor zero = zeros_like(input);
  return where(less(input, 0), zero + 3.14159265358979323846, zero);
}
Tensor conj(const Tensor& x) { return is_complex(x.dtype()) ? apply1(Conj, {x}) : number("conj", x); }
Tensor complex_abs(const Tensor& x) { return apply1(ComplexAbs, {x}); }
}  // namespace math

namespace {
const FunctionDef* const math_complex_functions[] = {
    &define_function<thalweg::complex>({"complex", "dtypes.complex"}, {"real", "imag"}),
    &define_function<math::real>({"math.real"}, {"input"}),
    &define_function<math::imag>({"math.imag"}, {"input"}),
    &define_function<math::angle>({"math.angle"}, {"input"}),
    &define_function<math::conj>({"math.conj"}, {"x"}),
};
}  // namespace

}  // namespace thalweg

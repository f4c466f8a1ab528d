#include "thalweg/ops/math_elementary.h"

#include "thalweg/kernels/scalar_arithmetic.h"
#include "thalweg/kernels/scalar_complex.h"
#include "thalweg/kernels/scalar_math.h"
#include "thalweg/ops/activation.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/elementwise.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_complex.h"

namespace thalweg {
namespace {

namespace scalar = kernels::scalar;
using math::conj;
constexpr TypeSet fc_types = float_types | complex_types;

// An integer has no other reciprocal than 1, -1 and 0; 1 / 0 is 0, as there is nothing better to say.
template <class T> [[gnu::always_inline]] inline T scalar_reciprocal(T x) {
  if constexpr (std::is_integral_v<T>) return x == 1 ? T(1) : x == T(-1) ? T(-1) : T(0);
  else return T(1) / x;
}

// The gradients of roots take the output as it is and conjugate it themselves.
template <class T> [[gnu::always_inline]] inline T conjugate(T y) {
  if constexpr (requires { y.imag(); }) return T(y.real(), -y.imag());
  else return y;
}

const Op& Exp = define_op({
    .name = "Exp",
    .doc = "e to the x.",
    .signature = "x: T -> y: T",
    .infer = infer::like_input<0>,
    .kernel = kernel::unary<fc_types>([](auto x) { return scalar::exp(x); }),
    .grad = [](GradCall& g) { g.input_grad(0, g.output_grad() * conj(g.output())); },
    .grad_reads = reads::outputs<0>,
    .traits = elementwise,
});

const Op& Expm1 = define_op({
    .name = "Expm1",
    .doc = "e to the x, minus 1.",
    .signature = "x: T -> y: T",
    .infer = infer::like_input<0>,
    .kernel = kernel::unary<fc_types>([](auto x) { return scalar::expm1(x); }),
    .grad = [](GradCall& g) { g.input_grad(0, g.output_grad() * exp(conj(g.input()))); },
    .grad_reads = reads::all_inputs,
    .traits = elementwise,
});

const Op& Log = define_op({
    .name = "Log",
    .doc = "The natural logarithm.",
    .signature = "x: T -> y: T",
    .infer = infer::like_input<0>,
    .kernel = kernel::unary<fc_types>([](auto x) __attribute__((always_inline)) { return scalar::log(x); }),
    .grad = [](GradCall& g) { g.input_grad(0, g.output_grad() / conj(g.input())); },
    .grad_reads = reads::all_inputs,
    .traits = elementwise,
});

const Op& Log1p = define_op({
    .name = "Log1p",
    .doc = "log(1 + x).",
    .signature = "x: T -> y: T",
    .infer = infer::like_input<0>,
    .kernel = kernel::unary<fc_types>([](auto x) { return scalar::log1p(x); }),
    .grad = [](GradCall& g) { g.input_grad(0, g.output_grad() / (1 + conj(g.input()))); },
    .grad_reads = reads::all_inputs,
    .traits = elementwise,
});

const Op& SqrtGrad = define_op({
    .name = "SqrtGrad",
    .doc = "The gradient of sqrt: dy * 0.5 / y.",
    .signature = "y: T, dy: T -> z: T",
    .infer = infer::same_shape,
    .kernel = kernel::binary<fc_types>([](auto y, auto dy) {
      using T = decltype(y);
      return dy == T(0) ? T(0) : dy * T(0.5f) / conjugate(y);  // no gradient stays none, even at 0
    }),
    .grad =
        [](GradCall& g) {
          Tensor ratio = g.output_grad() / g.input(0);
          if (g.wants(0)) g.input_grad(0, -conj(ratio) * g.output());
          if (g.wants(1)) g.input_grad(1, 0.5 * ratio);
        },
    .grad_reads = reads::inputs<0> | reads::outputs<0>,
    .traits = elementwise,
});

const Op& Sqrt = define_op({
    .name = "Sqrt",
    .doc = "The square root.",
    .signature = "x: T -> y: T",
    .infer = infer::like_input<0>,
    .kernel = kernel::unary<fc_types>([](auto x) __attribute__((always_inline)) { return scalar::sqrt(x); }),
    .grad = [](GradCall& g) { g.input_grad(0, apply1(SqrtGrad, {g.output(), g.output_grad()})); },
    .grad_reads = reads::outputs<0>,
    .traits = elementwise,
});

const Op& RsqrtGrad = define_op({
    .name = "RsqrtGrad",
    .doc = "The gradient of rsqrt: dy * -0.5 * y^3.",
    .signature = "y: T, dy: T -> z: T",
    .infer = infer::same_shape,
    .kernel = kernel::binary<fc_types>([](auto y, auto dy) {
      using T = decltype(y);
      T z = conjugate(y);
      return dy == T(0) ? T(0) : dy * T(-0.5f) * (z * z * z);
    }),
    .grad =
        [](GradCall& g) {
          const Tensor &y = g.input(0), &grad = g.output_grad();
          if (g.wants(0)) g.input_grad(0, -1.5 * conj(grad) * g.input(1) * square(conj(y)));
          if (g.wants(1)) g.input_grad(1, apply1(g.op, {conj(y), grad}));
        },
    .grad_reads = reads::all_inputs,
    .traits = elementwise,
});

const Op& Rsqrt = define_op({
    .name = "Rsqrt",
    .doc = "1 / sqrt(x).",
    .signature = "x: T -> y: T",
    .infer = infer::like_input<0>,
    .kernel = kernel::unary<fc_types>([](auto x) { return scalar::rsqrt(x); }),
    .grad = [](GradCall& g) { g.input_grad(0, apply1(RsqrtGrad, {g.output(), g.output_grad()})); },
    .grad_reads = reads::outputs<0>,
    .traits = elementwise,
});

const Op& Square = define_op({
    .name = "Square",
    .doc = "x * x.",
    .signature = "x: T -> y: T",
    .infer = infer::like_input<0>,
    .kernel = kernel::unary<number_types>([](auto x) { return scalar::multiply(x, x); }),
    .grad = [](GradCall& g) { g.input_grad(0, g.output_grad() * (2 * conj(g.input()))); },
    .grad_reads = reads::all_inputs,
    .traits = elementwise,
});

// TensorFlow has it under two names.
OpDef reciprocal_grad(const char* name) {
  return {
      .name = name,
      .doc = "The gradient of 1 / x: -dy * y^2.",
      .signature = "y: T, dy: T -> z: T",
      .infer = infer::same_shape,
      .kernel = kernel::binary<fc_types>([](auto y, auto dy) {
        using T = decltype(y);
        T z = conjugate(y);
        return dy == T(0) ? T(0) : -dy * z * z;  // no gradient stays none, even at 0
      }),
      .grad =
          [](GradCall& g) {
            Tensor y = conj(g.input(0));
            if (g.wants(0)) g.input_grad(0, -2 * conj(g.output_grad()) * g.input(1) * y);
            if (g.wants(1)) g.input_grad(1, apply1(g.op, {y, g.output_grad()}));
          },
      .grad_reads = reads::all_inputs,
      .traits = elementwise,
  };
}
const Op& ReciprocalGrad = define_op(reciprocal_grad("ReciprocalGrad"));
const Op& InvGrad = define_op(reciprocal_grad("InvGrad"));

const Op& Reciprocal = define_op({
    .name = "Reciprocal",
    .doc = "1 / x.",
    .signature = "x: T -> y: T",
    .infer = infer::like_input<0>,
    .kernel = kernel::unary<(float_types | signed_types | complex_types)>([](auto x) { return scalar_reciprocal(x); }),
    .grad = [](GradCall& g) { g.input_grad(0, apply1(ReciprocalGrad, {g.output(), g.output_grad()})); },
    .grad_reads = reads::outputs<0>,
    .traits = elementwise,
});

const Op& Inv = define_op({
    .name = "Inv",
    .doc = "1 / x.",
    .signature = "x: T -> y: T",
    .infer = infer::like_input<0>,
    .kernel = kernel::unary<(float_types | signed_types | complex_types)>([](auto x) { return scalar_reciprocal(x); }),
    .grad = [](GradCall& g) { g.input_grad(0, apply1(ReciprocalGrad, {g.output(), g.output_grad()})); },
    .grad_reads = reads::outputs<0>,
    .traits = elementwise,
});

const Op& Sin = define_op({
    .name = "Sin",
    .doc = "The sine.",
    .signature = "x: T -> y: T",
    .infer = infer::like_input<0>,
    .kernel = kernel::unary<fc_types>([](auto x) { return scalar::sin(x); }),
    .grad = [](GradCall& g) { g.input_grad(0, g.output_grad() * cos(conj(g.input()))); },
    .grad_reads = reads::all_inputs,
    .traits = elementwise,
});

const Op& Cos = define_op({
    .name = "Cos",
    .doc = "The cosine.",
    .signature = "x: T -> y: T",
    .infer = infer::like_input<0>,
    .kernel = kernel::unary<fc_types>([](auto x) { return scalar::cos(x); }),
    .grad = [](GradCall& g) { g.input_grad(0, -(g.output_grad() * sin(conj(g.input())))); },
    .grad_reads = reads::all_inputs,
    .traits = elementwise,
});

const Op& Tan = define_op({
    .name = "Tan",
    .doc = "The tangent.",
    .signature = "x: T -> y: T",
    .infer = infer::like_input<0>,
    .kernel = kernel::unary<fc_types>([](auto x) { return scalar::tan(x); }),
    .grad = [](GradCall& g) { g.input_grad(0, g.output_grad() / square(cos(conj(g.input())))); },
    .grad_reads = reads::all_inputs,
    .traits = elementwise,
});

const Op& Asin = define_op({
    .name = "Asin",
    .doc = "The inverse sine.",
    .signature = "x: T -> y: T",
    .infer = infer::like_input<0>,
    .kernel = kernel::unary<fc_types>([](auto x) { return scalar::asin(x); }),
    .grad = [](GradCall& g) { g.input_grad(0, g.output_grad() * rsqrt(1 - square(conj(g.input())))); },
    .grad_reads = reads::all_inputs,
    .traits = elementwise,
});

const Op& Acos = define_op({
    .name = "Acos",
    .doc = "The inverse cosine.",
    .signature = "x: T -> y: T",
    .infer = infer::like_input<0>,
    .kernel = kernel::unary<fc_types>([](auto x) { return scalar::acos(x); }),
    .grad = [](GradCall& g) { g.input_grad(0, -(g.output_grad() * rsqrt(1 - square(conj(g.input()))))); },
    .grad_reads = reads::all_inputs,
    .traits = elementwise,
});

const Op& Atan = define_op({
    .name = "Atan",
    .doc = "The inverse tangent.",
    .signature = "x: T -> y: T",
    .infer = infer::like_input<0>,
    .kernel = kernel::unary<fc_types>([](auto x) { return scalar::atan(x); }),
    .grad = [](GradCall& g) { g.input_grad(0, g.output_grad() / (1 + square(conj(g.input())))); },
    .grad_reads = reads::all_inputs,
    .traits = elementwise,
});

const Op& Sinh = define_op({
    .name = "Sinh",
    .doc = "The hyperbolic sine.",
    .signature = "x: T -> y: T",
    .infer = infer::like_input<0>,
    .kernel = kernel::unary<fc_types>([](auto x) { return scalar::sinh(x); }),
    .grad = [](GradCall& g) { g.input_grad(0, g.output_grad() * cosh(conj(g.input()))); },
    .grad_reads = reads::all_inputs,
    .traits = elementwise,
});

const Op& Cosh = define_op({
    .name = "Cosh",
    .doc = "The hyperbolic cosine.",
    .signature = "x: T -> y: T",
    .infer = infer::like_input<0>,
    .kernel = kernel::unary<fc_types>([](auto x) { return scalar::cosh(x); }),
    .grad = [](GradCall& g) { g.input_grad(0, g.output_grad() * sinh(conj(g.input()))); },
    .grad_reads = reads::all_inputs,
    .traits = elementwise,
});

const Op& TanhGrad = define_op({
    .name = "TanhGrad",
    .doc = "The gradient of tanh: dy * (1 - y^2).",
    .signature = "y: T, dy: T -> z: T",
    .infer = infer::same_shape,
    .kernel = kernel::binary<fc_types>([](auto y, auto dy) { return dy * (decltype(y)(1) - y * y); }),
    .grad =
        [](GradCall& g) {
          Tensor y = conj(g.input(0)), dy = conj(g.input(1));
          if (g.wants(0)) g.input_grad(0, -2 * g.output_grad() * dy * y);
          if (g.wants(1)) g.input_grad(1, apply1(g.op, {y, g.output_grad()}));
        },
    .grad_reads = reads::all_inputs,
    .traits = elementwise,
});

const Op& Tanh = define_op({
    .name = "Tanh",
    .doc = "The hyperbolic tangent.",
    .signature = "x: T -> y: T",
    .infer = infer::like_input<0>,
    .kernel = kernel::unary<fc_types>([](auto x) { return scalar::tanh(x); }),
    .grad = [](GradCall& g) { g.input_grad(0, apply1(TanhGrad, {conj(g.output()), g.output_grad()})); },
    .grad_reads = reads::outputs<0>,
    .traits = elementwise,
});

const Op& Asinh = define_op({
    .name = "Asinh",
    .doc = "The inverse hyperbolic sine.",
    .signature = "x: T -> y: T",
    .infer = infer::like_input<0>,
    .kernel = kernel::unary<fc_types>([](auto x) { return scalar::asinh(x); }),
    .grad = [](GradCall& g) { g.input_grad(0, g.output_grad() / cosh(conj(g.output()))); },
    .grad_reads = reads::outputs<0>,
    .traits = elementwise,
});

const Op& Acosh = define_op({
    .name = "Acosh",
    .doc = "The inverse hyperbolic cosine.",
    .signature = "x: T -> y: T",
    .infer = infer::like_input<0>,
    .kernel = kernel::unary<fc_types>([](auto x) { return scalar::acosh(x); }),
    .grad = [](GradCall& g) { g.input_grad(0, g.output_grad() / sinh(conj(g.output()))); },
    .grad_reads = reads::outputs<0>,
    .traits = elementwise,
});

const Op& Atanh = define_op({
    .name = "Atanh",
    .doc = "The inverse hyperbolic tangent.",
    .signature = "x: T -> y: T",
    .infer = infer::like_input<0>,
    .kernel = kernel::unary<fc_types>([](auto x) { return scalar::atanh(x); }),
    .grad = [](GradCall& g) { g.input_grad(0, g.output_grad() / (1 - square(conj(g.input())))); },
    .grad_reads = reads::all_inputs,
    .traits = elementwise,
});

const Op& SigmoidGrad = define_op({
    .name = "SigmoidGrad",
    .doc = "The gradient of sigmoid: dy * y * (1 - y).",
    .signature = "y: T, dy: T -> z: T",
    .infer = infer::same_shape,
    .kernel = kernel::binary<fc_types>([](auto y, auto dy) { return dy * y * (decltype(y)(1) - y); }),
    .grad =
        [](GradCall& g) {
          Tensor y = conj(g.input(0)), slope = g.output_grad() * conj(g.input(1));
          if (g.wants(0)) g.input_grad(0, slope - 2 * slope * y);
          if (g.wants(1)) g.input_grad(1, apply1(g.op, {y, g.output_grad()}));
        },
    .grad_reads = reads::all_inputs,
    .traits = elementwise,
});

const Op& Sigmoid = define_op({
    .name = "Sigmoid",
    .doc = "1 / (1 + exp(-x)).",
    .signature = "x: T -> y: T",
    .infer = infer::like_input<0>,
    .kernel = kernel::unary<fc_types>([](auto x) { return scalar::sigmoid(x); }),
    .grad = [](GradCall& g) { g.input_grad(0, apply1(SigmoidGrad, {conj(g.output()), g.output_grad()})); },
    .grad_reads = reads::outputs<0>,
    .traits = elementwise,
});

const Op& Atan2 = define_op({
    .name = "Atan2",
    .doc = "The angle of the point (x, y).",
    .signature = "y: T, x: T -> z: T",
    .infer = infer::broadcast,
    .kernel = kernel::binary<float_types>([](auto y, auto x) { return scalar::atan2(y, x); }),
    .grad =
        [](GradCall& g) {
          Tensor scale = g.output_grad() / (square(g.input(0)) + square(g.input(1)));
          if (g.wants(0)) g.input_grad(0, g.input(1) * scale);
          if (g.wants(1)) g.input_grad(1, -(g.input(0) * scale));
        },
    .grad_reads = reads::all_inputs,
    .traits = elementwise,
});

}  // namespace

Tensor exp(const Tensor& x) { return apply1(Exp, {x}); }
Tensor expm1(const Tensor& x) { return apply1(Expm1, {x}); }
Tensor log(const Tensor& x) { return apply1(Log, {x}); }
Tensor log1p(const Tensor& x) { return apply1(Log1p, {x}); }
Tensor sqrt(const Tensor& x) { return apply1(Sqrt, {x}); }
Tensor rsqrt(const Tensor& x) { return apply1(Rsqrt, {x}); }
Tensor square(const Tensor& x) { return apply1(Square, {x}); }
Tensor reciprocal(const Tensor& x) { return apply1(Reciprocal, {x}); }
Tensor sin(const Tensor& x) { return apply1(Sin, {x}); }
Tensor cos(const Tensor& x) { return apply1(Cos, {x}); }
Tensor tan(const Tensor& x) { return apply1(Tan, {x}); }
Tensor asin(const Tensor& x) { return apply1(Asin, {x}); }
Tensor acos(const Tensor& x) { return apply1(Acos, {x}); }
Tensor atan(const Tensor& x) { return apply1(Atan, {x}); }
Tensor sinh(const Tensor& x) { return apply1(Sinh, {x}); }
Tensor cosh(const Tensor& x) { return apply1(Cosh, {x}); }
Tensor tanh(const Tensor& x) { return apply1(Tanh, {x}); }
Tensor asinh(const Tensor& x) { return apply1(Asinh, {x}); }
Tensor acosh(const Tensor& x) { return apply1(Acosh, {x}); }
Tensor atanh(const Tensor& x) { return apply1(Atanh, {x}); }
Tensor sigmoid(const Tensor& x) { return apply1(Sigmoid, {x}); }
Tensor atan2(const TensorLike& y, const TensorLike& x) { return apply1(Atan2, {y, x}); }
Tensor math::log_sigmoid(const Tensor& x) { return -math::softplus(-x); }

namespace {
const FunctionDef* const math_elementary_functions[] = {
    &define_function<thalweg::exp>({"exp", "math.exp"}, {"x"}),
    &define_function<thalweg::expm1>({"math.expm1"}, {"x"}),
    &define_function<thalweg::log>({"math.log"}, {"x"}),
    &define_function<thalweg::log1p>({"math.log1p"}, {"x"}),
    &define_function<thalweg::sqrt>({"sqrt", "math.sqrt"}, {"x"}),
    &define_function<thalweg::rsqrt>({"math.rsqrt"}, {"x"}),
    &define_function<thalweg::square>({"square", "math.square"}, {"x"}),
    &define_function<thalweg::reciprocal>({"math.reciprocal"}, {"x"}),
    &define_function<thalweg::sin>({"sin", "math.sin"}, {"x"}),
    &define_function<thalweg::cos>({"cos", "math.cos"}, {"x"}),
    &define_function<thalweg::tan>({"tan", "math.tan"}, {"x"}),
    &define_function<thalweg::asin>({"asin", "math.asin"}, {"x"}),
    &define_function<thalweg::acos>({"acos", "math.acos"}, {"x"}),
    &define_function<thalweg::atan>({"atan", "math.atan"}, {"x"}),
    &define_function<thalweg::sinh>({"sinh", "math.sinh"}, {"x"}),
    &define_function<thalweg::cosh>({"cosh", "math.cosh"}, {"x"}),
    &define_function<thalweg::tanh>({"tanh", "math.tanh", "nn.tanh"}, {"x"}),
    &define_function<thalweg::asinh>({"asinh", "math.asinh"}, {"x"}),
    &define_function<thalweg::acosh>({"acosh", "math.acosh"}, {"x"}),
    &define_function<thalweg::atanh>({"atanh", "math.atanh"}, {"x"}),
    &define_function<thalweg::sigmoid>({"sigmoid", "math.sigmoid", "nn.sigmoid"}, {"x"}),
    &define_function<thalweg::atan2>({"atan2", "math.atan2"}, {"y", "x"}),
    &define_function<math::log_sigmoid>({"math.log_sigmoid"}, {"x"}),
};
}  // namespace

}  // namespace thalweg

#include "thalweg/ops/math_rounding.h"

#include <cmath>

#include "thalweg/kernels/scalar_arithmetic.h"
#include "thalweg/kernels/scalar_complex.h"
#include "thalweg/kernels/scalar_math.h"
#include "thalweg/kernels/scalar_special.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/division.h"
#include "thalweg/ops/elementwise.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_complex.h"

namespace thalweg {
namespace {

namespace scalar = kernels::scalar;
constexpr TypeSet signed_real_types = float_types | signed_types;

constexpr const char* step_reason = "a step function: its derivative is zero wherever it has one";

const Op& Abs = define_op({
    .name = "Abs",
    .doc = "|x|.",
    .signature = "x: T -> y: T",
    .infer = infer::like_input<0>,
    .kernel = kernel::unary<signed_real_types>([](auto x) {
      using T = decltype(x);
      if constexpr (std::is_integral_v<T>) {  // signs that jump about would cost a mispredicted branch per element
        const T mask = static_cast<T>(x >> (8 * sizeof(T) - 1));
        return kernels::scalar::subtract(static_cast<T>(x ^ mask), mask);
      } else return std::abs(x);
    }),
    .grad = [](GradCall& g) { g.input_grad(0, g.output_grad() * sign(g.input())); },
    .grad_reads = reads::all_inputs,
    .traits = {.elementwise = true, .twice = Twice::is_once},
});

const Op& Sign = define_op({
    .name = "Sign",
    .doc = "-1, 0 or 1; z / |z| of complex numbers.",
    .signature = "x: T -> y: T",
    .infer = infer::like_input<0>,
    .kernel = kernel::unary<(signed_real_types | complex_types)>([](auto x) {
      using T = decltype(x);
      if constexpr (requires { x.real(); }) return scalar::sign(x);
      else if constexpr (std::is_integral_v<T>) return static_cast<T>((x > T(0)) - (x < T(0)));
      else return x > T(0) ? T(1) : x < T(0) ? T(-1) : x;
    }),
    .grad = [](GradCall& g) { g.input_grad(0, zeros_like(g.input())); },
    .grad_reads = reads::nothing,
    .traits = elementwise,
});

const Op& Floor = define_op({
    .name = "Floor",
    .doc = "The largest integer not above x.",
    .signature = "x: T -> y: T",
    .infer = infer::like_input<0>,
    .kernel = kernel::unary<float_types>([](auto x) { return scalar::floor(x); }),
    .traits = {.elementwise = true, .twice = Twice::is_once, .not_differentiable = step_reason},
});

const Op& Ceil = define_op({
    .name = "Ceil",
    .doc = "The smallest integer not below x.",
    .signature = "x: T -> y: T",
    .infer = infer::like_input<0>,
    .kernel = kernel::unary<float_types>([](auto x) { return scalar::ceil(x); }),
    .traits = {.elementwise = true, .twice = Twice::is_once, .not_differentiable = step_reason},
});

const Op& Rint = define_op({
    .name = "Rint",
    .doc = "The nearest integer; halves go to the even one.",
    .signature = "x: T -> y: T",
    .infer = infer::like_input<0>,
    .kernel = kernel::unary<float_types>([](auto x) { return scalar::rint(x); }),
    .traits = {.elementwise = true, .twice = Twice::is_once, .not_differentiable = step_reason},
});

const Op& Round = define_op({
    .name = "Round",
    .doc = "The nearest integer; halves go to the even one. Integers are themselves.",
    .signature = "x: T -> y: T",
    .infer = infer::like_input<0>,
    .kernel = kernel::unary<signed_real_types>([](auto x) {
      if constexpr (std::is_integral_v<decltype(x)>) return x;
      else return scalar::rint(x);
    }),
    .traits = {.elementwise = true, .not_differentiable = step_reason},
});

const Op& IsFinite = define_op({
    .name = "IsFinite",
    .doc = "True where x is neither infinite nor NaN.",
    .signature = "x: T -> y: bool",
    .infer = infer::like_input<0>,
    .kernel = kernel::unary<float_types>([](auto x) { return x - x == decltype(x)(0); }),
    .traits = {.elementwise = true, .not_differentiable = "the result is boolean"},
});

const Op& IsInf = define_op({
    .name = "IsInf",
    .doc = "True where x is infinite.",
    .signature = "x: T -> y: bool",
    .infer = infer::like_input<0>,
    .kernel = kernel::unary<float_types>([](auto x) { return std::isinf(x); }),
    .traits = {.elementwise = true, .not_differentiable = "the result is boolean"},
});

const Op& IsNan = define_op({
    .name = "IsNan",
    .doc = "True where x is not a number.",
    .signature = "x: T -> y: bool",
    .infer = infer::like_input<0>,
    .kernel = kernel::unary<float_types>([](auto x) { return x != x; }),
    .traits = {.elementwise = true, .not_differentiable = "the result is boolean"},
});

const Op& NextAfter = define_op({
    .name = "NextAfter",
    .doc = "The next number after x1 in the direction of x2.",
    .signature = "x1: T, x2: T -> output: T",
    .infer = infer::broadcast,
    .kernel = kernel::binary<types(float32, float64)>([](auto x, auto y) { return scalar::nextafter(x, y); }),
    .grad =
        [](GradCall& g) {
          g.input_grad(0, g.output_grad());
          if (g.wants(1)) g.input_grad(1, zeros_like(g.output_grad()));
        },
    .grad_reads = reads::nothing,
    .traits = elementwise,
});

}  // namespace

Tensor abs(const Tensor& x) { return is_complex(x.dtype()) ? math::complex_abs(x) : apply1(Abs, {x}); }
Tensor sign(const Tensor& x) {
  if (!is_complex(x.dtype())) return apply1(Sign, {x});
  return math::divide_no_nan(x, cast(math::complex_abs(x), x.dtype()));  // differentiable, as the op is not
}
Tensor floor(const Tensor& x) { return apply1(Floor, {x}); }
Tensor ceil(const Tensor& x) { return apply1(Ceil, {x}); }
Tensor round(const Tensor& x) { return is_integer(x.dtype()) ? x : apply1(Round, {x}); }
Tensor math::rint(const Tensor& x) { return apply1(Rint, {x}); }
Tensor math::is_finite(const Tensor& x) { return apply1(IsFinite, {x}); }
Tensor math::is_inf(const Tensor& x) { return apply1(IsInf, {x}); }
Tensor math::is_nan(const Tensor& x) { return apply1(IsNan, {x}); }
Tensor math::nextafter(const TensorLike& x1, const TensorLike& x2) { return apply1(NextAfter, {x1, x2}); }

namespace {
const FunctionDef* const math_rounding_functions[] = {
    &define_function<thalweg::abs>({"abs", "math.abs"}, {"x"}),
    &define_function<thalweg::sign>({"sign", "math.sign"}, {"x"}),
    &define_function<thalweg::floor>({"floor", "math.floor"}, {"x"}),
    &define_function<thalweg::ceil>({"math.ceil"}, {"x"}),
    &define_function<thalweg::round>({"round", "math.round"}, {"x"}),
    &define_function<math::rint>({"math.rint"}, {"x"}),
    &define_function<math::is_finite>({"math.is_finite"}, {"x"}),
    &define_function<math::is_inf>({"math.is_inf"}, {"x"}),
    &define_function<math::is_nan>({"math.is_nan"}, {"x"}),
    &define_function<math::nextafter>({"math.nextafter"}, {"x1", "x2"}),
};
}  // namespace

}  // namespace thalweg

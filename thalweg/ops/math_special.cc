#include "thalweg/ops/math_special.h"

#include "thalweg/core/error.h"
#include "thalweg/kernels/scalar_math.h"
#include "thalweg/kernels/scalar_special.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/division.h"
#include "thalweg/ops/elementwise.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_elementary.h"
#include "thalweg/ops/math_rounding.h"
#include "thalweg/ops/selection.h"

namespace thalweg {
namespace {

// Long functions are made to stand in the loops themselves (`always_inline`): only there are they vectorised.
namespace scalar = kernels::scalar;
constexpr double two_over_root_pi = 1.1283791670955126;
constexpr TypeSet wide_types = types(float32, float64);

const Op& Erf = define_op({
    .name = "Erf",
    .doc = "The error function.",
    .signature = "x: T -> y: T",
    .infer = infer::like_input<0>,
    .kernel = kernel::unary<float_types>([](auto x) { return scalar::erf(x); }),
    .grad = [](GradCall& g) { g.input_grad(0, g.output_grad() * (two_over_root_pi * exp(-square(g.input())))); },
    .grad_reads = reads::inputs<0>,
    .traits = elementwise,
});

const Op& Erfc = define_op({
    .name = "Erfc",
    .doc = "1 - erf(x).",
    .signature = "x: T -> y: T",
    .infer = infer::like_input<0>,
    .kernel = kernel::unary<float_types, kernels::NoAttrs, kernel::costly>([](auto x) { return scalar::erfc(x); }),
    .grad = [](GradCall& g) { g.input_grad(0, g.output_grad() * (-two_over_root_pi * exp(-square(g.input())))); },
    .grad_reads = reads::inputs<0>,
    .traits = elementwise,
});

const Op& Erfinv = define_op({
    .name = "Erfinv",
    .doc = "The inverse of erf.",
    .signature = "x: T -> y: T",
    .infer = infer::like_input<0>,
    .kernel = kernel::unary<float_types, kernels::NoAttrs, kernel::costly>(
        [](auto x) __attribute__((always_inline)) { return scalar::erfinv(x); }),
    .grad =
        [](GradCall& g) { g.input_grad(0, g.output_grad() * (0.5 * 1.7724538509055159 * exp(square(g.output())))); },
    .grad_reads = reads::outputs<0>,
    .traits = elementwise,
});

const Op& Ndtri = define_op({
    .name = "Ndtri",
    .doc = "The inverse of the normal distribution function.",
    .signature = "x: T -> y: T",
    .infer = infer::like_input<0>,
    .kernel = kernel::unary<float_types, kernels::NoAttrs, kernel::costly>(
        [](auto x) __attribute__((always_inline)) { return scalar::ndtri(x); }),
    .grad =
        [](GradCall& g) { g.input_grad(0, g.output_grad() * (2.5066282746310002 * exp(square(g.output()) / 2.0))); },
    .grad_reads = reads::outputs<0>,
    .traits = elementwise,
});

const Op& Lgamma = define_op({
    .name = "Lgamma",
    .doc = "log |gamma(x)|.",
    .signature = "x: T -> y: T",
    .infer = infer::like_input<0>,
    .kernel =
        kernel::unary<float_types, kernels::NoAttrs, kernel::very_costly>([](auto x) { return scalar::lgamma(x); }),
    .grad = [](GradCall& g) { g.input_grad(0, g.output_grad() * math::digamma(g.input())); },
    .grad_reads = reads::inputs<0>,
    .traits = elementwise,
});

const Op& Digamma = define_op({
    .name = "Digamma",
    .doc = "The derivative of lgamma.",
    .signature = "x: T -> y: T",
    .infer = infer::like_input<0>,
    .kernel =
        kernel::unary<float_types, kernels::NoAttrs, kernel::very_costly>([](auto x) { return scalar::digamma(x); }),
    .grad = [](GradCall& g) { g.input_grad(0, g.output_grad() * math::polygamma(ones_like(g.input()), g.input())); },
    .grad_reads = reads::inputs<0>,
    .traits = elementwise,
});

const Op& BesselI0e = define_op({
    .name = "BesselI0e",
    .doc = "exp(-|x|) i0(x).",
    .signature = "x: T -> y: T",
    .infer = infer::like_input<0>,
    .kernel = kernel::unary<float_types, kernels::NoAttrs, kernel::costly>(
        [](auto x) __attribute__((always_inline)) { return scalar::bessel_i0e(x); }),
    .grad =
        [](GradCall& g) {
          const Tensor& x = g.input();
          g.input_grad(0, g.output_grad() * (math::bessel_i1e(x) - sign(x) * g.output()));
        },
    .grad_reads = reads::inputs<0> | reads::outputs<0>,
    .traits = elementwise,
});

const Op& BesselI1e = define_op({
    .name = "BesselI1e",
    .doc = "exp(-|x|) i1(x).",
    .signature = "x: T -> y: T",
    .infer = infer::like_input<0>,
    .kernel = kernel::unary<float_types, kernels::NoAttrs, kernel::costly>(
        [](auto x) __attribute__((always_inline)) { return scalar::bessel_i1e(x); }),
    // At 0, where y / x is not a number, the derivative is 1/2.
    .grad =
        [](GradCall& g) {
          const Tensor& x = g.input();
          Tensor is_zero = equal(x, 0), divisor = where(is_zero, ones_like(x), x);
          Tensor slope = math::bessel_i0e(x) - g.output() * (sign(x) + reciprocal(divisor));
          g.input_grad(0, g.output_grad() * where(is_zero, 0.5, slope));
        },
    .grad_reads = reads::inputs<0> | reads::outputs<0>,
    .traits = elementwise,
});

const Op& Zeta = define_op({
    .name = "Zeta",
    .doc = "The Hurwitz zeta function.",
    .signature = "x: T, q: T -> z: T",
    .infer = infer::broadcast,
    .kernel = kernel::binary<wide_types, kernels::NoAttrs, kernel::very_costly>(
        [](auto x, auto q) { return scalar::zeta(x, q); }),
    .grad =
        [](GradCall& g) {
          const Tensor &x = g.input(0), &q = g.input(1);
          if (g.wants(1)) g.input_grad(1, g.output_grad() * (-x * math::zeta(x + 1, q)));
        },
    .grad_reads = reads::inputs<0, 1>,
    .traits = elementwise,
});

const Op& Polygamma = define_op({
    .name = "Polygamma",
    .doc = "The derivative of order a of digamma.",
    .signature = "a: T, x: T -> z: T",
    .infer = infer::broadcast,
    .kernel = kernel::binary<wide_types, kernels::NoAttrs, kernel::very_costly>(
        [](auto a, auto x) { return scalar::polygamma(a, x); }),
    .grad =
        [](GradCall& g) {
          if (g.wants(1)) g.input_grad(1, g.output_grad() * math::polygamma(g.input(0) + 1, g.input(1)));
        },
    .grad_reads = reads::inputs<0, 1>,
    .traits = elementwise,
});

// x^(a - 1) e^-x / gamma(a), in logarithms, since gamma(a) can be large.
Tensor gamma_density(const Tensor& a, const Tensor& x) { return exp((a - 1) * log(x) - x - math::lgamma(a)); }

const Op& IgammaGradA = define_op({
    .name = "IgammaGradA",
    .doc = "The derivative of Igamma by a.",
    .signature = "a: T, x: T -> z: T",
    .infer = infer::broadcast,
    .kernel = kernel::binary<wide_types, kernels::NoAttrs, kernel::very_costly>(
        [](auto a, auto x) { return scalar::igamma_grad_a(a, x); }),
    .grad =
        [](GradCall& g) {
          const Tensor &a = g.input(0), &x = g.input(1);
          if (g.wants(1)) g.input_grad(1, g.output_grad() * gamma_density(a, x) * (log(x) - math::digamma(a)));
          if (g.wants(0)) throw InvalidArgumentError("Igamma has no second derivative by a");
        },
    .grad_reads = reads::inputs<0, 1>,
    .traits = elementwise,
});

void grad_of_igamma(GradCall& g, const Tensor& d) {
  const Tensor &a = g.input(0), &x = g.input(1);
  if (g.wants(0)) {
    const bool half = is_half(a.dtype());
    auto wide = [&](const Tensor& t) { return half ? cast(t, DType::float32) : t; };
    Tensor slope = apply1(IgammaGradA, {wide(a), wide(x)});
    g.input_grad(0, d * (half ? cast(slope, a.dtype()) : slope));
  }
  if (g.wants(1)) g.input_grad(1, d * gamma_density(a, x));
}

const Op& Igamma = define_op({
    .name = "Igamma",
    .doc = "The lower regularised incomplete gamma function.",
    .signature = "a: T, x: T -> z: T",
    .infer = infer::broadcast,
    .kernel = kernel::binary<float_types, kernels::NoAttrs, kernel::very_costly>(
        [](auto a, auto x) { return scalar::igamma(a, x); }),
    .grad = [](GradCall& g) { grad_of_igamma(g, g.output_grad()); },
    .grad_reads = reads::inputs<0, 1>,
    .traits = elementwise,
});

const Op& Igammac = define_op({
    .name = "Igammac",
    .doc = "The upper regularised incomplete gamma function.",
    .signature = "a: T, x: T -> z: T",
    .infer = infer::broadcast,
    .kernel = kernel::binary<float_types, kernels::NoAttrs, kernel::very_costly>(
        [](auto a, auto x) { return scalar::igammac(a, x); }),
    .grad = [](GradCall& g) { grad_of_igamma(g, -g.output_grad()); },
    .grad_reads = reads::inputs<0, 1>,
    .traits = elementwise,
});

const Op& Betainc = define_op({
    .name = "Betainc",
    .doc = "The regularised incomplete beta function.",
    .signature = "a: T, b: T, x: T -> z: T",
    .infer =
        [](InferCall& c) {  // scalars stand beside tensors of one shape
          Shape all = Shape();
          bool found = false, unknown_rank = false;
          for (int i = 0; i < 3; ++i) {
            if (!c.shape(i).has_rank()) unknown_rank = true;
            if (c.shape(i).rank() <= 0) continue;
            c.require(!found || all.is_compatible_with(c.shape(i)), "a, b and x must have one shape, or be scalars");
            all = found ? all.merge_with(c.shape(i)) : c.shape(i);
            found = true;
          }
          c.output(0, unknown_rank && !found ? Shape::unknown_rank() : all);
        },
    .kernel = kernel::ternary<wide_types, kernels::NoAttrs, kernel::very_costly>(
        [](auto a, auto b, auto x) { return scalar::betainc(a, b, x); }),
    .grad =
        [](GradCall& g) {  // by x alone, as in TensorFlow; in logarithms, since the terms can be large
          if (!g.wants(2)) return;
          const Tensor &a = g.input(0), &b = g.input(1), &x = g.input(2);
          Tensor log_beta = math::lgamma(a) + math::lgamma(b) - math::lgamma(a + b);
          g.input_grad(2, g.output_grad() * exp(math::xlog1py(b - 1, -x) + math::xlogy(a - 1, x) - log_beta));
        },
    .grad_reads = reads::inputs<0, 1, 2>,
    .traits = {.elementwise = true, .broadcasts = true},
});

}  // namespace

namespace math {
Tensor erf(const Tensor& x) { return apply1(Erf, {x}); }
Tensor erfc(const Tensor& x) { return apply1(Erfc, {x}); }
Tensor erfinv(const Tensor& x) { return apply1(Erfinv, {x}); }
Tensor ndtri(const Tensor& x) { return apply1(Ndtri, {x}); }
Tensor lgamma(const Tensor& x) { return apply1(Lgamma, {x}); }
Tensor digamma(const Tensor& x) { return apply1(Digamma, {x}); }
Tensor bessel_i0e(const Tensor& x) { return apply1(BesselI0e, {x}); }
Tensor bessel_i1e(const Tensor& x) { return apply1(BesselI1e, {x}); }
Tensor erfcinv(const Tensor& x) { return -(0.70710678118654752 * ndtri(0.5 * x)); }
Tensor bessel_i0(const Tensor& x) { return exp(abs(x)) * bessel_i0e(x); }
Tensor bessel_i1(const Tensor& x) { return exp(abs(x)) * bessel_i1e(x); }
Tensor zeta(const TensorLike& x, const TensorLike& q) { return apply1(Zeta, {x, q}); }
Tensor polygamma(const TensorLike& a, const TensorLike& x) { return apply1(Polygamma, {a, x}); }
Tensor igamma(const TensorLike& a, const TensorLike& x) { return apply1(Igamma, {a, x}); }
Tensor igammac(const TensorLike& a, const TensorLike& x) { return apply1(Igammac, {a, x}); }
Tensor betainc(const TensorLike& a, const TensorLike& b, const TensorLike& x) { return apply1(Betainc, {a, b, x}); }
}  // namespace math

namespace {
const FunctionDef* const math_special_functions[] = {
    &define_function<math::erf>({"math.erf"}, {"x"}),
    &define_function<math::erfc>({"math.erfc"}, {"x"}),
    &define_function<math::erfinv>({"math.erfinv"}, {"x"}),
    &define_function<math::ndtri>({"math.ndtri"}, {"x"}),
    &define_function<math::lgamma>({"math.lgamma"}, {"x"}),
    &define_function<math::digamma>({"math.digamma"}, {"x"}),
    &define_function<math::bessel_i0e>({"math.bessel_i0e"}, {"x"}),
    &define_function<math::bessel_i1e>({"math.bessel_i1e"}, {"x"}),
    &define_function<math::erfcinv>({"math.erfcinv"}, {"x"}),
    &define_function<math::bessel_i0>({"math.bessel_i0"}, {"x"}),
    &define_function<math::bessel_i1>({"math.bessel_i1"}, {"x"}),
    &define_function<math::zeta>({"math.zeta"}, {"x", "q"}),
    &define_function<math::polygamma>({"math.polygamma"}, {"a", "x"}),
    &define_function<math::igamma>({"math.igamma"}, {"a", "x"}),
    &define_function<math::igammac>({"math.igammac"}, {"a", "x"}),
    &define_function<math::betainc>({"math.betainc"}, {"a", "b", "x"}),
};
}  // namespace

}  // namespace thalweg

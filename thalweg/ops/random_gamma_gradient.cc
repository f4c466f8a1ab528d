// How gamma distributed numbers move with the shape of their distribution.
#include "thalweg/core/error.h"
#include "thalweg/kernels/scalar_gamma.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/elementwise.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_elementary.h"
#include "thalweg/ops/math_special.h"
#include "thalweg/ops/random_support.h"

namespace thalweg::random {
namespace {

// Implicit differentiation: the sample stays at its quantile (Figurnov et al. 2018, "Implicit reparameterization
// gradients").
const Op& RandomGammaGrad = define_op({
    .name = "RandomGammaGrad",
    .doc = "The derivative of gamma distributed numbers by the shape alpha of their distribution.",
    .signature = "alpha: T, sample: T -> output: T",
    .infer = infer::broadcast,
    .kernel = kernel::binary<types(float32, float64), kernels::NoAttrs, kernel::very_costly>(
        [](auto alpha, auto sample) { return kernels::scalar::gamma_sample_grad(alpha, sample); }),
    .grad =
        [](GradCall& g) {
          const Tensor &alpha = g.input(0), &sample = g.input(1), &move = g.output();
          if (g.wants(1)) {
            Tensor bend = move * (1 - (alpha - 1) / sample) - log(sample) + math::digamma(alpha);
            g.input_grad(1, g.output_grad() * bend);
          }
          if (g.wants(0)) throw InvalidArgumentError("gamma distributed numbers have no second derivative by alpha");
        },
    .grad_reads = reads::inputs<0, 1> | reads::outputs<0>,
    .traits = elementwise,
});

}  // namespace

Tensor grad_of_gamma(const Tensor& alpha, const Tensor& sample, const Tensor& grad) {
  if (!is_half(alpha.dtype())) return grad * apply1(RandomGammaGrad, {alpha, sample});
  Tensor move = apply1(RandomGammaGrad, {cast(alpha, DType::float32), cast(sample, DType::float32)});
  return grad * cast(move, alpha.dtype());
}

}  // namespace thalweg::random

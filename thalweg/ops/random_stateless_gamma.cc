// Gamma and Poisson distributed numbers from a seed: one parameter for each element of the last dimensions.
#include "thalweg/kernels/random.h"
#include "thalweg/kernels/random_gamma.h"
#include "thalweg/kernels/random_poisson.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/random.h"
#include "thalweg/ops/random_stateless.h"
#include "thalweg/ops/random_support.h"

namespace thalweg::random {
namespace {

struct StatelessPoissonAttrs {
  DType dtype = DType::invalid;
};

constexpr TypeSet gamma_types = types(float16, float32, float64);
constexpr TypeSet poisson_types = gamma_types | index_types;

// The result has the shape that input 0 says, which ends with the shape of the parameter, input i.
void infer_ending_with(InferCall& c, int i) {
  Shape shape = c.shape_value(0);
  const Shape& parameter = c.shape(i);
  // Of no samples TensorFlow asks nothing more.
  if (shape.has_rank() && parameter.has_rank() && shape.num_elements() != 0) {
    bool fits = parameter.rank() <= shape.rank();
    for (int k = 1; fits && k <= parameter.rank(); ++k)
      fits = shape[-k] == parameter[-k] || shape[-k] == unknown || parameter[-k] == unknown;
    if (!fits)
      c.fail("Shape passed in must end with broadcasted shape: shape is " + shape.brackets() + ", " +
             c.op.args[static_cast<size_t>(i)].name + " has shape " + parameter.brackets());
  }
  c.output(0, shape);
}

template <int Alpha> void grad_of_samples(GradCall& g) {
  g.input_grad(Alpha, grad_of_gamma(g.input(Alpha), g.output(), g.output_grad()));
}

const Op& StatelessRandomGammaV2 = define_op({
    .name = "StatelessRandomGammaV2",
    .doc = "Gamma distributed numbers of scale 1, from a seed; `shape` ends with alpha's shape.",
    .signature = "shape: T, seed: Tseed, alpha: dtype -> output: dtype",
    .types = {{"T", index_types}, {"Tseed", index_types}, {"dtype", gamma_types}},
    .infer =
        [](InferCall& c) {
          require_seed(c, 1);
          infer_ending_with(c, 2);
        },
    .kernel = {[](const KernelCall& c) {
      int64_t n = c.output_shape().count(), alphas = c.count(2);
      if (n == 0) return;
      std::vector<int64_t> seed = c.values(1);
      kernels::fill_gamma(c.output_dtype(), kernels::stateless_state(seed[0], seed[1]), c.input(2), alphas, n / alphas,
                          c.output());
    }},
    .grad = grad_of_samples<2>,
    .grad_reads = reads::inputs<2> | reads::outputs<0>,
    .traits = {.broadcasts = true},
});

const Op& StatelessRandomGammaV3 = define_op({
    .name = "StatelessRandomGammaV3",
    .doc = "Gamma distributed numbers of scale 1, from a key and a counter; `shape` ends with alpha's shape.",
    .signature = "shape: shape_dtype, key: uint64, counter: uint64, alg: int32, alpha: dtype -> output: dtype",
    .types = {{"shape_dtype", index_types}, {"dtype", gamma_types}},
    .infer =
        [](InferCall& c) {
          check_key_counter(c);
          infer_ending_with(c, 4);
        },
    .kernel = {[](const KernelCall& c) {
      int64_t n = c.output_shape().count(), alphas = c.count(4);
      if (n == 0) return;
      kernels::fill_gamma(c.output_dtype(), key_stream(c), c.input(4), alphas, n / alphas, c.output());
    }},
    .grad = grad_of_samples<4>,
    .grad_reads = reads::inputs<4> | reads::outputs<0>,
    .traits = {.broadcasts = true},
});

const Op& StatelessRandomPoisson = define_op({
    .name = "StatelessRandomPoisson",
    .doc = "Poisson distributed numbers, from a seed; `shape` ends with the shape of the rates.",
    .signature = "shape: T, seed: Tseed, lam: Rtype -> output: dtype",
    .types = {{"Rtype", poisson_types}, {"dtype", poisson_types}, {"T", index_types}, {"Tseed", index_types}},
    .attrs = attrs_of<StatelessPoissonAttrs>(),
    .infer =
        [](InferCall& c) {
          require_seed(c, 1);
          infer_ending_with(c, 2);
        },
    .kernel = {[](const KernelCall& c) {
      int64_t n = c.output_shape().count(), rates = c.count(2);
      if (n == 0) return;
      std::vector<int64_t> seed = c.values(1);
      kernels::fill_poisson(c.dtype(2), c.output_dtype(), kernels::stateless_state(seed[0], seed[1]), c.input(2), rates,
                            n / rates, c.output());
    }},
    .traits = pure,
});

}  // namespace

Tensor stateless_gamma(const TensorLike& shape, const TensorLike& seed, const TensorLike& alpha,
                       const StatelessGammaOptions& options) {
  Tensor shape_parameter = Parameter(alpha.tensor()).as(options.dtype, "alpha");
  Tensor beta = (options.beta.given() ? options.beta : Parameter(1)).as(options.dtype, "beta");
  return finish_gamma(
      apply1(StatelessRandomGammaV2, {shape_tensor(shape), seed.own(), broadcast_alpha(shape_parameter, beta)}), beta);
}

Tensor stateless_poisson(const TensorLike& shape, const TensorLike& seed, const TensorLike& lam,
                         const StatelessPoissonOptions& options) {
  return apply1(StatelessRandomPoisson, {shape_tensor(shape), seed.own(), lam.own()},
                StatelessPoissonAttrs{options.dtype});
}

namespace {
const FunctionDef* const random_stateless_gamma_functions[] = {
    &define_function<stateless_gamma>({"random.stateless_gamma"}, {"shape", "seed", "alpha"}),
    &define_function<stateless_poisson>({"random.stateless_poisson"}, {"shape", "seed", "lam"}),
};
}  // namespace

}  // namespace thalweg::random

#include "thalweg/ops/random.h"

#include <limits>

#include "thalweg/core/convert.h"
#include "thalweg/core/error.h"
#include "thalweg/core/seed.h"
#include "thalweg/kernels/random.h"
#include "thalweg/kernels/random_gamma.h"
#include "thalweg/kernels/random_multinomial.h"
#include "thalweg/kernels/random_poisson.h"
#include "thalweg/kernels/random_shuffle.h"
#include "thalweg/kernels/random_truncated.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/broadcasting.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/infer.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/random_rows.h"
#include "thalweg/ops/random_support.h"

namespace thalweg::random {
namespace {

struct SeedAttrs {
  int64_t seed = 0;
  int64_t seed2 = 0;
};
struct DrawAttrs {
  int64_t seed = 0;
  int64_t seed2 = 0;
  DType dtype = DType::float32;
};
struct MultinomialAttrs {
  int64_t seed = 0;
  int64_t seed2 = 0;
  DType output_dtype = DType::int64;
};
struct PoissonAttrs {
  int64_t seed = 0;
  int64_t seed2 = 0;
  DType dtype = DType::int64;
};

constexpr TypeSet gamma_types = types(float16, float32, float64);
constexpr TypeSet poisson_types = gamma_types | index_types;

// The stream of this op, these dtypes and these seeds, moved on by `blocks`. TensorFlow keeps one kernel, and with it
// one stream, for each set of attributes, the dtypes among them.
template <class A> PhiloxState reserve(const KernelCall& c, uint64_t blocks) {
  uint64_t dtypes = static_cast<uint64_t>(c.output_dtype());
  for (int i = 0; i < c.num_inputs(); ++i) dtypes = dtypes * 32 + static_cast<uint64_t>(c.dtype(i));
  const A& attrs = c.attrs<A>();
  return seed_state().reserve(c.op.name, dtypes, attrs.seed, attrs.seed2, blocks);
}

template <Fill fill> void run_fill(const KernelCall& c) {
  int64_t n = c.output_shape().count();
  fill(c.output_dtype(), reserve<DrawAttrs>(c, kernels::fill_blocks(n)), c.output(), n);
}

const Op& RandomUniform = define_op({
    .name = "RandomUniform",
    .doc = "Real numbers, uniform in [0, 1).",
    .signature = "shape: T -> output: dtype",
    .types = {{"T", index_types}, {"dtype", float_types}},
    .attrs = attrs_of<DrawAttrs>(),
    .infer = infer_shape_value<0>,
    .kernel = {run_fill<kernels::fill_uniform>},
    .traits = stateful,
});

const Op& RandomStandardNormal = define_op({
    .name = "RandomStandardNormal",
    .doc = "Normal numbers of mean 0 and deviation 1.",
    .signature = "shape: T -> output: dtype",
    .types = {{"T", index_types}, {"dtype", float_types}},
    .attrs = attrs_of<DrawAttrs>(),
    .infer = infer_shape_value<0>,
    .kernel = {run_fill<kernels::fill_normal>},
    .traits = stateful,
});

const Op& TruncatedNormal = define_op({
    .name = "TruncatedNormal",
    .doc = "Normal numbers of mean 0 and deviation 1, drawn again until they lie in (-2, 2).",
    .signature = "shape: T -> output: dtype",
    .types = {{"T", index_types}, {"dtype", float_types}},
    .attrs = attrs_of<DrawAttrs>(),
    .infer = infer_shape_value<0>,
    .kernel = {run_fill<kernels::fill_truncated_normal>},
    .traits = stateful,
});

const Op& RandomUniformInt = define_op({
    .name = "RandomUniformInt",
    .doc = "Integers, uniform in [minval, maxval).",
    .signature = "shape: T, minval: Tout, maxval: Tout -> output: Tout",
    .types = {{"T", index_types}, {"Tout", index_types}},
    .attrs = attrs_of<SeedAttrs>(),
    .infer =
        [](InferCall& c) {
          require_scalar(c, 1);
          require_scalar(c, 2);
          c.output(0, c.shape_value(0));
        },
    .kernel = {[](const KernelCall& c) {
      int64_t n = c.output_shape().count();
      if (n == 0) return;
      check_bounds(c, 1, 2);
      PhiloxState state = reserve<SeedAttrs>(c, kernels::fill_blocks(n));
      kernels::fill_uniform_int(c.output_dtype(), state, c.input(1), c.input(2), c.output(), n);
    }},
    .traits = stateful,
});

// A parameter of ParameterizedTruncatedNormal: one for all batches, or one for each.
kernels::BatchParameter batch_parameter(const KernelCall& c, int i, int64_t num_batches) {
  int64_t count = c.count(i);
  if (count != 1 && count != num_batches)
    c.fail(c.op.args[static_cast<size_t>(i)].name + " must have length 1 or that of the first dimension, " +
           std::to_string(num_batches) + ", got shape " + c.shape(i).brackets());
  return {c.input(i), count != 1};
}

void run_parameterized_truncated_normal(const KernelCall& c) {
  kernels::TruncatedNormalBatches batches;
  const Shape& shape = c.output_shape();
  batches.num_elements = shape.count();
  if (batches.num_elements == 0) return;
  batches.num_batches = shape[0];
  batches.samples_per_batch = shape.count(1, shape.rank());
  batches.mean = batch_parameter(c, 1, shape[0]);
  batches.stddev = batch_parameter(c, 2, shape[0]);
  batches.minval = batch_parameter(c, 3, shape[0]);
  batches.maxval = batch_parameter(c, 4, shape[0]);
  if (c.count(1) == 1 && c.count(2) == 1 && c.shape(3).rank() == 0 && c.shape(4).rank() == 0) batches.regroup();
  PhiloxState state = reserve<SeedAttrs>(c, batches.reserved_blocks());
  switch (kernels::fill_parameterized_truncated_normal(c.output_dtype(), state, batches, c.output())) {
    case kernels::TruncatedNormalStatus::ok:
      return;
    case kernels::TruncatedNormalStatus::invalid_parameters:
      c.fail("Invalid parameters: stdevs must be positive, minvals below maxvals, and one of the two finite");
    default:
      c.fail("no candidate of 1000 lies between minval and maxval: the interval is too far from the mean");
  }
}

const Op& ParameterizedTruncatedNormal = define_op({
    .name = "ParameterizedTruncatedNormal",
    .doc = "Normal numbers between bounds; parameters are scalars or have one value for each batch (first dimension).",
    .signature = "shape: T, means: dtype, stdevs: dtype, minvals: dtype, maxvals: dtype -> output: dtype",
    .types = {{"T", index_types}, {"dtype", gamma_types}},
    .attrs = attrs_of<SeedAttrs>(),
    .infer =
        [](InferCall& c) {
          for (int i = 1; i < 5; ++i)
            if (c.shape(i).rank() > 1)
              c.fail(c.op.args[static_cast<size_t>(i)].name + " must be a scalar or a vector, got shape " +
                     c.shape(i).brackets());
          Shape shape = c.shape_value(0);
          if (shape.has_rank() && shape.rank() == 0)
            c.fail("the shape needs a first dimension, the batches, but is empty");
          c.output(0, shape);
        },
    .kernel = {run_parameterized_truncated_normal},
    .traits = stateful,
});

const Op& RandomShuffle = define_op({
    .name = "RandomShuffle",
    .doc = "The rows of a tensor in a random order.",
    .signature = "value: T -> output: T",
    .attrs = attrs_of<SeedAttrs>(),
    .infer = infer::like_input<0>,
    .kernel = {[](const KernelCall& c) {
      int64_t rows = c.shape(0).rank() == 0 ? 1 : c.shape(0)[0];
      bool nothing_to_do = rows < 2 || c.count(0) < 2;
      shuffle_rows(c, nothing_to_do ? PhiloxState{} : reserve<SeedAttrs>(c, kernels::shuffle_blocks(rows)));
    }},
    .traits = stateful,
});

const Op& Multinomial = define_op({
    .name = "Multinomial",
    .doc = "Draws classes by unnormalised log probabilities, row by row.",
    .signature = "logits: T, num_samples: int32 -> output: output_dtype",
    .types = {{"T", real_types}, {"output_dtype", index_types}},
    .attrs = attrs_of<MultinomialAttrs>(),
    .infer = infer_multinomial,
    .kernel = {[](const KernelCall& c) {
      int64_t samples = c.output_shape()[1];
      if (c.output_shape().count() == 0) return;
      draw_multinomial(c, reserve<MultinomialAttrs>(c, kernels::multinomial_blocks(c.shape(0)[0], samples)));
    }},
    .traits = stateful,
});

// `shape` samples for each element of the parameter, which stands in input 1.
void infer_samples(InferCall& c) {
  Shape shape = c.shape_value(0);
  bool known = shape.has_rank() && c.shape(1).has_rank();
  c.output(0, known ? shape.concatenate(c.shape(1)) : Shape::unknown_rank());
}

const Op& RandomGamma = define_op({
    .name = "RandomGamma",
    .doc = "Gamma distributed numbers of scale 1: `shape` samples for each alpha.",
    .signature = "shape: S, alpha: T -> output: T",
    .types = {{"S", index_types}, {"T", gamma_types}},
    .attrs = attrs_of<SeedAttrs>(),
    .infer = infer_samples,
    .kernel = {[](const KernelCall& c) {
      int64_t n = c.output_shape().count(), alphas = c.count(1);
      if (n == 0) return;
      kernels::fill_gamma(c.output_dtype(), reserve<SeedAttrs>(c, kernels::fill_blocks(n)), c.input(1), alphas,
                          n / alphas, c.output());
    }},
    .grad = [](GradCall& g) { g.input_grad(1, grad_of_gamma(g.input(1), g.output(), g.output_grad())); },
    .grad_reads = reads::inputs<1> | reads::outputs<0>,
    .traits = {.stateful = true, .broadcasts = true},
});

const Op& RandomPoissonV2 = define_op({
    .name = "RandomPoissonV2",
    .doc = "Poisson distributed numbers: `shape` samples for each rate.",
    .signature = "shape: S, rate: R -> output: dtype",
    .types = {{"S", index_types}, {"R", poisson_types}, {"dtype", poisson_types}},
    .attrs = attrs_of<PoissonAttrs>(),
    .infer = infer_samples,
    .kernel = {[](const KernelCall& c) {
      int64_t n = c.output_shape().count(), rates = c.count(1);
      if (n == 0) return;
      kernels::fill_poisson(c.dtype(1), c.output_dtype(), reserve<PoissonAttrs>(c, kernels::fill_blocks(n)), c.input(1),
                            rates, n / rates, c.output());
    }},
    .traits = stateful,
});

SeedAttrs next_seeds(const std::optional<int64_t>& seed) {
  auto [first, second] = seed_state().next_op_seed(seed);
  return {first, second};
}
DrawAttrs draw_attrs(DType dtype, const std::optional<int64_t>& seed) {
  SeedAttrs seeds = next_seeds(seed);
  return {seeds.seed, seeds.seed2, dtype};
}

void check_dtype(const char* function, DType dtype, TypeSet allowed) {
  if (!allowed.has(dtype))
    throw ValueError(std::string(function) + ": Argument `dtype` got invalid value " + std::string(name_of(dtype)) +
                     ". Accepted dtypes are " + to_string(allowed) + ".");
}

Tensor shifted_normal(const Op& op, const TensorLike& shape, const NormalOptions& options) {
  check_dtype(op.name, options.dtype, float_types);
  Tensor drawn = apply1(op, {shape_tensor(shape)}, draw_attrs(options.dtype, options.seed));
  return scale_and_shift(drawn, options.stddev, options.mean, "stddev", "mean");
}

}  // namespace

void set_seed(int64_t seed) { seed_state().set_global_seed(seed); }
namespace {
// Python's, where None returns to seeds that nobody can predict.
void set_or_drop_seed(const std::optional<int64_t>& seed) { seed_state().set_global_seed(seed); }
}  // namespace

Tensor uniform(const TensorLike& shape, const UniformOptions& options) {
  check_dtype("random.uniform", options.dtype, float_types | index_types);
  if (is_integer(options.dtype)) {
    if (!options.maxval.given())
      throw ValueError("random.uniform: Must specify maxval for integer dtype " + std::string(name_of(options.dtype)));
    return apply1(
        RandomUniformInt,
        {shape_tensor(shape), options.minval.as(options.dtype, "minval"), options.maxval.as(options.dtype, "maxval")},
        next_seeds(options.seed));
  }
  Tensor drawn = apply1(RandomUniform, {shape_tensor(shape)}, draw_attrs(options.dtype, options.seed));
  return stretch(drawn, options.minval, options.maxval.given() ? options.maxval : Parameter(1));
}

Tensor normal(const TensorLike& shape, const NormalOptions& options) {
  return shifted_normal(RandomStandardNormal, shape, options);
}
Tensor truncated_normal(const TensorLike& shape, const NormalOptions& options) {
  return shifted_normal(TruncatedNormal, shape, options);
}

Tensor shuffle(const Tensor& value, const SeedOptions& options) {
  return apply1(RandomShuffle, {value}, next_seeds(options.seed));
}

Tensor categorical(const Tensor& logits, const TensorLike& num_samples, const CategoricalOptions& options) {
  SeedAttrs seeds = next_seeds(options.seed);
  DType dtype = options.dtype == DType::invalid ? DType::int64 : options.dtype;
  return apply1(Multinomial, {logits, num_samples}, MultinomialAttrs{seeds.seed, seeds.seed2, dtype});
}

Tensor broadcast_alpha(const Tensor& alpha, const Tensor& beta) {
  if (beta.shape().rank() == 0) return alpha;
  return alpha * ones_like(beta);
}

Tensor finish_gamma(const Tensor& draws, const Tensor& beta) {
  double tiny = draws.dtype() == float64   ? std::numeric_limits<double>::min()
                : draws.dtype() == float16 ? 0x1p-14
                                           : static_cast<double>(std::numeric_limits<float>::min());
  return maximum(tiny, draws / beta);
}

Tensor gamma(const TensorLike& shape, const TensorLike& alpha, const GammaOptions& options) {
  Tensor shape_parameter = Parameter(alpha.tensor()).as(options.dtype, "alpha");
  Tensor beta = (options.beta.given() ? options.beta : Parameter(1)).as(options.dtype, "beta");
  return finish_gamma(
      apply1(RandomGamma, {shape_tensor(shape), broadcast_alpha(shape_parameter, beta)}, next_seeds(options.seed)),
      beta);
}

Tensor poisson(const TensorLike& shape, const TensorLike& lam, const PoissonOptions& options) {
  SeedAttrs seeds = next_seeds(options.seed);
  return apply1(RandomPoissonV2, {shape_tensor(shape), lam.own()},
                PoissonAttrs{seeds.seed, seeds.seed2, options.dtype});
}

namespace {
const FunctionDef* const random_functions[] = {
    &define_function<set_or_drop_seed>({"random.set_seed"}, {"seed"}),
    &define_function<Tensor(const TensorLike&, const random::UniformOptions&), uniform>({"random.uniform"}, {"shape"}),
    &define_function<Tensor(const TensorLike&, const random::NormalOptions&), normal>({"random.normal"}, {"shape"}),
    &define_function<Tensor(const TensorLike&, const random::NormalOptions&), truncated_normal>(
        {"random.truncated_normal"}, {"shape"}),
    &define_function<Tensor(const Tensor&, const random::SeedOptions&), shuffle>({"random.shuffle"}, {"value"}),
    &define_function<Tensor(const Tensor&, const TensorLike&, const random::CategoricalOptions&), categorical>(
        {"random.categorical"}, {"logits", "num_samples"}),
    &define_function<gamma>({"random.gamma"}, {"shape", "alpha"}),
    &define_function<poisson>({"random.poisson"}, {"shape", "lam"}),
};
}  // namespace

}  // namespace thalweg::random

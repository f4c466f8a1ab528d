#include "thalweg/ops/random_stateless.h"

#include "thalweg/core/error.h"
#include "thalweg/kernels/random.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/infer.h"
#include "thalweg/ops/random_rows.h"
#include "thalweg/ops/random_support.h"
#include "thalweg/ops/selection.h"

namespace thalweg::random {
namespace {

struct StatelessRealAttrs {
  DType dtype = DType::float32;
};
struct StatelessIntAttrs {
  DType dtype = DType::uint64;
};
struct StatelessMultinomialAttrs {
  DType output_dtype = DType::int64;
};

// The stream that a seed, input i, names.
PhiloxState seed_stream(const KernelCall& c, int i) {
  std::vector<int64_t> seed = c.values(i);
  return kernels::stateless_state(seed[0], seed[1]);
}

// Where nothing is drawn, TensorFlow takes any algorithm but those beyond its list.
bool draws_nothing(const KernelCall& c) {
  return c.output_shape().count() == 0 && c.scalar(3) <= kernels::auto_select_algorithm;
}

void infer_seeded(InferCall& c) {
  require_seed(c, 1);
  c.output(0, c.shape_value(0));
}
void infer_keyed(InferCall& c) {
  check_key_counter(c);
  c.output(0, c.shape_value(0));
}

template <Fill fill> void run_seeded(const KernelCall& c) {
  fill(c.output_dtype(), seed_stream(c, 1), c.output(), c.output_shape().count());
}
template <Fill fill> void run_keyed(const KernelCall& c) {
  if (draws_nothing(c)) return;
  fill(c.output_dtype(), key_stream(c), c.output(), c.output_shape().count());
}

const Op& StatelessRandomUniform = define_op({
    .name = "StatelessRandomUniform",
    .doc = "Real numbers, uniform in [0, 1), from a seed.",
    .signature = "shape: T, seed: Tseed -> output: dtype",
    .types = {{"T", index_types}, {"Tseed", index_types}, {"dtype", float_types}},
    .attrs = attrs_of<StatelessRealAttrs>(),
    .infer = infer_seeded,
    .kernel = {run_seeded<kernels::fill_uniform>},
    .traits = pure,
});

const Op& StatelessRandomNormal = define_op({
    .name = "StatelessRandomNormal",
    .doc = "Normal numbers of mean 0 and deviation 1, from a seed.",
    .signature = "shape: T, seed: Tseed -> output: dtype",
    .types = {{"T", index_types}, {"Tseed", index_types}, {"dtype", float_types}},
    .attrs = attrs_of<StatelessRealAttrs>(),
    .infer = infer_seeded,
    .kernel = {run_seeded<kernels::fill_normal>},
    .traits = pure,
});

const Op& StatelessTruncatedNormal = define_op({
    .name = "StatelessTruncatedNormal",
    .doc = "Normal numbers within two deviations, from a seed.",
    .signature = "shape: T, seed: Tseed -> output: dtype",
    .types = {{"T", index_types}, {"Tseed", index_types}, {"dtype", float_types}},
    .attrs = attrs_of<StatelessRealAttrs>(),
    .infer = infer_seeded,
    .kernel = {run_seeded<kernels::fill_truncated_normal>},
    .traits = pure,
});

const Op& StatelessRandomUniformFullInt = define_op({
    .name = "StatelessRandomUniformFullInt",
    .doc = "Integers, uniform over all values of their type, from a seed.",
    .signature = "shape: T, seed: Tseed -> output: dtype",
    .types = {{"T", index_types}, {"Tseed", index_types}, {"dtype", drawn_int_types}},
    .attrs = attrs_of<StatelessIntAttrs>(),
    .infer = infer_seeded,
    .kernel = {run_seeded<kernels::fill_uniform_full_int>},
    .traits = pure,
});

const Op& StatelessRandomUniformInt = define_op({
    .name = "StatelessRandomUniformInt",
    .doc = "Integers, uniform in [minval, maxval), from a seed.",
    .signature = "shape: T, seed: Tseed, minval: dtype, maxval: dtype -> output: dtype",
    .types = {{"T", index_types}, {"Tseed", index_types}, {"dtype", index_types}},
    .infer =
        [](InferCall& c) {
          require_scalar(c, 2);
          require_scalar(c, 3);
          infer_seeded(c);
        },
    .kernel = {[](const KernelCall& c) {
      int64_t n = c.output_shape().count();
      if (n == 0) return;
      check_bounds(c, 2, 3);
      kernels::fill_uniform_int(c.output_dtype(), seed_stream(c, 1), c.input(2), c.input(3), c.output(), n);
    }},
    .traits = pure,
});

const Op& StatelessMultinomial = define_op({
    .name = "StatelessMultinomial",
    .doc = "Draws classes by unnormalised log probabilities, row by row, from a seed.",
    .signature = "logits: T, num_samples: int32, seed: Tseed -> output: output_dtype",
    .types = {{"T", real_types}, {"Tseed", index_types}, {"output_dtype", index_types}},
    .attrs = attrs_of<StatelessMultinomialAttrs>(),
    .infer =
        [](InferCall& c) {
          require_seed(c, 2);
          infer_multinomial(c);
        },
    .kernel = {[](const KernelCall& c) {
      if (c.output_shape().count() != 0) draw_multinomial(c, seed_stream(c, 2));
    }},
    .traits = pure,
});

const Op& StatelessRandomUniformV2 = define_op({
    .name = "StatelessRandomUniformV2",
    .doc = "Real numbers, uniform in [0, 1), from a key and a counter.",
    .signature = "shape: Tshape, key: uint64, counter: uint64, alg: int32 -> output: dtype",
    .types = {{"Tshape", index_types}, {"dtype", float_types}},
    .attrs = attrs_of<StatelessRealAttrs>(),
    .infer = infer_keyed,
    .kernel = {run_keyed<kernels::fill_uniform>},
    .traits = pure,
});

const Op& StatelessRandomNormalV2 = define_op({
    .name = "StatelessRandomNormalV2",
    .doc = "Normal numbers of mean 0 and deviation 1, from a key and a counter.",
    .signature = "shape: Tshape, key: uint64, counter: uint64, alg: int32 -> output: dtype",
    .types = {{"Tshape", index_types}, {"dtype", float_types}},
    .attrs = attrs_of<StatelessRealAttrs>(),
    .infer = infer_keyed,
    .kernel = {run_keyed<kernels::fill_normal>},
    .traits = pure,
});

const Op& StatelessTruncatedNormalV2 = define_op({
    .name = "StatelessTruncatedNormalV2",
    .doc = "Normal numbers within two deviations, from a key and a counter.",
    .signature = "shape: Tshape, key: uint64, counter: uint64, alg: int32 -> output: dtype",
    .types = {{"Tshape", index_types}, {"dtype", float_types}},
    .attrs = attrs_of<StatelessRealAttrs>(),
    .infer = infer_keyed,
    .kernel = {run_keyed<kernels::fill_truncated_normal>},
    .traits = pure,
});

const Op& StatelessRandomUniformFullIntV2 = define_op({
    .name = "StatelessRandomUniformFullIntV2",
    .doc = "Integers, uniform over all values of their type, from a key and a counter.",
    .signature = "shape: Tshape, key: uint64, counter: uint64, alg: int32 -> output: dtype",
    .types = {{"Tshape", index_types}, {"dtype", drawn_int_types}},
    .attrs = attrs_of<StatelessIntAttrs>(),
    .infer = infer_keyed,
    .kernel = {run_keyed<kernels::fill_uniform_full_int>},
    .traits = pure,
});

const Op& StatelessRandomUniformIntV2 = define_op({
    .name = "StatelessRandomUniformIntV2",
    .doc = "Integers, uniform in [minval, maxval), from a key and a counter.",
    .signature =
        "shape: Tshape, key: uint64, counter: uint64, alg: int32, minval: dtype, maxval: dtype -> output: dtype",
    .types = {{"Tshape", index_types}, {"dtype", drawn_int_types}},
    .infer =
        [](InferCall& c) {
          require_scalar(c, 4);
          require_scalar(c, 5);
          infer_keyed(c);
        },
    .kernel = {[](const KernelCall& c) {
      int64_t n = c.output_shape().count();
      if (draws_nothing(c)) return;
      PhiloxState state = key_stream(c);
      if (n == 0) return;
      check_bounds(c, 4, 5);
      kernels::fill_uniform_int(c.output_dtype(), state, c.input(4), c.input(5), c.output(), n);
    }},
    .traits = pure,
});

const Op& StatelessShuffle = define_op({
    .name = "StatelessShuffle",
    .doc = "The rows of a tensor in the order that key and counter say.",
    .signature = "value: T, key: uint64, counter: uint64, alg: int32 -> output: T",
    .infer =
        [](InferCall& c) {
          check_key_counter(c);
          c.output(0, c.shape(0));
        },
    .kernel = {[](const KernelCall& c) { shuffle_rows(c, key_stream(c)); }},
    .traits = pure,
});

void infer_key_counter(InferCall& c) {
  require_seed(c, 0);
  c.output(0, Shape{1});
  c.output(1, Shape{2});
  if (c.num_outputs() == 3) c.output(2, Shape{});
}
void run_key_counter(const KernelCall& c) {
  PhiloxState state = seed_stream(c, 0);
  *c.output<uint64_t>(0) = state.key;
  c.output<uint64_t>(1)[0] = state.counter[0];
  c.output<uint64_t>(1)[1] = state.counter[1];
  if (c.num_outputs() == 3) *c.output<int32_t>(2) = kernels::philox_algorithm;
}

const Op& StatelessRandomGetKeyCounter = define_op({
    .name = "StatelessRandomGetKeyCounter",
    .doc = "The key and the counter that a seed stands for.",
    .signature = "seed: Tseed -> key: uint64, counter: uint64",
    .types = {{"Tseed", index_types}},
    .infer = infer_key_counter,
    .kernel = {run_key_counter},
    .traits = pure,
});

const Op& StatelessRandomGetKeyCounterAlg = define_op({
    .name = "StatelessRandomGetKeyCounterAlg",
    .doc = "The key, the counter and the algorithm that a seed stands for.",
    .signature = "seed: Tseed -> key: uint64, counter: uint64, alg: int32",
    .types = {{"Tseed", index_types}},
    .infer = infer_key_counter,
    .kernel = {run_key_counter},
    .traits = pure,
});

const Op& StatelessRandomGetAlg = define_op({
    .name = "StatelessRandomGetAlg",
    .doc = "The algorithm this device draws with.",
    .signature = "-> alg: int32",
    .infer = infer::scalar,
    .kernel = {[](const KernelCall& c) { *c.output<int32_t>() = kernels::philox_algorithm; }},
    .traits = {.stateful = true, .not_differentiable = not_differentiable},
});

// What the V2 ops need of a seed.
struct KeyCounter {
  Tensor key, counter, alg;
};
KeyCounter key_counter(const TensorLike& seed, const std::string& alg) {
  Tensor number = static_cast<int32_t>(algorithm_number(alg));
  auto [key, counter] = apply_n<2>(StatelessRandomGetKeyCounter, {seed.own()});
  return {key, counter, number};
}

Tensor draw(const Op& op, const TensorLike& shape, const TensorLike& seed, const std::string& alg, DType dtype) {
  KeyCounter from = key_counter(seed, alg);
  return apply1(op, {shape_tensor(shape), from.key, from.counter, from.alg}, StatelessRealAttrs{dtype});
}

Tensor shifted_normal(const Op& op, const TensorLike& shape, const TensorLike& seed,
                      const StatelessNormalOptions& options) {
  Tensor drawn = draw(op, shape, seed, options.alg, options.dtype);
  return scale_and_shift(drawn, options.stddev, options.mean, "stddev", "mean");
}

void check_integer_bounds(const StatelessUniformOptions& options) {
  std::string dtype(name_of(options.dtype));
  if (options.minval.given() != options.maxval.given())
    throw ValueError("random.stateless_uniform: For integer `dtype` argument " + dtype +
                     ", argument `minval` and `maxval` must be both None or not None.");
  if (options.minval.given() && !index_types.has(options.dtype))
    throw ValueError("random.stateless_uniform: Argument `dtype` got invalid value " + dtype +
                     " when argument `minval` is not None. Please don't use unsigned integers in this case.");
}

}  // namespace

Tensor stateless_uniform(const TensorLike& shape, const TensorLike& seed, const StatelessUniformOptions& options) {
  TypeSet accepted = float_types | drawn_int_types;
  if (!accepted.has(options.dtype))
    throw ValueError("random.stateless_uniform: Argument `dtype` got invalid value " +
                     std::string(name_of(options.dtype)) + ". Accepted dtypes are " + to_string(accepted) + ".");
  if (!is_integer(options.dtype)) {
    Tensor drawn = draw(StatelessRandomUniformV2, shape, seed, options.alg, options.dtype);
    return stretch(drawn, options.minval, options.maxval.given() ? options.maxval : Parameter(1));
  }
  check_integer_bounds(options);
  if (!options.minval.given()) return draw(StatelessRandomUniformFullIntV2, shape, seed, options.alg, options.dtype);
  KeyCounter from = key_counter(seed, options.alg);
  return apply1(StatelessRandomUniformIntV2,
                {shape_tensor(shape), from.key, from.counter, from.alg, options.minval.as(options.dtype, "minval"),
                 options.maxval.as(options.dtype, "maxval")});
}

Tensor stateless_normal(const TensorLike& shape, const TensorLike& seed, const StatelessNormalOptions& options) {
  return shifted_normal(StatelessRandomNormalV2, shape, seed, options);
}
Tensor stateless_truncated_normal(const TensorLike& shape, const TensorLike& seed,
                                  const StatelessNormalOptions& options) {
  return shifted_normal(StatelessTruncatedNormalV2, shape, seed, options);
}

Tensor stateless_categorical(const Tensor& logits, const TensorLike& num_samples, const TensorLike& seed,
                             const StatelessCategoricalOptions& options) {
  DType dtype = options.dtype == DType::invalid ? DType::int64 : options.dtype;
  if (!index_types.has(dtype))
    throw ValueError("random.stateless_categorical: Argument `dtype` got invalid value " + std::string(name_of(dtype)) +
                     ". Accepted dtypes are " + to_string(index_types) + ".");
  return apply1(StatelessMultinomial, {logits, num_samples, seed.own()}, StatelessMultinomialAttrs{dtype});
}

Tensor split(const TensorLike& seed, const SplitOptions& options) {
  Tensor from = seed.own();
  Tensor shape = std::vector<int64_t>{options.num, 2};
  return stateless_uniform(shape, from, {.minval = {}, .maxval = {}, .dtype = from.dtype(), .alg = options.alg});
}

Tensor fold_in(const TensorLike& seed, const TensorLike& data, const AlgorithmOptions& options) {
  Tensor second = data.own();
  if (second.shape().has_rank() && second.rank() != 0)
    throw InvalidArgumentError("random.fold_in: data must be a scalar, got shape " + second.shape().brackets());
  Tensor first = stateless_uniform(Tensor::empty(DType::int32, {0}), seed,
                                   {.minval = {}, .maxval = {}, .dtype = second.dtype(), .alg = options.alg});
  return where(Tensor({true, false}), first, second);
}

namespace experimental {
Tensor stateless_shuffle(const Tensor& value, const TensorLike& seed, const AlgorithmOptions& options) {
  KeyCounter from = key_counter(seed, options.alg);
  return apply1(StatelessShuffle, {value, from.key, from.counter, from.alg});
}
}  // namespace experimental

namespace {
const FunctionDef* const random_stateless_functions[] = {
    &define_function<Tensor(const TensorLike&, const TensorLike&, const random::StatelessUniformOptions&),
                     stateless_uniform>({"random.stateless_uniform"}, {"shape", "seed"}),
    &define_function<Tensor(const TensorLike&, const TensorLike&, const random::StatelessNormalOptions&),
                     stateless_normal>({"random.stateless_normal"}, {"shape", "seed"}),
    &define_function<Tensor(const TensorLike&, const TensorLike&, const random::StatelessNormalOptions&),
                     stateless_truncated_normal>({"random.stateless_truncated_normal"}, {"shape", "seed"}),
    &define_function<Tensor(const Tensor&, const TensorLike&, const TensorLike&,
                            const random::StatelessCategoricalOptions&),
                     stateless_categorical>({"random.stateless_categorical"}, {"logits", "num_samples", "seed"}),
    &define_function<Tensor(const TensorLike&, const random::SplitOptions&), split>(
        {"random.split", "random.experimental.stateless_split"}, {"seed"}),
    &define_function<fold_in>({"random.fold_in", "random.experimental.stateless_fold_in"}, {"seed", "data"}),
    &define_function<experimental::stateless_shuffle>({"random.experimental.stateless_shuffle"}, {"value", "seed"}),
};
}  // namespace

}  // namespace thalweg::random

// The ops that draw from a state variable. random_generator.cc has the class that calls them.
#include "thalweg/core/convert.h"
#include "thalweg/core/error.h"
#include "thalweg/core/seed.h"
#include "thalweg/core/variable_resource.h"
#include "thalweg/kernels/random.h"
#include "thalweg/kernels/random_generator.h"
#include "thalweg/ops/random_support.h"

namespace thalweg::random {
namespace {

struct RealAttrs {
  DType dtype = DType::float32;
};
struct FullIntAttrs {
  DType dtype = DType::uint64;
};
struct UnpredictableAttrs {
  DType dtype = DType::int64;
};

constexpr int64_t state_size = 3, threefry_algorithm = 2;

// Moves the state in input 0 past `count` elements and returns what it held before.
Tensor read_and_skip(const KernelCall& c, uint64_t count) {
  if (c.scalar(1) == threefry_algorithm)
    throw UnimplementedError(std::string(c.op.name) + ": this device does not know the ThreeFry algorithm; use Philox");
  check_algorithm(c, 1);
  Tensor before;
  variable_of(c.tensor(0)).update([&](const Tensor& state) {
    if (state.dtype() != DType::int64)
      c.fail("dtype of RNG state variable must be int64, not " + std::string(name_of(state.dtype())));
    if (state.rank() != 1)
      c.fail("RNG state must have one and only one dimension, not " + std::to_string(state.rank()));
    if (state.size() < state_size)
      c.fail("For the Philox algorithm, the size of state must be at least 3; got " + std::to_string(state.size()));
    before = state;
    Tensor after = Tensor::empty(DType::int64, state.shape());
    copy_elements(DType::int64, state.data<int64_t>(), after.mutable_data<int64_t>(), state.size());
    kernels::generator_read_and_skip(after.mutable_data<int64_t>(), count);
    return after;
  });
  return before;
}
PhiloxState draw_stream(const KernelCall& c, int64_t count) {
  const Tensor state = read_and_skip(c, static_cast<uint64_t>(count));
  return kernels::generator_stream(state.data<int64_t>());
}

// resource and algorithm are scalars, and the shape is a value.
void infer_drawn(InferCall& c) {
  require_scalar(c, 0);
  require_scalar(c, 1);
  c.output(0, c.shape_value(2));
}

template <Fill fill> void run_drawn(const KernelCall& c) {
  int64_t n = c.output_shape().count();
  fill(c.output_dtype(), draw_stream(c, n), c.output(), n);
}

const Op& RngReadAndSkip = define_op({
    .name = "RngReadAndSkip",
    .doc = "Moves a generator's state past `delta` numbers; returns the state before.",
    .signature = "resource: resource, alg: int32, delta: uint64 -> value: int64",
    .infer =
        [](InferCall& c) {
          for (int i = 0; i < 3; ++i) require_scalar(c, i);
          c.output(0, Shape{state_size});
        },
    .kernel = {[](const KernelCall& c) {
      Tensor before = read_and_skip(c, *c.input<uint64_t>(2));
      copy_elements(DType::int64, before.data<int64_t>(), c.output(), state_size);
    }},
    .traits = stateful,
});

const Op& RngSkip = define_op({
    .name = "RngSkip",
    .doc = "Moves a generator's state past `delta` numbers.",
    .signature = "resource: resource, algorithm: int64, delta: int64 ->",
    .infer =
        [](InferCall& c) {
          for (int i = 0; i < 3; ++i) require_scalar(c, i);
        },
    .kernel = {[](const KernelCall& c) { read_and_skip(c, static_cast<uint64_t>(*c.input<int64_t>(2))); }},
    .traits = stateful,
});

const Op& StatefulUniform = define_op({
    .name = "StatefulUniform",
    .doc = "Real numbers, uniform in [0, 1), from a generator's state.",
    .signature = "resource: resource, algorithm: int64, shape: shape_dtype -> output: dtype",
    .types = {{"shape_dtype", index_types}, {"dtype", float_types}},
    .attrs = attrs_of<RealAttrs>(),
    .infer = infer_drawn,
    .kernel = {run_drawn<kernels::fill_uniform>},
    .traits = stateful,
});

const Op& StatefulStandardNormalV2 = define_op({
    .name = "StatefulStandardNormalV2",
    .doc = "Normal numbers of mean 0 and deviation 1, from a generator's state.",
    .signature = "resource: resource, algorithm: int64, shape: shape_dtype -> output: dtype",
    .types = {{"shape_dtype", index_types}, {"dtype", float_types}},
    .attrs = attrs_of<RealAttrs>(),
    .infer = infer_drawn,
    .kernel = {run_drawn<kernels::fill_normal>},
    .traits = stateful,
});

const Op& StatefulTruncatedNormal = define_op({
    .name = "StatefulTruncatedNormal",
    .doc = "Normal numbers within two deviations, from a generator's state.",
    .signature = "resource: resource, algorithm: int64, shape: shape_dtype -> output: dtype",
    .types = {{"shape_dtype", index_types}, {"dtype", float_types}},
    .attrs = attrs_of<RealAttrs>(),
    .infer = infer_drawn,
    .kernel = {run_drawn<kernels::fill_truncated_normal>},
    .traits = stateful,
});

const Op& StatefulUniformFullInt = define_op({
    .name = "StatefulUniformFullInt",
    .doc = "Integers, uniform over all values of their type, from a generator's state.",
    .signature = "resource: resource, algorithm: int64, shape: shape_dtype -> output: dtype",
    .types = {{"shape_dtype", index_types}, {"dtype", drawn_int_types}},
    .attrs = attrs_of<FullIntAttrs>(),
    .infer = infer_drawn,
    .kernel = {run_drawn<kernels::fill_uniform_full_int>},
    .traits = stateful,
});

const Op& StatefulUniformInt = define_op({
    .name = "StatefulUniformInt",
    .doc = "Integers, uniform in [minval, maxval), from a generator's state.",
    .signature =
        "resource: resource, algorithm: int64, shape: shape_dtype, minval: dtype, maxval: dtype -> output: dtype",
    .types = {{"shape_dtype", index_types}, {"dtype", drawn_int_types}},
    .infer =
        [](InferCall& c) {
          require_scalar(c, 3);
          require_scalar(c, 4);
          infer_drawn(c);
        },
    .kernel = {[](const KernelCall& c) {
      int64_t n = c.output_shape().count();
      if (n != 0) check_bounds(c, 3, 4);
      PhiloxState state = draw_stream(c, n);
      if (n != 0) kernels::fill_uniform_int(c.output_dtype(), state, c.input(3), c.input(4), c.output(), n);
    }},
    .traits = stateful,
});

const Op& NonDeterministicInts = define_op({
    .name = "NonDeterministicInts",
    .doc = "Integers that nobody can predict.",
    .signature = "shape: shape_dtype -> output: dtype",
    .types = {{"shape_dtype", index_types}, {"dtype", drawn_int_types}},
    .attrs = attrs_of<UnpredictableAttrs>(),
    .infer = infer_shape_value<0>,
    .kernel = {[](const KernelCall& c) {
      // The operating system is asked for the place in a stream, not for every number: it is slow.
      PhiloxState state{unpredictable_bits(), {unpredictable_bits(), unpredictable_bits()}};
      kernels::fill_uniform_full_int(c.output_dtype(), state, c.output(), c.output_shape().count());
    }},
    .traits = stateful,
});

}  // namespace
}  // namespace thalweg::random

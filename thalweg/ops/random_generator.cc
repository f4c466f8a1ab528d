#include "thalweg/ops/random_generator.h"

#include <algorithm>
#include <mutex>
#include <optional>

#include "thalweg/core/convert.h"
#include "thalweg/core/error.h"
#include "thalweg/core/seed.h"
#include "thalweg/kernels/random_generator.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/random_support.h"
#include "thalweg/ops/selection.h"

namespace thalweg::random {
namespace {

struct DTypeAttrs {
  DType dtype = DType::invalid;
};

int64_t state_size(int64_t algorithm) { return algorithm == 2 ? 2 : 3; }

// A literal or a tensor of integers as int64; uint64 keeps its bits.
Tensor as_state(const TensorLike& values) {
  Tensor given = values.own();
  if (given.is_symbolic() || !is_integer(given.dtype()))
    throw ValueError("random.Generator: a state is made of integers that are known, got " + given.str());
  if (given.dtype() == DType::int64) return given;
  Tensor converted = Tensor::empty(DType::int64, given.shape());
  convert_elements(given.dtype(), given.impl()->data, DType::int64, converted.mutable_data<int64_t>(), given.size());
  return converted;
}

Tensor checked_state(const TensorLike& state, int64_t algorithm) {
  Tensor words = as_state(state);
  if (words.shape() != Shape{state_size(algorithm)})
    throw ValueError("random.Generator: the state must have shape [" + std::to_string(state_size(algorithm)) +
                     "], got " + words.shape().brackets());
  return words;
}

Tensor join_key_counter(const TensorLike& key, const TensorLike& counter, int64_t algorithm) {
  Tensor last = as_state(key), words = as_state(counter);
  if (last.rank() != 0)
    throw ValueError("random.Generator: the key must be a scalar, got shape " + last.shape().brackets());
  if (words.shape() != Shape{state_size(algorithm) - 1})
    throw ValueError("random.Generator: the counter must have shape [" + std::to_string(state_size(algorithm) - 1) +
                     "], got " + words.shape().brackets());
  std::vector<int64_t> state(words.span<int64_t>().begin(), words.span<int64_t>().end());
  state.push_back(last.item<int64_t>());
  return state;
}

const Op& named(const char* name) { return *find_op(name); }

// Draws in one step what TensorFlow draws in two: the state moves on and the numbers come from where it stood.
Tensor draw(const char* op, const Tensor& handle, int64_t algorithm, const TensorLike& shape, DType dtype) {
  return apply1(named(op), {handle, Tensor(algorithm), shape_tensor(shape)}, DTypeAttrs{dtype});
}

struct GlobalGenerator {
  std::mutex mutex;
  std::optional<Generator> generator;
};
GlobalGenerator& global() {
  static GlobalGenerator& shared = *new GlobalGenerator;
  return shared;
}

}  // namespace

Tensor create_rng_state(const TensorLike& seed, const std::string& alg) {
  size_t size = static_cast<size_t>(state_size(algorithm_number(alg)));
  const Tensor& given = seed.tensor();
  Tensor words = as_state(seed);
  if (given.impl()->weak == Weak::bare && given.rank() == 0) {
    std::array<int64_t, 3> state = kernels::generator_state(words.item<int64_t>());
    return std::vector<int64_t>(state.begin(), state.begin() + static_cast<std::ptrdiff_t>(size));
  }
  std::vector<int64_t> state(size, 0);
  size_t count = std::min(size, static_cast<size_t>(words.size()));
  std::copy_n(words.data<int64_t>(), count, state.end() - static_cast<std::ptrdiff_t>(count));
  return state;
}

Generator::Generator(const Tensor& state, int64_t algorithm)
    : variable_(std::make_shared<VariableResource>("StateVar", DType::int64, state.shape(), state)),
      handle_(make_handle(variable_)),
      algorithm_(algorithm) {}

Generator Generator::from_seed(const TensorLike& seed, const std::string& alg) {
  return {create_rng_state(seed, alg), algorithm_number(alg)};
}
Generator Generator::from_state(const TensorLike& state, const std::string& alg) {
  int64_t algorithm = algorithm_number(alg);
  return {checked_state(state, algorithm), algorithm};
}
Generator Generator::from_key_counter(const TensorLike& key, const TensorLike& counter, const std::string& alg) {
  int64_t algorithm = algorithm_number(alg);
  return {join_key_counter(key, counter, algorithm), algorithm};
}
Generator Generator::from_non_deterministic_state(const std::string& alg) {
  int64_t algorithm = algorithm_number(alg);
  std::vector<int64_t> state(static_cast<size_t>(state_size(algorithm)));
  for (int64_t& word : state) word = static_cast<int64_t>(unpredictable_bits());
  return {state, algorithm};
}

Tensor Generator::normal(const TensorLike& shape, const GeneratorNormalOptions& options) {
  Tensor drawn = draw("StatefulStandardNormalV2", handle_, algorithm_, shape, options.dtype);
  return scale_and_shift(drawn, options.stddev, options.mean, "stddev", "mean");
}

Tensor Generator::truncated_normal(const TensorLike& shape, const GeneratorNormalOptions& options) {
  Tensor drawn = draw("StatefulTruncatedNormal", handle_, algorithm_, shape, options.dtype);
  return scale_and_shift(drawn, options.stddev, options.mean, "stddev", "mean");
}

Tensor Generator::uniform(const TensorLike& shape, const GeneratorUniformOptions& options) {
  if (!is_integer(options.dtype)) {
    Tensor drawn = draw("StatefulUniform", handle_, algorithm_, shape, options.dtype);
    return stretch(drawn, options.minval, options.maxval.given() ? options.maxval : Parameter(1));
  }
  if (options.minval.given() != options.maxval.given())
    throw ValueError("random.Generator.uniform: For integer dtype " + std::string(name_of(options.dtype)) +
                     ", minval and maxval must be both `None` or both non-`None`.");
  if (!options.minval.given()) return uniform_full_int(shape, options.dtype);
  return apply1(named("StatefulUniformInt"),
                {handle_, Tensor(algorithm_), shape_tensor(shape), options.minval.as(options.dtype, "minval"),
                 options.maxval.as(options.dtype, "maxval")});
}

Tensor Generator::uniform_full_int(const TensorLike& shape, DType dtype) {
  return draw("StatefulUniformFullInt", handle_, algorithm_, shape, dtype);
}

Tensor Generator::make_seeds(int64_t count) {
  Tensor keys = uniform_full_int(std::vector<int64_t>{count}, DType::int64);
  return where(Tensor({{true}, {false}}), keys, 0);
}

std::vector<Generator> Generator::split(int64_t count) {
  Tensor keys = uniform_full_int(std::vector<int64_t>{count}, DType::int64);
  std::vector<Generator> generators;
  for (int64_t key : keys.span<int64_t>()) {
    std::vector<int64_t> state(static_cast<size_t>(state_size(algorithm_)), 0);
    state.back() = key;
    generators.push_back(Generator(state, algorithm_));
  }
  return generators;
}

Tensor Generator::skip(const TensorLike& delta) {
  Tensor words = as_state(delta);
  Tensor count = Tensor::empty(DType::uint64, words.shape());
  copy_elements(DType::uint64, words.data<int64_t>(), count.mutable_data<uint64_t>(), words.size());
  return apply1(named("RngReadAndSkip"), {handle_, Tensor(static_cast<int32_t>(algorithm_)), count});
}

void Generator::reset(const TensorLike& state) { variable_->assign(checked_state(state, algorithm_)); }
void Generator::reset_from_seed(const TensorLike& seed) {
  constexpr const char* names[] = {"philox", "threefry", "auto_select"};
  variable_->assign(create_rng_state(seed, names[algorithm_ - 1]));
}
void Generator::reset_from_key_counter(const TensorLike& key, const TensorLike& counter) {
  variable_->assign(join_key_counter(key, counter, algorithm_));
}

Tensor Generator::key() const { return state()[-1]; }

Generator get_global_generator() {
  GlobalGenerator& shared = global();
  std::lock_guard lock(shared.mutex);
  if (!shared.generator) shared.generator = Generator::from_non_deterministic_state();
  return *shared.generator;
}

void set_global_generator(const Generator& generator) {
  GlobalGenerator& shared = global();
  std::lock_guard lock(shared.mutex);
  shared.generator = generator;
}

namespace {
const FunctionDef* const random_generator_functions[] = {
    &define_function<create_rng_state>({"random.create_rng_state", "random.experimental.create_rng_state"},
                                       {"seed", "alg"}),
};
}  // namespace

}  // namespace thalweg::random

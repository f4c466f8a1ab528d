// A random generator whose state is an object: tf.random.Generator.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "thalweg/core/variable_resource.h"
#include "thalweg/ops/parameter.h"

namespace thalweg::random {

struct GeneratorUniformOptions {
  Parameter minval = 0;
  Parameter maxval = {};  // 1 for real numbers; with minval left out too, all values of an integer type
  DType dtype = DType::float32;
};
struct GeneratorNormalOptions {
  Parameter mean = 0.0;
  Parameter stddev = 1.0;
  DType dtype = DType::float32;
};

/// A stream of random numbers. Copies share one state; threads may share a generator.
class THALWEG_API Generator {
 public:
  /// The generator that starts where this seed says.
  static Generator from_seed(const TensorLike& seed, const std::string& alg = "philox");
  /// The generator with this state: two words of counter and a key.
  static Generator from_state(const TensorLike& state, const std::string& alg);
  static Generator from_key_counter(const TensorLike& key, const TensorLike& counter, const std::string& alg);
  /// The generator that starts where nobody can predict.
  static Generator from_non_deterministic_state(const std::string& alg = "philox");

  /// Normal with this mean and standard deviation.
  Tensor normal(const TensorLike& shape, const GeneratorNormalOptions& options = {});
  /// Normal, drawn again until it lies within two standard deviations of the mean.
  Tensor truncated_normal(const TensorLike& shape, const GeneratorNormalOptions& options = {});
  /// Uniform in [minval, maxval), real numbers or integers.
  Tensor uniform(const TensorLike& shape, const GeneratorUniformOptions& options = {});
  /// Uniform over all values of an integer type.
  Tensor uniform_full_int(const TensorLike& shape, DType dtype = DType::uint64);
  /// Seeds for stateless functions, one in each column: int64[2, count].
  Tensor make_seeds(int64_t count = 1);
  /// New generators, independent of this one and of each other.
  std::vector<Generator> split(int64_t count = 1);

  /// Moves on as if `delta` numbers had been drawn; returns the state before.
  Tensor skip(const TensorLike& delta);
  /// Takes another state.
  void reset(const TensorLike& state);
  void reset_from_seed(const TensorLike& seed);
  void reset_from_key_counter(const TensorLike& key, const TensorLike& counter);

  /// The state now: int64[3].
  Tensor state() const { return variable_->read(); }
  /// The variable that holds the state.
  const std::shared_ptr<VariableResource>& state_variable() const { return variable_; }
  /// The last word of the state.
  Tensor key() const;
  /// 1 for Philox, 2 for ThreeFry, 3 for the device's choice.
  int64_t algorithm() const { return algorithm_; }

 private:
  Generator(const Tensor& state, int64_t algorithm);

  std::shared_ptr<VariableResource> variable_;
  Tensor handle_;
  int64_t algorithm_;
};

/// The state a seed stands for. A number is cut into words, lowest first; a list is taken as it is, zeros before it.
THALWEG_API Tensor create_rng_state(const TensorLike& seed, const std::string& alg);

/// The generator that a program shares; unpredictable until one is set.
THALWEG_API Generator get_global_generator();
THALWEG_API void set_global_generator(const Generator& generator);

}  // namespace thalweg::random

// Random numbers as functions of a seed of two integers: the same seed gives the same numbers, always TensorFlow's.
#pragma once
#include <string>

#include "thalweg/ops/parameter.h"

namespace thalweg::random {

struct StatelessUniformOptions {
  Parameter minval = 0;
  Parameter maxval = {};  // 1 for real numbers; with minval left out too, all values of an integer type
  DType dtype = DType::float32;
  std::string alg = "auto_select";
};
/// Uniform in [minval, maxval), real numbers or integers.
THALWEG_API Tensor stateless_uniform(const TensorLike& shape, const TensorLike& seed,
                                     const StatelessUniformOptions& options = {});

struct StatelessNormalOptions {
  Parameter mean = 0.0;
  Parameter stddev = 1.0;
  DType dtype = DType::float32;
  std::string alg = "auto_select";
};
/// Normal with this mean and standard deviation.
THALWEG_API Tensor stateless_normal(const TensorLike& shape, const TensorLike& seed,
                                    const StatelessNormalOptions& options = {});
/// Normal, drawn again until it lies within two standard deviations of the mean.
THALWEG_API Tensor stateless_truncated_normal(const TensorLike& shape, const TensorLike& seed,
                                              const StatelessNormalOptions& options = {});

struct StatelessCategoricalOptions {
  DType dtype = DType::int64;
};
/// Draws classes by unnormalised log probabilities: [batch, classes] to [batch, num_samples].
THALWEG_API Tensor stateless_categorical(const Tensor& logits, const TensorLike& num_samples, const TensorLike& seed,
                                         const StatelessCategoricalOptions& options = {});

struct StatelessGammaOptions {
  Parameter beta = {};  // the inverse scale, 1 where left out
  DType dtype = DType::float32;
};
/// Gamma distributed; `shape` ends with the shape that alpha and beta broadcast to.
THALWEG_API Tensor stateless_gamma(const TensorLike& shape, const TensorLike& seed, const TensorLike& alpha,
                                   const StatelessGammaOptions& options = {});

struct StatelessPoissonOptions {
  DType dtype = DType::int32;
};
/// Poisson distributed; `shape` ends with the shape of the rates.
THALWEG_API Tensor stateless_poisson(const TensorLike& shape, const TensorLike& seed, const TensorLike& lam,
                                     const StatelessPoissonOptions& options = {});

struct SplitOptions {
  int64_t num = 2;
  std::string alg = "auto_select";
};
/// New seeds from one: [num, 2], of the seed's dtype.
THALWEG_API Tensor split(const TensorLike& seed, const SplitOptions& options = {});

struct AlgorithmOptions {
  std::string alg = "auto_select";
};
/// A new seed from a seed and an integer, such as the number of a step.
THALWEG_API Tensor fold_in(const TensorLike& seed, const TensorLike& data, const AlgorithmOptions& options = {});

// The same with an option by position (docs/decisions/0013).
template <As<Parameter> A = Parameter, As<Parameter> B = Parameter>
Tensor stateless_uniform(const TensorLike& shape, const TensorLike& seed, const A& minval, const B& maxval,
                         StatelessUniformOptions options = {}) {
  return stateless_uniform(shape, seed, with(options, options.minval, minval, options.maxval, maxval));
}
template <As<Parameter> A = Parameter, As<Parameter> B = Parameter>
Tensor stateless_normal(const TensorLike& shape, const TensorLike& seed, const A& mean, const B& stddev,
                        StatelessNormalOptions options = {}) {
  return stateless_normal(shape, seed, with(options, options.mean, mean, options.stddev, stddev));
}
template <As<Parameter> A = Parameter, As<Parameter> B = Parameter>
Tensor stateless_truncated_normal(const TensorLike& shape, const TensorLike& seed, const A& mean, const B& stddev,
                                  StatelessNormalOptions options = {}) {
  return stateless_truncated_normal(shape, seed, with(options, options.mean, mean, options.stddev, stddev));
}
template <As<DType> A = DType>
Tensor stateless_categorical(const Tensor& logits, const TensorLike& num_samples, const TensorLike& seed,
                             const A& dtype, StatelessCategoricalOptions options = {}) {
  return stateless_categorical(logits, num_samples, seed, with(options, options.dtype, dtype));
}
template <As<int64_t> A = int64_t> Tensor split(const TensorLike& seed, const A& num, SplitOptions options = {}) {
  return split(seed, with(options, options.num, num));
}

namespace experimental {
/// The rows of a tensor in the order that the seed says.
THALWEG_API Tensor stateless_shuffle(const Tensor& value, const TensorLike& seed, const AlgorithmOptions& options = {});
inline Tensor stateless_split(const TensorLike& seed, const SplitOptions& options = {}) { return split(seed, options); }
inline Tensor stateless_fold_in(const TensorLike& seed, const TensorLike& data, const AlgorithmOptions& options = {}) {
  return fold_in(seed, data, options);
}
}  // namespace experimental

}  // namespace thalweg::random

// Random numbers whose streams the process keeps: the same seeds and calls give TensorFlow's bits.
#pragma once
#include <optional>

#include "thalweg/ops/parameter.h"

namespace thalweg::random {

/// Starts the streams of all random functions anew; the same calls after the same seed give the same numbers.
THALWEG_API void set_seed(int64_t seed);

struct UniformOptions {
  Parameter minval = 0;
  Parameter maxval = {};  // 1 for real numbers; integers must say it
  DType dtype = DType::float32;
  std::optional<int64_t> seed = {};
};
/// Uniform in [minval, maxval), real numbers or integers.
THALWEG_API Tensor uniform(const TensorLike& shape, const UniformOptions& options = {});

struct NormalOptions {
  Parameter mean = 0.0;
  Parameter stddev = 1.0;
  DType dtype = DType::float32;
  std::optional<int64_t> seed = {};
};
/// Normal with this mean and standard deviation; both may be tensors that broadcast.
THALWEG_API Tensor normal(const TensorLike& shape, const NormalOptions& options = {});
/// Normal, drawn again until it lies within two standard deviations of the mean.
THALWEG_API Tensor truncated_normal(const TensorLike& shape, const NormalOptions& options = {});

struct SeedOptions {
  std::optional<int64_t> seed = {};
};
/// The rows of a tensor in a random order.
THALWEG_API Tensor shuffle(const Tensor& value, const SeedOptions& options = {});

struct CategoricalOptions {
  DType dtype = DType::int64;
  std::optional<int64_t> seed = {};
};
/// Draws classes by unnormalised log probabilities: [batch, classes] to [batch, num_samples].
THALWEG_API Tensor categorical(const Tensor& logits, const TensorLike& num_samples,
                               const CategoricalOptions& options = {});

struct GammaOptions {
  Parameter beta = {};  // the inverse scale, 1 where left out
  DType dtype = DType::float32;
  std::optional<int64_t> seed = {};
};
/// Gamma distributed: `shape` samples for each alpha; the result has shape `shape + alpha.shape`.
THALWEG_API Tensor gamma(const TensorLike& shape, const TensorLike& alpha, const GammaOptions& options = {});

struct PoissonOptions {
  DType dtype = DType::float32;
  std::optional<int64_t> seed = {};
};
/// Poisson distributed: `shape` samples for each rate; the result has shape `shape + lam.shape`.
THALWEG_API Tensor poisson(const TensorLike& shape, const TensorLike& lam, const PoissonOptions& options = {});

/// Alpha spread over the shape it broadcasts to with beta, for the gamma functions.
Tensor broadcast_alpha(const Tensor& alpha, const Tensor& beta);
/// Draws of scale 1 divided by beta, kept above zero.
Tensor finish_gamma(const Tensor& draws, const Tensor& beta);

// The same with an option by position (docs/decisions/0013).
template <As<Parameter> A = Parameter, As<Parameter> B = Parameter>
Tensor uniform(const TensorLike& shape, const A& minval, const B& maxval, UniformOptions options = {}) {
  return uniform(shape, with(options, options.minval, minval, options.maxval, maxval));
}
template <As<Parameter> A = Parameter, As<Parameter> B = Parameter>
Tensor normal(const TensorLike& shape, const A& mean, const B& stddev, NormalOptions options = {}) {
  return normal(shape, with(options, options.mean, mean, options.stddev, stddev));
}
template <As<Parameter> A = Parameter, As<Parameter> B = Parameter>
Tensor truncated_normal(const TensorLike& shape, const A& mean, const B& stddev, NormalOptions options = {}) {
  return truncated_normal(shape, with(options, options.mean, mean, options.stddev, stddev));
}
template <As<std::optional<int64_t>> A = std::optional<int64_t>>
Tensor shuffle(const Tensor& value, const A& seed, SeedOptions options = {}) {
  return shuffle(value, with(options, options.seed, seed));
}
template <As<DType> A = DType>
Tensor categorical(const Tensor& logits, const TensorLike& num_samples, const A& dtype,
                   CategoricalOptions options = {}) {
  return categorical(logits, num_samples, with(options, options.dtype, dtype));
}

}  // namespace thalweg::random

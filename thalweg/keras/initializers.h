// The first values of weights. Those that draw random numbers take a seed, which gives the same values at every call;
// without one, an initializer chooses a seed at its first call (see next_seed) and keeps it.
#pragma once
#include "thalweg/keras/functions.h"

namespace thalweg::keras::initializers {

/// Zeros.
THALWEG_API Initializer Zeros();
/// Ones.
THALWEG_API Initializer Ones();
/// A number, or values that have as many elements as the weight.
THALWEG_API Initializer Constant(const TensorLike& value = 0);

struct IdentityOptions {
  double gain = 1;
};
/// A matrix with the gain on its diagonal.
THALWEG_API Initializer Identity(const IdentityOptions& options = {});

struct RandomNormalOptions {
  double mean = 0, stddev = 0.05;
  std::optional<int64_t> seed = {};
};
/// Normal.
THALWEG_API Initializer RandomNormal(const RandomNormalOptions& options = {});
/// Normal, drawn again until it lies within two standard deviations of the mean.
THALWEG_API Initializer TruncatedNormal(const RandomNormalOptions& options = {});

struct RandomUniformOptions {
  double minval = -0.05, maxval = 0.05;
  std::optional<int64_t> seed = {};
};
/// Uniform in [minval, maxval), real numbers or integers.
THALWEG_API Initializer RandomUniform(const RandomUniformOptions& options = {});

struct OrthogonalOptions {
  double gain = 1;
  std::optional<int64_t> seed = {};
};
/// A random matrix with orthogonal rows or columns, times the gain; dimensions but the last count as one.
THALWEG_API Initializer Orthogonal(const OrthogonalOptions& options = {});

struct VarianceScalingOptions {
  double scale = 1;
  std::string mode = "fan_in";                    // or fan_out, fan_avg: what the variance is divided by
  std::string distribution = "truncated_normal";  // or untruncated_normal, uniform
  std::optional<int64_t> seed = {};
};
/// Random with variance scale / n, n being the number of inputs, of outputs, or their mean.
THALWEG_API Initializer VarianceScaling(const VarianceScalingOptions& options = {});

struct SeedOptions {
  std::optional<int64_t> seed = {};
};
/// VarianceScaling by fan_avg, uniform; also called Xavier's.
THALWEG_API Initializer GlorotUniform(const SeedOptions& options = {});
/// VarianceScaling by fan_avg, truncated normal; also called Xavier's.
THALWEG_API Initializer GlorotNormal(const SeedOptions& options = {});
/// VarianceScaling of 2 by fan_in, uniform.
THALWEG_API Initializer HeUniform(const SeedOptions& options = {});
/// VarianceScaling of 2 by fan_in, truncated normal.
THALWEG_API Initializer HeNormal(const SeedOptions& options = {});
/// VarianceScaling by fan_in, uniform.
THALWEG_API Initializer LecunUniform(const SeedOptions& options = {});
/// VarianceScaling by fan_in, truncated normal.
THALWEG_API Initializer LecunNormal(const SeedOptions& options = {});

// The same with an option by position (docs/decisions/0013).
template <As<double> A = double> Initializer Identity(const A& gain, IdentityOptions options = {}) {
  return Identity(with(options, options.gain, gain));
}
template <As<double> A = double, As<double> B = double>
Initializer RandomNormal(const A& mean, const B& stddev, RandomNormalOptions options = {}) {
  return RandomNormal(with(options, options.mean, mean, options.stddev, stddev));
}
template <As<double> A = double, As<double> B = double>
Initializer TruncatedNormal(const A& mean, const B& stddev, RandomNormalOptions options = {}) {
  return TruncatedNormal(with(options, options.mean, mean, options.stddev, stddev));
}
template <As<double> A = double, As<double> B = double>
Initializer RandomUniform(const A& minval, const B& maxval, RandomUniformOptions options = {}) {
  return RandomUniform(with(options, options.minval, minval, options.maxval, maxval));
}
template <As<double> A = double> Initializer Orthogonal(const A& gain, OrthogonalOptions options = {}) {
  return Orthogonal(with(options, options.gain, gain));
}
template <As<double> A = double> Initializer VarianceScaling(const A& scale, VarianceScalingOptions options = {}) {
  return VarianceScaling(with(options, options.scale, scale));
}
template <As<std::optional<int64_t>> A = std::optional<int64_t>>
Initializer GlorotUniform(const A& seed, SeedOptions options = {}) {
  return GlorotUniform(with(options, options.seed, seed));
}
template <As<std::optional<int64_t>> A = std::optional<int64_t>>
Initializer GlorotNormal(const A& seed, SeedOptions options = {}) {
  return GlorotNormal(with(options, options.seed, seed));
}
template <As<std::optional<int64_t>> A = std::optional<int64_t>>
Initializer HeUniform(const A& seed, SeedOptions options = {}) {
  return HeUniform(with(options, options.seed, seed));
}
template <As<std::optional<int64_t>> A = std::optional<int64_t>>
Initializer HeNormal(const A& seed, SeedOptions options = {}) {
  return HeNormal(with(options, options.seed, seed));
}
template <As<std::optional<int64_t>> A = std::optional<int64_t>>
Initializer LecunUniform(const A& seed, SeedOptions options = {}) {
  return LecunUniform(with(options, options.seed, seed));
}
template <As<std::optional<int64_t>> A = std::optional<int64_t>>
Initializer LecunNormal(const A& seed, SeedOptions options = {}) {
  return LecunNormal(with(options, options.seed, seed));
}

}  // namespace thalweg::keras::initializers

// Dropout.
#pragma once
#include <optional>
#include <string>

#include "thalweg/ops/options.h"

namespace thalweg::nn {

struct DropoutOptions {
  std::optional<Shape> noise_shape = {};  // what is dropped together has 1 here; unknown means as in x
  std::optional<int64_t> seed = {};
};
/// Sets elements to 0 with probability `rate` and divides the others by 1 - rate, so that the mean stays.
THALWEG_API Tensor dropout(const Tensor& x, const TensorLike& rate, const DropoutOptions& options = {});

namespace experimental {
struct StatelessDropoutOptions {
  std::string rng_alg = "auto_select";
  std::optional<Shape> noise_shape = {};
};
/// Dropout that depends on a seed of two integers alone.
THALWEG_API Tensor stateless_dropout(const Tensor& x, const TensorLike& rate, const TensorLike& seed,
                                     const StatelessDropoutOptions& options = {});
}  // namespace experimental

}  // namespace thalweg::nn

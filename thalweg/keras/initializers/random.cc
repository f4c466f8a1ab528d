#include "thalweg/core/error.h"
#include "thalweg/keras/initializers/support.h"
#include "thalweg/keras/random_seed.h"
#include "thalweg/ops/diagonals.h"
#include "thalweg/ops/linalg.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_rounding.h"
#include "thalweg/ops/random_stateless.h"
#include "thalweg/ops/shaping.h"
#include "thalweg/ops/transposing.h"

namespace thalweg::keras::initializers {
namespace {

struct RandomNormalInitializer {
  RandomNormalOptions options = {};
  KeptSeed kept = {};
  Tensor call(const Shape& shape, DType dtype) {
    return random::stateless_normal(shape, kept.pair(options.seed),
                                    {.mean = options.mean, .stddev = options.stddev, .dtype = require_floating(dtype)});
  }
};

struct TruncatedNormalInitializer {
  RandomNormalOptions options = {};
  KeptSeed kept = {};
  Tensor call(const Shape& shape, DType dtype) {
    return random::stateless_truncated_normal(
        shape, kept.pair(options.seed),
        {.mean = options.mean, .stddev = options.stddev, .dtype = require_floating(dtype)});
  }
};

struct RandomUniformInitializer {
  RandomUniformOptions options = {};
  KeptSeed kept = {};
  Tensor call(const Shape& shape, DType dtype) {
    if (dtype == DType::invalid) dtype = DType::float32;
    const Tensor seed = kept.pair(options.seed);
    if (is_floating(dtype))
      return random::stateless_uniform(shape, seed,
                                       {.minval = options.minval, .maxval = options.maxval, .dtype = dtype});
    if (!is_integer(dtype)) throw ValueError("Expected float or integer dtype, got " + text_of(dtype) + ".");
    const auto low = static_cast<int64_t>(options.minval), high = static_cast<int64_t>(options.maxval);
    return random::stateless_uniform(shape, seed, {.minval = low, .maxval = high, .dtype = dtype});
  }
};

struct OrthogonalInitializer {
  OrthogonalOptions options = {};
  KeptSeed kept = {};
  Tensor call(const Shape& shape, DType dtype) {
    dtype = require_floating(dtype);
    if (shape.rank() < 2)
      throw ValueError("The tensor to initialize must be at least two-dimensional. Received: shape=" + shape.str() +
                       " of rank " + std::to_string(shape.rank()) + ".");
    const int64_t columns = shape[-1], rows = shape.count(0, shape.rank() - 1);
    Tensor tall = random::stateless_normal(Shape{std::max(rows, columns), std::min(rows, columns)},
                                           kept.pair(options.seed), {.dtype = dtype});
    auto [q, r] = linalg::qr(tall);
    // Only with these signs is every orthogonal matrix as likely as another.
    q = q * sign(linalg::tensor_diag_part(r));
    if (rows < columns) q = linalg::matrix_transpose(q);
    return options.gain * reshape(q, shape);
  }
};

const bool random_spellings[] = {register_spellings("RandomNormal"),
                                 register_spellings("TruncatedNormal"),
                                 register_spellings("RandomUniform"),
                                 register_spellings("Orthogonal"),
                                 register_alias("initializer", "normal", "RandomNormal"),
                                 register_alias("initializer", "uniform", "RandomUniform")};

}  // namespace

Initializer RandomNormal(const RandomNormalOptions& options) { return RandomNormalInitializer{options}; }
Initializer TruncatedNormal(const RandomNormalOptions& options) { return TruncatedNormalInitializer{options}; }
Initializer RandomUniform(const RandomUniformOptions& options) { return RandomUniformInitializer{options}; }
Initializer Orthogonal(const OrthogonalOptions& options) { return OrthogonalInitializer{options}; }

}  // namespace thalweg::keras::initializers

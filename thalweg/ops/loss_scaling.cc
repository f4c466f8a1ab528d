#include "thalweg/ops/loss_scaling.h"

#include "thalweg/core/error.h"
#include "thalweg/core/index.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/debugging.h"
#include "thalweg/ops/division.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/shaping.h"

namespace thalweg::nn {
namespace {

// A weight for each example weighs all that belongs to it: a missing last axis is added, one too many of length 1 goes.
Tensor weighted(const Tensor& loss, const Tensor& sample_weight) {
  Tensor weight = cast(sample_weight, DType::float32);  // TensorFlow weighs every loss as float32
  if (weight.rank() > 0 && loss.rank() - weight.rank() == 1) weight = expand_dims(weight, -1);
  else if (weight.rank() - loss.rank() == 1) weight = squeeze(weight, {.axis = -1});
  return cast(cast(loss, weight.dtype()) * weight, loss.dtype());
}

// Integers are divided as real numbers, small ones as float32.
Tensor divisible(const Tensor& x) {
  if (!is_integer(x.dtype())) return x;
  return cast(x, size_of(x.dtype()) <= 2 ? DType::float32 : DType::float64);
}

}  // namespace

Tensor compute_average_loss(const Tensor& per_example_loss, const AverageLossOptions& options) {
  if (per_example_loss.rank() == 0)
    throw ValueError("compute_average_loss: per_example_loss must have a dimension or more, got a scalar");
  Tensor loss = per_example_loss, size = options.global_batch_size;
  if (options.sample_weight.defined()) loss = weighted(loss, options.sample_weight);
  if (size.defined()) {
    debugging::assert_scalar(size, {.message = "global_batch_size must be scalar."});
    debugging::assert_integer(size, {.message = "global_batch_size must be an integer."});
    debugging::assert_non_negative(size, {.message = "global_batch_size must be non-negative."});
  } else {
    size = thalweg::shape(loss)(0);
  }
  return math::divide_no_nan(divisible(reduce_sum(loss)), divisible(cast(size, loss.dtype())));
}

Tensor scale_regularization_loss(const Tensor& regularization_loss) {
  return divisible(reduce_sum(regularization_loss));
}

namespace {
const FunctionDef* const loss_scaling_functions[] = {
    &define_function<compute_average_loss>({"nn.compute_average_loss"}, {"per_example_loss"}),
    &define_function<scale_regularization_loss>({"nn.scale_regularization_loss"}, {"regularization_loss"}),
};
}  // namespace

}  // namespace thalweg::nn

#include "thalweg/keras/loss.h"

#include "thalweg/core/companion.h"
#include "thalweg/core/error.h"
#include "thalweg/keras/loss_support.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/division.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/shaping.h"

namespace thalweg::keras {

template class Handle<LossInterface>;

void losses::check_reduction(const std::string& reduction) {
  for (const char* known : {"auto", "none", "sum", "sum_over_batch_size"})
    if (reduction == known) return;
  throw ValueError("Invalid Reduction Key: " + reduction +
                   ". Expected keys are \"('auto', 'none', 'sum', 'sum_over_batch_size')\"");
}

Tensor Loss::operator()(const TensorLike& y_true, const TensorLike& y_pred, const Tensor& sample_weight) const {
  const Tensor prediction = y_pred.own();
  const Tensor values = p_->call(y_true.own(), prediction);
  Tensor mask = companion_of(prediction), weight = sample_weight;
  if (Tensor of_values = companion_of(values); of_values.defined())
    mask = mask.defined() ? logical_and(mask, of_values) : of_values;
  if (mask.defined()) {
    mask = cast(mask, values.dtype());
    // A mean is one over the examples that count.
    if (p_->reduction == "auto" || p_->reduction == "sum_over_batch_size")
      mask = mask * (cast(size(mask), mask.dtype()) / reduce_sum(mask));
    weight = losses::apply_mask(weight, mask);
  }
  return losses::compute_weighted_loss(values, weight, p_->reduction);
}

Tensor losses::compute_weighted_loss(const Tensor& losses, const Tensor& sample_weight, const std::string& reduction) {
  check_reduction(reduction);
  const DType given = losses.dtype();
  Tensor values = is_floating(given) ? losses : cast(losses, DType::float32);
  if (sample_weight.defined()) {
    auto [fitted, weight] = squeeze_or_expand(values, cast(sample_weight, values.dtype()));
    values = fitted * weight;
  }
  if (reduction == "sum") {
    values = reduce_sum(values);
  } else if (reduction != "none") {
    // One op where the size is known; the mean of nothing is zero.
    const int64_t count = values.shape().num_elements();
    if (count > 0) values = reduce_mean(values);
    else values = math::divide_no_nan(reduce_sum(values), cast(size(values), values.dtype()));
  }
  return values.dtype() == given ? values : cast(values, given);
}

}  // namespace thalweg::keras

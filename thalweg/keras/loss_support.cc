#include "thalweg/keras/loss_support.h"

#include "thalweg/core/error.h"
#include "thalweg/keras/loss.h"
#include "thalweg/ops/broadcasting.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/shaping.h"

namespace thalweg::keras::losses {

namespace {
thread_local int ranks_kept = 0;
}  // namespace
RanksKept::RanksKept() { ++ranks_kept; }
RanksKept::~RanksKept() { --ranks_kept; }

int64_t last_dimension(const Tensor& tensor) { return tensor.rank() > 0 ? tensor.shape()[-1] : unknown; }

std::pair<Tensor, Tensor> squeeze_or_expand(const Tensor& values, const Tensor& sample_weight) {
  const int values_rank = values.rank(), weight_rank = sample_weight.rank();
  if (weight_rank <= 0 || values_rank < 0) return {values, sample_weight};
  if (weight_rank - values_rank == 1) return {values, squeeze(sample_weight, {.axis = -1})};
  if (values_rank - weight_rank == 1) return {values, expand_dims(sample_weight, -1)};
  return {values, sample_weight};
}

std::pair<Tensor, Tensor> match_ranks(const Tensor& y_true, const Tensor& y_pred) {
  const int true_rank = y_true.rank(), pred_rank = y_pred.rank();
  if (true_rank < 0 || pred_rank < 0 || ranks_kept > 0) return {y_true, y_pred};
  // Labels of unknown size are squeezed too: predictions without that dimension say that it is one.
  const int64_t true_last = last_dimension(y_true);
  if (pred_rank - true_rank == 1 && y_pred.shape()[-1] == 1) return {y_true, squeeze(y_pred, {.axis = -1})};
  if (true_rank - pred_rank == 1 && (true_last == 1 || true_last < 0)) return {squeeze(y_true, {.axis = -1}), y_pred};
  return {y_true, y_pred};
}

Tensor apply_mask(const Tensor& sample_weight, const Tensor& mask) {
  if (!sample_weight.defined()) return mask;
  auto [fitted, weight] = squeeze_or_expand(mask, cast(sample_weight, mask.dtype()));
  return weight * fitted;
}

bool broadcasts_to(const Shape& weight, const Shape& values) {
  if (weight.rank() == 0) return true;
  if (!weight.has_rank() || weight.rank() != values.rank()) return false;
  for (int i = 0; i < weight.rank(); ++i)
    if (weight[i] >= 0 && weight[i] != 1 && values[i] >= 0 && weight[i] != values[i]) return false;
  return true;
}

Tensor broadcast_weights(const Tensor& sample_weight, const Tensor& values) {
  const Shape& wanted = values.shape();
  if (wanted.is_fully_defined() && sample_weight.shape() == wanted) return sample_weight;
  return broadcast_to(sample_weight, shape(values));
}

void check_compatible(const Shape& a, const Shape& b) {
  if (!a.is_compatible_with(b)) throw ValueError("Shapes " + a.str() + " and " + b.str() + " are incompatible");
}

}  // namespace thalweg::keras::losses

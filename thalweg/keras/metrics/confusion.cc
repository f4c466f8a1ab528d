#include "thalweg/keras/metrics/confusion.h"

#include <cmath>

#include "thalweg/core/error.h"
#include "thalweg/keras/backend.h"
#include "thalweg/keras/loss.h"
#include "thalweg/keras/loss_support.h"
#include "thalweg/ops/activation.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_rounding.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/scan.h"
#include "thalweg/ops/segments.h"
#include "thalweg/ops/shaping.h"
#include "thalweg/ops/sorting.h"
#include "thalweg/ops/transposing.h"

namespace thalweg::keras::metrics {
namespace {

/// Predictions outside of the k largest of their row, moved below all thresholds.
Tensor keep_top_k(const Tensor& y_pred, int64_t k) {
  Tensor indices = nn::top_k(y_pred, {.k = Tensor(static_cast<int32_t>(k)), .sorted = false}).indices;
  Tensor kept = reduce_sum(one_hot(indices, shape(y_pred)(-1), {.axis = -1, .dtype = y_pred.dtype()}), {.axis = -2});
  return y_pred * kept + below_all * (1.0 - kept);
}

/// Weights of examples and of labels together, in the shape of the predictions; None where there are none.
Tensor joint_weights(const Tensor& sample_weight, const Tensor& label_weights, const Tensor& y_pred) {
  Tensor weights;
  for (const Tensor& given : {sample_weight, label_weights}) {
    if (!given.defined()) continue;
    Tensor cast_weights = cast(given, y_pred.dtype());
    if (!losses::broadcasts_to(cast_weights.shape(), y_pred.shape()))
      throw ValueError("weights can not be broadcast to values. values.rank=" + std::to_string(y_pred.rank()) +
                       ". weights.rank=" + std::to_string(cast_weights.rank()) + ". values.shape=" +
                       y_pred.shape().str() + ". weights.shape=" + cast_weights.shape().str() + ".");
    weights = weights.defined() ? weights * cast_weights : cast_weights;
  }
  return weights.defined() ? losses::broadcast_weights(weights, y_pred) : weights;
}

void add(const Variable* variable, const Tensor& count) {
  if (variable) variable->assign_add(count);
}

/// Predictions go into buckets between thresholds; sums of buckets from the end are the counts. Linear in the number of
/// predictions plus that of thresholds.
void count_by_buckets(const ConfusionVariables& variables, const Tensor& of_true, const Tensor& of_false,
                      const Tensor& y_pred, const ConfusionSettings& settings) {
  const auto number = static_cast<int64_t>(settings.thresholds.size());
  // A prediction must exceed a threshold, so that one on it belongs to the bucket below.
  Tensor bucket = ceil(clip_by_value(y_pred, 0.0, 1.0) * static_cast<double>(number - 1)) - 1.0;
  if (settings.thresholds.front() < 0 || settings.thresholds.back() > 1) bucket = nn::relu(bucket);
  bucket = cast(bucket, DType::int32);
  const int64_t labels = settings.multi_label ? losses::last_dimension(y_pred) : 1;
  if (settings.multi_label)
    bucket = bucket + cast(range(0, Tensor(static_cast<int32_t>(labels))), DType::int32) * static_cast<int32_t>(number);
  auto counts_of = [&](const Tensor& weights) {
    Tensor sums = math::unsorted_segment_sum(reshape(weights, {-1}), reshape(bucket, {-1}),
                                             static_cast<int32_t>(number * labels));
    if (!settings.multi_label) return cumsum(sums, {.reverse = true});
    return transpose(cumsum(reshape(sums, {labels, number}), {.axis = 1, .reverse = true}));
  };
  auto total_of = [&](const Tensor& weights) {
    return settings.multi_label ? reduce_sum(weights, {.axis = 0}) : reduce_sum(weights);
  };
  if (variables.true_positives || variables.false_negatives) {
    Tensor true_positives = counts_of(of_true);
    add(variables.true_positives, true_positives);
    if (variables.false_negatives) variables.false_negatives->assign_add(total_of(of_true) - true_positives);
  }
  if (variables.false_positives || variables.true_negatives) {
    Tensor false_positives = counts_of(of_false);
    add(variables.false_positives, false_positives);
    if (variables.true_negatives) variables.true_negatives->assign_add(total_of(of_false) - false_positives);
  }
}

/// Every prediction is compared with every threshold.
void count_by_comparison(const ConfusionVariables& variables, const Tensor& of_true, const Tensor& of_false,
                         const Tensor& y_pred, const ConfusionSettings& settings) {
  const DType dtype = y_pred.dtype();
  const auto number = static_cast<int64_t>(settings.thresholds.size());
  Tensor thresholds = cast(Tensor(settings.thresholds), dtype);
  thresholds = settings.multi_label ? reshape(thresholds, {number, int64_t{1}, int64_t{1}})
                                    : reshape(thresholds, {number, int64_t{1}});
  auto with_thresholds = [&](const Tensor& x) {
    return settings.multi_label ? expand_dims(x, 0) : reshape(x, {int64_t{1}, int64_t{-1}});
  };
  Tensor above = greater(with_thresholds(y_pred), thresholds), weights_true = with_thresholds(of_true),
         weights_false = with_thresholds(of_false);
  Tensor yes = cast(above, dtype);
  auto add_sum = [&](const Variable* variable, const Tensor& weights, bool positive) {
    if (variable) variable->assign_add(reduce_sum((positive ? yes : 1.0 - yes) * weights, {.axis = 1}));
  };
  add_sum(variables.true_positives, weights_true, true);
  add_sum(variables.false_negatives, weights_true, false);
  add_sum(variables.false_positives, weights_false, true);
  add_sum(variables.true_negatives, weights_false, false);
}

}  // namespace

const Variable& ConfusionVariables::first() const {
  for (const Variable* variable : {true_positives, true_negatives, false_positives, false_negatives})
    if (variable) return *variable;
  throw ValueError("update_confusion: there is no variable to add to");
}

void update_confusion(const ConfusionVariables& variables, const Tensor& y_true, const Tensor& y_pred,
                      const Tensor& sample_weight, const ConfusionSettings& settings) {
  const DType dtype = variables.first().dtype();
  auto [labels, predictions] = keras::detail::match_pair(y_true, y_pred, dtype);
  Tensor weight = sample_weight;
  if (weight.defined()) {
    // By the rank that the predictions came with.
    auto [values, fitted] = losses::squeeze_or_expand(y_pred, cast(weight, dtype));
    weight = fitted;
    if (weight.rank() - predictions.rank() == 1) weight = squeeze(weight, {.axis = -1});
  }
  losses::check_compatible(predictions.shape(), labels.shape());
  if (settings.top_k) predictions = keep_top_k(predictions, *settings.top_k);
  if (settings.class_id) {
    labels = labels(ellipsis, *settings.class_id, newaxis);
    predictions = predictions(ellipsis, *settings.class_id, newaxis);
  }
  if (settings.multi_label && predictions.rank() != 2)
    throw ValueError("`y_pred` must have rank 2 when `multi_label=True`. Found rank " +
                     std::to_string(predictions.rank()) +
                     ". Full shape received for `y_pred`: " + predictions.shape().str());
  Tensor of_labels = settings.label_weights.defined() ? expand_dims(settings.label_weights, 0) : Tensor();
  Tensor weights = joint_weights(weight, of_labels, predictions);
  Tensor is_true = cast(not_equal(labels, 0.0), dtype), is_false = 1.0 - is_true;
  if (weights.defined()) {
    is_true = is_true * weights;
    is_false = is_false * weights;
  }
  if (settings.evenly_distributed) count_by_buckets(variables, is_true, is_false, predictions, settings);
  else count_by_comparison(variables, is_true, is_false, predictions, settings);
}

std::vector<double> checked_thresholds(const Thresholds& given, double otherwise) {
  if (!given.given()) return {otherwise};
  std::string wrong;
  for (double threshold : given.values())
    if (!(threshold >= 0 && threshold <= 1)) wrong += (wrong.empty() ? "" : ", ") + Value(threshold).json();
  if (!wrong.empty()) throw ValueError("Threshold values must be in [0, 1]. Received: [" + wrong + "]");
  return given.values();
}

bool are_evenly_distributed(const std::vector<double>& thresholds) {
  const size_t number = thresholds.size();
  if (number < 3) return false;
  for (size_t i = 0; i < number; ++i) {
    const double even = static_cast<double>(i) / static_cast<double>(number - 1);
    if (!(std::abs(thresholds[i] - even) <= backend::epsilon() + 1e-5 * even)) return false;
  }
  return true;
}

}  // namespace thalweg::keras::metrics

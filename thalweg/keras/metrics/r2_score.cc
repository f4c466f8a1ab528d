#include "thalweg/core/error.h"
#include "thalweg/keras/loss_support.h"
#include "thalweg/keras/metrics.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_elementary.h"
#include "thalweg/ops/math_rounding.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/selection.h"
#include "thalweg/ops/shaping.h"

namespace thalweg::keras::metrics {
namespace {

using keras::detail::metric_state;

/// The first variable, made when the arguments are known to be right.
Variable first_state(const R2ScoreOptions& options) {
  const auto& aggregation = options.class_aggregation;
  if (aggregation && *aggregation != "uniform_average" && *aggregation != "variance_weighted_average")
    throw ValueError(
        "Invalid value for argument `class_aggregation`. Expected one of (None, 'uniform_average', "
        "'variance_weighted_average'). Received: class_aggregation=" +
        *aggregation);
  if (options.num_regressors < 0)
    throw ValueError("Invalid value for argument `num_regressors`. Expected a value >= 0. Received: num_regressors=" +
                     std::to_string(options.num_regressors));
  return metric_state({}, DType::int32, "num_samples");
}

struct R2ScoreMetric {
  R2ScoreOptions options = {};
  Variable num_samples = first_state(options);
  Variable squared_sum = {}, sum = {}, total_mse = {}, count = {};

  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight) {
    const DType dtype = options.dtype == DType::invalid ? DType::float32 : options.dtype;
    Tensor labels = cast(y_true, dtype), predictions = cast(y_pred, dtype);
    if (!sum.defined()) build(labels.shape(), predictions.shape(), dtype);
    Tensor weight = sample_weight.defined() ? cast(sample_weight, dtype) : ones_like(labels);
    if (weight.rank() == 1) weight = expand_dims(weight, 1);
    weight = losses::broadcast_weights(weight, labels);
    Tensor weighted = labels * weight;
    sum.assign_add(reduce_sum(weighted, {.axis = 0}));
    squared_sum.assign_add(reduce_sum(labels * weighted, {.axis = 0}));
    total_mse.assign_add(reduce_sum(math::squared_difference(labels, predictions) * weight, {.axis = 0}));
    count.assign_add(reduce_sum(weight, {.axis = 0}));
    num_samples.assign_add(size(labels));
  }

  Tensor result() {
    if (!sum.defined())
      throw ValueError("R2Score does not have any value yet: its first predictions say how many outputs there are.");
    Tensor sums = sum.value();
    Tensor total = squared_sum.value() - sums * (sums / count.value());
    Tensor scores = 1.0 - total_mse.value() / total;
    scores = where(math::is_inf(scores), zeros_like(scores), scores);
    if (options.class_aggregation == "uniform_average") scores = reduce_mean(scores);
    else if (options.class_aggregation == "variance_weighted_average")
      scores = reduce_sum(total * scores) / reduce_sum(total);
    return options.num_regressors == 0 ? scores : adjusted(scores);
  }

 private:
  void build(const Shape& y_true, const Shape& y_pred, DType dtype) {
    const std::string received =
        "Received input shapes: y_pred.shape=" + y_pred.str() + " and y_true.shape=" + y_true.str() + ".";
    if (y_pred.rank() != 2 || y_true.rank() != 2)
      throw ValueError("R2Score expects 2D inputs with shape (batch_size, output_dim). " + received);
    if (y_pred[1] < 0 || y_true[1] < 0)
      throw ValueError(
          "R2Score expects 2D inputs with shape (batch_size, output_dim), with output_dim fully defined (not None). " +
          received);
    squared_sum = metric_state({y_pred[1]}, dtype, "squared_sum");
    sum = metric_state({y_pred[1]}, dtype, "sum");
    total_mse = metric_state({y_pred[1]}, dtype, "residual");
    count = metric_state({y_pred[1]}, dtype, "count");
  }
  /// Less for each predictor; the plain score where there are too few samples for that.
  Tensor adjusted(const Tensor& scores) const {
    Tensor n = cast(num_samples.value(), scores.dtype());
    const auto p = static_cast<double>(options.num_regressors);
    Tensor freedom = n - p - 1.0;
    Tensor made = 1.0 - (1.0 - scores) * (n - 1.0) / freedom;
    return where(freedom > 0.0, made, scores);
  }
};

}  // namespace

Metric R2Score(const R2ScoreOptions& options) { return R2ScoreMetric{options}; }

}  // namespace thalweg::keras::metrics

#include "thalweg/core/error.h"
#include "thalweg/keras/metrics.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/division.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_elementary.h"
#include "thalweg/ops/math_rounding.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/shaping.h"

namespace thalweg::keras::metrics {
namespace {

using keras::detail::metric_state;

/// Checked arguments of a score.
class ScoreSettings {
 public:
  ScoreSettings(const std::optional<std::string>& average, double beta, const std::optional<double>& threshold,
                DType dtype)
      : average_(average.value_or("")), beta_(beta), threshold_(threshold), dtype_(dtype) {
    if (dtype_ == DType::invalid) dtype_ = DType::float32;
    if (average && *average != "micro" && *average != "macro" && *average != "weighted")
      throw ValueError(
          "Invalid `average` argument value. Expected one of: {None, 'micro', 'macro', 'weighted'}. Received: "
          "average=" +
          *average);
    if (!(beta > 0))
      throw ValueError("Invalid `beta` argument value. It should be > 0. Received: beta=" + Value(beta).json());
    if (threshold && !(*threshold > 0 && *threshold <= 1))
      throw ValueError("Invalid `threshold` argument value. It should verify 0 < threshold <= 1. Received: threshold=" +
                       Value(*threshold).json());
  }

  void update(Variable& true_positives, Variable& false_positives, Variable& false_negatives,
              Variable& intermediate_weights, const Tensor& y_true, const Tensor& y_pred,
              const Tensor& sample_weight) const {
    Tensor labels = cast(y_true, dtype_), scores = cast(y_pred, dtype_);
    if (!true_positives.defined()) {
      const Shape shape = state_shape(labels.shape(), scores.shape());
      true_positives = metric_state(shape, dtype_, "true_positives");
      false_positives = metric_state(shape, dtype_, "false_positives");
      false_negatives = metric_state(shape, dtype_, "false_negatives");
      intermediate_weights = metric_state(shape, dtype_, "intermediate_weights");
    }
    Tensor yes;
    if (threshold_) yes = scores > *threshold_;
    else yes = logical_and(scores >= reduce_max(scores, {.axis = -1, .keepdims = true}), abs(scores) > 1e-9);
    Tensor predicted = cast(yes, dtype_);
    Tensor weight = sample_weight.defined() ? expand_dims(cast(sample_weight, dtype_), 1) : Tensor();
    auto add = [&](const Variable& variable, const Tensor& values) {
      variable.assign_add(
          reduce_sum(weight.defined() ? values * weight : values, {.axis = average_ == "micro" ? Axis() : Axis(0)}));
    };
    add(true_positives, predicted * labels);
    add(false_positives, predicted * (1.0 - labels));
    add(false_negatives, (1.0 - predicted) * labels);
    add(intermediate_weights, labels);
  }

  Tensor result(const Variable& true_positives, const Variable& false_positives, const Variable& false_negatives,
                const Variable& intermediate_weights) const {
    if (!true_positives.defined())
      throw ValueError("FBetaScore does not have any value yet: its first predictions say how many classes there are.");
    Tensor right = true_positives.value();
    Tensor precision = math::divide_no_nan(right, right + false_positives.value());
    Tensor recall = math::divide_no_nan(right, right + false_negatives.value());
    const double squared = beta_ * beta_;
    Tensor score = math::divide_no_nan(precision * recall, squared * precision + recall) * (1 + squared);
    if (average_ == "weighted") {
      Tensor weights = intermediate_weights.value();
      return reduce_sum(score * math::divide_no_nan(weights, reduce_sum(weights)));
    }
    return average_.empty() ? score : reduce_mean(score);
  }

 private:
  Shape state_shape(const Shape& y_true, const Shape& y_pred) const {
    const std::string received =
        "Received input shapes: y_pred.shape=" + y_pred.str() + " and y_true.shape=" + y_true.str() + ".";
    if (y_pred.rank() != 2 || y_true.rank() != 2)
      throw ValueError("FBetaScore expects 2D inputs with shape (batch_size, output_dim). " + received);
    if (y_pred[1] < 0 || y_true[1] < 0)
      throw ValueError(
          "FBetaScore expects 2D inputs with shape (batch_size, output_dim), with output_dim fully defined (not "
          "None). " +
          received);
    return average_ == "micro" ? Shape() : Shape{y_pred[1]};
  }

  std::string average_;
  double beta_;
  std::optional<double> threshold_;
  DType dtype_;
};

struct FBetaScoreMetric {
  FBetaScoreOptions options = {};
  ScoreSettings settings = ScoreSettings(options.average, options.beta, options.threshold, options.dtype);
  Variable true_positives = {}, false_positives = {}, false_negatives = {}, intermediate_weights = {};
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight) {
    settings.update(true_positives, false_positives, false_negatives, intermediate_weights, y_true, y_pred,
                    sample_weight);
  }
  Tensor result() { return settings.result(true_positives, false_positives, false_negatives, intermediate_weights); }
};
struct F1ScoreMetric {
  F1ScoreOptions options = {};
  ScoreSettings settings = ScoreSettings(options.average, 1, options.threshold, options.dtype);
  Variable true_positives = {}, false_positives = {}, false_negatives = {}, intermediate_weights = {};
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight) {
    settings.update(true_positives, false_positives, false_negatives, intermediate_weights, y_true, y_pred,
                    sample_weight);
  }
  Tensor result() { return settings.result(true_positives, false_positives, false_negatives, intermediate_weights); }
};

}  // namespace

Metric FBetaScore(const FBetaScoreOptions& options) { return FBetaScoreMetric{options}; }
Metric F1Score(const F1ScoreOptions& options) { return F1ScoreMetric{options}; }

}  // namespace thalweg::keras::metrics

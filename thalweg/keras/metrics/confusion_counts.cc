#include "thalweg/keras/metrics/confusion.h"
#include "thalweg/ops/division.h"
#include "thalweg/ops/math.h"

namespace thalweg::keras::metrics {
namespace {

using keras::detail::metric_state;

Variable state_for(const std::vector<double>& thresholds, DType dtype, const char* name) {
  return metric_state({static_cast<int64_t>(thresholds.size())}, dtype, name);
}
/// One number where there is one threshold.
Tensor unpacked(const Tensor& counts) { return counts.shape()[0] == 1 ? counts[0] : counts; }

void count(const ConfusionVariables& variables, const Thresholds& given, double otherwise, const Tensor& y_true,
           const Tensor& y_pred, const Tensor& sample_weight, std::optional<int64_t> top_k = {},
           std::optional<int64_t> class_id = {}) {
  const std::vector<double> thresholds = checked_thresholds(given, otherwise);
  update_confusion(variables, y_true, y_pred, sample_weight,
                   {.thresholds = thresholds,
                    .evenly_distributed = are_evenly_distributed(thresholds),
                    .top_k = top_k,
                    .class_id = class_id});
}

struct TruePositivesMetric {
  TruePositivesOptions options = {};
  Variable accumulator = state_for(checked_thresholds(options.thresholds, 0.5), options.dtype, "accumulator");
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight) {
    count({.true_positives = &accumulator}, options.thresholds, 0.5, y_true, y_pred, sample_weight);
  }
  Tensor result() { return unpacked(accumulator.value()); }
};
struct TrueNegativesMetric {
  TrueNegativesOptions options = {};
  Variable accumulator = state_for(checked_thresholds(options.thresholds, 0.5), options.dtype, "accumulator");
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight) {
    count({.true_negatives = &accumulator}, options.thresholds, 0.5, y_true, y_pred, sample_weight);
  }
  Tensor result() { return unpacked(accumulator.value()); }
};
struct FalsePositivesMetric {
  FalsePositivesOptions options = {};
  Variable accumulator = state_for(checked_thresholds(options.thresholds, 0.5), options.dtype, "accumulator");
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight) {
    count({.false_positives = &accumulator}, options.thresholds, 0.5, y_true, y_pred, sample_weight);
  }
  Tensor result() { return unpacked(accumulator.value()); }
};
struct FalseNegativesMetric {
  FalseNegativesOptions options = {};
  Variable accumulator = state_for(checked_thresholds(options.thresholds, 0.5), options.dtype, "accumulator");
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight) {
    count({.false_negatives = &accumulator}, options.thresholds, 0.5, y_true, y_pred, sample_weight);
  }
  Tensor result() { return unpacked(accumulator.value()); }
};

/// What predictions are compared with: all of the top k are yes.
double default_threshold(const std::optional<int64_t>& top_k) { return top_k ? below_all : 0.5; }

struct PrecisionMetric {
  PrecisionOptions options = {};
  Variable true_positives = state_for(checked_thresholds(options.thresholds, 0.5), options.dtype, "true_positives");
  Variable false_positives = state_for(checked_thresholds(options.thresholds, 0.5), options.dtype, "false_positives");
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight) {
    count({.true_positives = &true_positives, .false_positives = &false_positives}, options.thresholds,
          default_threshold(options.top_k), y_true, y_pred, sample_weight, options.top_k, options.class_id);
  }
  Tensor result() {
    Tensor right = true_positives.value();
    return unpacked(math::divide_no_nan(right, right + false_positives.value()));
  }
};
struct RecallMetric {
  RecallOptions options = {};
  Variable true_positives = state_for(checked_thresholds(options.thresholds, 0.5), options.dtype, "true_positives");
  Variable false_negatives = state_for(checked_thresholds(options.thresholds, 0.5), options.dtype, "false_negatives");
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight) {
    count({.true_positives = &true_positives, .false_negatives = &false_negatives}, options.thresholds,
          default_threshold(options.top_k), y_true, y_pred, sample_weight, options.top_k, options.class_id);
  }
  Tensor result() {
    Tensor right = true_positives.value();
    return unpacked(math::divide_no_nan(right, right + false_negatives.value()));
  }
};

}  // namespace

Metric TruePositives(const TruePositivesOptions& options) { return TruePositivesMetric{options}; }
Metric TrueNegatives(const TrueNegativesOptions& options) { return TrueNegativesMetric{options}; }
Metric FalsePositives(const FalsePositivesOptions& options) { return FalsePositivesMetric{options}; }
Metric FalseNegatives(const FalseNegativesOptions& options) { return FalseNegativesMetric{options}; }
Metric Precision(const PrecisionOptions& options) { return PrecisionMetric{options}; }
Metric Recall(const RecallOptions& options) { return RecallMetric{options}; }

}  // namespace thalweg::keras::metrics

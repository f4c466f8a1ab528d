#include "thalweg/core/error.h"
#include "thalweg/keras/metrics/confusion.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/division.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/selection.h"

namespace thalweg::keras::metrics {
namespace {

using keras::detail::metric_state;

/// Counts at thresholds from 0 to 1, 0.5 alone where there is one.
class CountsOverThresholds {
 public:
  /// Checks the arguments of a metric: the number that another must reach, and how many thresholds there are.
  CountsOverThresholds(const char* name, double value, int64_t number, std::optional<int64_t> class_id)
      : class_id_(class_id) {
    if (!(value >= 0 && value <= 1))
      throw ValueError(std::string("Argument `") + name + "` must be in the range [0, 1]. Received: " + name + "=" +
                       Value(value).json());
    if (number <= 0)
      throw ValueError("Argument `num_thresholds` must be an integer > 0. Received: num_thresholds=" +
                       std::to_string(number));
    if (number == 1) thresholds_ = {0.5};
    else
      for (int64_t i = 0; i < number; ++i)
        thresholds_.push_back(static_cast<double>(i) / static_cast<double>(number - 1));
  }
  Variable state(DType dtype, const char* name) const {
    return metric_state({static_cast<int64_t>(thresholds_.size())}, dtype, name);
  }
  void update(const ConfusionVariables& variables, const Tensor& y_true, const Tensor& y_pred,
              const Tensor& sample_weight) const {
    update_confusion(variables, y_true, y_pred, sample_weight,
                     {.thresholds = thresholds_, .evenly_distributed = thresholds_.size() > 1, .class_id = class_id_});
  }

 private:
  std::optional<int64_t> class_id_;
  std::vector<double> thresholds_;
};

Tensor share(const Variable& part, const Variable& other) {
  Tensor value = part.value();
  return math::divide_no_nan(value, value + other.value());
}
/// The largest of some rates, none below zero, where others reach a value; zero where none does.
Tensor best_where(const Tensor& reached, double value, const Tensor& rates) {
  return reduce_max(where(reached >= value, rates, zeros_like(rates)));
}

struct SensitivityAtSpecificityMetric {
  double specificity = 0.5;
  SensitivityAtSpecificityOptions options = {};
  CountsOverThresholds counts =
      CountsOverThresholds("specificity", specificity, options.num_thresholds, options.class_id);
  Variable true_positives = counts.state(options.dtype, "true_positives");
  Variable true_negatives = counts.state(options.dtype, "true_negatives");
  Variable false_positives = counts.state(options.dtype, "false_positives");
  Variable false_negatives = counts.state(options.dtype, "false_negatives");
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight) {
    counts.update({&true_positives, &true_negatives, &false_positives, &false_negatives}, y_true, y_pred,
                  sample_weight);
  }
  Tensor result() {
    return best_where(share(true_negatives, false_positives), specificity, share(true_positives, false_negatives));
  }
};
struct SpecificityAtSensitivityMetric {
  double sensitivity = 0.5;
  SpecificityAtSensitivityOptions options = {};
  CountsOverThresholds counts =
      CountsOverThresholds("sensitivity", sensitivity, options.num_thresholds, options.class_id);
  Variable true_positives = counts.state(options.dtype, "true_positives");
  Variable true_negatives = counts.state(options.dtype, "true_negatives");
  Variable false_positives = counts.state(options.dtype, "false_positives");
  Variable false_negatives = counts.state(options.dtype, "false_negatives");
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight) {
    counts.update({&true_positives, &true_negatives, &false_positives, &false_negatives}, y_true, y_pred,
                  sample_weight);
  }
  Tensor result() {
    return best_where(share(true_positives, false_negatives), sensitivity, share(true_negatives, false_positives));
  }
};
struct PrecisionAtRecallMetric {
  double recall = 0.5;
  PrecisionAtRecallOptions options = {};
  CountsOverThresholds counts = CountsOverThresholds("recall", recall, options.num_thresholds, options.class_id);
  Variable true_positives = counts.state(options.dtype, "true_positives");
  Variable true_negatives = counts.state(options.dtype, "true_negatives");
  Variable false_positives = counts.state(options.dtype, "false_positives");
  Variable false_negatives = counts.state(options.dtype, "false_negatives");
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight) {
    counts.update({&true_positives, &true_negatives, &false_positives, &false_negatives}, y_true, y_pred,
                  sample_weight);
  }
  Tensor result() {
    return best_where(share(true_positives, false_negatives), recall, share(true_positives, false_positives));
  }
};
struct RecallAtPrecisionMetric {
  double precision = 0.5;
  RecallAtPrecisionOptions options = {};
  CountsOverThresholds counts = CountsOverThresholds("precision", precision, options.num_thresholds, options.class_id);
  Variable true_positives = counts.state(options.dtype, "true_positives");
  Variable true_negatives = counts.state(options.dtype, "true_negatives");
  Variable false_positives = counts.state(options.dtype, "false_positives");
  Variable false_negatives = counts.state(options.dtype, "false_negatives");
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight) {
    counts.update({&true_positives, &true_negatives, &false_positives, &false_negatives}, y_true, y_pred,
                  sample_weight);
  }
  Tensor result() {
    return best_where(share(true_positives, false_positives), precision, share(true_positives, false_negatives));
  }
};

}  // namespace

Metric SensitivityAtSpecificity(double specificity, const SensitivityAtSpecificityOptions& options) {
  return SensitivityAtSpecificityMetric{specificity, options};
}
Metric SpecificityAtSensitivity(double sensitivity, const SpecificityAtSensitivityOptions& options) {
  return SpecificityAtSensitivityMetric{sensitivity, options};
}
Metric PrecisionAtRecall(double recall, const PrecisionAtRecallOptions& options) {
  return PrecisionAtRecallMetric{recall, options};
}
Metric RecallAtPrecision(double precision, const RecallAtPrecisionOptions& options) {
  return RecallAtPrecisionMetric{precision, options};
}

}  // namespace thalweg::keras::metrics

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
  template <class Options>
  CountsOverThresholds(const char* name, double value, const Options& options) : class_id_(options.class_id) {
    const int64_t number = options.num_thresholds;
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
    fields([&](const char* of, Variable& variable) { variable = metric_state({number}, options.dtype, of); });
  }
  void update(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight) const {
    update_confusion({&true_positives, &true_negatives, &false_positives, &false_negatives}, y_true, y_pred,
                     sample_weight,
                     {.thresholds = thresholds_, .evenly_distributed = thresholds_.size() > 1, .class_id = class_id_});
  }
  Tensor sensitivity() const { return share(true_positives, false_negatives); }  // also called recall
  Tensor specificity() const { return share(true_negatives, false_positives); }
  Tensor precision() const { return share(true_positives, false_positives); }

  template <class F> void fields(F&& f) {
    f("true_positives", true_positives);
    f("true_negatives", true_negatives);
    f("false_positives", false_positives);
    f("false_negatives", false_negatives);
  }

  Variable true_positives, true_negatives, false_positives, false_negatives;

 private:
  static Tensor share(const Variable& part, const Variable& other) {
    Tensor value = part.value();
    return math::divide_no_nan(value, value + other.value());
  }

  std::optional<int64_t> class_id_;
  std::vector<double> thresholds_;
};

/// The largest of some rates, none below zero, where others reach a value; zero where none does.
Tensor best_where(const Tensor& reached, double value, const Tensor& rates) {
  return reduce_max(where(reached >= value, rates, zeros_like(rates)));
}

struct SensitivityAtSpecificityMetric {
  double specificity = 0.5;
  SensitivityAtSpecificityOptions options = {};
  CountsOverThresholds counts = CountsOverThresholds("specificity", specificity, options);
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight) {
    counts.update(y_true, y_pred, sample_weight);
  }
  Tensor result() { return best_where(counts.specificity(), specificity, counts.sensitivity()); }
};
struct SpecificityAtSensitivityMetric {
  double sensitivity = 0.5;
  SpecificityAtSensitivityOptions options = {};
  CountsOverThresholds counts = CountsOverThresholds("sensitivity", sensitivity, options);
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight) {
    counts.update(y_true, y_pred, sample_weight);
  }
  Tensor result() { return best_where(counts.sensitivity(), sensitivity, counts.specificity()); }
};
struct PrecisionAtRecallMetric {
  double recall = 0.5;
  PrecisionAtRecallOptions options = {};
  CountsOverThresholds counts = CountsOverThresholds("recall", recall, options);
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight) {
    counts.update(y_true, y_pred, sample_weight);
  }
  Tensor result() { return best_where(counts.sensitivity(), recall, counts.precision()); }
};
struct RecallAtPrecisionMetric {
  double precision = 0.5;
  RecallAtPrecisionOptions options = {};
  CountsOverThresholds counts = CountsOverThresholds("precision", precision, options);
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight) {
    counts.update(y_true, y_pred, sample_weight);
  }
  Tensor result() { return best_where(counts.precision(), precision, counts.sensitivity()); }
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

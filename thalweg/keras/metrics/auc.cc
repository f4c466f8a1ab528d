#include <algorithm>

#include "thalweg/core/error.h"
#include "thalweg/keras/backend.h"
#include "thalweg/keras/loss_support.h"
#include "thalweg/keras/metrics/confusion.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/division.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_elementary.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/selection.h"
#include "thalweg/ops/shaping.h"

namespace thalweg::keras::metrics {
namespace {

/// What the options of an area mean, checked.
class AreaSettings {
 public:
  enum class Summation : uint8_t { interpolation, minoring, majoring };

  explicit AreaSettings(const AUCOptions& options) {
    std::vector<double> inner;
    if (options.thresholds) {
      inner = *options.thresholds;
      std::sort(inner.begin(), inner.end());
    } else {
      const int64_t number = options.num_thresholds;
      if (number <= 1)
        throw ValueError("Argument `num_thresholds` must be an integer > 1. Received: num_thresholds=" +
                         std::to_string(number));
      for (int64_t i = 1; i < number - 1; ++i)
        inner.push_back(static_cast<double>(i) / static_cast<double>(number - 1));
    }
    std::vector<double> whole = inner;
    whole.insert(whole.begin(), 0);
    whole.push_back(1);
    evenly_distributed = !options.thresholds || are_evenly_distributed(whole);
    // The ends lie beyond 0 and 1, so that predictions of 0 and 1 are inside.
    whole.front() -= backend::epsilon();
    whole.back() += backend::epsilon();
    thresholds = whole;

    const std::string& curve = options.curve;
    precision_recall = curve == "PR" || curve == "pr";
    if (!precision_recall && curve != "ROC" && curve != "roc")
      throw ValueError("Invalid AUC curve value: \"" + curve + "\". Expected values are [\"PR\", \"ROC\"]");
    const std::string& method = options.summation_method;
    if (method == "interpolation" || method == "Interpolation") summation = Summation::interpolation;
    else if (method == "minoring" || method == "Minoring") summation = Summation::minoring;
    else if (method == "majoring" || method == "Majoring") summation = Summation::majoring;
    else
      throw ValueError("Invalid AUC summation method value: \"" + method +
                       "\". Expected values are [\"interpolation\", \"majoring\", \"minoring\"]");
    if (options.num_labels && !options.multi_label)
      throw ValueError("`num_labels` is needed only when `multi_label` is True.");
  }
  int64_t size() const { return static_cast<int64_t>(thresholds.size()); }
  const char* curve() const { return precision_recall ? "PR" : "ROC"; }
  const char* summation_method() const {
    return summation == Summation::interpolation ? "interpolation"
           : summation == Summation::minoring    ? "minoring"
                                                 : "majoring";
  }

  std::vector<double> thresholds;
  bool evenly_distributed = false, precision_recall = false;
  Summation summation = Summation::interpolation;
};

Tensor upper(const Tensor& x) { return x(slice(0, -1)); }
Tensor lower(const Tensor& x) { return x(slice_from(1)); }

struct AUCMetric {
  AUCOptions options = {};
  AreaSettings settings = AreaSettings(options);
  Variable true_positives = first_state("true_positives"), true_negatives = first_state("true_negatives");
  Variable false_positives = first_state("false_positives"), false_negatives = first_state("false_negatives");

  /// With many labels it waits for predictions that say how many.
  Variable first_state(const char* name) const {
    if (!options.multi_label) return keras::detail::metric_state({settings.size()}, options.dtype, name);
    if (!options.num_labels) return {};
    return keras::detail::metric_state({settings.size(), *options.num_labels}, options.dtype, name);
  }

  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight) {
    if (!true_positives.defined()) build(y_pred.shape());
    if (options.label_weights.defined()) {
      const int64_t labels = losses::last_dimension(y_true), weights = losses::last_dimension(options.label_weights);
      if (y_true.rank() >= 0 && (y_true.rank() != 2 || (labels >= 0 && labels != weights)))
        throw ValueError("Number of labels is not consistent. y_true has shape " + y_true.shape().str() +
                         ", label_weights " + options.label_weights.shape().str());
    }
    update_confusion({&true_positives, &true_negatives, &false_positives, &false_negatives}, y_true,
                     options.from_logits ? sigmoid(y_pred) : y_pred, sample_weight,
                     {.thresholds = settings.thresholds,
                      .evenly_distributed = settings.evenly_distributed,
                      .label_weights = options.multi_label ? Tensor() : options.label_weights,
                      .multi_label = options.multi_label});
  }

  Tensor result() {
    if (!true_positives.defined())
      throw ValueError("AUC does not have any value yet: its first predictions say how many labels there are.");
    Tensor tp = true_positives.value(), tn = true_negatives.value(), fp = false_positives.value(),
           fn = false_negatives.value();
    if (settings.precision_recall && settings.summation == AreaSettings::Summation::interpolation)
      return over_labels(precision_recall_increments(tp, fp, fn));
    Tensor recall = math::divide_no_nan(tp, tp + fn), x = recall, y;
    if (settings.precision_recall) {
      y = math::divide_no_nan(tp, tp + fp);
    } else {
      x = math::divide_no_nan(fp, fp + tn);
      y = recall;
    }
    Tensor heights = settings.summation == AreaSettings::Summation::interpolation ? (upper(y) + lower(y)) / 2.0
                     : settings.summation == AreaSettings::Summation::minoring    ? minimum(upper(y), lower(y))
                                                                                  : maximum(upper(y), lower(y));
    return over_labels((upper(x) - lower(x)) * heights);
  }

  void complete_config(Value& config) const {
    config.set("num_thresholds", settings.size());
    config.set("curve", settings.curve());
    config.set("summation_method", settings.summation_method());
    if (!options.thresholds) config.erase("thresholds");
  }

 private:
  void build(const Shape& shape) {
    if (shape.rank() != 2)
      throw ValueError("`y_pred` must have rank 2 when `multi_label=True`. Found rank " + std::to_string(shape.rank()) +
                       ". Full shape received for `y_pred`: " + shape.str());
    if (shape[1] < 0)
      throw ValueError("AUC: the number of labels must be known, got predictions of shape " + shape.str());
    auto state = [&](const char* name) {
      return keras::detail::metric_state({settings.size(), shape[1]}, options.dtype, name);
    };
    true_positives = state("true_positives");
    true_negatives = state("true_negatives");
    false_positives = state("false_positives");
    false_negatives = state("false_negatives");
  }
  /// True and false positives grow in straight lines between thresholds, precision does not (Davis and Goadrich, 2006).
  static Tensor precision_recall_increments(const Tensor& tp, const Tensor& fp, const Tensor& fn) {
    Tensor gained = upper(tp) - lower(tp), positives = tp + fp, from = lower(positives), to = upper(positives);
    Tensor slope = math::divide_no_nan(gained, maximum(to - from, 0.0));
    Tensor intercept = lower(tp) - slope * from;
    Tensor ratio =
        where(logical_and(to > 0.0, from > 0.0), math::divide_no_nan(to, maximum(from, 0.0)), ones_like(from));
    return math::divide_no_nan(slope * (gained + intercept * log(ratio)), maximum(lower(tp) + lower(fn), 0.0));
  }
  Tensor over_labels(const Tensor& increments) const {
    if (!options.multi_label) return reduce_sum(increments);
    Tensor areas = reduce_sum(increments, {.axis = 0});
    if (!options.label_weights.defined()) return reduce_mean(areas);
    Tensor weights = cast(options.label_weights, areas.dtype());
    return math::divide_no_nan(reduce_sum(areas * weights), reduce_sum(weights));
  }
};

}  // namespace

Metric AUC(const AUCOptions& options) { return AUCMetric{options}; }

}  // namespace thalweg::keras::metrics

// Counting right and wrong answers to yes-or-no questions at many thresholds.
#pragma once
#include "thalweg/keras/metrics.h"

namespace thalweg::keras::metrics {

// A threshold below every prediction, and what predictions outside of the top k become.
inline constexpr double below_all = -1e10;

/// The variables to add to; those that are null are not counted.
struct ConfusionVariables {
  const Variable* true_positives = nullptr;
  const Variable* true_negatives = nullptr;
  const Variable* false_positives = nullptr;
  const Variable* false_negatives = nullptr;

  const Variable& first() const;
};
struct ConfusionSettings {
  const std::vector<double>& thresholds;
  bool evenly_distributed = false;
  std::optional<int64_t> top_k = {};
  std::optional<int64_t> class_id = {};
  Tensor label_weights = {};
  bool multi_label = false;  // counts of shape [thresholds, labels]
};
void update_confusion(const ConfusionVariables& variables, const Tensor& y_true, const Tensor& y_pred,
                      const Tensor& sample_weight, const ConfusionSettings& settings);

/// Those given, or the default one; ValueError for one outside of [0, 1].
std::vector<double> checked_thresholds(const Thresholds& given, double otherwise);
/// Whether they are 0, 1 / (n - 1), ..., 1.
bool are_evenly_distributed(const std::vector<double>& thresholds);

}  // namespace thalweg::keras::metrics

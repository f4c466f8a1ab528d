#include <algorithm>

#include "thalweg/core/error.h"
#include "thalweg/keras/metrics.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/counting.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/diagonals.h"
#include "thalweg/ops/division.h"
#include "thalweg/ops/gather.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/selection.h"
#include "thalweg/ops/shaping.h"

namespace thalweg::keras::metrics {
namespace {

/// The counts by true and predicted class.
Variable matrix_state(int64_t num_classes, DType dtype, const std::vector<int64_t>& target_class_ids = {}) {
  for (int64_t id : target_class_ids)
    if (id >= num_classes)
      throw ValueError("Target class id " +
                       std::to_string(*std::max_element(target_class_ids.begin(), target_class_ids.end())) +
                       " is out of range, which is [0, " + std::to_string(num_classes) + ").");
  if (num_classes < 0) throw ValueError("num_classes cannot be negative, got " + std::to_string(num_classes));
  return keras::detail::metric_state({num_classes, num_classes}, dtype, "total_confusion_matrix");
}

struct Classes {
  std::optional<int64_t> ignore_class = {};
  bool sparse_y_true = true, sparse_y_pred = true;
  int64_t axis = -1;
};
void add_counts(const Variable& matrix, const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight,
                const Classes& classes) {
  const DType dtype = matrix.dtype();
  auto numbers = [&](const Tensor& given, bool sparse) {
    Tensor chosen = sparse ? cast(given, DType::int64) : argmax(given, {.axis = classes.axis});
    return chosen.rank() == 1 ? chosen : reshape(chosen, {-1});
  };
  Tensor truth = numbers(y_true, classes.sparse_y_true), predicted = numbers(y_pred, classes.sparse_y_pred);
  Tensor weight = sample_weight;
  if (weight.defined()) {
    weight = cast(weight, dtype);
    if (weight.rank() != 1) weight = reshape(weight, {-1});
  }
  if (classes.ignore_class) {
    // What is ignored counts as nothing of class 0, so that shapes do not depend on values.
    Tensor valid = not_equal(truth, *classes.ignore_class);
    truth = where(valid, truth, zeros_like(truth));
    predicted = where(valid, predicted, zeros_like(predicted));
    weight = weight.defined() ? where(valid, weight, zeros_like(weight)) : cast(valid, dtype);
  }
  matrix.assign_add(math::confusion_matrix(
      truth, predicted, {.num_classes = Tensor(matrix.shape()[0]), .weights = weight, .dtype = dtype}));
}

Tensor mean_over(const Variable& matrix, const std::vector<int64_t>* target_class_ids) {
  Tensor counts = matrix.value();
  Tensor both = linalg::tensor_diag_part(counts);
  Tensor either = reduce_sum(counts, {.axis = 0}) + reduce_sum(counts, {.axis = 1}) - both;
  if (target_class_ids) {
    Tensor ids(*target_class_ids);
    both = gather(both, ids);
    either = gather(either, ids);
  }
  Tensor present = reduce_sum(cast(not_equal(either, 0.0), counts.dtype()));
  return math::divide_no_nan(reduce_sum(math::divide_no_nan(both, either)), present);
}

struct IoUMetric {
  int64_t num_classes = 0;
  std::vector<int64_t> target_class_ids = {};
  IoUOptions options = {};
  Variable total_cm = matrix_state(num_classes, options.dtype, target_class_ids);
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight) {
    add_counts(total_cm, y_true, y_pred, sample_weight,
               {options.ignore_class, options.sparse_y_true, options.sparse_y_pred, options.axis});
  }
  Tensor result() { return mean_over(total_cm, &target_class_ids); }
};
struct BinaryIoUMetric {
  BinaryIoUOptions options = {};
  Variable total_cm = matrix_state(2, options.dtype, options.target_class_ids);
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight) {
    add_counts(total_cm, y_true, cast(y_pred, total_cm.dtype()) >= options.threshold, sample_weight, {});
  }
  Tensor result() { return mean_over(total_cm, &options.target_class_ids); }
};
struct MeanIoUMetric {
  int64_t num_classes = 0;
  MeanIoUOptions options = {};
  Variable total_cm = matrix_state(num_classes, options.dtype);
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight) {
    add_counts(total_cm, y_true, y_pred, sample_weight,
               {options.ignore_class, options.sparse_y_true, options.sparse_y_pred, options.axis});
  }
  Tensor result() { return mean_over(total_cm, nullptr); }
};
struct OneHotIoUMetric {
  int64_t num_classes = 0;
  std::vector<int64_t> target_class_ids = {};
  OneHotIoUOptions options = {};
  Variable total_cm = matrix_state(num_classes, options.dtype, target_class_ids);
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight) {
    add_counts(total_cm, y_true, y_pred, sample_weight,
               {options.ignore_class, false, options.sparse_y_pred, options.axis});
  }
  Tensor result() { return mean_over(total_cm, &target_class_ids); }
};
struct OneHotMeanIoUMetric {
  int64_t num_classes = 0;
  OneHotMeanIoUOptions options = {};
  Variable total_cm = matrix_state(num_classes, options.dtype);
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight) {
    add_counts(total_cm, y_true, y_pred, sample_weight,
               {options.ignore_class, false, options.sparse_y_pred, options.axis});
  }
  Tensor result() { return mean_over(total_cm, nullptr); }
};

}  // namespace

Metric IoU(int64_t num_classes, const std::vector<int64_t>& target_class_ids, const IoUOptions& options) {
  return IoUMetric{num_classes, target_class_ids, options};
}
Metric BinaryIoU(const BinaryIoUOptions& options) { return BinaryIoUMetric{options}; }
Metric MeanIoU(int64_t num_classes, const MeanIoUOptions& options) { return MeanIoUMetric{num_classes, options}; }
Metric OneHotIoU(int64_t num_classes, const std::vector<int64_t>& target_class_ids, const OneHotIoUOptions& options) {
  return OneHotIoUMetric{num_classes, target_class_ids, options};
}
Metric OneHotMeanIoU(int64_t num_classes, const OneHotMeanIoUOptions& options) {
  return OneHotMeanIoUMetric{num_classes, options};
}

}  // namespace thalweg::keras::metrics

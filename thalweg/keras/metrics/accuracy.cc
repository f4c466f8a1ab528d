#include "thalweg/keras/loss_support.h"
#include "thalweg/keras/metrics.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/shaping.h"
#include "thalweg/ops/sorting.h"

namespace thalweg::keras::metrics {
namespace {

Tensor binary_matches(const Tensor& y_true, const Tensor& y_pred, double threshold) {
  return cast(equal(cast(y_true, y_pred.dtype()), cast(y_pred > threshold, y_pred.dtype())), DType::float32);
}
/// 1 where the largest prediction is that of the label; labels may end in a dimension of one.
Tensor sparse_matches(const Tensor& y_true, const Tensor& y_pred) {
  Tensor labels = y_true.rank() >= 0 && y_true.rank() == y_pred.rank() ? squeeze(y_true, {.axis = -1}) : y_true;
  // Small integers could not hold the numbers of all classes.
  if (is_integer(labels.dtype())) labels = cast(labels, DType::int64);
  return cast(equal(labels, cast(argmax(y_pred, {.axis = -1}), labels.dtype())), DType::float32);
}
Tensor sparse_top_k_matches(const Tensor& y_true, const Tensor& y_pred, int64_t k) {
  const bool known = y_true.rank() >= 0 && y_pred.rank() >= 0;
  Tensor predictions = y_pred, labels = cast(y_true, DType::int32);
  if (known && y_pred.rank() > 2) predictions = reshape(y_pred, {int64_t{-1}, losses::last_dimension(y_pred)});
  if (known && y_true.rank() > 1) labels = reshape(labels, {-1});
  Tensor matches =
      cast(nn::in_top_k(labels, cast(predictions, DType::float32), static_cast<int32_t>(k)), DType::float32);
  return known && y_true.rank() > 1 ? reshape(matches, shape(y_true)) : matches;
}
Tensor largest(const Tensor& y_true) { return argmax(y_true, {.axis = -1}); }

struct AccuracyMetric {
  AccuracyOptions options = {};
  Tensor call(const Tensor& y_true, const Tensor& y_pred) { return accuracy(y_true, y_pred); }
};
struct BinaryAccuracyMetric {
  BinaryAccuracyOptions options = {};
  Tensor call(const Tensor& y_true, const Tensor& y_pred) { return binary_matches(y_true, y_pred, options.threshold); }
};
struct CategoricalAccuracyMetric {
  CategoricalAccuracyOptions options = {};
  Tensor call(const Tensor& y_true, const Tensor& y_pred) { return categorical_accuracy(y_true, y_pred); }
};
struct SparseCategoricalAccuracyMetric {
  SparseCategoricalAccuracyOptions options = {};
  Tensor call(const Tensor& y_true, const Tensor& y_pred) { return sparse_matches(y_true, y_pred); }
};
struct TopKCategoricalAccuracyMetric {
  TopKCategoricalAccuracyOptions options = {};
  Tensor call(const Tensor& y_true, const Tensor& y_pred) {
    return sparse_top_k_matches(largest(y_true), y_pred, options.k);
  }
};
struct SparseTopKCategoricalAccuracyMetric {
  SparseTopKCategoricalAccuracyOptions options = {};
  Tensor call(const Tensor& y_true, const Tensor& y_pred) { return sparse_top_k_matches(y_true, y_pred, options.k); }
};

const bool accuracy_names[] = {
    register_named<MetricInterface, accuracy>("accuracy"),
    register_alias("metric", "acc", "accuracy"),
    register_alias("metric", "ACC", "accuracy"),
    register_named<MetricInterface, binary_accuracy>("binary_accuracy"),
    register_named<MetricInterface, categorical_accuracy>("categorical_accuracy"),
    register_named<MetricInterface, sparse_categorical_accuracy>("sparse_categorical_accuracy"),
    register_named<MetricInterface, top_k_categorical_accuracy>("top_k_categorical_accuracy"),
    register_named<MetricInterface, sparse_top_k_categorical_accuracy>("sparse_top_k_categorical_accuracy"),
};

}  // namespace

Tensor accuracy(const Tensor& y_true, const Tensor& y_pred) {
  losses::check_compatible(y_true.shape(), y_pred.shape());
  return cast(equal(y_true, cast(y_pred, y_true.dtype())), DType::float32);
}
Tensor binary_accuracy(const Tensor& y_true, const Tensor& y_pred, const BinaryAccuracyFunctionOptions& options) {
  return reduce_mean(binary_matches(y_true, y_pred, options.threshold), {.axis = -1});
}
Tensor categorical_accuracy(const Tensor& y_true, const Tensor& y_pred) {
  return sparse_matches(largest(y_true), y_pred);
}
Tensor sparse_categorical_accuracy(const Tensor& y_true, const Tensor& y_pred) {
  return sparse_matches(y_true, y_pred);
}
Tensor top_k_categorical_accuracy(const Tensor& y_true, const Tensor& y_pred, const TopKFunctionOptions& options) {
  return sparse_top_k_matches(largest(y_true), y_pred, options.k);
}
Tensor sparse_top_k_categorical_accuracy(const Tensor& y_true, const Tensor& y_pred,
                                         const TopKFunctionOptions& options) {
  return sparse_top_k_matches(y_true, y_pred, options.k);
}

Metric Accuracy(const AccuracyOptions& options) { return AccuracyMetric{options}; }
Metric BinaryAccuracy(const BinaryAccuracyOptions& options) { return BinaryAccuracyMetric{options}; }
Metric CategoricalAccuracy(const CategoricalAccuracyOptions& options) { return CategoricalAccuracyMetric{options}; }
Metric SparseCategoricalAccuracy(const SparseCategoricalAccuracyOptions& options) {
  return SparseCategoricalAccuracyMetric{options};
}
Metric TopKCategoricalAccuracy(const TopKCategoricalAccuracyOptions& options) {
  return TopKCategoricalAccuracyMetric{options};
}
Metric SparseTopKCategoricalAccuracy(const SparseTopKCategoricalAccuracyOptions& options) {
  return SparseTopKCategoricalAccuracyMetric{options};
}

}  // namespace thalweg::keras::metrics

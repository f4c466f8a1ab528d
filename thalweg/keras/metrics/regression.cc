#include "thalweg/keras/loss_support.h"
#include "thalweg/keras/metrics.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/division.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_elementary.h"
#include "thalweg/ops/math_rounding.h"
#include "thalweg/ops/shaping.h"

namespace thalweg::keras::metrics {
namespace {

using keras::detail::accumulate, keras::detail::match_pair, keras::detail::metric_state;

struct MeanSquaredErrorMetric {
  MeanSquaredErrorOptions options = {};
  Tensor call(const Tensor& y_true, const Tensor& y_pred) { return mean_squared_error(y_true, y_pred); }
};
struct MeanAbsoluteErrorMetric {
  MeanAbsoluteErrorOptions options = {};
  Tensor call(const Tensor& y_true, const Tensor& y_pred) { return mean_absolute_error(y_true, y_pred); }
};
struct MeanAbsolutePercentageErrorMetric {
  MeanAbsolutePercentageErrorOptions options = {};
  Tensor call(const Tensor& y_true, const Tensor& y_pred) { return mean_absolute_percentage_error(y_true, y_pred); }
};
struct MeanSquaredLogarithmicErrorMetric {
  MeanSquaredLogarithmicErrorOptions options = {};
  Tensor call(const Tensor& y_true, const Tensor& y_pred) { return mean_squared_logarithmic_error(y_true, y_pred); }
};
struct LogCoshErrorMetric {
  LogCoshErrorOptions options = {};
  Tensor call(const Tensor& y_true, const Tensor& y_pred) { return log_cosh(y_true, y_pred); }
};
struct CosineSimilarityMetric {
  CosineSimilarityOptions options = {};
  Tensor call(const Tensor& y_true, const Tensor& y_pred) {
    return cosine_similarity(y_true, y_pred, {.axis = options.axis});
  }
};

struct RootMeanSquaredErrorMetric {
  RootMeanSquaredErrorOptions options = {};
  Variable total = metric_state({}, options.dtype), count = metric_state({}, options.dtype);
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight) {
    auto [labels, predictions] = match_pair(y_true, y_pred, total.dtype());
    accumulate(math::squared_difference(predictions, labels), sample_weight, Reduction::weighted_mean, total, count);
  }
  Tensor result() { return sqrt(math::divide_no_nan(total.value(), count.value())); }
};

struct MeanRelativeErrorMetric {
  Tensor normalizer = {};
  MeanRelativeErrorOptions options = {};
  Variable total = metric_state({}, options.dtype), count = metric_state({}, options.dtype);
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight) {
    auto [labels, predictions] = match_pair(y_true, y_pred, total.dtype());
    auto [fitted, divisor] = losses::match_ranks(predictions, cast(normalizer, total.dtype()));
    losses::check_compatible(fitted.shape(), labels.shape());
    accumulate(math::divide_no_nan(abs(labels - fitted), divisor), sample_weight, Reduction::weighted_mean, total,
               count);
  }
  Tensor result() { return math::divide_no_nan(total.value(), count.value()); }
};

const bool regression_names[] = {
    register_named<MetricInterface, mean_squared_error>("mean_squared_error"),
    register_alias("metric", "mse", "mean_squared_error"),
    register_alias("metric", "MSE", "mean_squared_error"),
    register_named<MetricInterface, mean_absolute_error>("mean_absolute_error"),
    register_alias("metric", "mae", "mean_absolute_error"),
    register_alias("metric", "MAE", "mean_absolute_error"),
    register_named<MetricInterface, mean_absolute_percentage_error>("mean_absolute_percentage_error"),
    register_alias("metric", "mape", "mean_absolute_percentage_error"),
    register_alias("metric", "MAPE", "mean_absolute_percentage_error"),
    register_named<MetricInterface, mean_squared_logarithmic_error>("mean_squared_logarithmic_error"),
    register_alias("metric", "msle", "mean_squared_logarithmic_error"),
    register_alias("metric", "MSLE", "mean_squared_logarithmic_error"),
    register_named<MetricInterface, log_cosh>("log_cosh"),
    register_alias("metric", "logcosh", "log_cosh"),
    register_named<MetricInterface, cosine_similarity>("cosine_similarity"),
    register_alias("metric", "cosine_proximity", "cosine_similarity"),
};

}  // namespace

Tensor cosine_similarity(const Tensor& y_true, const Tensor& y_pred,
                         const losses::CosineSimilarityFunctionOptions& options) {
  return -losses::cosine_similarity(y_true, y_pred, options);
}

Metric MeanSquaredError(const MeanSquaredErrorOptions& options) { return MeanSquaredErrorMetric{options}; }
Metric RootMeanSquaredError(const RootMeanSquaredErrorOptions& options) { return RootMeanSquaredErrorMetric{options}; }
Metric MeanAbsoluteError(const MeanAbsoluteErrorOptions& options) { return MeanAbsoluteErrorMetric{options}; }
Metric MeanAbsolutePercentageError(const MeanAbsolutePercentageErrorOptions& options) {
  return MeanAbsolutePercentageErrorMetric{options};
}
Metric MeanSquaredLogarithmicError(const MeanSquaredLogarithmicErrorOptions& options) {
  return MeanSquaredLogarithmicErrorMetric{options};
}
Metric MeanRelativeError(const Tensor& normalizer, const MeanRelativeErrorOptions& options) {
  return MeanRelativeErrorMetric{normalizer, options};
}
Metric LogCoshError(const LogCoshErrorOptions& options) { return LogCoshErrorMetric{options}; }
Metric CosineSimilarity(const CosineSimilarityOptions& options) { return CosineSimilarityMetric{options}; }

}  // namespace thalweg::keras::metrics

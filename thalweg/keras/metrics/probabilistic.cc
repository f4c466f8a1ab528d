#include "thalweg/keras/metrics.h"

namespace thalweg::keras::metrics {
namespace {

struct PoissonMetric {
  PoissonOptions options = {};
  Tensor call(const Tensor& y_true, const Tensor& y_pred) { return poisson(y_true, y_pred); }
};
struct KLDivergenceMetric {
  KLDivergenceOptions options = {};
  Tensor call(const Tensor& y_true, const Tensor& y_pred) { return kl_divergence(y_true, y_pred); }
};
struct BinaryCrossentropyMetric {
  BinaryCrossentropyOptions options = {};
  Tensor call(const Tensor& y_true, const Tensor& y_pred) {
    return binary_crossentropy(y_true, y_pred,
                               {.from_logits = options.from_logits, .label_smoothing = options.label_smoothing});
  }
};
struct CategoricalCrossentropyMetric {
  CategoricalCrossentropyOptions options = {};
  Tensor call(const Tensor& y_true, const Tensor& y_pred) {
    return categorical_crossentropy(
        y_true, y_pred,
        {.from_logits = options.from_logits, .label_smoothing = options.label_smoothing, .axis = options.axis});
  }
};
struct SparseCategoricalCrossentropyMetric {
  SparseCategoricalCrossentropyOptions options = {};
  Tensor call(const Tensor& y_true, const Tensor& y_pred) {
    return sparse_categorical_crossentropy(
        y_true, y_pred,
        {.from_logits = options.from_logits, .axis = options.axis, .ignore_class = options.ignore_class});
  }
};
struct HingeMetric {
  HingeOptions options = {};
  Tensor call(const Tensor& y_true, const Tensor& y_pred) { return hinge(y_true, y_pred); }
};
struct SquaredHingeMetric {
  SquaredHingeOptions options = {};
  Tensor call(const Tensor& y_true, const Tensor& y_pred) { return squared_hinge(y_true, y_pred); }
};
struct CategoricalHingeMetric {
  CategoricalHingeOptions options = {};
  Tensor call(const Tensor& y_true, const Tensor& y_pred) { return categorical_hinge(y_true, y_pred); }
};

const bool probabilistic_names[] = {
    register_named<MetricInterface, poisson>("poisson"),
    register_named<MetricInterface, kl_divergence>("kl_divergence"),
    register_alias("metric", "kullback_leibler_divergence", "kl_divergence"),
    register_alias("metric", "kld", "kl_divergence"),
    register_alias("metric", "KLD", "kl_divergence"),
    register_named<MetricInterface, binary_crossentropy>("binary_crossentropy"),
    register_alias("metric", "bce", "binary_crossentropy"),
    register_alias("metric", "BCE", "binary_crossentropy"),
    register_named<MetricInterface, binary_focal_crossentropy>("binary_focal_crossentropy"),
    register_named<MetricInterface, categorical_crossentropy>("categorical_crossentropy"),
    register_named<MetricInterface, categorical_focal_crossentropy>("categorical_focal_crossentropy"),
    register_named<MetricInterface, sparse_categorical_crossentropy>("sparse_categorical_crossentropy"),
    register_named<MetricInterface, hinge>("hinge"),
    register_named<MetricInterface, squared_hinge>("squared_hinge"),
    register_named<MetricInterface, categorical_hinge>("categorical_hinge"),
};

}  // namespace

Metric Poisson(const PoissonOptions& options) { return PoissonMetric{options}; }
Metric KLDivergence(const KLDivergenceOptions& options) { return KLDivergenceMetric{options}; }
Metric BinaryCrossentropy(const BinaryCrossentropyOptions& options) { return BinaryCrossentropyMetric{options}; }
Metric CategoricalCrossentropy(const CategoricalCrossentropyOptions& options) {
  return CategoricalCrossentropyMetric{options};
}
Metric SparseCategoricalCrossentropy(const SparseCategoricalCrossentropyOptions& options) {
  return SparseCategoricalCrossentropyMetric{options};
}
Metric Hinge(const HingeOptions& options) { return HingeMetric{options}; }
Metric SquaredHinge(const SquaredHingeOptions& options) { return SquaredHingeMetric{options}; }
Metric CategoricalHinge(const CategoricalHingeOptions& options) { return CategoricalHingeMetric{options}; }

}  // namespace thalweg::keras::metrics

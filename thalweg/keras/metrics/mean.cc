#include "thalweg/core/error.h"
#include "thalweg/keras/loss_support.h"
#include "thalweg/keras/metrics.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/division.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/reduction.h"

namespace thalweg::keras::metrics {
namespace {

using keras::detail::accumulate, keras::detail::metric_state;

struct MeanMetric {
  MeanOptions options = {};
  Variable total = metric_state({}, options.dtype), count = metric_state({}, options.dtype);
  void update_state(const Tensor& values, const Tensor& sample_weight) {
    accumulate(values, sample_weight, Reduction::weighted_mean, total, count);
  }
  Tensor result() { return math::divide_no_nan(total.value(), count.value()); }
};

struct SumMetric {
  SumOptions options = {};
  Variable total = metric_state({}, options.dtype);
  void update_state(const Tensor& values, const Tensor& sample_weight) {
    accumulate(values, sample_weight, Reduction::sum, total, {});
  }
  Tensor result() { return total.value(); }
};

struct MeanTensorMetric {
  MeanTensorOptions options = {};
  Variable total = options.shape ? metric_state(*options.shape, options.dtype) : Variable();
  Variable count = options.shape ? metric_state(*options.shape, options.dtype) : Variable();

  void update_state(const Tensor& given, const Tensor& sample_weight) {
    Tensor values = cast(given, options.dtype == DType::invalid ? DType::float32 : options.dtype);
    if (!total.defined()) {
      if (!values.shape().is_fully_defined())
        throw ValueError("MeanTensor: the first values must have a known shape, got " + values.shape().str());
      total = metric_state(values.shape(), options.dtype, "total");
      count = metric_state(values.shape(), options.dtype, "count");
    } else if (!values.shape().is_compatible_with(total.shape())) {
      throw ValueError(
          "MeanTensor input values must always have the same shape. Expected shape (set during the first call): " +
          total.shape().str() + ". Got: " + values.shape().str() + ".");
    }
    Tensor number = ones_like(values);
    if (sample_weight.defined()) {
      auto [fitted, weight] = losses::squeeze_or_expand(values, cast(sample_weight, values.dtype()));
      if (losses::broadcasts_to(weight.shape(), fitted.shape())) {
        values = fitted * weight;
      } else {
        std::vector<int64_t> axes;
        for (int i = weight.rank(); i < fitted.rank(); ++i) axes.push_back(i);
        values = reduce_mean(fitted, {.axis = Axis(axes)}) * weight;
      }
      number = number * weight;
    }
    total.assign_add(values);
    count.assign_add(number);
  }
  Tensor result() {
    if (!total.defined())
      throw ValueError(
          "MeanTensor does not have any value yet. Please call the MeanTensor instance or use `.update_state(value)` "
          "before retrieving the result.");
    return math::divide_no_nan(total.value(), count.value());
  }
  // As Keras: another one like it takes the shape of its own first values.
  void complete_config(Value& config) const { config.erase("shape"); }
};

}  // namespace

Metric Mean(const MeanOptions& options) { return MeanMetric{options}; }
Metric Sum(const SumOptions& options) { return SumMetric{options}; }
Metric MeanTensor(const MeanTensorOptions& options) { return MeanTensorMetric{options}; }

}  // namespace thalweg::keras::metrics

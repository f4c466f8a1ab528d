#include "thalweg/keras/metric.h"

#include "thalweg/core/companion.h"
#include "thalweg/core/error.h"
#include "thalweg/graph/init_scope.h"
#include "thalweg/keras/loss.h"
#include "thalweg/keras/loss_support.h"
#include "thalweg/kernels/strided_copy.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/division.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/module.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/shaping.h"

namespace thalweg::keras {

template class Handle<MetricInterface>;

void MetricInterface::start() {
  std::string* own = own_name();
  if (own && !own->empty()) name = *own;
  if (name.empty()) name = unique_name(to_snake_case(class_name().empty() ? "metric" : class_name()));
  if (own) *own = name;  // what get_config says
  for (const NamedVariable& found : list_variables(*this)) {
    VariableResource& resource = variable_of(found.variable.handle());
    resource.trainable = false;
    if (resource.name().empty() || resource.name() == "Variable") resource.rename(found.path);
  }
}

std::shared_ptr<MetricInterface> MetricInterface::another() const {
  auto made = std::static_pointer_cast<MetricInterface>(
      make_object(kind, class_name(), is_function() ? Value() : get_config()));
  made->name = name;
  return made;
}

Nest MetricInterface::results() { return Nest::dict({{name, Nest(result())}}); }

void detail::refuse_several(const std::string& name) {
  throw ValueError("metric '" + name + "' gives several numbers, not one: results() has them by name");
}

void MetricInterface::reset_state() {
  for (const NamedVariable& found : list_variables(*this)) found.variable.assign(zeros_like(found.variable.value()));
}

Variable detail::metric_state(const Shape& shape, DType dtype, const std::string& name) {
  InitScope outside;
  const DType made = dtype == DType::invalid ? DType::float32 : dtype;
  Tensor nothing = Tensor::empty(made, shape);  // without an op: to look at the classes of metrics starts no device
  kernels::clear_elements(made, nothing.impl()->data, nothing.size());
  return Variable(nothing, {.trainable = false, .name = name});
}

void detail::accumulate(const Tensor& given, const Tensor& sample_weight, metrics::Reduction reduction,
                        const Variable& total, const Variable& count) {
  Tensor values = cast(given, total.dtype()), weight = sample_weight;
  if (weight.defined()) {
    std::tie(values, weight) = losses::squeeze_or_expand(values, cast(weight, values.dtype()));
    if (losses::broadcasts_to(weight.shape(), values.shape())) {
      weight = losses::broadcast_weights(weight, values);
    } else {
      // Weights of fewer dimensions hold for all that lies behind.
      std::vector<int64_t> axes;
      for (int i = weight.rank(); i < values.rank(); ++i) axes.push_back(i);
      if (reduction == metrics::Reduction::sum) values = reduce_sum(values, {.axis = Axis(axes)});
      else values = reduce_mean(values, {.axis = Axis(axes)});
    }
    values = values * weight;
  }
  total.assign_add(values.rank() == 0 ? values : reduce_sum(values));
  if (reduction == metrics::Reduction::sum) return;
  if (reduction == metrics::Reduction::weighted_mean && weight.defined()) {
    count.assign_add(weight.rank() == 0 ? weight : reduce_sum(weight));
  } else {
    const int64_t known = values.shape().num_elements();
    count.assign_add(cast(known >= 0 ? Tensor(known) : size(values), count.dtype()));
  }
}

std::pair<Tensor, Tensor> detail::match_pair(const Tensor& y_true, const Tensor& y_pred, DType dtype) {
  if (!y_pred.defined()) throw ValueError("this metric compares y_true with y_pred: update_state got one tensor alone");
  return losses::match_ranks(cast(y_true, dtype), cast(y_pred, dtype));
}

detail::MeanOfFunction::MeanOfFunction(DType dtype)
    : total(metric_state({}, dtype, "total")), count(metric_state({}, dtype, "count")) {}
void detail::MeanOfFunction::update(const Tensor& values, const Tensor& sample_weight) const {
  Tensor weight = sample_weight;
  if (Tensor mask = companion_of(values); mask.defined())
    weight = losses::apply_mask(weight, cast(mask, total.dtype()));
  accumulate(values, weight, metrics::Reduction::weighted_mean, total, count);
}
Tensor detail::MeanOfFunction::result() const { return math::divide_no_nan(total.value(), count.value()); }

void Metric::update_state(const TensorLike& first, const Tensor& second, const Tensor& third) const {
  p_->update_state(first.own(), second, third);
}
std::vector<Variable> Metric::variables() const {
  std::vector<Variable> all;
  for (const NamedVariable& found : list_variables(*p_)) all.push_back(found.variable);
  return all;
}

}  // namespace thalweg::keras

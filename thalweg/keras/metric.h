// Metrics: numbers that accumulate over batches.
#pragma once
#include "thalweg/graph/nest.h"
#include "thalweg/keras/object.h"
#include "thalweg/keras/pair_function.h"

namespace thalweg::keras {

/// What stands behind a metric. A struct has `update_state` and `result`, and variables; `reset_state` is optional, the
/// variables are set to zero without it. Of a struct with `call(y_true, y_pred)`, as of a function, the mean counts.
class THALWEG_API MetricInterface : public Object, public std::enable_shared_from_this<MetricInterface> {
 public:
  static constexpr const char* kind = "metric";
  /// (y_true, y_pred, sample_weight), or (values, sample_weight) for metrics of values.
  virtual void update_state(const Tensor& first, const Tensor& second, const Tensor& third) = 0;
  virtual Tensor result() = 0;
  /// What it shows by name: its number, or several where `result` of the struct gives a map of them.
  virtual Nest results();
  virtual void reset_state();
  /// Takes its name from the member of that name, and gives the variables theirs.
  void start();
  virtual std::string* own_name() { return nullptr; }
  /// One like it that counts for itself.
  virtual std::shared_ptr<MetricInterface> another() const;

  DType dtype = DType::float32;

  template <class T>
  static constexpr bool is_struct = requires(T& t) {
    &T::update_state;
    t.result();
  };
  template <class T> static constexpr bool is_function_of_pair = detail::HasPairCall<T> || detail::PairFunction<T>;
  template <class T> static constexpr bool implemented_by = is_struct<T> || is_function_of_pair<T>;
  template <class T> class Adapt;
  template <class T> static std::shared_ptr<Object> make(const Value& config) {
    auto made = std::make_shared<Adapt<T>>(detail::construct<T>(config));
    made->start();
    return made;
  }
};

namespace metrics {
/// What a metric of values counts: their sum, their mean, or their mean by weight.
enum class Reduction : uint8_t { sum, sum_over_batch_size, weighted_mean };
}  // namespace metrics

namespace detail {
/// ValueError: what was asked for as one number are several.
[[noreturn]] THALWEG_API void refuse_several(const std::string& name);
/// A variable of a metric: zeros that no tape watches, made at once, whatever is being traced. Without a name it takes
/// that of the member it is in.
THALWEG_API Variable metric_state(const Shape& shape, DType dtype, const std::string& name = "Variable");
/// Adds values, weighted where weights are given, to a total and a count.
THALWEG_API void accumulate(const Tensor& values, const Tensor& sample_weight, metrics::Reduction reduction,
                            const Variable& total, const Variable& count);
/// Labels and predictions as functions of metrics take them: in the dtype of the metric, of the same rank.
THALWEG_API std::pair<Tensor, Tensor> match_pair(const Tensor& y_true, const Tensor& y_pred, DType dtype);
/// The mean of what a function gives for y_true and y_pred.
class THALWEG_API MeanOfFunction {
 public:
  explicit MeanOfFunction(DType dtype);
  void update(const Tensor& values, const Tensor& sample_weight) const;
  Tensor result() const;
  Variable total, count;
};
}  // namespace detail

template <class T> class MetricInterface::Adapt : public Adapter<MetricInterface, T> {
 public:
  explicit Adapt(T given) : Adapter<MetricInterface, T>(std::move(given)), mean_(dtype_of(this->object)) {
    this->dtype = dtype_of(this->object);
  }
  void update_state(const Tensor& first, const Tensor& second, const Tensor& third) override {
    if constexpr (!is_struct<T>) {
      auto [y_true, y_pred] = detail::match_pair(first, second, this->dtype);
      if constexpr (detail::HasPairCall<T>) mean_.update(this->object.call(y_true, y_pred), third);
      else mean_.update(detail::call_pair(this->object, y_true, y_pred), third);
    } else if constexpr (requires { this->object.update_state(first, second, third); }) {
      this->object.update_state(first, second, third);
    } else if constexpr (requires { this->object.update_state(first, second); }) {
      this->object.update_state(first, second);
    } else {
      this->object.update_state(first);
    }
  }
  Tensor result() override {
    if constexpr (gives_several()) detail::refuse_several(this->name);
    else if constexpr (is_struct<T>) return Tensor(this->object.result());
    else return mean_.result();
  }
  Nest results() override {
    if constexpr (gives_several()) return Nest::of(this->object.result());
    else return MetricInterface::results();
  }
  void reset_state() override {
    if constexpr (requires { this->object.reset_state(); }) this->object.reset_state();
    else MetricInterface::reset_state();
  }
  void list_parts(module::Parts& parts) const override {
    if constexpr (is_struct<T>) {
      Adapter<MetricInterface, T>::list_parts(parts);
    } else {
      parts("total", mean_.total);
      parts("count", mean_.count);
    }
  }
  std::shared_ptr<MetricInterface> another() const override {
    if constexpr (!is_struct<T> && std::copy_constructible<T>) {
      auto made = std::make_shared<Adapt>(this->object);
      made->start();
      made->name = this->name;
      return made;
    } else {
      return MetricInterface::another();
    }
  }
  std::string* own_name() override {
    return rows_of(this->object).template find<std::string>("name", static_cast<void*>(&this->object));
  }

 private:
  static constexpr bool gives_several() {
    if constexpr (is_struct<T>) return !std::constructible_from<Tensor, decltype(std::declval<T&>().result())>;
    else return false;
  }
  struct Nothing {
    explicit Nothing(DType) {}
  };
  static DType dtype_of(T& object) {
    const DType* given = rows_of(object).template find<DType>("dtype", static_cast<void*>(&object));
    return given && *given != DType::invalid ? *given : DType::float32;
  }
  std::conditional_t<is_struct<T>, Nothing, detail::MeanOfFunction> mean_;
};
extern template class Handle<MetricInterface>;

/// A metric: `"accuracy"`, `metrics::Mean()`, a struct, or a function of y_true and y_pred whose mean counts.
class THALWEG_API Metric : public Handle<MetricInterface> {
 public:
  Metric() = default;
  Metric(const char* name) : Handle(name) {}         // NOLINT
  Metric(const std::string& name) : Handle(name) {}  // NOLINT
  template <class T>
    requires(MetricInterface::implemented_by<T>)
  Metric(T object) : Handle(std::move(object)) {  // NOLINT
    p_->start();
  }
  /// A function with a name to show: `Metric("bias", [](const Tensor& y_true, const Tensor& y_pred) { ... })`.
  template <class T>
    requires(MetricInterface::implemented_by<T>)
  Metric(std::string name, T object) : Metric(std::move(object)) {
    p_->name = std::move(name);
  }
  explicit Metric(std::shared_ptr<MetricInterface> object) : Handle(std::move(object)) {}

  /// Takes in a batch: (y_true, y_pred, sample_weight), or (values, sample_weight) for `Mean` and its like.
  void update_state(const TensorLike& first, const Tensor& second = {}, const Tensor& third = {}) const;
  /// The number so far.
  Tensor result() const { return p_->result(); }
  /// The numbers so far by name: one, unless the struct's `result` gives a map.
  Nest results() const { return p_->results(); }
  /// Begins anew.
  void reset_state() const { p_->reset_state(); }
  /// Takes in a batch and gives the number so far.
  Tensor operator()(const TensorLike& first, const Tensor& second = {}, const Tensor& third = {}) const {
    update_state(first, second, third);
    return result();
  }
  std::vector<Variable> variables() const;

  const module::Shared* shared() const { return p_.get(); }
};

}  // namespace thalweg::keras

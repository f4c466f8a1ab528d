// Optimizers: how variables follow gradients.
#pragma once
#include <span>

#include "thalweg/graph/nest.h"
#include "thalweg/keras/object.h"

namespace thalweg {
class GradientTape;
}

namespace thalweg::keras {

struct THALWEG_API ScheduleTag {
  static constexpr const char* kind = "schedule";
};
/// The learning rate of a step, which is counted from zero.
using LearningRateSchedule = FunctionHandle<ScheduleTag, Tensor, Tensor>;
extern template class Handle<LearningRateSchedule::Interface>;

/// A number, or a schedule: `.learning_rate = 0.01`, `.learning_rate = schedules::CosineDecay(...)`, or a lambda or a
/// struct that gives the rate of a step.
class LearningRate {
 public:
  template <Number T> LearningRate(T rate) : rate_(static_cast<double>(rate)) {}   // NOLINT
  LearningRate(LearningRateSchedule schedule) : schedule_(std::move(schedule)) {}  // NOLINT
  template <class T>
    requires(!Number<T> && LearningRateSchedule::Interface::implemented_by<T>)
  LearningRate(T schedule) : schedule_(std::move(schedule)) {}  // NOLINT
  double rate() const { return rate_; }
  const LearningRateSchedule& schedule() const { return schedule_; }

 private:
  double rate_ = 0;
  LearningRateSchedule schedule_;
};
THALWEG_API Value to_value(const LearningRate& rate);
THALWEG_API void from_value(LearningRate& rate, const Value& value);

/// What stands behind an optimizer. A struct has `update_step(gradient, variable)` or `update_step(gradient, variable,
/// index)`, may have `build(variables)`, which makes its slots, check(), which refuses options, and members with the
/// names of the common options (weight_decay, clipnorm, use_ema ...), which are obeyed.
class THALWEG_API OptimizerInterface : public Object, public std::enable_shared_from_this<OptimizerInterface> {
 public:
  static constexpr const char* kind = "optimizer";
  /// Makes slots for these variables, in this order.
  virtual void build(std::span<const Variable> variables) = 0;
  /// Changes a variable; `index` is its number among those of build. The gradient of a lookup has the form of slices,
  /// no row twice (IndexedSlices).
  virtual void update_step(const Tensor& gradient, const Variable& variable, size_t index) = 0;
  /// Refuses options of the struct.
  virtual void check() {}
  virtual void* find_member(std::string_view, const MemberKind*) { return nullptr; }
  template <class T> T* member(std::string_view member_name) {
    return static_cast<T*>(find_member(member_name, &member_kind<T>));
  }
  /// Reads the common options from the members of the struct; makes iterations and the rate.
  void start();

  /// Makes the slots, once; all variables that will ever have gradients must be among these.
  void build_all(std::span<const Variable> variables);
  /// One step. The slots it may make are named behind `scope`, or the name of the optimizer.
  virtual void apply_gradients(std::span<const Tensor> gradients, std::span<const Variable> variables,
                               const std::string& scope = {});
  /// The gradients of a loss that a tape has seen.
  virtual std::vector<Tensor> compute_gradients(GradientTape& tape, const Tensor& loss,
                                                const std::vector<Variable>& variables);
  /// The optimizer that makes the steps, whose rate, number of steps and slots count: another one where this wraps it.
  virtual OptimizerInterface& target() { return *this; }
  /// The learning rate of the step that is being made, as a scalar of this dtype; between steps that of the last one.
  Tensor current_rate(DType dtype) const;

  Variable iterations;
  Variable learning_rate;  // set anew in each step where a schedule decides
  LearningRateSchedule schedule;
  bool built = false;
  bool takes_new_variables = false;  // in any step, as Keras's older optimizers do: build is called for them
  std::vector<Variable> variables;   // that it was built for
  std::vector<Variable> slots;       // of the struct, in the order in which they were made
  std::vector<Variable> averages;    // of the variables, with use_ema
  std::optional<double> weight_decay, clipnorm, clipvalue, global_clipnorm;
  bool use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency;
  std::vector<Variable> undecayed;           // variables that weight decay leaves out
  std::vector<std::string> undecayed_names;  // the same by expressions that are found in their names

  template <class T> static constexpr bool implemented_by = requires { &T::update_step; };
  template <class T> class Adapt;
  template <class T> static std::shared_ptr<Object> make(const Value& config) {
    Value own = own_arguments(rows_of(detail::example_of<T>()), config);
    auto made = std::make_shared<Adapt<T>>(detail::construct<T>(own));
    made->start();
    return made;
  }

 protected:
  /// The struct's configuration as Keras orders it, with the rate as it is now.
  Value ordered_config(const Value& own) const;

 private:
  /// What a struct takes of a configuration; TypeError for what nobody takes.
  static Value own_arguments(const Rows& rows, const Value& config);
  /// Makes the slots of the variables that have none.
  void build_new(std::span<const Variable> given);
  std::vector<Tensor> clip(std::vector<Tensor> gradients) const;
  bool decays(const Variable& variable) const;
  void decay(const Variable& variable) const;
  /// Names the variables without gradients, once for all steps in a row that lack the same.
  void warn_of_missing(std::span<const Tensor> gradients, std::span<const Variable> given);
  void update_averages(std::span<const Variable* const> changed) const;

  std::string missing_gradients_;  // of the last step that lacked some
};

/// Makes a slot of the optimizer that is being built: `m/dense/kernel` for "m", shaped and typed as the variable.
THALWEG_API Variable add_slot(const Variable& variable, const std::string& name, const Tensor& initial_value = {});
/// The optimizer whose step is being made, for its rate and its number of steps.
THALWEG_API OptimizerInterface& current_optimizer();
/// Whether a step inside of a function that is being traced makes the slots: for build().
THALWEG_API bool is_built_by_traced_step();
/// Scalars that all variables of a dtype share, such as powers of beta: made at the first call of a step only.
THALWEG_API std::span<const Tensor> once_per_step(DType dtype, const std::function<std::vector<Tensor>()>& make);
/// A gradient in the shape of its variable: ops take no other, where Keras's arithmetic would broadcast it.
THALWEG_API Tensor fit_gradient(const Tensor& gradient, const Variable& variable);
/// An option as a scalar of a variable's dtype. Keras reads most options as float32 first: so does `option_scalar`.
THALWEG_API Tensor exact_scalar(double value, DType dtype);
THALWEG_API Tensor option_scalar(double value, DType dtype);

template <class T> class OptimizerInterface::Adapt : public Adapter<OptimizerInterface, T> {
 public:
  using Adapter<OptimizerInterface, T>::Adapter;
  Value get_config() const override {
    Value own = rows_of(this->object).get(&this->object);
    if constexpr (requires { T::has_whole_config; }) return own;
    else return this->ordered_config(own);
  }
  void apply_gradients(std::span<const Tensor> gradients, std::span<const Variable> given,
                       const std::string& scope) override {
    if constexpr (requires { this->object.apply_gradients(gradients, given, scope); })
      this->object.apply_gradients(gradients, given, scope);
    else OptimizerInterface::apply_gradients(gradients, given, scope);
  }
  std::vector<Tensor> compute_gradients(GradientTape& tape, const Tensor& loss,
                                        const std::vector<Variable>& given) override {
    if constexpr (requires { this->object.compute_gradients(tape, loss, given); })
      return this->object.compute_gradients(tape, loss, given);
    else return OptimizerInterface::compute_gradients(tape, loss, given);
  }
  OptimizerInterface& target() override {
    if constexpr (requires { this->object.target(); }) return this->object.target();
    else return *this;
  }
  void build(std::span<const Variable> given) override {
    if constexpr (requires { this->object.build(given); }) this->object.build(given);
    else if constexpr (requires { this->object.build(std::vector<Variable>()); })
      this->object.build(std::vector<Variable>(given.begin(), given.end()));
  }
  void update_step(const Tensor& given, const Variable& variable, [[maybe_unused]] size_t index) override {
    const Tensor gradient = fit_gradient(given, variable);
    Variable same = variable;  // for structs that ask for `Variable&`
    if constexpr (requires { this->object.update_step(gradient, same, index); })
      this->object.update_step(gradient, same, index);
    else this->object.update_step(gradient, same);
  }
  void check() override {
    if constexpr (requires { this->object.check(); }) this->object.check();
  }
  void* find_member(std::string_view member_name, const MemberKind* wanted) override {
    return rows_of(this->object).find(member_name, *wanted, &this->object);
  }
};
extern template class Handle<OptimizerInterface>;

struct ApplyGradientsOptions {
  std::string name = {};  // what the names of slots begin with, if not the optimizer's
};

/// An optimizer: `"adam"`, `optimizers::Adam({.learning_rate = 1e-4})`, or a struct.
class THALWEG_API Optimizer : public Handle<OptimizerInterface> {
 public:
  Optimizer() = default;
  Optimizer(const char* name) : Handle(name) {}         // NOLINT
  Optimizer(const std::string& name) : Handle(name) {}  // NOLINT
  template <class T>
    requires(OptimizerInterface::implemented_by<T>)
  Optimizer(T object) : Handle(std::move(object)) {  // NOLINT
    p_->start();
  }
  explicit Optimizer(std::shared_ptr<OptimizerInterface> object) : Handle(std::move(object)) {}

  /// One step: each variable follows its gradient; those without one stay. Returns the number of steps.
  const Variable& apply_gradients(const std::vector<Tensor>& gradients, const std::vector<Variable>& variables,
                                  const ApplyGradientsOptions& options = {}) const;
  /// The same for pairs: `optimizer.apply_gradients({{gradient, w}})`.
  const Variable& apply_gradients(const std::vector<std::pair<Tensor, Variable>>& gradients_and_variables) const;
  /// Computes the loss, then makes a step: `optimizer.minimize([&] { return loss(...); }, {w, b})`.
  void minimize(const std::function<Tensor()>& loss, const std::vector<Variable>& variables) const;
  /// The same where the loss makes the variables: they are asked for after it.
  void minimize(const std::function<Tensor()>& loss, const std::function<std::vector<Variable>()>& variables) const;
  /// A step for a loss that a tape has seen.
  void minimize(const Tensor& loss, const std::vector<Variable>& variables, GradientTape& tape) const;
  /// What minimize applies: the gradient of the loss by each variable.
  std::vector<std::pair<Tensor, Variable>> compute_gradients(const std::function<Tensor()>& loss,
                                                             const std::vector<Variable>& variables) const;
  /// Makes the slots of these variables now; else the first step does.
  void build(const std::vector<Variable>& variables) const { p_->target().build_all(variables); }

  /// How many steps were made.
  const Variable& iterations() const { return p_->target().iterations; }
  /// Counts in another variable; RuntimeError once there are slots.
  void set_iterations(const Variable& iterations) const;
  /// The rate: of the last step, where a schedule decides.
  Tensor learning_rate() const { return p_->target().learning_rate.value(); }
  /// Another rate; TypeError where a schedule decides.
  void set_learning_rate(const TensorLike& rate) const;
  /// Another schedule, or one in place of a number.
  void set_learning_rate_schedule(const LearningRateSchedule& schedule) const;
  /// iterations, then the slots.
  std::vector<Variable> variables() const;
  /// Values for variables(), in their order; ValueError before there are slots.
  void set_weights(const std::vector<Tensor>& weights) const;
  /// Leaves variables out of weight decay: these, and those in whose names one of the regular expressions is found.
  /// ValueError once there are slots.
  void exclude_from_weight_decay(const std::vector<Variable>& variables,
                                 const std::vector<std::string>& names = {}) const;
  /// With use_ema: the averages take the place of the variables.
  void finalize_variable_values(std::span<const Variable> variables) const;

  const module::Shared* shared() const { return p_.get(); }
};

}  // namespace thalweg::keras

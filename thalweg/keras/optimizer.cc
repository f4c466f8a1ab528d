#include "thalweg/keras/optimizer.h"

#include <re2/re2.h>

#include "thalweg/autodiff/gradient_tape.h"
#include "thalweg/core/convert.h"
#include "thalweg/core/error.h"
#include "thalweg/core/warning.h"
#include "thalweg/graph/control_flow.h"
#include "thalweg/graph/init_scope.h"
#include "thalweg/keras/functions.h"
#include "thalweg/ops/broadcasting.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/clipping.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/division.h"
#include "thalweg/ops/indexed_slices.h"
#include "thalweg/ops/math.h"

namespace thalweg::keras {

template class Handle<LearningRateSchedule::Interface>;
template class Handle<OptimizerInterface>;

Value to_value(const LearningRate& rate) {
  if (rate.schedule().defined()) return object_to_value(ScheduleTag::kind, rate.schedule().get());
  // As the variable that holds it has it.
  return static_cast<double>(static_cast<float>(rate.rate()));
}
void from_value(LearningRate& rate, const Value& value) {
  if (value.is_number()) {
    rate = LearningRate(value.number());
    return;
  }
  LearningRateSchedule schedule;
  from_value(schedule, value);
  if (!schedule.defined()) throw ValueError("learning_rate must be a number or a schedule, got " + value.json());
  rate = LearningRate(std::move(schedule));
}

namespace {

/// The step that this thread makes, or the construction of slots.
struct Step {
  OptimizerInterface* optimizer;
  Tensor rate = {};
  std::string scope = {};  // of slots: empty, or it ends with a slash
  std::vector<std::pair<DType, Tensor>> rates = {};
  std::vector<std::pair<DType, Tensor>> remaining = {};  // what weight decay leaves of a variable
  std::vector<std::pair<DType, std::vector<Tensor>>> scalars = {};
  Step* outer = nullptr;
};
thread_local Step* current = nullptr;
class Entered {
 public:
  explicit Entered(Step& step) {
    step.outer = current;
    current = &step;
  }
  ~Entered() { current = current->outer; }
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;
};

/// The number of a variable, which is `guess` as long as steps get the variables that the slots were made for.
size_t find(const std::vector<Variable>& all, const Variable& variable, size_t guess) {
  if (guess < all.size() && is_same(all[guess], variable)) return guess;
  for (size_t i = 0; i < all.size(); ++i)
    if (is_same(all[i], variable)) return i;
  return all.size();
}

std::string names_of(std::span<const Variable> variables) {
  std::string names;
  for (const Variable& v : variables) names += (names.empty() ? "'" : ", '") + v.name() + "'";
  return names;
}

Tensor shape_tensor(const Shape& shape) {
  return Tensor(std::vector<int64_t>(shape.dims().begin(), shape.dims().end()));
}

/// Numbers as Python writes them.
std::string text_of(double number) { return Value(number).json(); }

/// The options that all optimizers have, in the order of Keras's configurations.
constexpr std::string_view common_options[] = {"name",      "weight_decay", "clipnorm",     "global_clipnorm",
                                               "clipvalue", "use_ema",      "ema_momentum", "ema_overwrite_frequency"};

}  // namespace

OptimizerInterface& current_optimizer() {
  if (!current) throw ValueError("no optimizer makes a step now: this is for update_step() and build()");
  return *current->optimizer;
}

bool is_built_by_traced_step() {
  const Step* step = current ? current->outer : nullptr;
  return step && step->optimizer == current->optimizer && step->rate.is_symbolic();
}

std::span<const Tensor> once_per_step(DType dtype, const std::function<std::vector<Tensor>()>& make) {
  static_cast<void>(current_optimizer());
  Step& step = *current;
  for (const auto& [key, made] : step.scalars)
    if (key == dtype) return made;
  std::vector<Tensor> made = make();  // may ask for those of another dtype itself
  return step.scalars.emplace_back(dtype, std::move(made)).second;
}

Tensor exact_scalar(double value, DType dtype) {
  Tensor made = Tensor::empty(dtype, {});
  convert_elements(DType::float64, &value, dtype, made.mutable_data<void>(), 1);
  return made;
}
Tensor option_scalar(double value, DType dtype) { return exact_scalar(static_cast<float>(value), dtype); }

Variable add_slot(const Variable& variable, const std::string& name, const Tensor& initial_value) {
  OptimizerInterface& optimizer = current_optimizer();
  std::string base = variable.name();
  base.resize(base.size() - 2);  // without :0
  InitScope outside;
  Tensor value = initial_value.defined() ? initial_value : zeros(variable.shape(), {.dtype = variable.dtype()});
  Variable made(value, {.trainable = false, .name = current->scope + name + "/" + base});
  optimizer.slots.push_back(made);
  return made;
}

Value OptimizerInterface::own_arguments(const Rows& rows, const Value& config) {
  if (!config.is_map()) return config;
  Value own = Value::map({});
  for (const auto& [key, value] : config.map()) {
    if (rows.find(key)) {
      own.set(key, value);
      continue;
    }
    if (key == "is_legacy_optimizer" || key == "jit_compile") continue;
    if (std::find(std::begin(common_options), std::end(common_options), key) != std::end(common_options)) continue;
    if (key == "decay" || key == "gradient_aggregator" || key == "gradient_transformers")
      throw ValueError(key +
                       " is deprecated in the new Keras optimizer, please check the docstring for valid arguments, or "
                       "use the legacy optimizer, e.g., tf.keras.optimizers.legacy." +
                       detail::class_name_of(rows.struct_name) + ".");
    throw TypeError(key + " is not a valid argument, kwargs should be empty  for `optimizer_experimental.Optimizer`.");
  }
  return own;
}

Value OptimizerInterface::ordered_config(const Value& own) const {
  Value config = Value::map({});
  for (std::string_view key : common_options)
    if (key == "name") config.set(key, name);
    else if (own.contains(key)) config.set(key, own[key]);
  // Compiled by another compiler on accelerators only.
  if (own.contains("jit_compile")) config.set("jit_compile", false);
  config.set("is_legacy_optimizer", false);
  for (const auto& [key, value] : own.map())
    if (key == "learning_rate" && !schedule.defined())
      config.set(key, static_cast<double>(learning_rate.value().item<float>()));
    else if (key == "learning_rate") config.set(key, object_to_value(ScheduleTag::kind, schedule.get()));
    else if (!config.contains(key)) config.set(key, value);
  return config;
}

void OptimizerInterface::start() {
  check();
  if (auto* own = member<std::string>("name"); own && !own->empty()) name = *own;
  if (name.empty()) name = class_name();
  if (auto* own = member<std::optional<double>>("weight_decay")) weight_decay = *own;
  if (auto* own = member<double>("weight_decay")) weight_decay = *own;
  if (auto* own = member<std::optional<double>>("clipnorm")) clipnorm = *own;
  if (auto* own = member<std::optional<double>>("clipvalue")) clipvalue = *own;
  if (auto* own = member<std::optional<double>>("global_clipnorm")) global_clipnorm = *own;
  if (auto* own = member<Flag>("use_ema")) use_ema = *own;
  if (auto* own = member<double>("ema_momentum")) ema_momentum = *own;
  if (auto* own = member<std::optional<int64_t>>("ema_overwrite_frequency")) ema_overwrite_frequency = *own;
  if (use_ema && (ema_momentum > 1 || ema_momentum < 0))
    throw ValueError("`ema_momentum` must be in the range [0, 1]. Received: ema_momentum=" + text_of(ema_momentum));
  if (use_ema && ema_overwrite_frequency && *ema_overwrite_frequency < 0)
    throw ValueError("`ema_overwrite_frequency` must be an integer > 1 or None. Received: ema_overwrite_frequency=" +
                     std::to_string(*ema_overwrite_frequency));
  if (clipnorm && global_clipnorm)
    throw ValueError("At most one of `clipnorm` and `global_clipnorm` can be set. Received: clipnorm=" +
                     text_of(*clipnorm) + ", global_clipnorm=" + text_of(*global_clipnorm) + ".");
  double rate = 0.001;
  if (auto* own = member<LearningRate>("learning_rate")) {
    schedule = own->schedule();
    rate = own->rate();
  }
  if (auto* own = member<double>("learning_rate")) rate = *own;
  InitScope outside;
  iterations = Variable(Tensor(int64_t{0}), {.trainable = false, .name = "iteration"});
  if (schedule.defined())
    learning_rate = Variable(schedule(iterations.value()), {.trainable = false, .name = "current_learning_rate"});
  else learning_rate = Variable(Tensor(static_cast<float>(rate)), {.trainable = false, .name = "learning_rate"});
}

void OptimizerInterface::build_all(std::span<const Variable> given) {
  if (built) return;
  Step step{.optimizer = this, .scope = current && current->optimizer == this ? current->scope : std::string()};
  Entered entered(step);
  InitScope outside;
  variables.assign(given.begin(), given.end());
  slots.clear();
  averages.clear();
  if (use_ema)
    for (const Variable& v : given) averages.push_back(add_slot(v, "average", v.value()));
  build(given);
  built = true;
}

void OptimizerInterface::build_new(std::span<const Variable> given) {
  std::vector<Variable> fresh;
  for (size_t i = 0; i < given.size(); ++i)
    if (find(variables, given[i], i) == variables.size()) fresh.push_back(given[i]);
  if (fresh.empty()) return;
  InitScope outside;
  variables.insert(variables.end(), fresh.begin(), fresh.end());
  build(fresh);
}

Tensor OptimizerInterface::current_rate(DType dtype) const {
  if (!current || current->optimizer != this || !current->rate.defined()) return cast(learning_rate.value(), dtype);
  for (const auto& [key, rate] : current->rates)
    if (key == dtype) return rate;
  return current->rates.emplace_back(dtype, cast(current->rate, dtype)).second;
}

std::vector<Tensor> OptimizerInterface::clip(std::vector<Tensor> gradients) const {
  if (clipnorm && *clipnorm > 0) {
    for (Tensor& g : gradients) g = clip_by_norm(g, *clipnorm);
  } else if (global_clipnorm && *global_clipnorm > 0) {
    gradients = clip_by_global_norm(gradients, *global_clipnorm).clipped;
  } else if (clipvalue && *clipvalue > 0) {
    for (Tensor& g : gradients)
      g = map_values(g, [&](const Tensor& values) { return clip_by_value(values, -*clipvalue, *clipvalue); });
  }
  return gradients;
}

bool OptimizerInterface::decays(const Variable& variable) const {
  for (const Variable& other : undecayed)
    if (is_same(other, variable)) return false;
  for (const std::string& pattern : undecayed_names)
    if (RE2::PartialMatch(variable.name(), pattern)) return false;
  return true;
}
void OptimizerInterface::decay(const Variable& variable) const {
  const DType dtype = variable.dtype();
  auto& shares = current->remaining;
  auto found = std::find_if(shares.begin(), shares.end(), [&](const auto& one) { return one.first == dtype; });
  if (found == shares.end())
    found = shares.emplace(found, dtype, 1 - option_scalar(weight_decay.value_or(0), dtype) * current_rate(dtype));
  variable.assign(variable.value() * found->second);
}

void OptimizerInterface::update_averages(std::span<const Variable* const> changed) const {
  auto average_of = [&](size_t i) -> const Variable& { return averages[find(variables, *changed[i], i)]; };
  for (size_t i = 0; i < changed.size(); ++i) {
    const Variable& average = average_of(i);
    average.assign(ema_momentum * average.value() + (1 - ema_momentum) * changed[i]->value());
  }
  if (!ema_overwrite_frequency || *ema_overwrite_frequency == 0) return;
  Tensor due =
      equal(math::floormod(iterations.value() + int64_t{1}, Tensor(*ema_overwrite_frequency)), Tensor(int64_t{0}));
  cond(
      due,
      [&] {
        for (size_t i = 0; i < changed.size(); ++i) changed[i]->assign(average_of(i).value());
      },
      [] {});
}

void OptimizerInterface::warn_of_missing(std::span<const Tensor> gradients, std::span<const Variable> given) {
  std::vector<Variable> missing;
  for (size_t i = 0; i < given.size(); ++i)
    if (!gradients[i].defined()) missing.push_back(given[i]);
  std::string names = names_of(missing);
  if (names == missing_gradients_) return;  // said in the step before
  missing_gradients_ = names;
  warn("Gradients do not exist for variables [" + names +
       "] when minimizing the loss: it does not depend on them, and they stay as they are. Did you forget to provide a "
       "`loss` argument to `model.compile()`, or to use these layers?");
}

Tensor fit_gradient(const Tensor& gradient, const Variable& variable) {
  const Shape &from = gradient.shape(), &to = variable.shape();
  if (is_indexed_slices(gradient) || !from.is_fully_defined() || !to.is_fully_defined() || from == to) return gradient;
  return broadcast_to(gradient, shape_tensor(to));
}

void OptimizerInterface::apply_gradients(std::span<const Tensor> gradients, std::span<const Variable> given,
                                         const std::string& scope) {
  if (gradients.size() != given.size())
    throw ValueError("apply_gradients: there are " + std::to_string(gradients.size()) + " gradients for " +
                     std::to_string(given.size()) + " variables");
  if (schedule.defined()) learning_rate.assign(cast(schedule(iterations.value()), learning_rate.dtype()));
  if (given.empty()) return;
  Step step{.optimizer = this, .rate = learning_rate.value(), .scope = (scope.empty() ? name : scope) + "/"};
  Entered entered(step);
  build_all(given);
  if (takes_new_variables) build_new(given);
  std::vector<Tensor> present;
  std::vector<const Variable*> changed;
  for (size_t i = 0; i < given.size(); ++i) {
    if (!gradients[i].defined()) continue;
    present.push_back(gradients[i]);
    changed.push_back(&given[i]);
  }
  if (present.empty()) throw ValueError("No gradients provided for any variable: (" + names_of(given) + ").");
  if (present.size() < given.size()) warn_of_missing(gradients, given);
  present = clip(std::move(present));
  for (size_t i = 0; i < changed.size(); ++i) {
    if (!is_indexed_slices(present[i])) continue;
    IndexedSlices slices = indexed_slices(present[i]);
    if (!slices.dense_shape.defined()) slices.dense_shape = shape_tensor(changed[i]->shape());
    present[i] = without_repeats(slices);
  }
  if (weight_decay)
    for (const Variable* v : changed)
      if (decays(*v)) decay(*v);
  for (size_t i = 0; i < changed.size(); ++i) {
    const size_t index = find(variables, *changed[i], i);
    if (index == variables.size())
      throw ValueError("The optimizer cannot recognize variable " + changed[i]->name() +
                       ". This usually means you are trying to call the optimizer to update different parts of the "
                       "model separately. Please call `optimizer.build(variables)` with the full list of trainable "
                       "variables before the training loop or use legacy optimizer `tf.keras.optimizers.legacy." +
                       class_name() + ".");
    update_step(present[i], *changed[i], index);
  }
  if (use_ema) update_averages(changed);
  iterations.assign_add(int64_t{1});
  for (const Variable* v : changed)
    if (const auto& constraint = variable_of(v->handle()).constraint)
      v->assign(std::static_pointer_cast<Constraint::Interface>(constraint)->call(v->value()));
}

std::vector<Tensor> OptimizerInterface::compute_gradients(GradientTape& tape, const Tensor& loss,
                                                          const std::vector<Variable>& given) {
  return tape.gradient(loss, given);
}

const Variable& Optimizer::apply_gradients(const std::vector<Tensor>& gradients, const std::vector<Variable>& given,
                                           const ApplyGradientsOptions& options) const {
  p_->apply_gradients(gradients, given, options.name);
  return iterations();
}
const Variable& Optimizer::apply_gradients(const std::vector<std::pair<Tensor, Variable>>& pairs) const {
  std::vector<Tensor> gradients;
  std::vector<Variable> given;
  for (const auto& [gradient, variable] : pairs) {
    gradients.push_back(gradient);
    given.push_back(variable);
  }
  return apply_gradients(gradients, given);
}
std::vector<std::pair<Tensor, Variable>> Optimizer::compute_gradients(const std::function<Tensor()>& loss,
                                                                      const std::vector<Variable>& given) const {
  GradientTape tape;
  tape.watch(given);
  Tensor value = loss();
  std::vector<Tensor> gradients = p_->compute_gradients(tape, value, given);
  std::vector<std::pair<Tensor, Variable>> pairs;
  for (size_t i = 0; i < given.size(); ++i) pairs.emplace_back(gradients[i], given[i]);
  return pairs;
}
void Optimizer::minimize(const std::function<Tensor()>& loss, const std::vector<Variable>& given) const {
  apply_gradients(compute_gradients(loss, given));
}
void Optimizer::minimize(const std::function<Tensor()>& loss,
                         const std::function<std::vector<Variable>()>& variables_of) const {
  GradientTape tape;
  Tensor value = loss();
  minimize(value, variables_of(), tape);
}
void Optimizer::minimize(const Tensor& loss, const std::vector<Variable>& given, GradientTape& tape) const {
  apply_gradients(p_->compute_gradients(tape, loss, given), given);
}

void Optimizer::set_iterations(const Variable& iterations) const {
  OptimizerInterface& target = p_->target();
  if (target.built)
    throw RuntimeError(
        "Cannot set `iterations` to a new Variable after the Optimizer weights have been created. Please set "
        "`iterations` before calling `apply_gradients()`.");
  target.iterations = iterations;
}
void Optimizer::set_learning_rate(const TensorLike& rate) const {
  OptimizerInterface& target = p_->target();
  if (target.schedule.defined())
    throw TypeError(
        "This optimizer was created with a `LearningRateSchedule` object as its `learning_rate` "
        "constructor argument, hence its learning rate is not settable. If you need the learning rate to "
        "be settable, you should instantiate the optimizer with a float `learning_rate` argument.");
  target.learning_rate.assign(cast(rate.own(), target.learning_rate.dtype()));
}
void Optimizer::set_learning_rate_schedule(const LearningRateSchedule& schedule) const {
  OptimizerInterface& target = p_->target();
  target.schedule = schedule;
  if (schedule.defined())
    target.learning_rate.assign(cast(schedule(target.iterations.value()), target.learning_rate.dtype()));
}

std::vector<Variable> Optimizer::variables() const {
  OptimizerInterface& target = p_->target();
  std::vector<Variable> all = {target.iterations};
  all.insert(all.end(), target.slots.begin(), target.slots.end());
  return all;
}
void Optimizer::set_weights(const std::vector<Tensor>& weights) const {
  OptimizerInterface& target = p_->target();
  if (!target.built)
    throw ValueError(
        "You are calling `set_weights()` on an optimizer that has not yet been built. Please call "
        "`optimizer.build(trainable_variables)` to create the optimizer weights before calling `set_weights()`.");
  const std::vector<Variable> all = variables();
  for (size_t i = 0; i < std::min(all.size(), weights.size()); ++i) {
    if (!(all[i].shape() == weights[i].shape()))
      throw ValueError("Optimizer variable " + all[i].name() + " has shape " + all[i].shape().str() +
                       " not compatible with provided weight shape " + weights[i].shape().str() + ".");
    all[i].assign(weights[i]);
  }
}
void Optimizer::exclude_from_weight_decay(const std::vector<Variable>& given,
                                          const std::vector<std::string>& names) const {
  OptimizerInterface& target = p_->target();
  if (target.built)
    throw ValueError("`exclude_from_weight_decay()` can only be configued before the optimizer is built.");
  target.undecayed = given;
  target.undecayed_names = names;
}
void Optimizer::finalize_variable_values(std::span<const Variable> given) const {
  OptimizerInterface& target = p_->target();
  if (!target.use_ema) return;
  for (size_t k = 0; k < given.size(); ++k)
    if (size_t i = find(target.variables, given[k], k); i < target.averages.size())
      given[k].assign(target.averages[i].value());
}

}  // namespace thalweg::keras

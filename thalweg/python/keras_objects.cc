// Losses, metrics, optimizers, callbacks, and the kinds that are one function.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <unordered_map>

#include "thalweg/core/error.h"
#include "thalweg/core/thread_state.h"
#include "thalweg/keras/keras.h"
#include "thalweg/keras/loss_scale.h"
#include "thalweg/ops/apply.h"
#include "thalweg/python/convert.h"
#include "thalweg/python/gradients.h"
#include "thalweg/python/keras_core.h"

namespace thalweg::python {
namespace {

using keras::Value;

nb::object& wrapper() {
  static auto& function = *new nb::object;  // the package's: (kind, class_name, core) -> object
  return function;
}
std::unordered_map<const keras::Object*, PyObject*>& known() {
  static auto& all = *new std::unordered_map<const keras::Object*, PyObject*>;
  return all;
}

std::string name_of_callable(nb::handle callable) {
  nb::object name = nb::getattr(callable, "__name__", nb::none());
  if (name.is_none()) name = callable.type().attr("__name__");
  return text_of(name);
}

/// What Python's functions and objects with `__call__` have in common.
template <class I> class PyFunctionOf : public I, public HasPython {
 public:
  explicit PyFunctionOf(nb::object callable) : callable_(std::move(callable)) {
    this->name = name_of_callable(callable_);
  }
  ~PyFunctionOf() override {
    nb::gil_scoped_acquire acquire;
    callable_.reset();
  }
  std::string class_name() const override {
    return with_python([&] { return name_of_callable(callable_); });
  }
  bool is_function() const override {
    return with_python([&] { return !nb::hasattr(callable_, "get_config"); });
  }
  Value get_config() const override {
    return with_python([&] { return to_value(callable_.attr("get_config")()); });
  }
  nb::handle python() const override { return callable_; }
  std::shared_ptr<keras::Object> renewed(std::string_view kind) const override {
    return with_python([&]() -> std::shared_ptr<keras::Object> {
      nb::handle type = callable_.type();
      if (!nb::hasattr(callable_, "get_config") || !nb::hasattr(type, "from_config")) return nullptr;
      std::shared_ptr<keras::Object> made = to_object(type.attr("from_config")(callable_.attr("get_config")()));
      std::shared_ptr<keras::Object> as_kind = made ? made->as_kind(kind) : nullptr;
      return as_kind ? as_kind : made;
    });
  }

 protected:
  nb::object callable_;
};
template <class I> class PyOfTensor : public PyFunctionOf<I> {
 public:
  using PyFunctionOf<I>::PyFunctionOf;
  Tensor call(const Tensor& x) override {
    return with_python([&] { return natural_tensor(this->callable_(nb::steal(wrap(x))).ptr()); });
  }
};
class PyInitializer : public PyFunctionOf<keras::Initializer::Interface> {
 public:
  using PyFunctionOf::PyFunctionOf;
  Tensor call(const Shape& shape, const DType& dtype) override {
    return with_python([&] {
      nb::list dims;
      for (int64_t dim : shape) dims.append(nb::int_(dim));
      nb::object value = callable_(dims, nb::arg("dtype") = nb::steal(wrap_dtype(dtype)));
      Tensor made = natural_tensor(value.ptr());
      return made.dtype() == dtype ? made : tensor_as(value.ptr(), dtype);
    });
  }
};
class PyLoss : public PyFunctionOf<keras::LossInterface> {
 public:
  explicit PyLoss(nb::object callable) : PyFunctionOf(std::move(callable)) {
    if (nb::hasattr(callable_, "reduction")) reduction = text_of(nb::str(callable_.attr("reduction")));
    if (nb::hasattr(callable_, "name") && !nb::object(callable_.attr("name")).is_none())
      name = text_of(nb::str(callable_.attr("name")));
  }
  Tensor call(const Tensor& y_true, const Tensor& y_pred) override {
    return with_python([&] { return natural_tensor(ask(y_true, y_pred).ptr()); });
  }
  /// What it gives as a metric, which must be one tensor.
  Tensor measure(const Tensor& y_true, const Tensor& y_pred) {
    return with_python([&] {
      nb::object made = ask(y_true, y_pred);
      if (made.is_none() || PyDict_Check(made.ptr()))
        raise(PyExc_RuntimeError,
              "The output of a metric function can only be a single Tensor. Received: " + repr_of(made.ptr()) + ".");
      return natural_tensor(made.ptr());
    });
  }

 private:
  nb::object ask(const Tensor& y_true, const Tensor& y_pred) const {
    nb::object function = nb::hasattr(callable_, "call") ? nb::object(callable_.attr("call")) : callable_;
    return function(nb::steal(wrap(y_true)), nb::steal(wrap(y_pred)));
  }
};

class PyAdjustment : public PyFunctionOf<keras::layers::Adjustment::Interface> {
 public:
  using PyFunctionOf::PyFunctionOf;
  std::pair<Tensor, Tensor> call(const Tensor& shape) override {
    return with_python([&] {
      nb::object both = callable_(nb::steal(wrap(shape)));
      return std::pair(natural_tensor(nb::object(both[0]).ptr()), natural_tensor(nb::object(both[1]).ptr()));
    });
  }
};

/// A callable whose kind is not known yet.
class PyCallable : public PyFunctionOf<keras::Object> {
 public:
  using PyFunctionOf::PyFunctionOf;
  std::shared_ptr<keras::Object> as_kind(std::string_view kind) override {
    if (kind == "activation") return std::make_shared<PyOfTensor<keras::Activation::Interface>>(callable_);
    if (kind == "initializer") return std::make_shared<PyInitializer>(callable_);
    if (kind == "regularizer") return std::make_shared<PyOfTensor<keras::Regularizer::Interface>>(callable_);
    if (kind == "constraint") return std::make_shared<PyOfTensor<keras::Constraint::Interface>>(callable_);
    if (kind == "schedule") return std::make_shared<PyOfTensor<keras::LearningRateSchedule::Interface>>(callable_);
    if (kind == keras::layers::AdjustmentTag::kind) return std::make_shared<PyAdjustment>(callable_);
    if (kind == "loss") return std::make_shared<PyLoss>(callable_);
    if (kind == "metric") {
      auto function = std::make_shared<PyLoss>(callable_);
      keras::Metric made(
          name, [function](const Tensor& y_true, const Tensor& y_pred) { return function->measure(y_true, y_pred); });
      return made.pointer();
    }
    return nullptr;
  }
};

class PyMetric : public keras::MetricInterface, public PythonBacked<keras::MetricInterface>, public HasPython {
 public:
  explicit PyMetric(PyObject* self) : PythonBacked(self) {}
  nb::handle python() const override { return me(); }
  std::string class_name() const override {
    return with_python([&] { return text_of(me().type().attr("__name__")); });
  }
  Value get_config() const override {
    return with_python([&] { return to_value(me().attr("get_config")()); });
  }
  void update_state(const Tensor& first, const Tensor& second, const Tensor& third) override {
    with_python([&] {
      nb::object update = me().attr("update_state");
      nb::object a = nb::steal(wrap(first)), b = nb::steal(wrap(second)), c = nb::steal(wrap(third));
      if (third.defined()) update(a, b, nb::arg("sample_weight") = c);
      else if (second.defined()) update(a, b);
      else update(a);
    });
  }
  Tensor result() override {
    return with_python([&] {
      nb::object made = me().attr("result")();
      if (PyDict_Check(made.ptr())) keras::detail::refuse_several(name);
      return natural_tensor(made.ptr());
    });
  }
  Nest results() override {
    return with_python([&] {
      nb::object made = me().attr("result")();
      if (made.is_none())
        raise(
            PyExc_RuntimeError,
            "The output of `metric.result()` can only be a single Tensor/Variable, or a dict of Tensors/Variables. For "
            "metric " +
                name + ", got result None.");
      if (PyDict_Check(made.ptr())) return to_nest(made);
      return Nest::dict({{name, Nest(natural_tensor(made.ptr()))}});
    });
  }
  void reset_state() override {
    with_python([&] { me().attr("reset_state")(); });
  }
  std::shared_ptr<keras::MetricInterface> another() const override {
    return with_python([&] {
      nb::object made = me().type().attr("from_config")(me().attr("get_config")());
      return std::dynamic_pointer_cast<keras::MetricInterface>(to_object(made));
    });
  }
  void list_parts(module::Parts& parts) const override {
    for (size_t i = 0; i < weights.size(); ++i) parts("weight" + std::to_string(i), weights[i]);
  }

  std::vector<Variable> weights;
};

class PyOptimizer : public keras::OptimizerInterface, public PythonBacked<keras::OptimizerInterface>, public HasPython {
 public:
  explicit PyOptimizer(PyObject* self) : PythonBacked(self) {}
  nb::handle python() const override { return me(); }
  std::string class_name() const override {
    return with_python([&] { return text_of(me().type().attr("__name__")); });
  }
  Value get_config() const override {
    return with_python([&] { return to_value(me().attr("get_config")()); });
  }
  /// Counts, clips, decays and averages as another one does, which makes its steps for it.
  void take_options(const keras::OptimizerInterface& inner) {
    name = inner.name;
    iterations = inner.iterations;
    learning_rate = inner.learning_rate;
    schedule = inner.schedule;
    weight_decay = inner.weight_decay;
    clipnorm = inner.clipnorm;
    clipvalue = inner.clipvalue;
    global_clipnorm = inner.global_clipnorm;
    use_ema = inner.use_ema;
    ema_momentum = inner.ema_momentum;
    ema_overwrite_frequency = inner.ema_overwrite_frequency;
  }
  void build(std::span<const Variable> given) override {
    with_python([&] {
      nb::list list;
      for (const Variable& v : given) list.append(wrap_variable_object(v));
      me().attr("_build_now")(list);
    });
  }
  void apply_gradients(std::span<const Tensor> gradients, std::span<const Variable> given,
                       const std::string& scope) override {
    with_python([&] {
      // A class that writes it, to gather or change gradients, does so in fit, too.
      if (!nb::cast<bool>(me().type().attr("_applies_itself"))) return apply_now(gradients, given, scope);
      nb::list pairs;
      for (size_t i = 0; i < given.size(); ++i)
        pairs.append(nb::make_tuple(nb::steal(wrap_gradient(gradients[i])), wrap_variable_object(given[i])));
      me().attr("apply_gradients")(pairs);
    });
  }
  /// The step itself.
  void apply_now(std::span<const Tensor> gradients, std::span<const Variable> given, const std::string& scope) {
    OptimizerInterface::apply_gradients(gradients, given, scope);
  }
  void update_step(const Tensor& gradient, const Variable& variable, size_t) override {
    with_python([&] { me().attr("update_step")(nb::steal(wrap_gradient(gradient)), wrap_variable_object(variable)); });
  }
};

nb::dict describe(const keras::Class& made) {
  nb::dict d;
  nb::list parameters;
  Value defaults = made.defaults();
  for (const keras::Member& member : made.rows().members)
    parameters.append(
        nb::make_tuple(std::string(member.name).c_str(), member.required, from_value(defaults[member.name])));
  d["name"] = made.name.c_str();
  d["is_function"] = made.is_function;
  d["parameters"] = parameters;
  return d;
}

std::vector<Variable> to_variables(nb::handle list) {
  std::vector<Variable> all;
  for (nb::handle item : list) all.push_back(to_variable(item));
  return all;
}

/// Sets one of the options that all optimizers have, as the engine obeys it; nothing where it is another one.
void set_common_option(keras::OptimizerInterface& optimizer, std::string_view name, const Value& value) {
  if (name == "weight_decay") keras::from_value(optimizer.weight_decay, value);
  else if (name == "clipnorm") keras::from_value(optimizer.clipnorm, value);
  else if (name == "clipvalue") keras::from_value(optimizer.clipvalue, value);
  else if (name == "global_clipnorm") keras::from_value(optimizer.global_clipnorm, value);
  else if (name == "use_ema") optimizer.use_ema = value.boolean();
  else if (name == "ema_momentum") optimizer.ema_momentum = value.number();
  else if (name == "ema_overwrite_frequency") keras::from_value(optimizer.ema_overwrite_frequency, value);
  else if (name == "takes_new_variables") optimizer.takes_new_variables = value.boolean();
}

/// Sets a member of the struct behind an object.
void set_member(const char* kind, keras::Object& object, const std::string& name, const Value& value) {
  const keras::Class* made = keras::find_class(kind, object.class_name());
  if (!made) return;
  auto* self = static_cast<char*>(object.self(&made->rows()));
  const keras::Member* member = made->rows().find(name);
  if (self && member) member->kind->set(self + member->offset, value);
}

}  // namespace

void remember(const keras::Object* object, nb::handle python) {
  PyObject*& slot = known()[object];
  Py_XDECREF(slot);
  slot = checked(PyWeakref_NewRef(python.ptr(), nullptr));
}

std::shared_ptr<keras::Object> to_object(nb::handle object) {
  if (PyType_Check(object.ptr())) return nullptr;
  nb::object core = nb::getattr(object, "_core", nb::none());
  if (nb::isinstance<Core>(core)) return nb::cast<Core&>(core).get();
  if (is_tensor_or_variable(object.ptr()) || !PyCallable_Check(object.ptr())) return nullptr;
  return std::make_shared<PyCallable>(nb::borrow(object));
}

nb::object from_object(const std::shared_ptr<keras::Object>& object, const char* kind) {
  if (!object) return nb::none();
  if (auto* backed = dynamic_cast<HasPython*>(object.get())) return nb::borrow(backed->python());
  if (auto* activation = dynamic_cast<keras::Activation::Interface::Adapt<keras::Layer>*>(object.get()))
    return from_object(activation->layer.pointer(), "layer");
  auto found = known().find(object.get());
  if (found != known().end()) {
    PyObject* python = PyWeakref_GetObject(found->second);
    if (python && python != Py_None) return nb::borrow(python);
  }
  nb::object core = nb::cast(std::unique_ptr<Core>(std::make_unique<EngineCore>(object)));
  nb::object made = wrapper()(kind, object->class_name(), core);
  if (PyType_SUPPORTS_WEAKREFS(Py_TYPE(made.ptr()))) remember(object.get(), made);  // functions are not
  return made;
}

namespace {
keras::mixed_precision::LossScaleHandle loss_scale_of(Core& core) {
  return keras::mixed_precision::LossScaleHandle(keras::Optimizer(as_interface<keras::OptimizerInterface>(core)));
}
}  // namespace

void define_keras_objects(nb::module_& module) {
  nb::class_<Core>(module, "Core")
      .def_prop_ro("name", [](Core& self) { return self.get()->name; })
      .def_prop_ro("class_name", [](Core& self) { return self.get()->class_name(); })
      .def("get_config", [](Core& self) { return from_value(self.get()->get_config()); });
  define(module, "set_wrapper", [](nb::object function) { wrapper() = std::move(function); });
  define(module, "remember", [](Core& core, nb::handle python) { remember(core.get().get(), python); });
  define(module, "classes", [](const std::string& kind) {
    nb::list all;
    for (const keras::Class* made : keras::all_classes(kind)) all.append(describe(*made));
    return all;
  });
  define(module, "aliases", [](const std::string& kind) {
    nb::dict all;
    for (const auto& [alias, name] : keras::all_aliases(kind)) all[alias.c_str()] = nb::str(name.c_str());
    return all;
  });
  // Asked for classes and functions that only the program has: (kind, name, config or None) -> object or None.
  define(module, "set_finder", [](nb::object finder) {
    static auto& kept = *new nb::object;
    kept = std::move(finder);
    keras::set_class_fallback(
        [](std::string_view kind, std::string_view name, const Value& config) -> std::shared_ptr<keras::Object> {
          return with_python([&]() -> std::shared_ptr<keras::Object> {
            nb::object found =
                kept(std::string(kind), std::string(name), config.is_none() ? nb::none() : from_value(config));
            if (found.is_none()) return nullptr;
            std::shared_ptr<keras::Object> object = to_object(found);
            std::shared_ptr<keras::Object> as_kind = object ? object->as_kind(kind) : nullptr;
            return as_kind ? as_kind : object;
          });
        });
  });
  define(module, "make", [](const std::string& kind, const std::string& name, nb::handle config) {
    std::shared_ptr<keras::Object> made = keras::make_object(kind, name, config.is_none() ? Value() : to_value(config));
    // A function that is traced again would begin with another one each time, which TensorFlow refuses.
    if (auto* metric = dynamic_cast<keras::MetricInterface*>(made.get()); metric && thread_state.tracer)
      for (const auto& found : keras::list_variables(*metric))
        thread_state.tracer->created_variable(found.variable.handle());
    return std::unique_ptr<Core>(std::make_unique<EngineCore>(std::move(made)));
  });
  define(module, "get", [](const std::string& kind, nb::handle identifier) -> nb::object {
    return from_object(keras::object_from_value(kind, to_value(identifier)), kind.c_str());
  });
  define(module, "serialize", [](const std::string& kind, nb::handle object) {
    return from_value(keras::object_to_value(kind, to_object(object).get()));
  });
  module.def("clear_session", keras::backend::clear_session);
  // Sets an option of an object that has been made, where its struct has it.
  define(module, "set_option", [](Core& core, const std::string& kind, const std::string& name, nb::handle given) {
    const Value value = to_value(given);
    set_member(kind.c_str(), *core.get(), name, value);
    if (auto* optimizer = dynamic_cast<keras::OptimizerInterface*>(core.get().get()))
      set_common_option(*optimizer, name, value);
  });
  define(module, "set_epsilon", [](double value) { keras::backend::set_epsilon(value); });
  // None leaves it open.
  define(module, "set_learning_phase", [](nb::handle training) {
    if (training.is_none()) keras::backend::set_learning_phase({});
    else keras::backend::set_learning_phase(nb::cast<bool>(training));
  });
  define(module, "unique_name", [](const std::string& base) { return keras::unique_name(base); });
  define(module, "to_snake_case", [](const std::string& name) { return keras::to_snake_case(name); });

  define(module, "call_of_tensor", [](Core& core, nb::handle x) {
    std::shared_ptr<keras::Object> object = core.get();
    Tensor t = natural_tensor(x.ptr());
    if (auto* f = dynamic_cast<keras::Activation::Interface*>(object.get())) return nb::steal(wrap(f->call(t)));
    if (auto* f = dynamic_cast<keras::Regularizer::Interface*>(object.get())) return nb::steal(wrap(f->call(t)));
    if (auto* f = dynamic_cast<keras::Constraint::Interface*>(object.get())) return nb::steal(wrap(f->call(t)));
    if (auto* f = dynamic_cast<keras::LearningRateSchedule::Interface*>(object.get()))
      return nb::steal(wrap(f->call(t)));
    raise(PyExc_TypeError, "this object takes no tensor");
  });
  define(module, "initialize", [](Core& core, nb::handle shape, nb::handle dtype, nb::handle part) {
    std::optional<keras::SeedOfPart> of_part;
    if (!part.is_none()) of_part.emplace(nb::cast<int64_t>(part));
    DType wanted = dtype.is_none() ? DType::float32 : to_dtype(dtype.ptr());
    return nb::steal(wrap(as_interface<keras::Initializer::Interface>(core)->call(to_shape(shape.ptr()), wanted)));
  });
  // What optimizers make of the value of a variable after a step, or None.
  define(module, "constraint_of", [](nb::handle variable) {
    const std::shared_ptr<void>& constraint = variable_of(handle_of(variable.ptr())).constraint;
    return from_object(std::static_pointer_cast<keras::Constraint::Interface>(constraint), "constraint");
  });
  define(module, "set_constraint", [](nb::handle variable, nb::handle constraint) {
    variable_of(handle_of(variable.ptr())).constraint = to_handle<keras::Constraint>(constraint).pointer();
  });
  define(module, "loss", [](Core& core, nb::handle y_true, nb::handle y_pred, nb::handle sample_weight) {
    keras::Loss loss(as_interface<keras::LossInterface>(core));
    Tensor weight = sample_weight.is_none() ? Tensor() : natural_tensor(sample_weight.ptr());
    std::optional<keras::losses::RanksKept> kept;
    if (!is_tensor_or_variable(y_true.ptr()) || !is_tensor_or_variable(y_pred.ptr())) kept.emplace();
    return nb::steal(wrap(loss(natural_tensor(y_true.ptr()), natural_tensor(y_pred.ptr()), weight)));
  });
  define(module, "loss_call", [](Core& core, nb::handle y_true, nb::handle y_pred) {
    std::optional<keras::losses::RanksKept> kept;
    if (!is_tensor_or_variable(y_true.ptr()) || !is_tensor_or_variable(y_pred.ptr())) kept.emplace();
    return nb::steal(wrap(
        as_interface<keras::LossInterface>(core)->call(natural_tensor(y_true.ptr()), natural_tensor(y_pred.ptr()))));
  });
  define(
      module, "compute_weighted_loss", [](nb::handle losses, nb::handle sample_weight, const std::string& reduction) {
        Tensor weight = sample_weight.is_none() ? Tensor() : natural_tensor(sample_weight.ptr());
        return nb::steal(wrap(keras::losses::compute_weighted_loss(natural_tensor(losses.ptr()), weight, reduction)));
      });

  define(module, "python_metric", [](nb::handle self, const std::string& name, nb::handle dtype) {
    auto made = std::make_unique<BackedCore<PyMetric, keras::MetricInterface>>(self.ptr());
    made->backed.name = name;
    if (!dtype.is_none()) made->backed.dtype = to_dtype(dtype.ptr());
    return std::unique_ptr<Core>(std::move(made));
  });
  define(module, "metric_add_weight", [](Core& core, nb::handle variable) {
    auto* metric = dynamic_cast<PyMetric*>(core.get().get());
    if (metric) metric->weights.push_back(to_variable(variable));
  });
  define(module, "metric_update", [](Core& core, const nb::args& given) {
    std::vector<Tensor> tensors(3);
    size_t i = 0;
    for (nb::handle item : given)
      if (i < 3) tensors[i++] = item.is_none() ? Tensor() : natural_tensor(item.ptr());
    as_interface<keras::MetricInterface>(core)->update_state(tensors[0], tensors[1], tensors[2]);
  });
  define(module, "metric_result",
         [](Core& core) { return nb::steal(wrap(as_interface<keras::MetricInterface>(core)->result())); });
  define(module, "metric_reset", [](Core& core) { as_interface<keras::MetricInterface>(core)->reset_state(); });
  define(module, "metric_variables", [](Core& core) {
    return from_variables(keras::Metric(as_interface<keras::MetricInterface>(core)).variables());
  });
  define(module, "metric_set_name",
         [](Core& core, const std::string& name) { as_interface<keras::MetricInterface>(core)->name = name; });

  // What optimizers do to the value of a variable after each step.
  define(module, "set_constraint", [](nb::handle variable, nb::handle function) {
    variable_of(to_variable(variable).handle()).constraint = to_handle<keras::Constraint>(function).pointer();
  });

  define(module, "python_optimizer", [](nb::handle self, const std::string& name, nb::handle rate, nb::handle options) {
    auto made = std::make_unique<BackedCore<PyOptimizer, keras::OptimizerInterface>>(self.ptr());
    PyOptimizer& optimizer = made->backed;
    optimizer.name = name;
    optimizer.start();
    keras::LearningRate given = 0.001;
    keras::from_value(given, to_value(rate));
    optimizer.schedule = given.schedule();
    if (!given.schedule().defined()) optimizer.learning_rate.assign(Tensor(static_cast<float>(given.rate())));
    Value all = to_value(options);
    for (const auto& [key, value] : all.map()) set_common_option(optimizer, key, value);
    return std::unique_ptr<Core>(std::move(made));
  });
  // A class of the program that changes one of the engine's: it makes the steps and may leave them to `inner`.
  define(module, "python_optimizer_around", [](nb::handle self, Core& inner) {
    auto made = std::make_unique<BackedCore<PyOptimizer, keras::OptimizerInterface>>(self.ptr());
    made->backed.take_options(*as_interface<keras::OptimizerInterface>(inner));
    return std::unique_ptr<Core>(std::move(made));
  });
  define(module, "optimizer_inner_build", [](Core& inner, nb::handle variables) {
    as_interface<keras::OptimizerInterface>(inner)->build(to_variables(variables));
  });
  define(module, "optimizer_inner_step", [](Core& inner, size_t index, nb::handle gradient, nb::handle variable) {
    as_interface<keras::OptimizerInterface>(inner)->update_step(to_gradient(gradient.ptr()), to_variable(variable),
                                                                index);
  });
  define(module, "apply_gradients",
         [](Core& core, nb::handle gradients, nb::handle variables, const std::string& name) {
           std::vector<Tensor> values;
           for (nb::handle item : gradients) values.push_back(to_gradient(item.ptr()));
           auto optimizer = as_interface<keras::OptimizerInterface>(core);
           if (auto* python = dynamic_cast<PyOptimizer*>(optimizer.get()))
             python->apply_now(values, to_variables(variables), name);
           else optimizer->apply_gradients(values, to_variables(variables), name);
         });
  define(module, "exclude_from_weight_decay", [](Core& core, nb::handle variables, nb::handle names) {
    std::vector<std::string> expressions;
    for (nb::handle name : names) expressions.push_back(text_of(name));
    keras::Optimizer(as_interface<keras::OptimizerInterface>(core))
        .exclude_from_weight_decay(to_variables(variables), expressions);
  });
  define(module, "optimizer_build", [](Core& core, nb::handle variables) {
    as_interface<keras::OptimizerInterface>(core)->target().build_all(to_variables(variables));
  });
  define(module, "optimizer_variables", [](Core& core) {
    return from_variables(keras::Optimizer(as_interface<keras::OptimizerInterface>(core)).variables());
  });
  define(module, "optimizer_iterations", [](Core& core) {
    return wrap_variable_object(as_interface<keras::OptimizerInterface>(core)->target().iterations);
  });
  define(module, "optimizer_is_built",
         [](Core& core) { return as_interface<keras::OptimizerInterface>(core)->target().built; });
  // The variables that it has slots for.
  define(module, "optimizer_targets",
         [](Core& core) { return from_variables(as_interface<keras::OptimizerInterface>(core)->target().variables); });
  define(module, "optimizer_set_iterations", [](Core& core, nb::handle variable) {
    keras::Optimizer(as_interface<keras::OptimizerInterface>(core)).set_iterations(to_variable(variable));
  });
  define(module, "optimizer_rate", [](Core& core) {
    return wrap_variable_object(as_interface<keras::OptimizerInterface>(core)->target().learning_rate);
  });
  define(module, "optimizer_schedule", [](Core& core) {
    return from_object(as_interface<keras::OptimizerInterface>(core)->target().schedule.pointer(), "schedule");
  });
  define(module, "optimizer_set_rate", [](Core& core, nb::handle rate) {
    auto optimizer = as_interface<keras::OptimizerInterface>(core);
    if (is_variable(rate.ptr())) {  // steps read it, whoever changes it
      optimizer->target().schedule = {};
      optimizer->target().learning_rate = to_variable(rate);
      return;
    }
    Value value = to_value(rate);
    if (value.is_number()) {
      keras::Optimizer(optimizer).set_learning_rate(static_cast<float>(value.number()));
    } else {
      keras::LearningRateSchedule schedule;
      keras::from_value(schedule, value);
      keras::Optimizer(optimizer).set_learning_rate_schedule(schedule);
    }
  });
  define(module, "loss_scale", [](Core& core) { return nb::steal(wrap(loss_scale_of(core).loss_scale())); });
  define(module, "loss_scale_counter", [](Core& core) -> nb::object {
    Variable counter = loss_scale_of(core).dynamic_counter();
    return counter.defined() ? wrap_variable_object(counter) : nb::none();
  });
  define(module, "loss_scale_inner",
         [](Core& core) { return from_object(loss_scale_of(core).inner_optimizer().pointer(), "optimizer"); });
  define(module, "optimizer_finalize", [](Core& core, nb::handle variables) {
    keras::Optimizer(as_interface<keras::OptimizerInterface>(core)).finalize_variable_values(to_variables(variables));
  });
  define(module, "add_slot", [](nb::handle variable, const std::string& name, nb::handle initial) {
    return wrap_variable_object(
        keras::add_slot(to_variable(variable), name, initial.is_none() ? Tensor() : natural_tensor(initial.ptr())));
  });
}

}  // namespace thalweg::python

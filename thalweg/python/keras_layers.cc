// Layers in Python: those of the engine, and classes that Python implements.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <deque>

#include "thalweg/core/companion.h"
#include "thalweg/core/error.h"
#include "thalweg/keras/call_context.h"
#include "thalweg/keras/input_layer.h"
#include "thalweg/keras/layers/categorical.h"
#include "thalweg/keras/training.h"
#include "thalweg/python/convert.h"
#include "thalweg/python/keras_core.h"

namespace thalweg::python {
namespace {

using keras::CallArgs;
using keras::Layer;
using keras::LayerInterface;
using keras::Value;

/// What the class of a Python layer writes itself, asked once for each class.
struct Overrides {
  bool build, call, compute_mask, compute_output_shape, get_config, reset_states;
  bool train_step, test_step, predict_step;
  bool takes_training, takes_mask, supports_masking;
};

Overrides overrides_of(nb::handle type) {
  nb::object known = nb::getattr(type, "_overrides", nb::none());
  auto has = [&](const char* name) { return nb::cast<bool>(known[name]); };
  return {has("build"),        has("call"),           has("compute_mask"), has("compute_output_shape"),
          has("get_config"),   has("reset_states"),   has("train_step"),   has("test_step"),
          has("predict_step"), has("takes_training"), has("takes_mask"),   has("supports_masking")};
}

/// Fills the places of tensors among other arguments again.
nb::object with_tensors(nb::handle structure, const std::vector<Tensor>& tensors, size_t& next, nb::handle marker) {
  PyObject* p = structure.ptr();
  if (p == marker.ptr()) return nb::steal(wrap(tensors.at(next++)));
  if (PyDict_Check(p)) {
    nb::dict made;
    for (auto [key, item] : nb::borrow<nb::dict>(structure)) made[key] = with_tensors(item, tensors, next, marker);
    return made;
  }
  if (PyTuple_CheckExact(p) || PyList_CheckExact(p)) {
    nb::list made;
    for (nb::handle item : structure) made.append(with_tensors(item, tensors, next, marker));
    if (PyTuple_Check(p)) return nb::tuple(made);
    return made;
  }
  return nb::borrow(structure);
}
/// Takes the tensors out of other arguments; their places are marked.
nb::object without_tensors(nb::handle structure, std::vector<Nest>& tensors, nb::handle marker) {
  PyObject* p = structure.ptr();
  if (is_tensor(p)) {
    tensors.emplace_back(tensor_of(p));
    return nb::borrow(marker);
  }
  if (PyDict_Check(p)) {
    nb::dict made;
    for (auto [key, item] : nb::borrow<nb::dict>(structure)) made[key] = without_tensors(item, tensors, marker);
    return made;
  }
  if (PyTuple_CheckExact(p) || PyList_CheckExact(p)) {
    nb::list made;
    for (nb::handle item : structure) made.append(without_tensors(item, tensors, marker));
    if (PyTuple_Check(p)) return nb::tuple(made);
    return made;
  }
  return nb::borrow(structure);
}
nb::object marker() {
  static auto& object =
      *new nb::object(nb::steal(PyObject_CallNoArgs(reinterpret_cast<PyObject*>(&PyBaseObject_Type))));
  return object;
}

/// A layer whose methods Python has; where it has none, those of the engine's layer that its class comes from.
class PyLayer : public LayerInterface, public PythonBacked<LayerInterface>, public HasPython {
 public:
  PyLayer(PyObject* self, std::shared_ptr<LayerInterface> inner)
      : PythonBacked(self), inner_(std::move(inner)), own_(overrides_of(nb::handle(self).type())) {}

  nb::handle python() const override { return me(); }
  LayerInterface* inner() const { return inner_.get(); }
  std::string class_name() const override {
    return with_python([&] { return text_of(me().type().attr("__name__")); });
  }
  Value get_config() const override {
    if (!own_.get_config) return inner_ ? inner_->get_config() : Value(Value::Map());
    return with_python([&] { return to_value(me().attr("get_config")()); });
  }
  void build(const Nest& inputs) override {
    with_python([&] {
      if (own_.build) me().attr("build")(shapes_of(inputs));
      else build_inner(inputs);
    });
  }
  void build_inner(const Nest& inputs) {
    if (!inner_) return;
    keras::detail::build_if_needed(*inner_, inputs);
  }
  Nest call(const Nest& inputs, const CallArgs& args) override {
    if (!own_.call) {
      if (inner_) return inner_->call(inputs, args);
      with_python([&] {
        raise(PyExc_NotImplementedError,
              "Layer '" + name + "' (" + class_name() + ") has no `call` method: write `def call(self, inputs)`.");
      });
    }
    return with_python([&] {
      nb::list arguments;
      arguments.append(from_nest(inputs));
      nb::dict keywords;
      if (args.rest) {
        nb::object rest = nb::borrow(static_cast<PyObject*>(const_cast<void*>(args.rest.get())));
        std::vector<Tensor> tensors = args.more.flatten();
        size_t next = 0;
        nb::object filled = with_tensors(rest, tensors, next, marker());
        for (nb::handle item : nb::object(filled[0])) arguments.append(item);
        for (auto [key, item] : nb::cast<nb::dict>(nb::object(filled[1]))) keywords[key] = item;
      }
      if (own_.takes_training && args.training.given() && !keywords.contains("training"))
        keywords["training"] = nb::bool_(static_cast<bool>(args.training));
      if (own_.takes_mask && !args.mask.is_none() && !keywords.contains("mask"))
        keywords["mask"] = from_nest(args.mask);
      if (!args.initial_state.is_none()) keywords["initial_state"] = from_nest(args.initial_state);
      return to_nest(nb::object(me().attr("call")(*arguments, **keywords)));
    });
  }
  Nest compute_mask(const Nest& inputs, const Nest& mask) override {
    if (own_.compute_mask)
      return with_python(
          [&] { return to_nest(nb::object(me().attr("compute_mask")(from_nest(inputs), from_nest(mask)))); });
    return inner_ ? inner_->compute_mask(inputs, mask) : LayerInterface::compute_mask(inputs, mask);
  }
  bool supports_masking() const override {
    if (own_.compute_mask) return true;
    const bool asked =
        with_python([&] { return nb::cast<bool>(nb::getattr(me(), "supports_masking", nb::bool_(false))); });
    return asked || (inner_ && inner_->supports_masking());
  }
  std::vector<keras::InputSpec> input_spec() const override {
    return inner_ && !own_.call ? inner_->input_spec() : std::vector<keras::InputSpec>();
  }
  void reset_states() override {
    if (own_.reset_states) with_python([&] { me().attr("reset_states")(); });
    else if (inner_) inner_->reset_states();
  }
  bool is_network() const override { return inner_ && inner_->is_network() && !own_.call; }
  bool is_model() const override { return is_trained_as_model || (inner_ && inner_->is_model()); }
  bool has_train_step() const override { return own_.train_step; }
  bool has_test_step() const override { return own_.test_step; }
  bool has_predict_step() const override { return own_.predict_step; }
  Nest train_step(keras::Model&, const Nest& data) override { return step("train_step", data); }
  Nest test_step(keras::Model&, const Nest& data) override { return step("test_step", data); }
  Nest predict_step(keras::Model&, const Nest& data) override { return step("predict_step", data); }

  void list_parts(module::Parts& parts) const override {
    if (inner_) inner_->list_parts(parts);
    nb::gil_scoped_acquire acquire;
    kept_variables_.clear();
    kept_layers_.clear();
    kept_metrics_.clear();
    for (const Variable& v : weights) parts(std::to_string(parts.list().size()), kept_variables_.emplace_back(v));
    nb::object attributes = me().attr("__dict__");
    for (auto [key, item] : nb::cast<nb::dict>(attributes)) {
      std::string name = text_of(nb::str(key));
      if (!name.starts_with("_core")) look(name, item, parts, 0);
    }
  }

  std::vector<Variable> weights;  // made by add_weight, in that order

 private:
  Nest step(const char* method, const Nest& data) {
    return with_python([&] { return to_nest(nb::object(me().attr(method)(from_nest(data)))); });
  }
  bool is_listed(const Variable& variable) const {
    for (const Variable& other : kept_variables_)
      if (is_same(other, variable)) return true;
    return false;
  }
  // Variables, layers and metrics among attributes, and in their containers.
  void look(const std::string& name, nb::handle item, module::Parts& parts, int depth) const {
    constexpr int deepest = 8;
    PyObject* p = item.ptr();
    if (depth > deepest) return;
    if (is_variable(p)) {
      Variable variable = to_variable(item);
      if (!is_listed(variable)) parts(name, kept_variables_.emplace_back(variable));
    } else if (PyList_Check(p) || PyTuple_Check(p)) {
      size_t i = 0;
      for (nb::handle inner : item) look(name + "/" + std::to_string(i++), inner, parts, depth + 1);
    } else if (PyDict_Check(p)) {
      for (auto [key, inner] : nb::borrow<nb::dict>(item))
        look(name + "/" + text_of(nb::str(key)), inner, parts, depth + 1);
    } else if (nb::object core = nb::getattr(item, "_core", nb::none()); nb::isinstance<Core>(core)) {
      std::shared_ptr<keras::Object> object = nb::cast<Core&>(core).get();
      if (auto layer = std::dynamic_pointer_cast<LayerInterface>(object)) parts(name, kept_layers_.emplace_back(layer));
      else if (auto metric = std::dynamic_pointer_cast<keras::MetricInterface>(object))
        parts(name, kept_metrics_.emplace_back(metric));
    } else if (nb::hasattr(item, "_is_thalweg_module")) {  // tf.Module
      for (auto [key, inner] : nb::cast<nb::dict>(nb::object(item.attr("__dict__"))))
        look(name + "/" + text_of(nb::str(key)), inner, parts, depth + 1);
    }
  }

  std::shared_ptr<LayerInterface> inner_;
  Overrides own_;
  mutable std::deque<Variable> kept_variables_;  // parts point to them until the next time
  mutable std::deque<Layer> kept_layers_;
  mutable std::deque<keras::Metric> kept_metrics_;
};

Layer layer_of(Core& core) { return Layer(as_interface<LayerInterface>(core)); }

/// The arguments of a call: those that every layer knows, the rest for a layer of Python.
CallArgs to_call_args(const LayerInterface& layer, nb::handle positional, nb::handle keywords, Nest& inputs) {
  CallArgs args;
  nb::dict rest;
  const bool of_python = dynamic_cast<const PyLayer*>(&layer) != nullptr;
  for (auto [key, item] : nb::borrow<nb::dict>(keywords)) {
    std::string name = text_of(key);
    if (name == "training") {
      if (item.is_none()) continue;
      const int truth = PyObject_IsTrue(item.ptr());
      if (truth < 0) throw nb::python_error();
      args.training = truth == 1;
    } else if (name == "mask") {
      args.mask = to_nest(item);
    } else if (of_python) {
      rest[key] = item;
    } else if (name == "initial_state") {
      args.initial_state = to_nest(item);
    } else if (name == "count_weights") {
      args.more = to_nest(item);
    } else if (name == "constants") {
      args.constants = to_nest(item);
    } else if (name == "attention_mask") {
      args.attention_mask = to_nest(item);
    } else if (name == "return_attention_scores") {
      args.return_attention_scores = Flag(PyObject_IsTrue(item.ptr()) == 1);
    } else if (name == "use_causal_mask") {
      args.use_causal_mask = Flag(PyObject_IsTrue(item.ptr()) == 1);
    } else if (name == "value" || name == "key" || name == "states") {
      std::vector<Nest> all = {inputs};
      if (inputs.kind() == Nest::Kind::list && name == "key") all.assign(inputs.items().begin(), inputs.items().end());
      all.push_back(to_nest(item));
      inputs = Nest::list(std::move(all));
    } else {
      raise(PyExc_TypeError, layer.class_name() + ".call() got an unexpected keyword argument " + repr_of(key.ptr()));
    }
  }
  const size_t count = nb::len(positional);
  if (of_python && (count > 0 || nb::len(rest) > 0)) {
    std::vector<Nest> tensors;
    nb::object kept = without_tensors(nb::make_tuple(nb::borrow(positional), rest), tensors, marker());
    args.more = Nest::list(std::move(tensors));
    args.rest = std::shared_ptr<const void>(kept.release().ptr(), [](const void* object) {
      nb::gil_scoped_acquire acquire;
      Py_DECREF(static_cast<PyObject*>(const_cast<void*>(object)));
    });
  } else if (count > 0) {
    std::vector<Nest> all = {inputs};
    for (nb::handle item : positional) all.push_back(to_nest(item));
    inputs = Nest::list(std::move(all));
  }
  return args;
}

/// The engine's own layer: for a class of Python that comes from one, that one.
Layer engine_layer(Core& core) {
  std::shared_ptr<LayerInterface> layer = as_interface<LayerInterface>(core);
  auto* python = dynamic_cast<PyLayer*>(layer.get());
  return python && python->inner() ? Layer(python->inner()->shared_from_this()) : Layer(layer);
}

nb::list from_layers(const std::vector<Layer>& layers) {
  nb::list list;
  for (const Layer& layer : layers) list.append(from_object(layer.pointer(), "layer"));
  return list;
}

}  // namespace

void define_keras_layers(nb::module_& module) {
  define(module, "python_layer",
         [](nb::handle self, nb::handle inner, const std::string& name, bool trainable, nb::handle dtype,
            nb::handle batch_input_shape, bool is_model) {
           std::shared_ptr<LayerInterface> engine;
           if (!inner.is_none()) engine = as_interface<LayerInterface>(nb::cast<Core&>(inner));
           auto made = std::make_unique<BackedCore<PyLayer, LayerInterface>>(self.ptr(), engine);
           PyLayer& layer = made->backed;
           layer.name = name;
           layer.trainable = trainable;
           layer.is_trained_as_model = is_model;
           if (engine) {
             layer.policy = engine->policy;
             layer.autocast = engine->autocast;
           }
           if (!dtype.is_none()) layer.policy = keras::Policy(text_of(dtype));
           if (!batch_input_shape.is_none()) layer.batch_input_shape = to_shape(batch_input_shape.ptr());
           if (engine && engine->is_network()) layer.built = engine->built;
           return std::unique_ptr<Core>(std::move(made));
         });
  define(module, "call", [](Core& core, nb::handle inputs, nb::handle positional, nb::handle keywords) {
    std::shared_ptr<LayerInterface> layer = as_interface<LayerInterface>(core);
    Nest given = to_nest(inputs);
    CallArgs args = to_call_args(*layer, positional, keywords, given);
    return from_nest(Layer(layer).invoke(given, args));
  });
  // What `super().call(...)` means where the class comes from one of the engine's.
  define(module, "call_inner", [](Core& core, nb::handle inputs, nb::handle positional, nb::handle keywords) {
    std::shared_ptr<LayerInterface> layer = as_interface<LayerInterface>(core);
    auto* python = dynamic_cast<PyLayer*>(layer.get());
    LayerInterface* target = python ? python->inner() : layer.get();
    if (!target) raise(PyExc_NotImplementedError, "this layer has no `call` method");
    Nest given = to_nest(inputs);
    CallArgs args = to_call_args(*target, positional, keywords, given);
    keras::detail::CallContext* context = keras::detail::CallContext::current();
    if (!args.training.given() && context) args.training = context->training();
    return from_nest(target->call(given, args));
  });
  define(module, "build", [](Core& core, nb::handle shapes) {
    std::shared_ptr<LayerInterface> layer = as_interface<LayerInterface>(core);
    Nest inputs = stand_ins(shapes, layer->policy.compute_dtype());
    keras::detail::CallContext* context = keras::detail::CallContext::current();
    auto* python = dynamic_cast<PyLayer*>(layer.get());
    if (context && python && &context->layer() == layer.get()) {  // super().build(shape) inside of build
      python->build_inner(inputs);
      return;
    }
    if (python && python->inner() && !layer->built) {
      keras::detail::CallContext entered(*layer, {}, false);
      python->build_inner(inputs);
      layer->built = true;
      return;
    }
    if (layer->is_model()) {
      keras::Model(layer).build(inputs.tensor().shape());
      return;
    }
    keras::detail::CallContext entered(*layer, {}, false);
    if (!python) keras::detail::build_if_needed(*layer, inputs);
    layer->built = true;
  });
  define(module, "add_weight", [](Core& core, nb::handle shape, nb::handle options) {
    std::shared_ptr<LayerInterface> layer = as_interface<LayerInterface>(core);
    keras::WeightOptions how;
    auto given = [&](const char* name) { return nb::object(options[name]); };
    if (!given("name").is_none()) how.name = text_of(given("name"));
    if (!given("dtype").is_none()) how.dtype = to_dtype(given("dtype").ptr());
    how.initializer = to_handle<keras::Initializer>(given("initializer"));
    how.regularizer = to_handle<keras::Regularizer>(given("regularizer"));
    how.constraint = to_handle<keras::Constraint>(given("constraint"));
    if (!given("trainable").is_none()) how.trainable = Flag(nb::cast<bool>(given("trainable")));
    how.autocast = Flag(nb::cast<bool>(given("autocast")));
    Variable made = keras::detail::make_weight(*layer, to_shape(shape.ptr()), how);
    if (variable_of(made.handle()).name().empty()) variable_of(made.handle()).rename("Variable");
    if (auto* python = dynamic_cast<PyLayer*>(layer.get())) python->weights.push_back(made);
    return wrap_variable_object(made);
  });
  define(module, "add_loss", [](Core& core, nb::handle loss) {
    if (keras::detail::ShapesOnly::is_on()) return;
    as_interface<LayerInterface>(core)->losses.push_back(natural_tensor(loss.ptr()));
  });
  define(module, "add_metric", [](Core& core, nb::handle metric) {
    auto layer = as_interface<LayerInterface>(core);
    layer->metrics.emplace_back(std::dynamic_pointer_cast<keras::MetricInterface>(to_object(metric)));
  });
  define(module, "weights", [](Core& core) { return from_variables(layer_of(core).weights()); });
  define(module, "trainable_weights", [](Core& core) { return from_variables(layer_of(core).trainable_weights()); });
  define(module, "non_trainable_weights",
         [](Core& core) { return from_variables(layer_of(core).non_trainable_weights()); });
  define(module, "set_weights", [](Core& core, nb::handle values) {
    std::vector<Tensor> tensors;
    for (nb::handle item : values) tensors.push_back(natural_tensor(item.ptr()));
    layer_of(core).set_weights(tensors);
  });
  define(module, "losses", [](Core& core) {
    nb::list list;
    for (const Tensor& t : layer_of(core).losses()) list.append(nb::steal(wrap(t)));
    return list;
  });
  define(module, "layers", [](Core& core) { return from_layers(layer_of(core).layers()); });
  define(module, "count_params", [](Core& core) { return layer_of(core).count_params(); });
  define(module, "adapt", [](Core& core, nb::handle data) { engine_layer(core).adapt(natural_tensor(data.ptr())); });
  define(module, "bin_boundaries", [](Core& core) {
    nb::list list;
    for (float bound : keras::layers::DiscretizationHandle(engine_layer(core)).bin_boundaries()) list.append(bound);
    return list;
  });
  define(module, "reset_states", [](Core& core) { layer_of(core).reset_states(); });
  define(module, "layer_config", [](Core& core) {
    std::shared_ptr<LayerInterface> layer = as_interface<LayerInterface>(core);
    auto* python = dynamic_cast<PyLayer*>(layer.get());
    // A class of Python asks for what the engine knows of it.
    if (!python) return from_value(layer->whole_config());
    Value config =
        Value::map({{"name", layer->name}, {"trainable", layer->trainable}, {"dtype", to_value(layer->policy)}});
    if (layer->batch_input_shape) config.set("batch_input_shape", keras::to_value(*layer->batch_input_shape));
    if (python->inner())
      for (const auto& [key, value] : python->inner()->get_config().map())
        if (key != "name" && key != "trainable" && key != "dtype" && key != "input_shape") config.set(key, value);
    return from_value(config);
  });
  define(module, "compute_output_shape", [](Core& core, nb::handle shapes) {
    std::shared_ptr<LayerInterface> layer = as_interface<LayerInterface>(core);
    Nest inputs = stand_ins(shapes, layer->policy.compute_dtype());
    Nest outputs = layer->compute_output_shape(inputs);
    if (outputs.is_none()) outputs = keras::functional::infer_outputs(Layer(layer), inputs, {});
    return shapes_of(outputs);
  });
  define(module, "compute_mask", [](Core& core, nb::handle inputs, nb::handle mask) {
    return from_nest(as_interface<LayerInterface>(core)->LayerInterface::compute_mask(to_nest(inputs), to_nest(mask)));
  });
  define(module, "layer_get", [](Core& core, const std::string& what) -> nb::object {
    std::shared_ptr<LayerInterface> layer = as_interface<LayerInterface>(core);
    if (what == "built") return nb::bool_(layer->built);
    if (what == "trainable") return nb::bool_(layer->trainable);
    if (what == "name") return nb::str(layer->name.c_str());
    if (what == "dtype") return nb::str(std::string(name_of(layer->policy.variable_dtype())).c_str());
    if (what == "compute_dtype") return nb::str(std::string(name_of(layer->policy.compute_dtype())).c_str());
    if (what == "policy") return nb::str(layer->policy.name().c_str());
    if (what == "supports_masking") return nb::bool_(layer->supports_masking());
    raise(PyExc_AttributeError, what);
  });
  define(module, "layer_set", [](Core& core, const std::string& what, nb::handle value) {
    std::shared_ptr<LayerInterface> layer = as_interface<LayerInterface>(core);
    if (what == "built") layer->built = nb::cast<bool>(value);
    else if (what == "trainable") Layer(layer).set_trainable(nb::cast<bool>(value));
    else if (what == "name") layer->name = text_of(value);
    else if (what == "autocast") layer->autocast = nb::cast<bool>(value);
    else raise(PyExc_AttributeError, what);
  });
  // A weight, a layer or an option by the name of the member; AttributeError where there is none.
  define(module, "member", [](Core& core, const std::string& name) -> nb::object {
    std::shared_ptr<keras::Object> object = core.get();
    LayerInterface* layer = dynamic_cast<LayerInterface*>(object.get());
    if (auto* python = dynamic_cast<PyLayer*>(layer)) layer = python->inner();
    const keras::Object* looked = layer ? layer : object.get();
    if (looked) {
      module::Parts parts;
      looked->list_parts(parts);
      for (const module::Part& part : parts.list()) {
        if (part.name != name) continue;
        if (part.type->kind == module::Type::Kind::variable)
          return wrap_variable_object(*static_cast<const Variable*>(part.object));
        const module::Shared* shared = part.type->shared(part.object);
        if (auto* inner = dynamic_cast<const LayerInterface*>(shared))
          return from_object(std::const_pointer_cast<LayerInterface>(inner->shared_from_this()), "layer");
      }
      Value config = looked->get_config();
      if (config.is_map() && config.contains(name)) return from_value(config[name]);
    }
    raise(PyExc_AttributeError, name);
  });
  define(module, "mask_of", [](nb::handle tensor) {
    return is_tensor(tensor.ptr()) ? nb::steal(wrap(companion_of(tensor_of(tensor.ptr())))) : nb::none();
  });
  define(module, "set_mask", [](nb::handle tensor, nb::handle mask) {
    set_companion(tensor_of(tensor.ptr()), mask.is_none() ? Tensor() : natural_tensor(mask.ptr()));
  });
  define(module, "global_policy", [] { return keras::mixed_precision::global_policy().name(); });
  define(module, "set_global_policy", [](const std::string& name) { keras::mixed_precision::set_global_policy(name); });
  // The dtypes that a policy of this name computes in and keeps weights in; ValueError where there is none.
  define(module, "policy_dtypes", [](const std::string& name) {
    const keras::Policy policy(name);
    return nb::make_tuple(std::string(name_of(policy.compute_dtype())), std::string(name_of(policy.variable_dtype())));
  });
  define(module, "input", [](nb::handle shape, nb::handle dtype, const std::string& name) {
    return nb::steal(wrap(keras::make_input(to_shape(shape.ptr()), to_dtype(dtype.ptr()), name)));
  });
  // The layer, the number of its call and of its output behind a tensor of a model; None for others.
  define(module, "history", [](nb::handle tensor) -> nb::object {
    if (!is_tensor(tensor.ptr())) return nb::none();
    keras::functional::History history = keras::functional::history_of(tensor_of(tensor.ptr()));
    if (!history.node) return nb::none();
    return nb::make_tuple(from_object(history.node->layer.pointer(), "layer"), history.node->index, history.index);
  });
  // (inputs, outputs) of the calls of a layer on such tensors.
  define(module, "calls", [](Core& core) {
    nb::list list;
    for (const auto& weak : as_interface<LayerInterface>(core)->nodes)
      if (std::shared_ptr<keras::functional::Node> node = weak.lock())
        list.append(nb::make_tuple(from_nest(node->inputs), from_nest(keras::functional::outputs_of(node))));
    return list;
  });
}

}  // namespace thalweg::python

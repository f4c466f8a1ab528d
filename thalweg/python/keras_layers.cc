// Layers in Python: those of the engine, and classes that Python implements.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "thalweg/core/companion.h"
#include "thalweg/core/error.h"
#include "thalweg/keras/call_context.h"
#include "thalweg/keras/input_layer.h"
#include "thalweg/keras/layers/categorical.h"
#include "thalweg/keras/layers/preprocessing.h"
#include "thalweg/keras/training.h"
#include "thalweg/python/convert.h"
#include "thalweg/python/keras_python_layer.h"

namespace thalweg::python {
namespace {

using keras::CallArgs;
using keras::Layer;
using keras::LayerInterface;
using keras::Value;

Layer layer_of(Core& core) { return Layer(as_interface<LayerInterface>(core)); }

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
  define_keras_members(module);
  define_keras_nodes(module);
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
             layer.activity_regularizer = engine->activity_regularizer;
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
      layer->built = true;  // what follows in `build` may call it
      return;
    }
    if (python && python->inner() && !layer->built) {
      keras::detail::CallContext entered(*layer, {}, false);
      python->build_inner(inputs);
      python->use_initial_weights();
      layer->built = true;
      return;
    }
    if (layer->is_model()) {
      if (inputs.is_tensor()) keras::Model(layer).build(inputs.tensor().shape());
      else keras::Model(layer).build_for(inputs);
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
    how.name = given("name").is_none() ? "Variable" : text_of(given("name"));
    if (!given("dtype").is_none()) how.dtype = to_dtype(given("dtype").ptr());
    how.initializer = to_handle<keras::Initializer>(given("initializer"));
    how.regularizer = to_handle<keras::Regularizer>(given("regularizer"));
    how.constraint = to_handle<keras::Constraint>(given("constraint"));
    if (!given("trainable").is_none()) how.trainable = Flag(nb::cast<bool>(given("trainable")));
    how.autocast = Flag(nb::cast<bool>(given("autocast")));
    Variable made = keras::detail::make_weight(*layer, to_shape(shape.ptr()), how);
    if (auto* python = dynamic_cast<PyLayer*>(layer.get())) python->track(made, true);
    return wrap_variable_object(made);
  });
  // A variable that became an attribute.
  define(module, "track", [](Core& core, nb::handle variable) {
    if (auto* python = dynamic_cast<PyLayer*>(core.get().get())) python->track(to_variable(variable), false);
  });
  // One that is a weight without being an attribute, and all that add_weight made.
  define(module, "track_own", [](Core& core, nb::handle variable) {
    if (auto* python = dynamic_cast<PyLayer*>(core.get().get())) python->track(to_variable(variable), true);
  });
  define(module, "own_weights", [](Core& core) {
    auto* python = dynamic_cast<PyLayer*>(core.get().get());
    return from_variables(python ? python->own_weights() : std::vector<Variable>());
  });
  // One that an attribute gave up, and the one that has its place now.
  define(module, "untrack", [](Core& core, nb::handle variable, nb::handle other) {
    if (auto* python = dynamic_cast<PyLayer*>(core.get().get()))
      python->untrack(to_variable(variable), other.is_none() ? Variable() : to_variable(other));
  });
  define(module, "build_config",
         [](Core& core) { return from_value(as_interface<LayerInterface>(core)->build_config()); });
  define(module, "add_loss", [](Core& core, nb::handle loss) {
    std::shared_ptr<LayerInterface> layer = as_interface<LayerInterface>(core);
    keras::detail::CallContext* context = keras::detail::CallContext::current();
    if (context && &context->layer() == layer.get()) keras::add_loss(natural_tensor(loss.ptr()));
    else if (!keras::detail::ShapesOnly::is_on()) layer->losses.push_back(natural_tensor(loss.ptr()));
  });
  define(module, "is_being_called", [](Core& core) {
    keras::detail::CallContext* context = keras::detail::CallContext::current();
    return context && &context->layer() == core.get().get();
  });
  // Not while a model is made of layers, nor where training may not change the layer.
  define(module, "may_update", [](Core& core) {
    if (keras::detail::ShapesOnly::is_on() || !as_interface<LayerInterface>(core)->trainable) return false;
    for (auto* context = keras::detail::CallContext::current(); context; context = context->outer())
      if (!context->layer().trainable) return false;
    return true;
  });
  // A loss that a function without arguments gives, asked whenever losses are: it stands among the penalties of
  // weights.
  define(module, "add_loss_function", [](Core& core, nb::handle function) {
    const Variable nothing(Tensor(0.0f), {.trainable = false, .name = "nothing"});
    as_interface<LayerInterface>(core)->regularized.emplace_back(nothing, to_handle<keras::Regularizer>(function));
  });
  define(module, "set_initial_weights", [](Core& core, nb::handle values) {
    auto* python = dynamic_cast<PyLayer*>(core.get().get());
    if (!python) raise(PyExc_TypeError, "this layer is the engine's own");
    for (nb::handle item : values) python->initial_weights.push_back(natural_tensor(item.ptr()));
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
  define(module, "moments", [](Core& core) {  // (mean, variance) as they broadcast with inputs
    const keras::layers::NormalizationHandle layer(engine_layer(core));
    return nb::make_tuple(nb::steal(wrap(layer.mean())), nb::steal(wrap(layer.variance())));
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
    const Value own =
        python->inner() ? python->inner()->get_config() : Value(Value::Map());  // the loop does not keep it
    for (const auto& [key, value] : own.map())
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
    std::shared_ptr<LayerInterface> layer = as_interface<LayerInterface>(core);
    auto* python = dynamic_cast<PyLayer*>(layer.get());
    Nest tensors = to_nest(inputs), masks = to_nest(mask);
    return from_nest(python ? python->compute_inner_mask(tensors, masks) : layer->compute_mask(tensors, masks));
  });
  define(module, "layer_get", [](Core& core, const std::string& what) -> nb::object {
    std::shared_ptr<LayerInterface> layer = as_interface<LayerInterface>(core);
    if (what == "built") return nb::bool_(layer->built);
    if (what == "trainable") return nb::bool_(layer->trainable);
    if (what == "name") return nb::str(layer->name.c_str());
    if (what == "dtype") return nb::str(std::string(name_of(layer->policy.variable_dtype())).c_str());
    if (what == "compute_dtype") return nb::str(std::string(name_of(layer->policy.compute_dtype())).c_str());
    if (what == "policy") return nb::str(layer->policy.name().c_str());
    if (what == "supports_masking") {
      auto* python = dynamic_cast<PyLayer*>(layer.get());
      return nb::bool_(python ? python->engine_supports_masking() : layer->supports_masking());
    }
    raise(PyExc_AttributeError, what);
  });
  define(module, "layer_set", [](Core& core, const std::string& what, nb::handle value) {
    std::shared_ptr<LayerInterface> layer = as_interface<LayerInterface>(core);
    if (what == "built") layer->built = nb::cast<bool>(value);
    else if (what == "trainable") Layer(layer).set_trainable(nb::cast<bool>(value));
    else if (what == "name") layer->name = text_of(value);
    else if (what == "autocast") layer->autocast = nb::cast<bool>(value);
    else if (auto* python = dynamic_cast<PyLayer*>(layer.get()); python && what == "activity_regularizer")
      python->set_activity_regularizer(to_handle<keras::Regularizer>(value));
    else raise(PyExc_AttributeError, what);
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
  // The tensor that an InputLayer stands for.
  define(module, "input_of", [](Core& core) { return nb::steal(wrap(keras::input_of(layer_of(core)))); });
  define(module, "input", [](nb::handle shape, nb::handle dtype, const std::string& name) {
    return nb::steal(wrap(keras::make_input(to_shape(shape.ptr()), to_dtype(dtype.ptr()), name)));
  });
}

}  // namespace thalweg::python

// Models in Python: making them, compile, fit, evaluate and predict.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "thalweg/core/error.h"
#include "thalweg/keras/plot_model.h"
#include "thalweg/keras/summary.h"
#include "thalweg/keras/training_loop.h"
#include "thalweg/python/convert.h"
#include "thalweg/python/data.h"
#include "thalweg/python/keras_core.h"
#include "thalweg/python/keras_python_layer.h"

namespace thalweg::python {
namespace {

using keras::Batches;
using keras::LayerInterface;
using keras::Model;

Model model_of(Core& core) { return Model(as_interface<LayerInterface>(core)); }

/// A dict of options, each None or a value.
class GivenOptions {
 public:
  explicit GivenOptions(nb::handle dict) : dict_(nb::borrow<nb::dict>(dict)) {}
  nb::object operator[](const char* name) const {
    PyObject* found = PyDict_GetItemString(dict_.ptr(), name);
    return found ? nb::borrow(found) : nb::object(nb::none());
  }
  template <class T> void read(const char* name, T& to) const {
    if (nb::object given = (*this)[name]; !given.is_none()) to = nb::cast<T>(given);
  }

 private:
  nb::dict dict_;
};

/// Batches from a function of Python that starts a pass: it gives an iterator whose items are x, (x, y) or
/// (x, y, sample_weight).
Batches to_batches(nb::handle start, int64_t steps) {
  if (nb::isinstance<DatasetStage>(start)) return Batches::of_stage(nb::cast<DatasetStage&>(start).stage);
  auto kept = std::shared_ptr<PyObject>(start.inc_ref().ptr(), [](PyObject* object) {
    nb::gil_scoped_acquire acquire;
    Py_DECREF(object);
  });
  return Batches(
      [kept](int epoch) -> keras::NextBatch {
        nb::gil_scoped_acquire acquire;
        nb::object iterator = nb::borrow(kept.get())(epoch);
        auto held = std::shared_ptr<PyObject>(iterator.release().ptr(), [](PyObject* object) {
          nb::gil_scoped_acquire again;
          Py_DECREF(object);
        });
        return [held](Nest& batch) {
          nb::gil_scoped_acquire again;
          nb::object item = nb::steal(PyIter_Next(held.get()));
          if (!item.is_valid()) {
            if (PyErr_Occurred()) throw nb::python_error();
            return false;
          }
          batch = to_nest(item);
          return true;
        };
      },
      steps);
}

template <class T> keras::OneOrMany<T> to_one_or_many(nb::handle object) {
  keras::OneOrMany<T> made;
  auto convert = [](nb::handle item) {
    if constexpr (std::same_as<T, double>) return nb::cast<double>(nb::steal(checked(PyNumber_Float(item.ptr()))));
    else return to_handle<T>(item);
  };
  if (object.is_none()) return made;
  if (PyDict_Check(object.ptr())) {
    for (auto [key, item] : nb::borrow<nb::dict>(object)) {
      if (item.is_none()) continue;
      made.names.push_back(text_of(nb::str(key)));
      made.items.push_back(convert(item));
    }
  } else if (PyList_Check(object.ptr()) || PyTuple_Check(object.ptr())) {
    for (nb::handle item : object) {
      if constexpr (std::same_as<T, double>) made.items.push_back(item.is_none() ? 1.0 : convert(item));
      else made.items.push_back(item.is_none() ? T() : convert(item));
    }
  } else {
    made.items.push_back(convert(object));
    made.single = true;
  }
  return made;
}

keras::MetricChoice to_choice(nb::handle object) {
  if (PyUnicode_Check(object.ptr())) return keras::MetricChoice(text_of(object));
  return keras::MetricChoice(to_handle<keras::Metric>(object));
}
bool is_list(nb::handle object) { return PyList_Check(object.ptr()) || PyTuple_Check(object.ptr()); }
keras::MetricChoices to_choices(nb::handle object) {
  keras::MetricChoices made;
  if (object.is_none()) return made;
  if (PyDict_Check(object.ptr())) {
    for (auto [key, item] : nb::borrow<nb::dict>(object))
      made.by_name.emplace_back(text_of(nb::str(key)), to_choices(item));
    return made;
  }
  if (!is_list(object)) {
    made.items.push_back(to_choice(object));
    return made;
  }
  bool nested = false;
  for (nb::handle item : object) nested |= is_list(item);
  for (nb::handle item : object) {
    if (nested) made.by_position.push_back(to_choices(item));
    else if (!item.is_none()) made.items.push_back(to_choice(item));
  }
  return made;
}

std::vector<keras::Callback> to_callbacks(nb::handle list) {
  std::vector<keras::Callback> all;
  for (nb::handle item : list)
    all.emplace_back(std::dynamic_pointer_cast<keras::CallbackInterface>(nb::cast<Core&>(item).get()));
  return all;
}
std::map<int64_t, double> to_class_weight(nb::handle dict) {
  std::map<int64_t, double> made;
  if (dict.is_none()) return made;
  for (auto [key, item] : nb::borrow<nb::dict>(dict))
    made[nb::cast<int64_t>(nb::steal(checked(PyNumber_Long(key.ptr()))))] =
        nb::cast<double>(nb::steal(checked(PyNumber_Float(item.ptr()))));
  return made;
}

std::vector<std::string> to_texts(nb::handle list) {
  std::vector<std::string> made;
  if (list.is_none()) return made;
  for (nb::handle item : list) made.push_back(text_of(item));
  return made;
}

nb::object from_history(const keras::History& history) {
  nb::dict numbers;
  for (const auto& [name, values] : history.history) {
    nb::list list;
    for (double v : values) list.append(nb::float_(v));
    numbers[nb::str(name.c_str())] = list;
  }
  nb::list epochs;
  for (int epoch : history.epoch) epochs.append(nb::int_(epoch));
  return nb::make_tuple(numbers, epochs);
}

}  // namespace

void define_keras_models(nb::module_& module) {
  keras::set_find_inner([](const LayerInterface& model) -> const LayerInterface* {
    auto* python = dynamic_cast<const PyLayer*>(&model);
    return python && !python->writes_call() ? python->inner() : nullptr;
  });
  auto engine = [](std::shared_ptr<keras::Object> object) {
    return std::unique_ptr<Core>(std::make_unique<EngineCore>(std::move(object)));
  };
  define(module, "functional", [engine](nb::handle inputs, nb::handle outputs, const std::string& name) {
    keras::LayerOptions options;
    options.name = name;
    return engine(Model(to_nest(inputs), to_nest(outputs), options).pointer());
  });
  define(module, "sequential", [engine](const std::string& name) {
    auto made = std::make_shared<keras::SequentialModel>();
    keras::LayerOptions options;
    options.name = name;
    made->start(options);
    return engine(made);
  });
  define(module, "sequential_add", [](Core& core, nb::handle layer) {
    auto sequential = std::dynamic_pointer_cast<keras::SequentialModel>(core.get());
    auto added = std::dynamic_pointer_cast<LayerInterface>(to_object(layer));
    if (!added)
      raise(PyExc_TypeError,
            "The added layer must be an instance of class Layer. Received: layer=" + repr_of(layer.ptr()) +
                " of type " + repr_of(reinterpret_cast<PyObject*>(Py_TYPE(layer.ptr()))) + ".");
    sequential->add(keras::Layer(added));
  });
  define(module, "sequential_pop",
         [](Core& core) { std::dynamic_pointer_cast<keras::SequentialModel>(core.get())->pop(); });
  define(module, "model_inputs", [](Core& core) { return from_nest(model_of(core).inputs()); });
  define(module, "model_outputs", [](Core& core) { return from_nest(model_of(core).outputs()); });
  define(module, "input_names", [](Core& core) -> nb::object {
    const keras::FunctionalModel* network = keras::graph_of(*as_interface<LayerInterface>(core));
    return network ? nb::cast(network->input_names()) : nb::none();
  });
  define(module, "output_names", [](Core& core) -> nb::object {
    const keras::FunctionalModel* network = keras::graph_of(*as_interface<LayerInterface>(core));
    return network ? nb::cast(network->output_names()) : nb::none();
  });
  define(module, "model_add_loss",
         [](Core& core, nb::handle loss) { model_of(core).add_loss(natural_tensor(loss.ptr())); });
  define(module, "include", [](Core& core, nb::handle tensor) {
    keras::FunctionalModel* network = keras::graph_of(*as_interface<LayerInterface>(core));
    if (!network) raise(PyExc_ValueError, "the model is no graph of layers");
    network->include(natural_tensor(tensor.ptr()));
  });
  define(module, "from_config", [engine](const std::string& class_name, nb::handle config) {
    return engine(keras::make_object("layer", class_name, to_value(config)));
  });
  define(module, "summary", [](Core& core, nb::handle given) {
    GivenOptions options(given);
    keras::SummaryOptions how;
    options.read("line_length", how.line_length);
    if (nb::object positions = options["positions"]; !positions.is_none())
      for (nb::handle item : positions) how.positions.push_back(nb::cast<double>(item));
    how.expand_nested = Flag(PyObject_IsTrue(options["expand_nested"].ptr()) == 1);
    how.show_trainable = Flag(PyObject_IsTrue(options["show_trainable"].ptr()) == 1);
    how.layer_range = to_texts(options["layer_range"]);
    return keras::summary_text(model_of(core), how);
  });
  define(module, "plot_model", [](Core& core, nb::handle given, bool write) {
    GivenOptions options(given);
    keras::utils::PlotModelOptions how;
    auto flag = [&](const char* name) { return Flag(PyObject_IsTrue(options[name].ptr()) == 1); };
    if (nb::object file = options["to_file"]; !file.is_none()) how.to_file = text_of(file);
    how.show_shapes = flag("show_shapes");
    how.show_dtype = flag("show_dtype");
    how.show_layer_names = flag("show_layer_names");
    how.rankdir = text_of(options["rankdir"]);
    how.expand_nested = flag("expand_nested");
    options.read("dpi", how.dpi);
    how.layer_range = to_texts(options["layer_range"]);
    how.show_layer_activations = flag("show_layer_activations");
    how.show_trainable = flag("show_trainable");
    return write ? keras::utils::plot_model(model_of(core), how) : keras::utils::model_to_dot(model_of(core), how);
  });
  define(module, "compile", [](Core& core, nb::handle given) {
    GivenOptions options(given);
    keras::CompileOptions how;
    if (nb::object optimizer = options["optimizer"]; !optimizer.is_none())
      how.optimizer = keras::Optimizer(to_handle<keras::Handle<keras::OptimizerInterface>>(optimizer).pointer());
    how.loss = to_one_or_many<keras::Loss>(options["loss"]);
    how.metrics = to_choices(options["metrics"]);
    how.weighted_metrics = to_choices(options["weighted_metrics"]);
    how.loss_weights = to_one_or_many<double>(options["loss_weights"]);
    if (nb::object eager = options["run_eagerly"]; !eager.is_none()) how.run_eagerly = Flag(nb::cast<bool>(eager));
    if (nb::object jit = options["jit_compile"]; !jit.is_none())
      how.jit_compile = Flag(PyObject_IsTrue(jit.ptr()) == 1);
    options.read("steps_per_execution", how.steps_per_execution);
    model_of(core).compile(how);
  });
  define(module, "set_run_eagerly", [](Core& core, bool eagerly) {
    auto layer = as_interface<LayerInterface>(core);
    if (!layer->training) return;
    for (keras::StepFunction* step : {&layer->training->train, &layer->training->test, &layer->training->predict})
      step->set_eagerly(eagerly);
  });
  define(module, "optimizer",
         [](Core& core) { return from_object(model_of(core).optimizer().pointer(), "optimizer"); });
  define(module, "is_compiled", [](Core& core) { return model_of(core).is_compiled(); });
  define(module, "model_metrics", [](Core& core) {
    nb::list list;
    for (const keras::Metric& metric : model_of(core).metrics()) list.append(from_object(metric.pointer(), "metric"));
    return list;
  });
  define(module, "reset_metrics", [](Core& core) { model_of(core).reset_metrics(); });
  define(module, "stop_training", [](Core& core, bool stop) { keras::training_of(model_of(core)).stop = stop; });
  define(module, "is_stopping", [](Core& core) {
    auto layer = as_interface<LayerInterface>(core);
    return layer->training && layer->training->stop;
  });
  auto fit_options = [](const GivenOptions& options) {
    keras::FitOptions how;
    options.read("epochs", how.epochs);
    options.read("batch_size", how.batch_size);
    options.read("verbose", how.verbose);
    options.read("validation_split", how.validation_split);
    options.read("initial_epoch", how.initial_epoch);
    options.read("steps_per_epoch", how.steps_per_epoch);
    options.read("validation_steps", how.validation_steps);
    options.read("validation_batch_size", how.validation_batch_size);
    if (nb::object frequency = options["validation_freq"]; PyLong_Check(frequency.ptr())) {
      how.validation_freq = nb::cast<int>(frequency);
    } else if (!frequency.is_none()) {
      std::vector<int> epochs;
      for (nb::handle epoch : frequency) epochs.push_back(nb::cast<int>(epoch));
      how.validation_freq = epochs;
    }
    if (nb::object shuffle = options["shuffle"]; !shuffle.is_none())
      how.shuffle = Flag(PyObject_IsTrue(shuffle.ptr()) == 1);
    how.class_weight = to_class_weight(options["class_weight"]);
    how.sample_weight = to_nest(options["sample_weight"]);
    how.validation_data = to_nest(options["validation_data"]);
    if (nb::object start = options["validation_start"]; !start.is_none())
      how.validation_batches = to_batches(start, nb::cast<int64_t>(options["validation_length"]));
    how.callbacks = to_callbacks(options["callbacks"]);
    return how;
  };
  define(module, "fit", [fit_options](Core& core, nb::handle x, nb::handle y, nb::handle given) {
    keras::FitOptions how = fit_options(GivenOptions(given));
    Model model = model_of(core);
    Nest inputs = to_nest(x), labels = to_nest(y);
    keras::History history;
    {
      nb::gil_scoped_release release;
      history = model.fit(inputs, labels, how);
    }
    return from_history(history);
  });
  define(module, "fit_history", [](Core& core) { return from_history(model_of(core).history()); });
  define(module, "fit_batches", [fit_options](Core& core, nb::handle start, int64_t steps, nb::handle given) {
    keras::FitOptions how = fit_options(GivenOptions(given));
    Model model = model_of(core);
    Batches batches = to_batches(start, steps);
    keras::History history;
    {
      nb::gil_scoped_release release;
      history = model.fit(batches, how);
    }
    return from_history(history);
  });
  auto evaluate_options = [](const GivenOptions& options) {
    keras::EvaluateOptions how;
    options.read("batch_size", how.batch_size);
    options.read("verbose", how.verbose);
    options.read("steps", how.steps);
    how.sample_weight = to_nest(options["sample_weight"]);
    how.callbacks = to_callbacks(options["callbacks"]);
    return how;
  };
  define(module, "evaluate", [evaluate_options](Core& core, nb::handle x, nb::handle y, nb::handle given) {
    keras::EvaluateOptions how = evaluate_options(GivenOptions(given));
    Model model = model_of(core);
    Nest inputs = to_nest(x), labels = to_nest(y);
    keras::Logs logs;
    {
      nb::gil_scoped_release release;
      logs = model.evaluate(inputs, labels, how);
    }
    return from_logs(logs);
  });
  define(module, "evaluate_batches", [evaluate_options](Core& core, nb::handle start, int64_t steps, nb::handle given) {
    keras::EvaluateOptions how = evaluate_options(GivenOptions(given));
    Model model = model_of(core);
    Batches batches = to_batches(start, steps);
    keras::Logs logs;
    {
      nb::gil_scoped_release release;
      logs = model.evaluate(batches, how);
    }
    return from_logs(logs);
  });
  auto predict_options = [](const GivenOptions& options) {
    keras::PredictOptions how;
    options.read("batch_size", how.batch_size);
    options.read("verbose", how.verbose);
    options.read("steps", how.steps);
    how.callbacks = to_callbacks(options["callbacks"]);
    return how;
  };
  define(module, "predict", [predict_options](Core& core, nb::handle x, nb::handle given) {
    keras::PredictOptions how = predict_options(GivenOptions(given));
    Model model = model_of(core);
    Nest inputs = to_nest(x), outputs;
    {
      nb::gil_scoped_release release;
      outputs = model.predict_nest(inputs, how);
    }
    return from_nest(outputs);
  });
  define(module, "predict_batches", [predict_options](Core& core, nb::handle start, int64_t steps, nb::handle given) {
    keras::PredictOptions how = predict_options(GivenOptions(given));
    Model model = model_of(core);
    Batches batches = to_batches(start, steps);
    Nest outputs;
    {
      nb::gil_scoped_release release;
      outputs = model.predict_nest(batches, how);
    }
    return from_nest(outputs);
  });
  auto batch_options = [](const GivenOptions& options) {
    keras::BatchOptions how;
    how.sample_weight = to_nest(options["sample_weight"]);
    how.class_weight = to_class_weight(options["class_weight"]);
    if (nb::object reset = options["reset_metrics"]; !reset.is_none()) how.reset_metrics = Flag(nb::cast<bool>(reset));
    return how;
  };
  define(module, "train_on_batch", [batch_options](Core& core, nb::handle x, nb::handle y, nb::handle given) {
    return from_logs(model_of(core).train_on_batch(to_nest(x), to_nest(y), batch_options(GivenOptions(given))));
  });
  define(module, "test_on_batch", [batch_options](Core& core, nb::handle x, nb::handle y, nb::handle given) {
    return from_logs(model_of(core).test_on_batch(to_nest(x), to_nest(y), batch_options(GivenOptions(given))));
  });
  define(module, "predict_on_batch",
         [](Core& core, nb::handle x) { return from_nest(model_of(core).predict_on_batch(to_nest(x))); });
  define(module, "last_outputs", [](Core& core) {
    auto layer = as_interface<LayerInterface>(core);
    return layer->training ? from_nest(layer->training->last_outputs) : nb::none();
  });
  define(module, "train_step",
         [](Core& core, nb::handle data) { return from_nest(model_of(core).train_step(to_nest(data))); });
  define(module, "test_step",
         [](Core& core, nb::handle data) { return from_nest(model_of(core).test_step(to_nest(data))); });
  define(module, "predict_step",
         [](Core& core, nb::handle data) { return from_nest(model_of(core).predict_step(to_nest(data))); });
  define(module, "compute_loss",
         [](Core& core, nb::handle x, nb::handle y, nb::handle y_pred, nb::handle sample_weight) {
           return from_nest(
               Nest(model_of(core).compute_loss(to_nest(x), to_nest(y), to_nest(y_pred), to_nest(sample_weight))));
         });
  define(module, "compute_metrics",
         [](Core& core, nb::handle x, nb::handle y, nb::handle y_pred, nb::handle sample_weight) {
           return from_nest(
               model_of(core).compute_metrics(to_nest(x), to_nest(y), to_nest(y_pred), to_nest(sample_weight)));
         });
  define(module, "update_compiled_metrics", [](Core& core, nb::handle y, nb::handle y_pred, nb::handle sample_weight) {
    auto layer = as_interface<LayerInterface>(core);
    if (layer->training) layer->training->metrics.update(to_nest(y), to_nest(y_pred), to_nest(sample_weight));
  });
}

}  // namespace thalweg::python

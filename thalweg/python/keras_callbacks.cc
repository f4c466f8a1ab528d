// Callbacks: those of Python as the engine calls them, those of the engine as Python calls them.
#include <nanobind/stl/string.h>

#include <map>
#include <set>

#include "thalweg/core/output.h"
#include "thalweg/keras/keras.h"
#include "thalweg/python/convert.h"
#include "thalweg/python/keras_core.h"

namespace thalweg::python {
namespace {

using keras::CallbackInterface;
using keras::Value;

/// Any Python object with hooks.
class PyCallback : public keras::CallbackInterface, public HasPython {
 public:
  explicit PyCallback(nb::object self) : self_(std::move(self)) {
    for (const char* hook :
         {"on_train_begin", "on_train_end", "on_epoch_begin", "on_epoch_end", "on_train_batch_begin",
          "on_train_batch_end", "on_test_begin", "on_test_end", "on_test_batch_begin", "on_test_batch_end",
          "on_predict_begin", "on_predict_end", "on_predict_batch_begin", "on_predict_batch_end"})
      if (overrides(hook)) hooks_.insert(hook);
    if (overrides("on_batch_begin")) hooks_.insert("on_train_batch_begin");
    if (overrides("on_batch_end")) hooks_.insert("on_train_batch_end");
  }
  ~PyCallback() override {
    nb::gil_scoped_acquire acquire;
    self_.reset();
  }
  nb::handle python() const override { return self_; }
  std::string class_name() const override {
    return with_python([&] { return text_of(self_.type().attr("__name__")); });
  }
  Value get_config() const override { return Value(Value::Map()); }
  bool wants_batch_logs() const override { return has("on_train_batch_end") || has("on_test_batch_end"); }
  void set_params(const keras::RunParameters& params) override {
    with_python([&] {
      nb::dict dict;
      dict["verbose"] = params.verbose;
      dict["epochs"] = params.epochs;
      dict["steps"] = params.steps < 0 ? nb::object(nb::none()) : nb::object(nb::int_(params.steps));
      self_.attr("set_params")(dict);
    });
  }
  void set_model(keras::Model& model) override {
    with_python([&] { self_.attr("set_model")(from_object(model.pointer(), "layer")); });
  }
  void on_train_begin(keras::Model&, keras::Logs& l) override { tell("on_train_begin", l); }
  void on_train_end(keras::Model&, keras::Logs& l) override { tell("on_train_end", l); }
  void on_epoch_begin(keras::Model&, int i, keras::Logs& l) override { tell("on_epoch_begin", l, i); }
  void on_epoch_end(keras::Model&, int i, keras::Logs& l) override { tell("on_epoch_end", l, i); }
  void on_train_batch_begin(keras::Model&, int64_t i, keras::Logs& l) override { tell("on_train_batch_begin", l, i); }
  void on_train_batch_end(keras::Model&, int64_t i, keras::Logs& l) override { tell("on_train_batch_end", l, i); }
  void on_test_begin(keras::Model&, keras::Logs& l) override { tell("on_test_begin", l); }
  void on_test_end(keras::Model&, keras::Logs& l) override { tell("on_test_end", l); }
  void on_test_batch_begin(keras::Model&, int64_t i, keras::Logs& l) override { tell("on_test_batch_begin", l, i); }
  void on_test_batch_end(keras::Model&, int64_t i, keras::Logs& l) override { tell("on_test_batch_end", l, i); }
  void on_predict_begin(keras::Model&, keras::Logs& l) override { tell("on_predict_begin", l); }
  void on_predict_end(keras::Model&, keras::Logs& l) override { tell("on_predict_end", l); }
  void on_predict_batch_begin(keras::Model&, int64_t i, keras::Logs& l) override {
    tell("on_predict_batch_begin", l, i);
  }
  void on_predict_batch_end(keras::Model& m, int64_t i, keras::Logs&) override {
    if (!has("on_predict_batch_end")) return;
    with_python([&] {
      nb::dict logs;
      logs["outputs"] = from_object(m.pointer(), "layer").attr("_last_outputs")();
      self_.attr("on_predict_batch_end")(i, logs);
    });
  }

 private:
  bool has(std::string_view hook) const { return hooks_.contains(hook); }
  bool overrides(const char* hook) const {
    return with_python([&] {
      nb::object base = nb::module_::import_("thalweg.keras.callbacks").attr("Callback");
      if (!nb::hasattr(self_, hook)) return false;
      nb::object attributes = nb::getattr(self_, "__dict__", nb::dict());
      if (nb::cast<nb::dict>(attributes).contains(hook)) return true;
      return !nb::hasattr(self_.type(), hook) || !nb::object(self_.type().attr(hook)).is(nb::object(base.attr(hook)));
    });
  }
  template <class... I> void tell(const char* hook, keras::Logs& logs, I... number) {
    if (!has(hook)) return;
    with_python([&] {
      nb::dict dict = from_logs(logs);
      self_.attr(hook)(number..., dict);
      for (auto [key, item] : dict)  // a callback may add to them
        if (PyNumber_Check(item.ptr()))
          logs.set(text_of(nb::str(key)), nb::cast<double>(nb::steal(checked(PyNumber_Float(item.ptr())))));
    });
  }

  nb::object self_;
  std::set<std::string_view> hooks_;  // that it writes: no batch waits for Python without need
};

/// The hooks by name; the number is that of the epoch or the batch, where there is one.
using CallHook = void (*)(CallbackInterface&, keras::Model&, int64_t, keras::Logs&);
template <auto hook>
void call_hook(CallbackInterface& callback, keras::Model& model, int64_t number, keras::Logs& logs) {
  if constexpr (requires { (callback.*hook)(model, logs); }) (callback.*hook)(model, logs);
  else (callback.*hook)(model, static_cast<int>(number), logs);
}
const std::map<std::string, CallHook, std::less<>>& all_hooks() {
  static const std::map<std::string, CallHook, std::less<>> hooks = {
      {"on_train_begin", call_hook<&CallbackInterface::on_train_begin>},
      {"on_train_end", call_hook<&CallbackInterface::on_train_end>},
      {"on_epoch_begin", call_hook<&CallbackInterface::on_epoch_begin>},
      {"on_epoch_end", call_hook<&CallbackInterface::on_epoch_end>},
      {"on_train_batch_begin", call_hook<&CallbackInterface::on_train_batch_begin>},
      {"on_train_batch_end", call_hook<&CallbackInterface::on_train_batch_end>},
  };
  return hooks;
}

void write_in_python(const std::string& text) {
  nb::gil_scoped_acquire acquire;
  try {
    nb::module_::import_("thalweg.core.logging").attr("write")(text);
  } catch (nb::python_error& error) {
    error.restore();
    PyErr_WriteUnraisable(nullptr);
  }
}

}  // namespace

void define_keras_callbacks(nb::module_& module) {
  define(module, "callback", [](nb::object self) {
    return std::unique_ptr<Core>(std::make_unique<EngineCore>(std::make_shared<PyCallback>(std::move(self))));
  });
  define(module, "callback_hook",
         [](Core& core, const std::string& hook, Core& model, int64_t number, nb::handle dict) {
           auto callback = as_interface<CallbackInterface>(core);
           keras::Model told(as_interface<keras::LayerInterface>(model));
           keras::Logs logs = to_logs(dict);
           all_hooks().at(hook)(*callback, told, number, logs);
           if (dict.is_none()) return;
           for (const auto& [name, value] : logs) nb::borrow<nb::dict>(dict)[nb::str(name.c_str())] = nb::float_(value);
         });
  define(module, "callback_weights", [](Core& core) {
    nb::list weights;
    for (const Tensor& t : as_interface<CallbackInterface>(core)->best_weights()) weights.append(nb::steal(wrap(t)));
    return weights;
  });
  define(module, "callback_state",
         [](Core& core) { return from_value(as_interface<CallbackInterface>(core)->state()); });
  set_output_handler(write_in_python);
}

}  // namespace thalweg::python

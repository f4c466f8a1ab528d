// The tape for Python, and Python functions as ways back.
#include "thalweg/autodiff/tape.h"

#include <memory>

#include "thalweg/autodiff/log.h"
#include "thalweg/core/convert.h"
#include "thalweg/core/error.h"
#include "thalweg/core/indexed_slices.h"
#include "thalweg/core/variable_resource.h"
#include "thalweg/core/warning.h"
#include "thalweg/graph/gradients.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/indexed_slices.h"
#include "thalweg/ops/shaping.h"
#include "thalweg/python/convert.h"
#include "thalweg/python/gradients.h"

namespace thalweg::python {

PyObject* wrap_gradient(Tensor gradient) {
  if (!is_indexed_slices(gradient)) return wrap(std::move(gradient));
  const IndexedSlices& slices = indexed_slices(gradient);
  Tensor dense_shape = slices.dense_shape;
  if (dense_shape.defined()) dense_shape = cast(dense_shape, int32);
  nb::object values = owned(wrap(slices.values)), indices = owned(wrap(slices.indices)),
             shape = owned(wrap(std::move(dense_shape)));
  return checked(
      PyObject_CallFunctionObjArgs(hook(Hook::indexed_slices), values.ptr(), indices.ptr(), shape.ptr(), nullptr));
}

Tensor to_gradient(PyObject* object) {
  if (object == Py_None) return {};
  if (is_tensor(object)) return tensor_of(object);
  if (reinterpret_cast<PyObject*>(Py_TYPE(object)) != hook(Hook::indexed_slices)) return natural_tensor(object);
  nb::handle slices(object);
  nb::object shape = slices.attr("dense_shape");
  return IndexedSlices{natural_tensor(nb::object(slices.attr("values")).ptr()),
                       natural_tensor(nb::object(slices.attr("indices")).ptr()),
                       shape.is_none() ? Tensor() : natural_tensor(shape.ptr())};
}

namespace {

// A tensor, or the handle of a variable. The error is what TensorFlow says of an object that is neither.
const Tensor& source_of(PyObject* object) {
  if (is_tensor(object)) return tensor_of(object);
  if (is_variable(object)) return handle_of(object);
  if (object == Py_None)
    raise(PyExc_TypeError, "Cannot convert the argument `type_value`: None to a TensorFlow DType.");
  raise(PyExc_AttributeError, "'" + std::string(Py_TYPE(object)->tp_name) + "' object has no attribute 'dtype'");
}
std::vector<Tensor> sources_of(const nb::list& objects) {
  std::vector<Tensor> all;
  all.reserve(objects.size());
  for (nb::handle object : objects) all.push_back(source_of(object.ptr()));
  return all;
}

nb::list wrap_gradients(std::vector<Tensor> gradients) {
  nb::list list;
  for (Tensor& gradient : gradients) list.append(nb::steal(wrap_gradient(std::move(gradient))));
  return list;
}

UnconnectedGradients unconnected(bool zero) { return zero ? UnconnectedGradients::zero : UnconnectedGradients::none; }

/// A tape and what it leaves for later: the variables it watched. Gradients run without the GIL; ways back that are
/// Python functions take it while they run.
class PyTape {
 public:
  PyTape(bool persistent, bool watch_accessed_variables)
      : tape_(std::make_unique<autodiff::Tape>(
            TapeOptions{.persistent = persistent, .watch_accessed_variables = watch_accessed_variables})) {}

  void start() { tape().start(); }
  void stop() { tape().stop(); }
  void watch(nb::handle object) { tape().watch(source_of(object.ptr())); }

  nb::object watched_variables() {
    if (tape_) watched_ = tape_->watched_variables();
    nb::object tuple = owned(PyTuple_New(static_cast<Py_ssize_t>(watched_.size())));
    for (size_t i = 0; i < watched_.size(); ++i)
      PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(i), wrap_variable(watched_[i]));
    return tuple;
  }

  nb::list gradient(const nb::list& targets, const nb::list& sources, nb::handle output_gradients, bool zero) {
    std::vector<Tensor> from = sources_of(targets), to = sources_of(sources), given;
    if (!output_gradients.is_none())
      for (nb::handle object : output_gradients) given.push_back(to_array(to_gradient(object.ptr())));
    given.resize(given.empty() ? 0 : from.size());  // ones where one is missing
    std::vector<Tensor> own = gradients_of_variables(from, to, given);
    begin_use();
    std::vector<Tensor> found;
    {
      nb::gil_scoped_release released;
      found = tape_->gradient(from, to, given, UnconnectedGradients::none);
      for (size_t i = 0; i < own.size(); ++i)
        if (own[i].defined()) found[i] = found[i].defined() ? add_gradients(std::move(found[i]), own[i]) : own[i];
      for (size_t i = 0; zero && i < found.size(); ++i)
        if (!found[i].defined()) found[i] = zeros_like(value_of_source(to[i]));
    }
    end_use();
    return wrap_gradients(std::move(found));
  }
  nb::list jacobian(nb::handle target, const nb::list& sources, bool zero) {
    Tensor from = natural_tensor(target.ptr());
    std::vector<Tensor> to = sources_of(sources), found;
    begin_use();
    {
      nb::gil_scoped_release released;
      found = tape_->jacobian(from, to, unconnected(zero));
    }
    end_use();
    return wrap_gradients(std::move(found));
  }
  nb::object batch_jacobian(nb::handle target, nb::handle source, bool zero) {
    Tensor from = natural_tensor(target.ptr()), to = source_of(source.ptr()), found;
    begin_use();
    {
      nb::gil_scoped_release released;
      found = tape_->batch_jacobian(from, to, unconnected(zero));
    }
    end_use();
    return nb::steal(wrap_gradient(std::move(found)));
  }

 private:
  static Tensor value_of_source(const Tensor& source) {
    return source.dtype() == DType::resource ? variable_of(source).read() : source;
  }
  // A variable may be a target: then its gradient with respect to itself is what the pass begins with.
  static std::vector<Tensor> gradients_of_variables(std::vector<Tensor>& targets, const std::vector<Tensor>& sources,
                                                    const std::vector<Tensor>& given) {
    std::vector<Tensor> own(sources.size());
    for (size_t t = 0; t < targets.size(); ++t) {
      if (targets[t].dtype() != DType::resource) continue;
      for (size_t s = 0; s < sources.size(); ++s) {
        if (sources[s].get() != targets[t].get()) continue;
        Tensor one = t < given.size() && given[t].defined() ? given[t] : ones_like(value_of_source(targets[t]));
        own[s] = own[s].defined() ? add_gradients(std::move(own[s]), one) : one;
      }
      targets[t] = ones_like(value_of_source(targets[t]));  // a constant: nothing more comes from it
    }
    return own;
  }
  autodiff::Tape& tape() {
    if (!tape_) throw RuntimeError("this tape has given its gradients");
    return *tape_;
  }
  void begin_use() {
    if (!tape().is_persistent()) watched_ = tape_->watched_variables();
  }
  void end_use() {
    if (!tape_->is_persistent()) tape_.reset();
  }

  std::unique_ptr<autodiff::Tape> tape_;  // none once it has given its gradients, unless it is persistent
  std::vector<Tensor> watched_;
};

/// A way back written in Python: called with the gradients of the results, it returns a list of those of the inputs.
class PyBackward final : public BackwardFunction {
 public:
  explicit PyBackward(nb::object function) : function_(std::move(function)) {}
  ~PyBackward() override {
    if (!Py_IsInitialized()) {  // the interpreter is gone and took the function along
      function_.release();
      return;
    }
    nb::gil_scoped_acquire gil;
    function_.reset();
  }
  std::vector<Tensor> run(std::span<const Tensor> output_grads, uint64_t) override {
    nb::gil_scoped_acquire gil;
    nb::object arguments = owned(PyTuple_New(static_cast<Py_ssize_t>(output_grads.size())));
    for (size_t i = 0; i < output_grads.size(); ++i)
      PyTuple_SET_ITEM(arguments.ptr(), static_cast<Py_ssize_t>(i), wrap_gradient(output_grads[i]));
    nb::object result = owned(PyObject_CallObject(function_.ptr(), arguments.ptr()));
    std::vector<Tensor> gradients;
    for (nb::handle gradient : result) gradients.push_back(to_gradient(gradient.ptr()));
    return gradients;
  }

 private:
  nb::object function_;
};

// The tapes follow fresh copies of the results; without a tape they are the results as they are.
nb::object record(const nb::list& inputs, nb::object outputs, nb::object backward) {
  Recorder* recorder = thread_state.recorder;
  if (!recorder) return outputs;
  std::vector<Tensor> in, out;
  for (nb::handle input : inputs) in.push_back(source_of(input.ptr()));
  for (nb::handle output : outputs) out.push_back(identity(natural_tensor(output.ptr())));
  recorder->record(in, out, std::make_unique<PyBackward>(std::move(backward)));
  nb::list list;
  for (Tensor& t : out) list.append(nb::steal(wrap(std::move(t))));
  return list;
}

void warn_in_python(const char* text) {
  nb::gil_scoped_acquire gil;
  PyObject* result = PyObject_CallFunction(hook(Hook::warn), "s", text);
  if (result) Py_DECREF(result);
  else PyErr_WriteUnraisable(hook(Hook::warn));
}

nb::list gradients_in_graph(const nb::list& ys, const nb::list& xs, const nb::list& grad_ys, const nb::list& stops,
                            bool zero) {
  GradientsOptions options{.unconnected_gradients = unconnected(zero)};
  for (nb::handle object : grad_ys) options.grad_ys.push_back(to_array(to_gradient(object.ptr())));
  for (nb::handle object : stops)
    if (is_tensor(object.ptr())) options.stop_gradients.push_back(tensor_of(object.ptr()));
  std::vector<Tensor> targets;
  for (nb::handle object : ys) targets.push_back(natural_tensor(object.ptr()));
  return wrap_gradients(gradients(targets, sources_of(xs), options));
}

}  // namespace

void define_tapes(nb::module_& module) {
  nb::class_<PyTape>(module, "Tape")
      .def(nb::init<bool, bool>())
      .def("start", &PyTape::start)
      .def("stop", &PyTape::stop)
      .def("watch", &PyTape::watch)
      .def("watched_variables", &PyTape::watched_variables)
      .def("gradient", &PyTape::gradient, nb::arg(), nb::arg(), nb::arg().none(), nb::arg())
      .def("jacobian", &PyTape::jacobian)
      .def("batch_jacobian", &PyTape::batch_jacobian);
  module.def("gradients", gradients_in_graph, "The gradients of tensors of the function that is being traced.");
  module.def("pause_tapes", &autodiff::Log::pause_all, "Holds all tapes of this thread; returns them, to resume.");
  module.def("resume_tapes", &autodiff::Log::resume_all, "Goes on with tapes that pause_tapes held.");
  module.def("record", &record, "Gives results a way back of their own on the tapes that record; returns the results.");
  set_warning_handler(warn_in_python);
}

}  // namespace thalweg::python

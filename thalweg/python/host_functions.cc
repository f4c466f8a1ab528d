// Host functions in Python: tf.py_function and tf.numpy_function.
#include "thalweg/core/error.h"
#include "thalweg/graph/host_function.h"
#include "thalweg/python/body.h"
#include "thalweg/python/convert.h"

namespace thalweg::python {
namespace {

/// Calls a Python object. Graphs, which Python's garbage collector does not see, do not hold it once a Body does.
class PythonHost final : public graph::HostFunction {
 public:
  explicit PythonHost(nb::handle callable)
      : HostFunction([this](std::span<const Tensor> inputs) { return run(inputs); }),
        weak_(owned(PyWeakref_NewRef(callable.ptr(), nullptr))),
        strong_(nb::borrow(callable)) {}
  ~PythonHost() override {
    if (!Py_IsInitialized()) {
      weak_.release();
      strong_.release();
      return;
    }
    nb::gil_scoped_acquire gil;
    weak_.reset();
    strong_.reset();
  }

  nb::object callable() const { return nb::borrow(PyWeakref_GetObject(weak_.ptr())); }
  /// From now on somebody else holds the Python object.
  void let_go() const { strong_.reset(); }

 private:
  std::vector<Tensor> run(std::span<const Tensor> inputs) const {
    nb::gil_scoped_acquire gil;
    nb::object function = callable();
    if (function.is_none()) throw InvalidArgumentError("callback " + token() + " is not found: it is gone");
    nb::list arguments;
    for (const Tensor& t : inputs) arguments.append(nb::steal(wrap(t)));
    nb::object results = function(arguments);
    std::vector<Tensor> tensors;
    for (nb::handle result : results) tensors.push_back(natural_tensor(result.ptr()));
    return tensors;
  }

  mutable nb::object weak_, strong_;
};

// `callable` takes the list of the inputs and returns the list of the results.
nb::list call_host(nb::handle callable, const nb::list& inputs, const nb::list& types, int kind) {
  std::vector<Tensor> in;
  for (nb::handle input : inputs) in.push_back(natural_tensor(input.ptr()));
  std::vector<DType> out;
  for (nb::handle type : types) out.push_back(to_dtype(type.ptr()));
  graph::HostFunctionRef function = graph::register_host_function(std::make_shared<PythonHost>(callable));
  nb::list results;
  for (Tensor& t : graph::call_host(function, in, out, static_cast<graph::HostKind>(kind)))
    results.append(nb::steal(wrap(std::move(t))));
  return results;
}

int traverse_body(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  for (const nb::object& host : nb::inst_ptr<Body>(self)->hosts) Py_VISIT(host.ptr());
  return 0;
}
int clear_body(PyObject* self) {
  std::vector<nb::object> hosts;
  if (nb::inst_ready(self)) hosts.swap(nb::inst_ptr<Body>(self)->hosts);
  return 0;
}

}  // namespace

PyType_Slot body_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse_body)},
                            {Py_tp_clear, reinterpret_cast<void*>(clear_body)},
                            {0, nullptr}};

Body::Body(FunctionAttr function) : body(std::move(function)) {
  for (const graph::HostFunctionRef& host : graph::host_functions_of(body->graph()))
    if (const auto* python = dynamic_cast<const PythonHost*>(host.get()))
      if (nb::object callable = python->callable(); !callable.is_none()) {
        hosts.push_back(std::move(callable));
        // A function made inside of another may be gone before that one has its own Body.
        if (!thread_state.tracer) python->let_go();
      }
}

void define_host_functions(nb::module_& module) { module.def("call_host", call_host); }

}  // namespace thalweg::python

// The type under tf.function: a call with tensors like those of the last one goes to its plan at once.
#include <new>

#include "thalweg/graph/function_body.h"
#include "thalweg/graph/function_core.h"
#include "thalweg/python/objects.h"
#include "thalweg/python/tensor_slots.h"

namespace thalweg::python {
namespace {

struct Ready {
  FunctionAttr body;  // null: nothing is ready
};
struct PyFunctionBase {
  PyObject_HEAD Ready ready;
};
PyTypeObject* function_base_type = nullptr;
PyObject* slow_name = nullptr;

constexpr Py_ssize_t most_arguments = 8;

// Whether the arguments are just what the trace that is ready was made for.
bool fits(const FunctionBody& body, PyObject* const* args, Py_ssize_t count, TensorImpl** tensors) {
  if (static_cast<size_t>(count) != body.num_arguments()) return false;
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (Py_TYPE(args[i]) != eager_tensor_type) return false;
    TensorImpl* t = tensor_of(args[i]).get();
    const graph::Spec& spec = body.argument(static_cast<size_t>(i));
    if (t->dtype != spec.dtype || !(t->shape == spec.shape) || t->form != Form::array) return false;
    tensors[i] = t;
  }
  return true;
}

PyObject* run_body(const FunctionAttr& body, std::span<const TensorRef> in, bool heavy) {
  TensorImpl* result = nullptr;
  const graph::Plan& plan = body->plan();
  if (heavy || plan.num_steps() > 4 || plan.calls_functions()) {
    nb::gil_scoped_release release;
    plan.run(in, {&result, 1});
  } else {
    plan.run(in, {&result, 1});
  }
  return wrap(Tensor(result));
}

PyObject* call(PyObject* self, PyObject* args, PyObject* keywords) {
  return guarded([&]() -> PyObject* {
    const FunctionAttr& body = reinterpret_cast<PyFunctionBase*>(self)->ready.body;
    Py_ssize_t count = PyTuple_GET_SIZE(args);
    if (body && !keywords && count <= most_arguments && !thread_state.tracer && !thread_state.recorder &&
        !config::functions_run_eagerly()) {
      TensorImpl* tensors[most_arguments];
      if (fits(*body, &PyTuple_GET_ITEM(args, 0), count, tensors)) {
        bool heavy = false;
        for (Py_ssize_t i = 0; i < count; ++i) heavy |= is_heavy(tensors[i]);
        FunctionAttr held = body;  // the call may make another one ready
        return run_body(held, {reinterpret_cast<const TensorRef*>(tensors), static_cast<size_t>(count)}, heavy);
      }
    }
    nb::object slow = owned(PyObject_GetAttr(self, slow_name));
    return checked(PyObject_Call(slow.ptr(), args, keywords));
  });
}

PyObject* make(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* self = type->tp_alloc(type, 0);
  if (self) new (&reinterpret_cast<PyFunctionBase*>(self)->ready) Ready;
  return self;
}
void drop(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  reinterpret_cast<PyFunctionBase*>(self)->ready.~Ready();
  type->tp_free(self);
  Py_DECREF(type);
}

}  // namespace

void set_ready(PyObject* function, FunctionAttr body) {
  reinterpret_cast<PyFunctionBase*>(function)->ready.body = std::move(body);
}

PyObject* make_function_type() {
  slow_name = checked(PyUnicode_InternFromString("_call"));
  PyType_Slot slots[] = {slot(Py_tp_call, call), slot(Py_tp_new, make), slot(Py_tp_dealloc, drop), {0, nullptr}};
  PyType_Spec spec = {"thalweg.FunctionBase", sizeof(PyFunctionBase), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                      slots};
  function_base_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)));
  return reinterpret_cast<PyObject*>(function_base_type);
}

}  // namespace thalweg::python

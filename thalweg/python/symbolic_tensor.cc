// Tensors of traced functions in Python: they have a name and a place in a graph, but no value.
#include "thalweg/core/error.h"
#include "thalweg/core/thread_state.h"
#include "thalweg/graph/graph.h"
#include "thalweg/python/tensor_slots.h"

namespace thalweg::python {
namespace {

std::string name_of_symbol(const Tensor& t) {
  return graph::label_of(*t.impl()).name + ":" + std::to_string(graph::origin_of(*t.impl()).index);
}

PyObject* symbol_str(PyObject* self) {
  return guarded([&] {
    const Tensor& t = tensor_of(self);
    std::string shape = t.shape().has_rank() ? ", shape=" + t.shape().str() : "";
    return unicode("Tensor(\"" + name_of_symbol(t) + "\"" + shape + ", dtype=" + std::string(name_of(t.dtype())) + ")");
  });
}
PyObject* symbol_repr(PyObject* self) {
  return guarded([&] {
    const Tensor& t = tensor_of(self);
    return unicode("<tf.Tensor '" + name_of_symbol(t) + "' shape=" + t.shape().str() +
                   " dtype=" + std::string(name_of(t.dtype())) + ">");
  });
}

PyObject* get_name(PyObject* self, void*) {
  return guarded([&] { return unicode(name_of_symbol(tensor_of(self))); });
}
PyObject* get_value_index(PyObject* self, void*) {
  return guarded([&] { return checked(PyLong_FromLong(graph::origin_of(*tensor_of(self).impl()).index)); });
}
PyObject* get_op(PyObject* self, void*) {
  return guarded([&] { return operation_of(tensor_of(self)); });
}

[[noreturn]] void refuse(const char* what) {
  nb::object errors = nb::module_::import_("thalweg.errors");
  nb::object type = errors.attr("OperatorNotAllowedInGraphError");
  raise(type.ptr(), std::string(what) +
                        " is not allowed. You can attempt the following resolutions to the problem: If you are running "
                        "in Graph mode, use Eager execution mode or decorate this function with @tf.function. If you "
                        "are using AutoGraph, you can try decorating this function with @tf.function. If that does not "
                        "work, then you may be using an unsupported feature or your source code may not be visible to "
                        "AutoGraph: use tf.cond or tf.while_loop.");
}
int symbol_truth(PyObject* self) {
  return guarded([&]() -> int {
    if (thread_state.reveal) return static_cast<bool>(tensor_of(self)) ? 1 : 0;
    refuse("Using a symbolic `tf.Tensor` as a Python `bool`");
  });
}
PyObject* symbol_iter(PyObject* self) {
  return guarded([&]() -> PyObject* {
    const Tensor& t = tensor_of(self);
    if (!t.shape().has_rank() || t.rank() == 0 || t.shape()[0] < 0) refuse("Iterating over a symbolic `tf.Tensor`");
    nb::list items;
    for (int64_t i = 0; i < t.shape()[0]; ++i) items.append(nb::steal(subscript(t, nb::int_(i).ptr())));
    return checked(PyObject_GetIter(items.ptr()));
  });
}
PyObject* refuse_array(PyObject* self, PyObject* const*, Py_ssize_t, PyObject*) {
  return guarded([&]() -> PyObject* {
    raise(
        PyExc_NotImplementedError,
        "Cannot convert a symbolic tf.Tensor (" + name_of_symbol(tensor_of(self)) +
            ") to a numpy array. This error may indicate that you're trying to pass a Tensor to a NumPy call, which is "
            "not supported.");
  });
}
constexpr const char* what_to_do =
    " has no value while its function is traced. Keep it a tensor (tf.cond, tf.while_loop, tf.cast), return it, "
    "show it with tf.print, or work on its value in a tf.py_function.";
PyObject* refuse_number(PyObject* self) {
  return guarded([&]() -> PyObject* {
    throw TypeError("The symbolic tf.Tensor " + name_of_symbol(tensor_of(self)) + what_to_do);
  });
}
PyObject* refuse_numpy(PyObject*, void*) {  // an AttributeError: hasattr(x, "numpy") is how programs ask for a value
  return guarded([&]() -> PyObject* {
    raise(PyExc_AttributeError, "'SymbolicTensor' object has no attribute 'numpy': it" + std::string(what_to_do));
  });
}

PyMethodDef symbolic_tensor_methods[] = {
    {"__array__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(refuse_array)), with_keywords,
     "Refused: there is no value yet."},
    {nullptr, nullptr, 0, nullptr},
};
PyGetSetDef symbolic_tensor_attributes[] = {
    {"name", get_name, nullptr, "The node and the number of the result: `MatMul:0`.", nullptr},
    {"op", get_op, nullptr, "The operation that makes it.", nullptr},
    {"numpy", refuse_numpy, nullptr, "Refused: there is no value yet.", nullptr},
    {"value_index", get_value_index, nullptr, "The number of the result of its node.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

}  // namespace

void add_symbolic_slots(std::vector<PyType_Slot>& slots) {
  slots.insert(slots.end(), {
                                slot(Py_tp_str, symbol_str),
                                slot(Py_tp_repr, symbol_repr),
                                slot(Py_tp_iter, symbol_iter),
                                slot(Py_nb_bool, symbol_truth),
                                slot(Py_nb_int, refuse_number),
                                slot(Py_nb_float, refuse_number),
                                slot(Py_nb_index, refuse_number),
                                slot(Py_tp_methods, symbolic_tensor_methods),
                                slot(Py_tp_getset, symbolic_tensor_attributes),
                            });
}

}  // namespace thalweg::python

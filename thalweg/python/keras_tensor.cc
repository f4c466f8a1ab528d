// Tensors of models in Python: they remember which layer made them, and have no value.
#include "thalweg/core/error.h"
#include "thalweg/keras/functional.h"
#include "thalweg/python/arguments.h"
#include "thalweg/python/keras_convert.h"
#include "thalweg/python/keras_functions.h"
#include "thalweg/python/tensor_slots.h"

namespace thalweg::python {
namespace {

using keras::functional::History;
using keras::functional::history_of;

PyObject* keras_str(PyObject* self) {
  return guarded([&] { return unicode(keras::functional::tensor_str(tensor_of(self))); });
}
PyObject* keras_repr(PyObject* self) {
  return guarded([&] { return unicode(keras::functional::tensor_repr(tensor_of(self))); });
}
PyObject* get_name(PyObject* self, void*) {
  return guarded([&] { return unicode(keras::functional::tensor_name(tensor_of(self))); });
}

constexpr const char* no_dispatch =
    "Keras symbolic inputs/outputs do not implement `%s`. You may be trying to pass Keras symbolic inputs/outputs to a "
    "TF API that does not register dispatching, preventing Keras from automatically converting the API call to a "
    "lambda "
    "layer in the Functional Model.";
Py_ssize_t refuse_length(PyObject*) {
  PyErr_Format(PyExc_TypeError, no_dispatch, "__len__");
  return -1;
}
int refuse_truth(PyObject* self) { return static_cast<int>(refuse_length(self)); }
PyObject* refuse_op(PyObject*, void*) { return PyErr_Format(PyExc_TypeError, no_dispatch, "op"); }
PyObject* refuse_attribute(PyObject*, void* name) {
  return PyErr_Format(PyExc_AttributeError, "'KerasTensor' object has no attribute '%s'",
                      static_cast<const char*>(name));
}
PyObject* refuse_number(PyObject*) {
  PyErr_SetString(PyExc_TypeError, "a KerasTensor has no value: it stands for what a model will compute");
  return nullptr;
}
PyObject* refuse_array(PyObject* self, PyObject* const*, Py_ssize_t, PyObject*) {
  return guarded([&]() -> PyObject* {
    throw TypeError(
        "You are passing " + keras::functional::tensor_str(tensor_of(self)) +
        ", an intermediate Keras symbolic input/output, to a TF API that does not allow registering custom "
        "dispatchers, such as `tf.cond`, `tf.function`, gradient tapes, or `tf.map_fn`. Put the operation into the "
        "`call` of a layer, and call that layer on this symbolic input/output.");
  });
}
PyObject* iterate(PyObject* self) {
  return guarded([&]() -> PyObject* {
    const Shape& shape = tensor_of(self).shape();
    if (!shape.has_rank()) throw TypeError("Cannot iterate over a Tensor with unknown shape.");
    if (shape.rank() == 0) throw TypeError("Cannot iterate over a scalar.");
    if (shape[0] < 0) throw TypeError("Cannot iterate over a Tensor with unknown first dimension.");
    nb::list items;
    for (int64_t i = 0; i < shape[0]; ++i)
      items.append(nb::steal(checked(slice_model_tensor(self, nb::int_(i).ptr()))));
    return checked(PyObject_GetIter(items.ptr()));
  });
}
PyObject* set_shape(PyObject* self, PyObject* given) {
  return guarded([&] {
    const Tensor& t = tensor_of(self);
    const Shape wanted = to_shape(given);
    if (!t.shape().is_compatible_with(wanted))
      throw ValueError("Keras symbolic input/output's shape " + t.shape().str() +
                       " is not compatible with supplied shape " + wanted.str() + ".");
    t.impl()->shape = t.shape().merge_with(wanted);
    return Py_NewRef(Py_None);
  });
}
/// (layer, number of its call, number of the output), as Keras has it.
PyObject* get_history(PyObject* self, void*) {
  return guarded([&] {
    const History from = history_of(tensor_of(self));
    static PyObject* const type = record_type("KerasHistory", {"layer", "node_index", "tensor_index"});
    std::vector<nb::object> values = {from_object(from.node->layer.pointer(), "layer"), nb::int_(from.node->index),
                                      nb::int_(from.index)};
    return make_record(type, std::move(values)).release().ptr();
  });
}
/// The call that made it, as a layer's `inbound_nodes` have it.
PyObject* get_node(PyObject* self, void*) {
  return guarded([&] {
    return nb::module_::import_("thalweg.keras.layer.nodes").attr("node_of")(nb::handle(self)).release().ptr();
  });
}
PyObject* get_type_spec(PyObject* self, void*) {
  return guarded([&] {
    const Tensor& t = tensor_of(self);
    nb::object spec = nb::module_::import_("thalweg").attr("TensorSpec");
    return spec(nb::steal(wrap_shape(t.shape())), nb::steal(wrap_dtype(t.dtype()))).release().ptr();
  });
}

PyMethodDef keras_tensor_methods[] = {
    {"__array__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(refuse_array)), with_keywords,
     "Refused: there is no value."},
    {"set_shape", set_shape, METH_O, "Says what else is known of the shape."},
    {nullptr, nullptr, 0, nullptr},
};
char numpy_name[] = "numpy", graph_name[] = "graph", device_name[] = "device";
PyGetSetDef keras_tensor_attributes[] = {
    {"name", get_name, nullptr, "The op that gives it: `dense/Relu:0`.", nullptr},
    {"op", refuse_op, nullptr, "Refused: it belongs to no graph.", nullptr},
    {"type_spec", get_type_spec, nullptr, "Its shape and dtype, a TensorSpec.", nullptr},
    {"_keras_history", get_history, nullptr, "The layer, the number of its call and of the output.", nullptr},
    {"node", get_node, nullptr, "The call of a layer that made it.", nullptr},
    {"numpy", refuse_attribute, nullptr, "Refused: there is no value.", numpy_name},
    {"graph", refuse_attribute, nullptr, "Refused: it belongs to no graph.", graph_name},
    {"device", refuse_attribute, nullptr, "Refused: it is nowhere.", device_name},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

}  // namespace

void add_keras_slots(std::vector<PyType_Slot>& slots) {
  slots.insert(slots.end(), {
                                slot(Py_tp_str, keras_str),
                                slot(Py_tp_repr, keras_repr),
                                slot(Py_tp_iter, iterate),
                                slot(Py_mp_subscript, slice_model_tensor),
                                slot(Py_mp_length, refuse_length),
                                slot(Py_sq_length, refuse_length),
                                slot(Py_nb_bool, refuse_truth),
                                slot(Py_nb_int, refuse_number),
                                slot(Py_nb_float, refuse_number),
                                slot(Py_nb_index, refuse_number),
                                slot(Py_tp_methods, keras_tensor_methods),
                                slot(Py_tp_getset, keras_tensor_attributes),
                            });
}

}  // namespace thalweg::python

// The Tensor type: a raw CPython heap type, because `x + y` must cost tens of nanoseconds.
#include <Python.h>
#include <structmember.h>

#include "thalweg/keras/functional.h"
#include "thalweg/python/keras_functions.h"
#include "thalweg/python/tensor_slots.h"

namespace thalweg::python {

PyTypeObject* tensor_type = nullptr;
PyTypeObject* eager_tensor_type = nullptr;
PyTypeObject* symbolic_tensor_type = nullptr;
PyTypeObject* keras_tensor_type = nullptr;

namespace {

// Objects are made and dropped all the time; the GIL guards this list.
constexpr int max_free = 256;
PyTensor* free_objects[max_free];
int num_free = 0;

void drop_tensor(PyObject* self) {
  auto* object = reinterpret_cast<PyTensor*>(self);
  if (object->weak_references) [[unlikely]]
    PyObject_ClearWeakRefs(self);
  Py_CLEAR(object->attributes);
  object->tensor.~Tensor();
  PyTypeObject* type = Py_TYPE(self);
  if (num_free < max_free) free_objects[num_free++] = object;
  else PyObject_Free(self);
  Py_DECREF(type);
}

Py_hash_t hash_tensor(PyObject*) {
  PyErr_SetString(PyExc_TypeError, "Tensor is unhashable. Instead, use tensor.ref() as the key.");
  return -1;
}

PyObject* text_object(const std::string& text) {
  return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace");
}
PyObject* tensor_repr(PyObject* self) {
  return guarded([&] { return text_object(shown(tensor_of(self), true)); });
}
PyObject* tensor_str(PyObject* self) {
  return guarded([&] { return text_object(shown(tensor_of(self), false)); });
}

PyMemberDef members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(PyTensor, attributes), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(PyTensor, weak_references), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

PyTypeObject* type_of_symbol(const Tensor& tensor) {
  if (!keras::functional::has_history(tensor)) return symbolic_tensor_type;
  has_keras_tensors = true;
  return keras_tensor_type;
}

constexpr const char* doc =
    "A value of any dtype and shape. Tensors are immutable; operators and functions make new ones.";

}  // namespace

std::string shown(const Tensor& tensor, bool as_repr) {
  if (!tensor.is_symbolic()) {
    nb::object object = owned(wrap(tensor));
    nb::object text = owned(PyObject_CallFunction(hook(Hook::numpy_text), "Oi", object.ptr(), as_repr ? 1 : 0));
    if (!text.is_none()) return text_of(text);
  }
  return as_repr ? tensor.repr() : tensor.str();
}

PyObject* wrap(Tensor tensor) {
  if (!tensor.defined()) return Py_NewRef(Py_None);
  PyTensor* object;
  PyTypeObject* type = tensor.get()->form == Form::symbolic ? type_of_symbol(tensor) : eager_tensor_type;
  if (num_free) {
    object = free_objects[--num_free];
    PyObject_Init(reinterpret_cast<PyObject*>(object), type);
  } else {
    object = PyObject_New(PyTensor, type);
    if (!object) throw nb::python_error();
  }
  new (&object->tensor) Tensor(std::move(tensor));
  object->attributes = nullptr;
  object->weak_references = nullptr;
  return reinterpret_cast<PyObject*>(object);
}

void make_tensor_types() {
  std::vector<PyType_Slot> slots = {
      slot(Py_tp_dealloc, drop_tensor), slot(Py_tp_hash, hash_tensor), slot(Py_tp_repr, tensor_repr),
      slot(Py_tp_str, tensor_str),      slot(Py_tp_members, members),  slot(Py_tp_doc, const_cast<char*>(doc)),
  };
  add_operator_slots(slots);
  add_indexing_slots(slots);
  add_buffer_slots(slots);
  add_method_slots(slots);
  slots.push_back({0, nullptr});
  constexpr unsigned flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION;
  PyType_Spec spec = {"thalweg.Tensor", sizeof(PyTensor), 0, flags | Py_TPFLAGS_BASETYPE, slots.data()};
  tensor_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)));

  auto derived = [&](const char* name, std::vector<PyType_Slot> more) {
    more.insert(more.end(), {slot(Py_tp_dealloc, drop_tensor), slot(Py_tp_doc, const_cast<char*>(doc)), {0, nullptr}});
    PyType_Spec derived_spec = {name, sizeof(PyTensor), 0, flags, more.data()};
    return reinterpret_cast<PyTypeObject*>(
        checked(PyType_FromSpecWithBases(&derived_spec, reinterpret_cast<PyObject*>(tensor_type))));
  };
  std::vector<PyType_Slot> value_slots;
  add_value_slots(value_slots);
  eager_tensor_type = derived("thalweg.EagerTensor", value_slots);
  std::vector<PyType_Slot> symbolic_slots;
  add_symbolic_slots(symbolic_slots);
  symbolic_tensor_type = derived("thalweg.SymbolicTensor", symbolic_slots);
  std::vector<PyType_Slot> keras_slots;
  add_keras_slots(keras_slots);
  keras_tensor_type = derived("thalweg.KerasTensor", keras_slots);
}

bool is_heavy(const TensorImpl* tensor) {
  constexpr int64_t many = 16 * 1024;
  if (!tensor || tensor->form != Form::array) return false;
  const Shape& shape = tensor->shape;
  if (tensor->buffer) return shape.count() * static_cast<int64_t>(size_of(tensor->dtype)) > 4 * many;
  if (shape.rank() != 1 || (tensor->dtype != int32 && tensor->dtype != int64)) return false;
  double product = 1;  // a small integer vector may be a shape: what would it take?
  for (int64_t i = 0; i < shape[0]; ++i)
    product *= tensor->dtype == int32 ? static_cast<double>(static_cast<const int32_t*>(tensor->data)[i])
                                      : static_cast<double>(static_cast<const int64_t*>(tensor->data)[i]);
  return product > many;
}

}  // namespace thalweg::python

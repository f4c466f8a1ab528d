// The C part of tf.Variable: what is called often. python/thalweg/ops/variable.py is the rest of the class.
#include <unordered_map>

#include "thalweg/core/error.h"
#include "thalweg/core/format.h"
#include "thalweg/core/name_scope.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/autocast.h"
#include "thalweg/ops/variable_ops.h"
#include "thalweg/python/arguments.h"
#include "thalweg/python/convert.h"
#include "thalweg/python/tensor_slots.h"

namespace thalweg::python {

PyTypeObject* variable_type = nullptr;

namespace {

PyVariable* cast(PyObject* self) { return reinterpret_cast<PyVariable*>(self); }
VariableResource& resource_of(PyObject* self) { return variable_of(handle_of(self)); }

// The objects that programs hold, by the handle; the GIL guards it.
std::unordered_map<const TensorImpl*, PyObject*>& objects() {
  static auto& all = *new std::unordered_map<const TensorImpl*, PyObject*>;
  return all;
}

PyObject* make(PyTypeObject* type, PyObject*, PyObject*) { return type->tp_alloc(type, 0); }

void drop(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  if (PyObject* handle = cast(self)->handle) {
    auto found = objects().find(tensor_of(handle).get());
    if (found != objects().end() && found->second == self) objects().erase(found);
    Py_DECREF(handle);
  }
  type->tp_free(self);
  Py_DECREF(type);
}

// The classes of the package: [tf.Variable as it is made, what assignments return].
PyTypeObject* class_at(Py_ssize_t i) {
  return reinterpret_cast<PyTypeObject*>(PyTuple_GET_ITEM(hook(Hook::variable_classes), i));
}
PyObject* with_handle(PyTypeObject* type, PyObject* handle) {
  PyObject* made = checked(type->tp_alloc(type, 0));
  cast(made)->handle = Py_NewRef(handle);
  return made;
}

Py_hash_t refuse_hash(PyObject* self) {
  return guarded([&]() -> Py_hash_t {
    raise(PyExc_TypeError,
          "Variable is unhashable. Instead, use variable.ref() as the key. (Variable: " + repr_of(self) + ")");
  });
}

PyObject* show(PyObject* self) {
  return guarded([&] {
    const VariableResource& r = resource_of(self);
    std::string shown = "<tf.Variable '" + text_of(owned(PyObject_GetAttrString(self, "name"))) +
                        "' shape=" + r.shape().str() + " dtype=" + std::string(name_of(r.dtype()));
    if (!r.is_initialized()) return unicode(shown + ", numpy=<unavailable>>");
    std::string value = python::shown(r.read(), true);  // `<tf.Tensor: shape=(), dtype=float32, numpy=5.0>`
    return unicode(shown + ", " + value.substr(value.find("numpy=")));
  });
}

// _create(value, shape, name, trainable, synchronization, aggregation): the variable behind a new object.
PyObject* create(PyObject* self, PyObject* const* args, Py_ssize_t num_args) {
  return guarded([&] {
    if (num_args != 6 || !is_tensor(args[0])) throw TypeError("_create() takes a tensor and five properties");
    if (cast(self)->handle) throw ValueError("this variable has been created before");
    Tensor value = tensor_of(args[0]);
    Shape shape = args[1] == Py_None ? value.shape() : to_shape(owned(PyObject_GetAttrString(args[1], "_dims")).ptr());
    if (value.is_symbolic() && thread_state.tracer) value = thread_state.tracer->lift(value);
    auto variable = std::make_shared<VariableResource>(scoped_name(text_of(args[2])), value.dtype(), shape, value);
    variable->trainable = PyObject_IsTrue(args[3]) == 1;
    variable->synchronization = static_cast<VariableSynchronization>(PyLong_AsLong(args[4]));
    variable->aggregation = static_cast<VariableAggregation>(PyLong_AsLong(args[5]));
    if (PyErr_Occurred()) throw nb::python_error();
    Tensor handle = make_handle(std::move(variable));
    if (thread_state.tracer) thread_state.tracer->created_variable(handle);
    objects()[handle.get()] = self;
    cast(self)->handle = wrap(std::move(handle));
    return Py_NewRef(Py_None);
  });
}

// assign(value, use_locking=None, name=None, read_value=True) and its kin.
const Parameters& parameters_of(const char* callable, const char* first) {
  auto& made = *new Parameters;
  made.callable = callable;
  for (const char* name : {first, "use_locking", "name", "read_value"}) made.add(name);
  made.required = 1;
  return made;
}

using Change = void (*)(const Tensor& handle, const Tensor& value);
PyObject* change(PyObject* self, const Parameters& parameters, PyObject* const* args, Py_ssize_t num_args,
                 PyObject* keywords, bool checks_shape, Change change) {
  return guarded([&] {
    PyObject* slots[4];
    parameters.bind(args, static_cast<size_t>(num_args), keywords, slots);
    const Tensor& handle = handle_of(self);
    const VariableResource& r = variable_of(handle);
    Tensor value = tensor_as(slots[0], r.dtype());
    if (checks_shape && !r.shape().is_compatible_with(value.shape()))
      throw ValueError("Cannot assign value to variable ' " + text_of(owned(PyObject_GetAttrString(self, "name"))) +
                       "': Shape mismatch.The variable shape " + r.shape().str() + ", and the assigned value shape " +
                       value.shape().str() + " are incompatible.");
    change(handle, value);
    if (slots[3] && PyObject_IsTrue(slots[3]) == 0) return Py_NewRef(Py_None);
    return with_handle(class_at(1), cast(self)->handle);
  });
}
PyObject* assign(PyObject* self, PyObject* const* args, Py_ssize_t num_args, PyObject* keywords) {
  static const Parameters& parameters = parameters_of("assign", "value");
  return change(self, parameters, args, num_args, keywords, true, assign_variable);
}
PyObject* assign_add(PyObject* self, PyObject* const* args, Py_ssize_t num_args, PyObject* keywords) {
  static const Parameters& parameters = parameters_of("assign_add", "delta");
  return change(self, parameters, args, num_args, keywords, false, add_to_variable);
}
PyObject* assign_sub(PyObject* self, PyObject* const* args, Py_ssize_t num_args, PyObject* keywords) {
  static const Parameters& parameters = parameters_of("assign_sub", "delta");
  return change(self, parameters, args, num_args, keywords, false, subtract_from_variable);
}
// What an op that changed the variable gives back.
PyObject* unread(PyObject* self, PyObject*) {
  return guarded([&] {
    handle_of(self);
    return with_handle(class_at(1), cast(self)->handle);
  });
}

PyObject* value(PyObject* self, PyObject*) {
  return guarded([&] { return wrap(value_of_variable(self)); });
}
PyObject* tf_tensor(PyObject* self, PyObject* const*, Py_ssize_t, PyObject*) { return value(self, nullptr); }
PyObject* numpy(PyObject* self, PyObject*) {
  return guarded([&] { return to_numpy(resource_of(self).read()); });
}
PyObject* array(PyObject* self, PyObject* const* args, Py_ssize_t num_args, PyObject* keywords) {
  return guarded(
      [&] { return checked(to_array(owned(wrap(resource_of(self).read())).ptr(), args, num_args, keywords)); });
}
PyObject* iterate(PyObject* self) {
  return guarded([&] { return checked(PyObject_GetIter(owned(value(self, nullptr)).ptr())); });
}
// v[key], with the way to assign to that part: v[key].assign(value).
PyObject* subscript_slot(PyObject* self, PyObject* key) {
  return guarded([&] {
    nb::object part = owned(subscript(value_of_variable(self), key));
    nb::object assign =
        owned(PyObject_CallFunctionObjArgs(PyTuple_GET_ITEM(hook(Hook::variable_classes), 2), self, key, nullptr));
    checked(PyObject_SetAttrString(part.ptr(), "assign", assign.ptr()));
    return part.release().ptr();
  });
}

PyObject* get_handle(PyObject* self, void*) {
  return guarded([&] {
    handle_of(self);
    return Py_NewRef(cast(self)->handle);
  });
}
PyObject* get_dtype(PyObject* self, void*) {
  return guarded([&] { return wrap_dtype(resource_of(self).dtype()); });
}
PyObject* get_shape(PyObject* self, void*) {
  return guarded([&] { return wrap_shape(resource_of(self).shape()); });
}
PyObject* get_shared_name(PyObject* self, void*) {
  return guarded([&] { return unicode(resource_of(self).name()); });
}
PyObject* get_device(PyObject* self, void*) {
  return guarded([&] { return unicode(handle_of(self).device()); });
}
PyObject* get_trainable(PyObject* self, void*) {
  return guarded([&] { return PyBool_FromLong(resource_of(self).trainable); });
}
PyObject* enumerator(Py_ssize_t which, int number) {
  PyObject* of_enum = PyTuple_GET_ITEM(hook(Hook::variable_enums), which);
  return checked(PyObject_CallFunction(of_enum, "i", number));
}
PyObject* get_synchronization(PyObject* self, void*) {
  return guarded([&] { return enumerator(0, static_cast<int>(resource_of(self).synchronization)); });
}
PyObject* get_aggregation(PyObject* self, void*) {
  return guarded([&] { return enumerator(1, static_cast<int>(resource_of(self).aggregation)); });
}
PyObject* get_priority(PyObject*, void*) { return PyLong_FromLong(100); }

template <class F> PyCFunction c_function(F function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef variable_methods[] = {
    {"_create", c_function(create), METH_FASTCALL, nullptr},
    {"_unread", unread, METH_NOARGS, nullptr},
    {"assign", c_function(assign), with_keywords,
     "assign(value, use_locking=None, name=None, read_value=True)\n--\n\nPuts a value in its place; returns the "
     "variable."},
    {"assign_add", c_function(assign_add), with_keywords,
     "assign_add(delta, use_locking=None, name=None, read_value=True)\n--\n\nAdds to the value; returns the variable."},
    {"assign_sub", c_function(assign_sub), with_keywords,
     "assign_sub(delta, use_locking=None, name=None, read_value=True)\n--\n\nSubtracts from the value; returns the "
     "variable."},
    {"value", value, METH_NOARGS, "The value now, as a tensor."},
    {"read_value", value, METH_NOARGS, "The value now, as a tensor."},
    {"numpy", numpy, METH_NOARGS, "The value as a NumPy array of its own, a NumPy scalar for rank 0."},
    {"__array__", c_function(array), with_keywords, "The value as a NumPy array."},
    {"__tf_tensor__", c_function(tf_tensor), with_keywords, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef variable_attributes[] = {
    {"handle", get_handle, nullptr, "The resource that ops on variables take.", nullptr},
    {"dtype", get_dtype, nullptr, "The DType of the value.", nullptr},
    {"shape", get_shape, nullptr, "The TensorShape that every value fits.", nullptr},
    {"device", get_device, nullptr, "The name of the device it lives on.", nullptr},
    {"trainable", get_trainable, nullptr, "Whether tapes watch it when it is read.", nullptr},
    {"synchronization", get_synchronization, nullptr, "How copies on several devices are kept.", nullptr},
    {"aggregation", get_aggregation, nullptr, "How copies on several devices are read.", nullptr},
    {"_shared_name", get_shared_name, nullptr, nullptr, nullptr},
    {"__array_priority__", get_priority, nullptr, "Above NumPy's: array + variable is a tensor.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

}  // namespace

const Tensor& handle_of(PyObject* variable) {
  PyObject* handle = cast(variable)->handle;
  if (!handle) throw ValueError("this variable has no value yet: its __init__ has not run");
  return tensor_of(handle);
}

Tensor value_of_variable(PyObject* variable) {
  if (!cast(variable)->handle) [[unlikely]]
    return value_of_own_variable(variable);
  return read_autocast(handle_of(variable));
}

PyObject* wrap_variable(const Tensor& handle) {
  auto found = objects().find(handle.get());
  if (found != objects().end()) return Py_NewRef(found->second);
  PyObject* made = with_handle(class_at(0), owned(wrap(handle)).ptr());
  objects()[handle.get()] = made;
  return made;
}

void make_variable_type() {
  std::vector<PyType_Slot> slots = {
      slot(Py_tp_new, make),
      slot(Py_tp_dealloc, drop),
      slot(Py_tp_hash, refuse_hash),
      slot(Py_tp_repr, show),
      slot(Py_mp_subscript, subscript_slot),
      slot(Py_tp_iter, iterate),
      slot(Py_tp_methods, variable_methods),
      slot(Py_tp_getset, variable_attributes),
      slot(Py_tp_doc, const_cast<char*>("A value that changes, behind a handle; see tf.Variable.")),
  };
  add_variable_operator_slots(slots);
  slots.push_back({0, nullptr});
  PyType_Spec spec = {"thalweg.VariableBase", sizeof(PyVariable), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                      slots.data()};
  variable_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)));
}

}  // namespace thalweg::python

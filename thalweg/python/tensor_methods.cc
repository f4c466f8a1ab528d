// The named attributes and methods of Tensor.
#include "thalweg/core/companion.h"
#include "thalweg/core/complex.h"
#include "thalweg/core/error.h"
#include "thalweg/core/format.h"
#include "thalweg/core/thread_state.h"
#include "thalweg/ops/shaping.h"
#include "thalweg/python/convert.h"
#include "thalweg/python/tensor_slots.h"

namespace thalweg::python {
namespace {

PyObject* get_dtype(PyObject* self, void*) {
  return guarded([&] { return wrap_dtype(tensor_of(self).dtype()); });
}
PyObject* get_shape(PyObject* self, void*) {
  return guarded([&] { return wrap_shape(tensor_of(self).shape()); });
}
PyObject* get_ndim(PyObject* self, void*) { return PyLong_FromLong(tensor_of(self).rank()); }
PyObject* get_device(PyObject* self, void*) {
  return guarded([&] { return unicode(tensor_of(self).device()); });
}
PyObject* get_priority(PyObject*, void*) { return PyLong_FromLong(100); }
PyObject* get_false(PyObject*, void*) { Py_RETURN_FALSE; }
// What only a graph's tensors have.
PyObject* get_undefined(PyObject*, void* name) {
  PyErr_Format(PyExc_AttributeError, "Tensor.%s is undefined when eager execution is enabled.",
               static_cast<const char*>(name));
  return nullptr;
}

PyObject* numpy(PyObject* self, PyObject*) {
  return guarded([&] { return to_numpy(tensor_of(self)); });
}
PyObject* cpu(PyObject* self, PyObject*) {
  return guarded([&] {
    Tensor moved = tensor_of(self).cpu();
    return moved.get() == tensor_of(self).get() ? Py_NewRef(self) : wrap(std::move(moved));
  });
}
PyObject* gpu(PyObject* self, PyObject* const* args, Py_ssize_t num_args) {
  return guarded([&] {
    long index = 0;
    if (num_args > 1) throw TypeError("gpu() takes at most one argument, the number of the device");
    if (num_args == 1) index = PyLong_AsLong(args[0]);
    if (index == -1 && PyErr_Occurred()) throw nb::python_error();
    if (index < 0 || index > 1 << 16) throw ValueError("gpu() takes the number of a device");
    return wrap(tensor_of(self).gpu(static_cast<int>(index)));
  });
}
PyObject* shape_method(PyObject* self, PyObject*) { return get_shape(self, nullptr); }
PyObject* dims_as_tuple(PyObject* self, PyObject*) {
  return guarded([&] { return shape_tuple(tensor_of(self).shape()).release().ptr(); });
}
PyObject* rank_method(PyObject* self, PyObject*) { return get_ndim(self, nullptr); }
PyObject* set_shape(PyObject* self, PyObject* shape) {
  return guarded([&] {
    Tensor& t = reinterpret_cast<PyTensor*>(self)->tensor;
    const Shape wanted = to_shape(shape);
    if (!t.shape().is_compatible_with(wanted))
      throw ValueError("Tensor's shape " + t.shape().str() + " is not compatible with supplied shape " +
                       text_of(nb::str(nb::handle(shape))) + ".");
    // Plans rely on what is known of shapes, so what somebody claims is checked when the function runs.
    if (t.is_symbolic() && !(t.shape().merge_with(wanted) == t.shape()) && thread_state.tracer)
      t = ensure_shape(t, wanted);
    return Py_NewRef(Py_None);
  });
}
PyObject* same(PyObject* self, PyObject*) { return Py_NewRef(self); }
PyObject* reference(PyObject* self, PyObject*) {
  return guarded([&] { return checked(PyObject_CallOneArg(hook(Hook::reference), self)); });
}
PyObject* as_complex(PyObject* self, PyObject*) {
  return guarded([&] {
    if (tensor_of(self).size() != 1) throw TypeError("only length-1 arrays can be converted to Python scalars");
    auto z = tensor_of(self).item<std::complex<double>>();
    return checked(PyComplex_FromDoubles(z.real(), z.imag()));
  });
}

// As NumPy formats the value: "{}" gives its str, a specification is for scalars.
PyObject* format(PyObject* self, PyObject* spec) {
  return guarded([&]() -> PyObject* {
    const Tensor& t = tensor_of(self);
    if (PyUnicode_Check(spec) && PyUnicode_GET_LENGTH(spec) == 0) {
      if (t.is_symbolic()) return unicode(t.str());
      // NumPy formats a scalar as the Python number of its value, with all the digits that float64 needs.
      if (t.rank() == 0 && (t.dtype() == float16 || t.dtype() == float32 || t.dtype() == complex64))
        return checked(PyObject_Str(owned(PyObject_CallMethod(owned(to_numpy(t)).ptr(), "item", nullptr)).ptr()));
      return unicode(t.rank() == 0 ? scalar_str(t.dtype(), t.impl()->data)
                                   : format_values(t.dtype(), t.shape(), t.impl()->data, FormatStyle::str));
    }
    return checked(PyObject_Format(owned(to_numpy(t)).ptr(), spec));
  });
}

PyObject* reduce(PyObject* self, PyObject*) {
  return guarded([&] {
    const Tensor& t = tensor_of(self);
    if (t.is_symbolic() || t.dtype() == resource || t.dtype() == variant)
      throw TypeError("a tensor of dtype " + std::string(name_of(t.dtype())) +
                      " cannot be pickled: it has no value of its own");
    nb::object data;
    if (t.dtype() == string) {
      nb::list list;
      for (const std::string& s : t.span<std::string>()) list.append(nb::bytes(s.data(), s.size()));
      data = list;
    } else {
      data = nb::bytes(static_cast<const char*>(t.impl()->data), t.nbytes());
    }
    nb::object rebuild = nb::module_::import_("thalweg._thalweg").attr("rebuild");
    return nb::make_tuple(rebuild, nb::make_tuple(static_cast<int>(t.dtype()), shape_tuple(t.shape()), data))
        .release()
        .ptr();
  });
}

PyObject* dlpack(PyObject* self, PyObject* const*, Py_ssize_t, PyObject*) { return to_dlpack(self); }
PyObject* dlpack_device(PyObject*, PyObject*) { return Py_BuildValue("(ii)", 1, 0); }
PyObject* tf_tensor(PyObject* self, PyObject* const*, Py_ssize_t, PyObject*) { return Py_NewRef(self); }
PyObject* refuse_eval(PyObject*, PyObject* const*, Py_ssize_t, PyObject*) {
  PyErr_SetString(PyExc_NotImplementedError,
                  "eval is not supported when eager execution is enabled, is .numpy() what you're looking for?");
  return nullptr;
}

template <class F> PyCFunction c_function(F function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef value_methods[] = {
    {"numpy", numpy, METH_NOARGS,
     "The value as a NumPy array of its own, a NumPy scalar for rank 0, bytes for a string."},
    {"_numpy", numpy, METH_NOARGS, nullptr},
    {"__array__", c_function(to_array), with_keywords, "The value as a NumPy array."},
    {nullptr, nullptr, 0, nullptr},
};

PyMethodDef tensor_methods[] = {
    {"cpu", cpu, METH_NOARGS, "The tensor on CPU:0."},
    {"gpu", c_function(gpu), METH_FASTCALL, "The tensor on a GPU."},
    {"get_shape", shape_method, METH_NOARGS, "The shape."},
    {"set_shape", set_shape, METH_O, "Says that the tensor has this shape, or checks it."},
    {"_shape_tuple", dims_as_tuple, METH_NOARGS, nullptr},
    {"_rank", rank_method, METH_NOARGS, nullptr},
    {"ref", reference, METH_NOARGS,
     "A hashable reference, for sets and keys: two are equal when the tensor is the same object."},
    {"experimental_ref", reference, METH_NOARGS, "The older name of ref()."},
    {"eval", c_function(refuse_eval), with_keywords, "Graphs only; see numpy()."},
    {"__complex__", as_complex, METH_NOARGS, nullptr},
    {"__copy__", same, METH_NOARGS, nullptr},
    {"__deepcopy__", same, METH_O, nullptr},
    {"__format__", format, METH_O, nullptr},
    {"__reduce__", reduce, METH_NOARGS, nullptr},
    {"__dlpack__", c_function(dlpack), with_keywords, "The tensor as a DLPack capsule; the memory is shared."},
    {"__dlpack_device__", dlpack_device, METH_NOARGS, "DLPack's (device type, device number)."},
    {"__tf_tensor__", c_function(tf_tensor), with_keywords, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyObject* get_mask(PyObject* self, void*) {
  return guarded([&] { return wrap(companion_of(tensor_of(self))); });
}
int set_mask(PyObject* self, PyObject* mask, void*) {
  const bool is_none = !mask || mask == Py_None;
  PyObject* done = guarded([&] {
    set_companion(tensor_of(self), is_none ? Tensor() : natural_tensor(mask));
    return Py_NewRef(Py_None);
  });
  if (!done) return -1;
  Py_DECREF(done);
  return 0;
}

PyObject* get_logits(PyObject* self, void*) {
  return guarded([&] {
    Tensor logits = companion_of(tensor_of(self), Companion::logits);
    if (!logits.defined()) raise(PyExc_AttributeError, "this tensor has no attribute '_keras_logits'");
    return wrap(logits);
  });
}

PyGetSetDef tensor_attributes[] = {
    {"_keras_mask", get_mask, set_mask, "The mask that layers of Keras left on it, or None.", nullptr},
    {"_keras_logits", get_logits, nullptr, "What an activation of Keras made its probabilities from.", nullptr},
    {"dtype", get_dtype, nullptr, "The DType of the elements.", nullptr},
    {"shape", get_shape, nullptr, "The TensorShape.", nullptr},
    {"ndim", get_ndim, nullptr, "The number of dimensions.", nullptr},
    {"device", get_device, nullptr, "The name of the device it lives on.", nullptr},
    {"backing_device", get_device, nullptr, "The name of the device that holds its memory.", nullptr},
    {"is_packed", get_false, nullptr, "Whether it stands for parts on several devices.", nullptr},
    {"__array_priority__", get_priority, nullptr, "Above NumPy's: array + tensor is a tensor.", nullptr},
    {"name", get_undefined, nullptr, nullptr, const_cast<char*>("name")},
    {"op", get_undefined, nullptr, nullptr, const_cast<char*>("op")},
    {"graph", get_undefined, nullptr, nullptr, const_cast<char*>("graph")},
    {"value_index", get_undefined, nullptr, nullptr, const_cast<char*>("value_index")},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

}  // namespace

void add_value_slots(std::vector<PyType_Slot>& slots) { slots.push_back(slot(Py_tp_methods, value_methods)); }

void add_method_slots(std::vector<PyType_Slot>& slots) {
  slots.insert(slots.end(), {slot(Py_tp_methods, tensor_methods), slot(Py_tp_getset, tensor_attributes)});
}

}  // namespace thalweg::python

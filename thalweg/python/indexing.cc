// x[...], len(x), and iteration along the first axis.
#include "thalweg/core/error.h"
#include "thalweg/core/index.h"
#include "thalweg/python/convert.h"
#include "thalweg/python/keras_functions.h"
#include "thalweg/python/tensor_slots.h"

namespace thalweg::python {
namespace {

[[noreturn]] void refuse(PyObject* entry) {
  raise(PyExc_TypeError,
        "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors are "
        "valid indices, got " +
            repr_of(entry));
}

bool is_whole_scalar(const Tensor& t) {
  return t.rank() == 0 && (t.dtype() == int32 || t.dtype() == int64 || t.dtype() == int16);
}

// A tensor or array between the brackets: one number, or a mask.
Tensor index_tensor(PyObject* entry) {
  Tensor t = natural_tensor(entry);
  if (t.dtype() == bool_) {
    if (t.rank() == 0) throw ValueError("mask cannot be scalar.");
    return t;
  }
  if (t.rank() != 0 || !is_integer(t.dtype())) refuse(entry);
  return is_whole_scalar(t) ? t : Tensor(t.item<int64_t>());
}

// A number beyond int64 becomes the nearest within: to a slice it means the same.
int64_t whole_number(PyObject* object) {
  if (!PyIndex_Check(object)) refuse(object);
  nb::object number = owned(PyNumber_Index(object));
  int overflow = 0;
  long long value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (value == -1 && PyErr_Occurred()) throw nb::python_error();
  return overflow > 0 ? INT64_MAX : overflow < 0 ? INT64_MIN : static_cast<int64_t>(value);
}

std::optional<int64_t> slice_end(PyObject* end) {
  if (end == Py_None) return {};
  return whole_number(end);
}

Index to_index(PyObject* entry) {
  if (PyBool_Check(entry)) throw ValueError("mask cannot be scalar.");
  if (PyLong_Check(entry)) {
    long long value = PyLong_AsLongLong(entry);
    if (value == -1 && PyErr_Occurred()) throw nb::python_error();
    return Index(value);
  }
  if (entry == Py_None) return Index(newaxis);
  if (entry == Py_Ellipsis) return Index(ellipsis);
  if (PySlice_Check(entry)) {
    auto* s = reinterpret_cast<PySliceObject*>(entry);
    return Index(Slice{slice_end(s->start), slice_end(s->stop), slice_end(s->step).value_or(1)});
  }
  if (is_tensor_or_variable(entry) || is_numpy(entry)) return Index(index_tensor(entry));
  return Index(whole_number(entry));
}

// A list is a tuple of indices, as in TensorFlow, unless it is a mask.
bool is_mask_list(PyObject* key) {
  if (!PyList_Check(key) || PyList_GET_SIZE(key) == 0) return false;
  PyObject* first = PyList_GET_ITEM(key, 0);
  return PyBool_Check(first) || (PyList_Check(first) && is_mask_list(first));
}

PyObject* subscript_slot(PyObject* self, PyObject* key) {
  if (has_keras_tensors && holds_keras_tensor(key)) [[unlikely]]
    return slice_model_tensor(self, key);
  return subscript(tensor_of(self), key);
}

Py_ssize_t length(PyObject* self) {
  return guarded([&]() -> Py_ssize_t {
    const Tensor& x = tensor_of(self);
    if (x.rank() == 0) throw TypeError("Scalar tensor has no `len()`");
    return x.shape()[0];
  });
}

// Python's iteration ends with IndexError, so it is this way in that says it.
PyObject* item(PyObject* self, Py_ssize_t i) {
  return guarded([&] {
    const Tensor& x = tensor_of(self);
    if (x.rank() == 0 || i < 0 || i >= x.shape()[0]) raise(PyExc_IndexError, "tensor index out of range");
    Index one(static_cast<int64_t>(i));
    return wrap(x.index({&one, 1}));
  });
}

PyObject* iterate(PyObject* self) {
  if (tensor_of(self).rank() == 0) {
    PyErr_SetString(PyExc_TypeError, "Cannot iterate over a scalar tensor.");
    return nullptr;
  }
  return PySeqIter_New(self);
}

}  // namespace

PyObject* subscript(const Tensor& x, PyObject* key) {
  return guarded([&] {
    if (is_mask_list(key)) {
      Index mask(natural_tensor(key));
      return wrap(x.index({&mask, 1}));
    }
    if (!PyTuple_Check(key) && !PyList_Check(key)) {
      Index one = to_index(key);
      return wrap(x.index({&one, 1}));
    }
    nb::object entries = owned(PySequence_Tuple(key));
    std::vector<Index> indices;
    indices.reserve(static_cast<size_t>(PyTuple_GET_SIZE(entries.ptr())));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(entries.ptr()); ++i)
      indices.push_back(to_index(PyTuple_GET_ITEM(entries.ptr(), i)));
    return wrap(x.index(indices));
  });
}

void add_indexing_slots(std::vector<PyType_Slot>& slots) {
  slots.insert(slots.end(), {slot(Py_mp_subscript, subscript_slot), slot(Py_mp_length, length),
                             slot(Py_sq_length, length), slot(Py_sq_item, item), slot(Py_tp_iter, iterate)});
}

}  // namespace thalweg::python

// DTypes and shapes between Python and C++. Their classes are the package's; here is only the way in and out.
#include <array>

#include "thalweg/core/error.h"
#include "thalweg/python/objects.h"

namespace thalweg::python {
namespace {

// hook(dtype) is the tuple of tf.DType objects by number, None where there is none.
PyObject* dtype_object(DType dtype) { return PyTuple_GET_ITEM(hook(Hook::dtype), static_cast<Py_ssize_t>(dtype)); }

int64_t to_dimension(PyObject* object) {
  if (object == Py_None) return unknown;
  if (is_variable(object)) return to_dimension(owned(wrap(value_of_variable(object))).ptr());
  if (!PyIndex_Check(object))
    raise(PyExc_TypeError, "Dimension value must be integer or None or have an __index__ method, got value '" +
                               repr_of(object) + "' with type '" +
                               repr_of(reinterpret_cast<PyObject*>(Py_TYPE(object))) + "'");
  Py_ssize_t value = PyNumber_AsSsize_t(object, PyExc_OverflowError);
  if (value == -1 && PyErr_Occurred()) throw nb::python_error();
  if (value < 0) raise(PyExc_ValueError, "Dimension " + std::to_string(value) + " must be >= 0");
  return value;
}

Shape from_sequence(PyObject* sequence) {
  nb::object fast = owned(PySequence_Fast(sequence, "a shape is a list of dimensions"));
  if (PySequence_Fast_GET_SIZE(fast.ptr()) > Shape::max_rank)
    throw InvalidArgumentError("a shape has at most " + std::to_string(Shape::max_rank) + " dimensions, got " +
                               std::to_string(PySequence_Fast_GET_SIZE(fast.ptr())));
  Shape shape;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast.ptr()); ++i) {
    nb::object item = nb::borrow(PySequence_Fast_GET_ITEM(fast.ptr(), i));
    shape.push_back(to_dimension(item.ptr()));
  }
  return shape;
}

Shape from_tensor(const Tensor& tensor) {
  if (!is_integer(tensor.dtype()) || tensor.rank() > 1)
    throw TypeError("a shape must be an integer vector, got a tensor of shape " + tensor.shape().str() + " and dtype " +
                    std::string(name_of(tensor.dtype())));
  if (tensor.size() > Shape::max_rank)
    throw InvalidArgumentError("a shape has at most " + std::to_string(Shape::max_rank) + " dimensions, got " +
                               std::to_string(tensor.size()));
  Tensor wide = strengthen(tensor, int64);
  return Shape(wide.span<int64_t>());
}

}  // namespace

PyObject* wrap_dtype(DType dtype) { return Py_NewRef(dtype_object(dtype)); }

DType to_dtype(PyObject* object) {
  PyObject* dtypes = hook(Hook::dtype);
  for (Py_ssize_t i = 1; i < num_dtypes; ++i)
    if (PyTuple_GET_ITEM(dtypes, i) == object && object != Py_None) return static_cast<DType>(i);
  nb::object found = owned(PyObject_CallOneArg(hook(Hook::as_dtype), object));
  for (Py_ssize_t i = 1; i < num_dtypes; ++i)
    if (PyTuple_GET_ITEM(dtypes, i) == found.ptr()) return static_cast<DType>(i);
  raise(PyExc_TypeError, "Cannot convert the argument `type_value`: " + repr_of(object) + " to a TensorFlow DType.");
}

std::string cpp_name_of(DType dtype) {
  if (dtype == float32) return "float";
  if (dtype == float64) return "double";
  if (dtype == float16) return "half";
  return std::string(name_of(dtype));
}

nb::object shape_tuple(const Shape& shape) {
  nb::object tuple = owned(PyTuple_New(shape.has_rank() ? shape.rank() : 0));
  for (int i = 0; i < shape.rank(); ++i)
    PyTuple_SET_ITEM(tuple.ptr(), i, shape[i] < 0 ? Py_NewRef(Py_None) : checked(PyLong_FromLongLong(shape[i])));
  return tuple;
}

PyObject* wrap_shape(const Shape& shape) {
  nb::object dims = shape.has_rank() ? shape_tuple(shape) : nb::none();
  return checked(PyObject_CallOneArg(hook(Hook::tensor_shape), dims.ptr()));
}

bool is_tensor_shape(PyObject* object) {
  return reinterpret_cast<PyObject*>(Py_TYPE(object)) == hook(Hook::tensor_shape);
}

Shape to_shape(PyObject* object) {
  if (object == Py_None) return Shape::unknown_rank();
  if (is_tensor(object)) return from_tensor(tensor_of(object));
  if (is_variable(object)) return from_tensor(value_of_variable(object));
  if (is_tensor_shape(object)) {
    nb::object dims = owned(PyObject_GetAttrString(object, "_dims"));
    return dims.is_none() ? Shape::unknown_rank() : from_sequence(dims.ptr());
  }
  if (PyUnicode_Check(object) || PyBytes_Check(object) || PyDict_Check(object))
    raise(PyExc_TypeError, "Failed to convert " + repr_of(object) + " to a shape: a shape is a list of dimensions.");
  if (PySequence_Check(object) && !PyIndex_Check(object)) return from_sequence(object);
  if (PySequence_Check(object) && PyObject_HasAttrString(object, "__array__")) {
    // An ndarray has both protocols; only its length tells a scalar from a list.
    if (PySequence_Size(object) >= 0) return from_sequence(object);
    PyErr_Clear();
  }
  Shape shape;
  shape.push_back(to_dimension(object));
  return shape;
}

}  // namespace thalweg::python

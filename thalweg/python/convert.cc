// Python objects as tensors, by TensorFlow's rules.
#include "thalweg/python/convert.h"

#include "thalweg/core/complex.h"
#include "thalweg/core/convert.h"
#include "thalweg/core/error.h"
#include "thalweg/core/index.h"
#include "thalweg/core/thread_state.h"
#include "thalweg/python/arguments.h"
#include "thalweg/python/literals.h"

namespace thalweg::python {
namespace {

[[noreturn]] void refuse_type(PyObject* object) {
  raise(PyExc_ValueError, "Attempt to convert a value (" + repr_of(object) + ") with an unsupported type (" +
                              repr_of(reinterpret_cast<PyObject*>(Py_TYPE(object))) + ") to a Tensor.");
}

template <class T> Tensor bare_scalar(DType dtype, T value) {
  Tensor made = Tensor::empty(dtype, {});
  *made.mutable_data<T>() = std::move(value);
  made.impl()->weak = Weak::bare;
  return made;
}

Tensor scalar_tensor(PyObject* object, Kind kind) {
  switch (kind) {
    case Kind::real:
      return bare_scalar(float64, PyFloat_AS_DOUBLE(object));
    case Kind::truth:
      return bare_scalar(bool_, object == Py_True);
    case Kind::whole: {
      int64_t value = whole_value(object, false);
      if (value == static_cast<int32_t>(value)) return bare_scalar(int32, static_cast<int32_t>(value));
      return bare_scalar(int64, value);
    }
    case Kind::complex: {
      Py_complex z = PyComplex_AsCComplex(object);
      return bare_scalar(complex128, std::complex<double>(z.real, z.imag));
    }
    default:
      return bare_scalar(string, text_value(object));
  }
}

// By what tf.register_tensor_conversion_function was told of its class; an undefined tensor where it was told nothing.
Tensor registered(PyObject* object) {
  nb::object made = owned(PyObject_CallOneArg(hook(Hook::conversion), object));
  return is_tensor(made.ptr()) ? tensor_of(made.ptr()) : Tensor();
}

// Objects of other classes: those that know how to be a tensor, then those that know how to be an array.
Tensor from_protocol(PyObject* object) {
  static PyObject* tf_tensor = PyUnicode_InternFromString("__tf_tensor__");
  if (PyObject* method = PyObject_GetAttr(reinterpret_cast<PyObject*>(Py_TYPE(object)), tf_tensor)) {
    Py_DECREF(method);
    nb::object made = owned(PyObject_CallMethodNoArgs(object, tf_tensor));
    if (!is_tensor(made.ptr())) throw TypeError("__tf_tensor__ must return a tensor");
    return tensor_of(made.ptr());
  }
  PyErr_Clear();
  if (!PyType_Check(object) && PyObject_HasAttrString(object, "__array__")) {
    nb::object numpy = owned(PyImport_ImportModule("numpy"));
    return from_numpy(nb::object(numpy.attr("asarray")(nb::handle(object))).ptr());
  }
  refuse_type(object);
}

Tensor shape_tensor(PyObject* object) {
  Shape shape = to_shape(object);
  if (!shape.is_fully_defined())
    throw ValueError("Cannot convert a partially known TensorShape " + shape.str() + " to a Tensor.");
  bool wide = false;
  for (int64_t dim : shape) wide |= dim != static_cast<int32_t>(dim);
  Tensor dims(std::span<const int64_t>(shape.begin(), shape.end()));
  return wide ? dims : strengthen(dims, int32);
}

[[noreturn]] void refuse_dtype(PyObject* object, DType dtype) {
  throw TypeError("Cannot convert " + repr_of(object) + " to EagerTensor of dtype " + cpp_name_of(dtype));
}

// By a cast, whatever the value: what TensorFlow does to arrays, and to literals that fit in kind.
Tensor cast_to(const Tensor& value, DType dtype) {
  Tensor made = Tensor::empty(dtype, value.shape());
  if (value.dtype() == dtype) copy_elements(dtype, value.impl()->data, made.impl()->data, value.size());
  else convert_elements(value.dtype(), value.impl()->data, dtype, made.impl()->data, value.size());
  return made;
}

Tensor convert_weak(PyObject* object, const Tensor& weak, DType dtype) {
  DType from = weak.dtype();
  bool soft = weak.impl()->weak == Weak::soft;
  if (!soft && weak.size() == 0 && dtype != resource && dtype != variant)
    return Tensor::empty(dtype, weak.shape());                                         // [] is of any kind
  if (!soft && is_integer(from) && is_integer(dtype)) return strengthen(weak, dtype);  // refuses what does not fit
  bool castable = soft ? plain_types.has(from) && plain_types.has(dtype) : literal_fits(from, dtype);
  if (from != dtype && !castable) refuse_dtype(object, dtype);
  return from == dtype ? strengthen(weak, dtype) : cast_to(weak, dtype);
}

// The common operands: a Python number beside a tensor of float32, float64, int32 or int64.
bool quick_scalar(PyObject* object, DType dtype, Tensor& made) {
  if (PyFloat_CheckExact(object)) {
    double value = PyFloat_AS_DOUBLE(object);
    if (dtype == float32) made = Tensor(static_cast<float>(value));
    else if (dtype == float64) *(made = Tensor::empty(float64, {})).mutable_data<double>() = value;
    else return false;
    return true;
  }
  if (!PyLong_CheckExact(object)) return false;
  int overflow = 0;
  long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow) return false;
  if (dtype == float32) made = Tensor(static_cast<float>(value));
  else if (dtype == int32 && value == static_cast<int32_t>(value)) made = Tensor(static_cast<int32_t>(value));
  else if (dtype == int64) made = Tensor(static_cast<int64_t>(value));
  else return false;
  return true;
}

// The tensors of a list share their dtype with the literals and arrays beside them.
void agree(std::vector<Tensor>& list, PyObject* items) {
  DType strong = DType::invalid, soft = DType::invalid, bare = DType::invalid;
  for (const Tensor& t : list) {
    DType dtype = natural_dtype(*t.impl());
    Weak weak = t.impl()->weak;
    if (weak == Weak::strong && strong == DType::invalid) strong = dtype;
    if (weak == Weak::soft && soft == DType::invalid) soft = dtype;
    if (weak == Weak::bare && (bare == DType::invalid || literal_fits(bare, dtype))) bare = dtype;
  }
  DType wanted = strong != DType::invalid ? strong : soft != DType::invalid ? soft : bare;
  for (size_t i = 0; i < list.size(); ++i)
    if (list[i].impl()->weak != Weak::strong)
      list[i] = convert_weak(PySequence_Fast_GET_ITEM(items, static_cast<Py_ssize_t>(i)), list[i], wanted);
}

}  // namespace

void refuse_none(const std::string& callable, const std::string& argument) {
  raise(PyExc_ValueError, callable + ": argument '" + argument +
                              "': Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a "
                              "Tensor.");
}

bool has_conversions = false;

Tensor value_of_own_variable(PyObject* variable) {
  if (has_conversions)
    if (Tensor made = registered(variable); made.defined()) return made;
  for (const char* name : {"_dense_var_to_tensor", "read_value", "value"}) {
    nb::object method = nb::getattr(nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(variable))), name, nb::none());
    if (!PyFunction_Check(method.ptr())) continue;  // those that are not written in Python read what is not there
    nb::object value = owned(PyObject_CallOneArg(method.ptr(), variable));
    if (is_tensor(value.ptr())) return tensor_of(value.ptr());
  }
  throw ValueError("this variable has no value yet: its __init__ has not run");
}

Tensor weak_tensor(PyObject* object) {
  if (is_tensor(object)) return tensor_of(object);
  if (is_variable(object)) return value_of_variable(object);
  Kind kind = kind_of(object);
  if (kind == Kind::array) return from_numpy(object);
  if (kind != Kind::none) return scalar_tensor(object, kind);
  if (object == Py_None) refuse_type(object);
  if (is_tensor_shape(object)) return shape_tensor(object);
  if (PyList_Check(object) || PyTuple_Check(object)) {
    if ((thread_state.recorder || thread_state.tracer) && holds_tensors(object)) return packed(object);
    return read_list(object);
  }
  if (has_conversions)
    if (Tensor made = registered(object); made.defined()) return made;
  bool knows = PyObject_HasAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object)), "__tf_tensor__") ||
               PyObject_HasAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object)), "__array__");
  if (!knows && is_list(object)) return read_list(object);
  return from_protocol(object);
}

Tensor natural_tensor(PyObject* object) {
  Tensor weak = weak_tensor(object);
  if (weak.impl()->weak == Weak::strong) return weak;
  if (weak.impl()->weak == Weak::bare && weak.dtype() == float64) return cast_to(weak, float32);
  weak.impl()->weak = Weak::strong;  // fresh: nobody else holds it
  return weak;
}

Tensor tensor_as(PyObject* object, DType dtype) {
  Tensor value;
  if (dtype == uint64 && PyLong_CheckExact(object)) return Tensor(static_cast<uint64_t>(whole_value(object, true)));
  if (dtype == uint64 && (PyList_Check(object) || PyTuple_Check(object))) value = read_list(object, uint64);
  else value = weak_tensor(object);
  if (value.impl()->weak != Weak::strong) return convert_weak(object, value, dtype);
  if (value.dtype() == dtype) return value;
  if (is_variable(object))
    throw ValueError("Incompatible type conversion requested to type " + std::string(name_of(dtype)) +
                     " for `tf.Variable of type " + std::string(name_of(value.dtype())) +
                     ". (Variable: " + repr_of(object) + ")");
  if (!is_tensor(object) && !is_tensor_shape(object) && literal_fits(value.dtype(), dtype))
    return cast_to(value, dtype);
  if (is_tensor_shape(object)) return convert_weak(object, value, dtype);
  throw ValueError("Tensor conversion requested dtype " + std::string(name_of(dtype)) + " for Tensor with dtype " +
                   std::string(name_of(value.dtype())) + ": " + value.repr());
}

Tensor operand_like(PyObject* object, DType dtype) {
  Tensor made;
  if (quick_scalar(object, dtype, made)) return made;
  Tensor value = weak_tensor(object);
  if (value.impl()->weak == Weak::strong) return value;
  return convert_weak(object, value, dtype);
}

std::vector<Tensor> tensor_list(PyObject* object, bool weak, const char* who, const char* name) {
  std::vector<Tensor> list;
  Tensor held;
  if (is_tensor_or_variable(object) && value_of(object, held).rank() > 0) {
    const Tensor& whole = is_tensor(object) ? tensor_of(object) : held;
    for (int64_t i = 0; i < whole.shape()[0]; ++i) {
      Index index(i);
      list.push_back(whole.index({&index, 1}));
    }
    return list;
  }
  if (!PyList_Check(object) && !PyTuple_Check(object) &&
      !(is_numpy(object) && PySequence_Check(object) && PySequence_Size(object) >= 0)) {
    PyErr_Clear();
    raise(PyExc_TypeError,
          std::string("Expected list for '") + name + "' argument to '" + who + "' Op, not " + repr_of(object) + ".");
  }
  nb::object items = owned(PySequence_Fast(object, "a list was expected"));
  list.reserve(static_cast<size_t>(PySequence_Fast_GET_SIZE(items.ptr())));
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.ptr()); ++i) {
    nb::object item = nb::borrow(PySequence_Fast_GET_ITEM(items.ptr(), i));
    list.push_back(weak_tensor(item.ptr()));
  }
  if (!weak) agree(list, items.ptr());
  return list;
}

Tensor with_shape(const Tensor& tensor, const Shape& shape) {
  const TensorImpl* from = tensor.impl();
  Tensor made(TensorImpl::make());
  TensorImpl* to = made.impl();
  to->dtype = from->dtype;
  to->device = from->device;
  to->shape = shape;
  if (from->buffer) {
    to->buffer = from->buffer;
    to->buffer->retain();
    to->data = from->data;
  } else {
    to->allocate();
    copy_elements(from->dtype, from->data, to->data, shape.count());
  }
  return made;
}

}  // namespace thalweg::python

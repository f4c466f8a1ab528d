// tf.constant, tf.convert_to_tensor, tf.is_tensor, and what unpickles a tensor.
#include "thalweg/core/convert.h"
#include "thalweg/core/error.h"
#include "thalweg/core/format.h"
#include "thalweg/core/thread_state.h"
#include "thalweg/python/arguments.h"
#include "thalweg/python/convert.h"
#include "thalweg/python/tensor_slots.h"

namespace thalweg::python {
namespace {

Parameters parameters(const char* callable, std::initializer_list<const char*> names) {
  Parameters p;
  p.callable = callable;
  for (const char* name : names) p.add(name);
  p.required = 1;
  return p;
}
bool is_given(PyObject* value) { return value && value != Py_None; }

// A constant never shares memory with what it was made from.
Tensor own_copy(const Tensor& t) {
  if (!t.impl()->buffer || !t.impl()->buffer->release) return t;
  Tensor made = Tensor::empty(t.dtype(), t.shape());
  copy_elements(t.dtype(), t.impl()->data, made.impl()->data, t.size());
  return made;
}

Tensor filled(const Tensor& one, const Shape& shape) {
  Tensor made = Tensor::empty(one.dtype(), shape);
  size_t bytes = size_of(one.dtype());
  for (int64_t i = 0; i < shape.count(); ++i)
    copy_elements(one.dtype(), one.impl()->data, made.mutable_data<std::byte>() + static_cast<size_t>(i) * bytes, 1);
  return made;
}

Tensor shaped(const Tensor& t, PyObject* shape_object, PyObject* value) {
  Shape shape = to_shape(shape_object);
  if (!shape.is_fully_defined()) throw TypeError("tf.constant needs a fully defined shape, got " + shape.str());
  int64_t count = shape.num_elements();
  if (count < 0) throw ResourceExhaustedError("a tensor of shape " + shape.brackets() + " is too large to allocate");
  if (count == t.size()) return with_shape(t, shape);
  if (t.size() == 1) return filled(t, shape);
  throw TypeError("Eager execution of tf.constant with unsupported shape. Tensor " +
                  format_values(t.dtype(), t.shape(), t.impl()->data, FormatStyle::str) + " (converted from " +
                  repr_of(value) + ") has " + std::to_string(t.size()) + " elements, but got `shape` " + shape.str() +
                  " with " + std::to_string(count) + " elements).");
}

// Nothing that tapes follow leads to a constant.
class Unrecorded {
 public:
  Unrecorded() : recorder_(thread_state.recorder) { thread_state.recorder = nullptr; }
  ~Unrecorded() { thread_state.recorder = recorder_; }
  Unrecorded(const Unrecorded&) = delete;
  Unrecorded& operator=(const Unrecorded&) = delete;

 private:
  Recorder* recorder_;
};

PyObject* constant(PyObject*, PyObject* const* args, Py_ssize_t num_args, PyObject* keywords) {
  return guarded([&] {
    static const Parameters p = parameters("constant", {"value", "dtype", "shape", "name"});
    PyObject* slots[4];
    p.bind(args, static_cast<size_t>(num_args), keywords, slots);
    auto [value, dtype, shape, name] = slots;
    Unrecorded unrecorded;
    Tensor made;
    if (!is_given(dtype)) {
      made = natural_tensor(value);
    } else {
      DType wanted = to_dtype(dtype);
      if (is_tensor(value) && tensor_of(value).dtype() != wanted) {
        const Tensor& t = tensor_of(value);
        throw TypeError("Expected tensor " + format_values(t.dtype(), t.shape(), t.impl()->data, FormatStyle::str) +
                        " with dtype " + repr_of(dtype) + ", but got dtype tf." + std::string(name_of(t.dtype())) +
                        ".");
      }
      made = tensor_as(value, wanted);
    }
    if (!is_tensor(value)) made = own_copy(made);
    return wrap(is_given(shape) ? shaped(made, shape, value) : std::move(made));
  });
}

PyObject* convert_to_tensor(PyObject*, PyObject* const* args, Py_ssize_t num_args, PyObject* keywords) {
  return guarded([&] {
    static const Parameters p =
        parameters("convert_to_tensor", {"value", "dtype", "dtype_hint", "name", "preferred_dtype"});
    PyObject* slots[5];
    p.bind(args, static_cast<size_t>(num_args), keywords, slots);
    PyObject *value = slots[0], *dtype = slots[1], *hint = is_given(slots[2]) ? slots[2] : slots[4];
    if (is_tensor(value) && !is_given(dtype)) return Py_NewRef(value);
    if (is_given(dtype)) {
      Tensor made = tensor_as(value, to_dtype(dtype));
      return is_tensor(value) ? Py_NewRef(value) : wrap(std::move(made));
    }
    if (!is_given(hint)) return wrap(natural_tensor(value));
    DType wanted = to_dtype(hint);
    try {  // a hint that does not fit is no error
      return wrap(tensor_as(value, wanted));
    } catch (const TypeError&) {
      return wrap(natural_tensor(value));
    } catch (const ValueError&) {
      return wrap(natural_tensor(value));
    }
  });
}

PyObject* is_tensor_function(PyObject*, PyObject* object) {
  if (is_tensor_or_variable(object)) Py_RETURN_TRUE;
  return PyBool_FromLong(PyObject_HasAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object)), "__tf_tensor__"));
}

// Tensor.__reduce__ gives (dtype number, shape, bytes), or a list of bytes for strings.
Tensor rebuild(int dtype, nb::handle shape_object, nb::handle data) {
  auto type = static_cast<DType>(dtype);
  bool known = dtype > 0 && dtype < num_dtypes && (plain_types.has(type) || type == string);
  Shape shape = to_shape(shape_object.ptr());
  if (!known || !shape.is_fully_defined()) throw ValueError("this is no pickled tensor");
  int64_t count = shape.num_elements();
  bool fits = type == string ? PyList_Check(data.ptr()) && PyList_GET_SIZE(data.ptr()) == count
                             : PyBytes_Check(data.ptr()) && count >= 0 &&
                                   PyBytes_GET_SIZE(data.ptr()) / static_cast<Py_ssize_t>(size_of(type)) == count &&
                                   PyBytes_GET_SIZE(data.ptr()) % static_cast<Py_ssize_t>(size_of(type)) == 0;
  if (!fits) throw ValueError("this is no pickled tensor: its data do not fill its shape");
  Tensor made = Tensor::empty(type, shape);
  if (type != string) {
    std::memcpy(made.impl()->data, PyBytes_AS_STRING(data.ptr()), made.nbytes());
    if (type == bool_)  // any other byte is not a truth value
      for (int64_t i = 0; i < count; ++i) made.mutable_data<uint8_t>()[i] = made.mutable_data<uint8_t>()[i] != 0;
    return made;
  }
  for (int64_t i = 0; i < count; ++i) {
    PyObject* item = PyList_GET_ITEM(data.ptr(), i);
    if (!PyBytes_Check(item)) throw ValueError("this is no pickled tensor: a string is missing");
    made.mutable_data<std::string>()[i].assign(PyBytes_AS_STRING(item), static_cast<size_t>(PyBytes_GET_SIZE(item)));
  }
  return made;
}

PyObject* rebuild_function(PyObject*, PyObject* args) {
  return guarded([&]() -> PyObject* {
    int dtype = 0;
    PyObject *shape = nullptr, *data = nullptr;
    if (!PyArg_ParseTuple(args, "iOO", &dtype, &shape, &data)) return nullptr;
    return wrap(rebuild(dtype, shape, data));
  });
}

template <class F> PyCFunction c_function(F function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyObject* use_conversions(PyObject*, PyObject*) {
  has_conversions = true;
  Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"constant", c_function(constant), METH_FASTCALL | METH_KEYWORDS,
     "constant(value, dtype=None, shape=None, name='Const')\n--\n\nA tensor with this value. Numbers are float32 and "
     "int32 unless dtype says otherwise; one value fills a given shape."},
    {"convert_to_tensor", c_function(convert_to_tensor), METH_FASTCALL | METH_KEYWORDS,
     "convert_to_tensor(value, dtype=None, dtype_hint=None, name=None)\n--\n\nThe value as a tensor; a tensor comes "
     "back as it is. A dtype_hint is used where the value allows it."},
    {"is_tensor", is_tensor_function, METH_O, "is_tensor(x, /)\n--\n\nWhether x is a tensor, or a variable."},
    {"use_conversions", use_conversions, METH_NOARGS, "From now on objects are converted by the hook `conversion`."},
    {"rebuild", rebuild_function, METH_VARARGS, "A tensor from its pickled parts."},
};

}  // namespace

void define_conversions(nb::module_& module) {
  for (PyMethodDef& function : functions) {
    nb::str owner("thalweg._thalweg");
    module.attr(function.ml_name) = owned(PyCFunction_NewEx(&function, nullptr, owner.ptr()));
  }
}

}  // namespace thalweg::python

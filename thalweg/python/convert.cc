// Python numbers, strings and nested lists as tensors, by TensorFlow's rules: the first value decides the kind,
// integers may become reals on the way, ragged and mixed lists are refused.
#include "thalweg/python/convert.h"

#include <cstring>
#include <limits>

#include "thalweg/core/complex.h"
#include "thalweg/core/convert.h"
#include "thalweg/core/error.h"
#include "thalweg/core/index.h"
#include "thalweg/core/thread_state.h"
#include "thalweg/python/arguments.h"

namespace thalweg::python {
namespace {

enum class Kind : uint8_t { none, truth, whole, real, complex, text, array };

Kind kind_of(PyObject* object) {
  if (PyFloat_CheckExact(object)) return Kind::real;
  if (PyBool_Check(object)) return Kind::truth;
  if (PyLong_CheckExact(object)) return Kind::whole;
  if (PyUnicode_Check(object) || PyBytes_Check(object)) return Kind::text;
  if (is_tensor_or_variable(object) || is_numpy(object)) return Kind::array;
  if (PyComplex_CheckExact(object)) return Kind::complex;
  if (PyLong_Check(object)) return Kind::whole;  // enumerations
  if (PyFloat_Check(object)) return Kind::real;
  return Kind::none;
}

bool is_list(PyObject* object) {
  if (PyList_Check(object) || PyTuple_Check(object)) return true;
  return PySequence_Check(object) && !PyDict_Check(object) && kind_of(object) == Kind::none;
}

[[noreturn]] void refuse_type(PyObject* object) {
  raise(PyExc_ValueError, "Attempt to convert a value (" + repr_of(object) + ") with an unsupported type (" +
                              repr_of(reinterpret_cast<PyObject*>(Py_TYPE(object))) + ") to a Tensor.");
}
[[noreturn]] void refuse_ragged() { throw ValueError("Can't convert non-rectangular Python sequence to Tensor."); }
[[noreturn]] void refuse_mixed() { throw ValueError("Can't convert Python sequence with mixed types to Tensor."); }

// Which literals TensorFlow converts: truth and integers to any number, reals to reals and complex.
bool literal_fits(DType from, DType to) {
  if (from == to) return true;
  if (from == bool_ || is_integer(from)) return number_types.has(to);
  if (is_floating(from)) return is_floating(to) || is_complex(to);
  return is_complex(from) && is_complex(to);
}

// Past 2^63 only where uint64 is asked for, as the same 64 bits.
int64_t whole_value(PyObject* object, bool unsigned_too) {
  int overflow = 0;
  long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow > 0 && unsigned_too) {
    unsigned long long bits = PyLong_AsUnsignedLongLong(object);
    if (!PyErr_Occurred()) return static_cast<int64_t>(bits);
    PyErr_Clear();
  }
  if (overflow) throw ValueError("Can't convert Python sequence with out-of-range integer to Tensor.");
  if (value == -1 && PyErr_Occurred()) throw nb::python_error();
  return value;
}

std::string text_value(PyObject* object) {
  Py_ssize_t size = 0;
  if (PyBytes_Check(object)) return {PyBytes_AS_STRING(object), static_cast<size_t>(PyBytes_GET_SIZE(object))};
  const char* text = PyUnicode_AsUTF8AndSize(object, &size);
  if (!text) throw nb::python_error();
  return {text, static_cast<size_t>(size)};
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

/// One pass over a nested list. Values are kept wide (int64, float64) and narrowed at the end.
class ListReader {
 public:
  /// `wanted` is the dtype that was asked for, if any: integers past 2^63 need it.
  explicit ListReader(PyObject* list, DType wanted = DType::invalid) : unsigned_(wanted == uint64) {
    describe(list, 0);
    if (first_ == Kind::none) first_ = Kind::real;  // an empty list is float32
    int64_t count = shape_.num_elements();
    if (count < 0) throw ResourceExhaustedError("a list of shape " + shape_.brackets() + " is too large for a tensor");
    values_ = Tensor::empty(wide_dtype(), shape_);
    next_ = values_.mutable_data<std::byte>();
    read(list, 0);
  }

  Tensor finish() {
    Tensor made = values_;
    if (first_ == Kind::whole && unsigned_) {
      made.impl()->dtype = uint64;  // the same bits
    } else if (first_ == Kind::whole && !is_wide_) {
      made = Tensor::empty(int32, shape_);
      convert_elements(int64, values_.impl()->data, int32, made.impl()->data, shape_.count());
    }
    made.impl()->weak = strength_;
    return made;
  }

 private:
  DType wide_dtype() const {
    switch (first_) {
      case Kind::truth:
        return bool_;
      case Kind::whole:
        return int64;
      case Kind::complex:
        return complex128;
      case Kind::text:
        return string;
      case Kind::array:
        return array_dtype_;
      default:
        return float64;
    }
  }

  // The first entries all the way down give the shape, the first value the kind.
  void describe(PyObject* object, int depth) {
    if (!is_list(object)) return describe_value(object);
    if (depth >= Shape::max_rank)
      throw ValueError("a nested list has more than " + std::to_string(Shape::max_rank) +
                       " levels, or contains itself");
    nb::object items = owned(PySequence_Fast(object, "a list was expected"));
    Py_ssize_t size = PySequence_Fast_GET_SIZE(items.ptr());
    shape_.push_back(size);
    if (size) describe(nb::borrow(PySequence_Fast_GET_ITEM(items.ptr(), 0)).ptr(), depth + 1);
  }
  void describe_value(PyObject* object) {
    first_ = kind_of(object);
    if (first_ == Kind::array) {
      Tensor value = weak_tensor(object);
      for (int64_t dim : value.shape()) shape_.push_back(dim);
      array_dtype_ = value.dtype();
      strength_ = value.impl()->weak;
      value_rank_ = value.rank();
    } else if (first_ == Kind::none) {
      Tensor value = weak_tensor(object);  // an object that knows how to be a tensor; throws for others
      for (int64_t dim : value.shape()) shape_.push_back(dim);
      first_ = Kind::array;
      array_dtype_ = natural_dtype(*value.impl());
      strength_ = value.impl()->weak;
      value_rank_ = value.rank();
    }
  }

  void read(PyObject* object, int depth) {
    int list_rank = shape_.rank() - value_rank_;
    if (!is_list(object)) {
      if (depth != list_rank) refuse_ragged();
      return read_value(object);
    }
    if (depth == list_rank && value_rank_ > 0) return read_array(object);  // a list among arrays
    if (depth >= list_rank) refuse_ragged();
    nb::object items = owned(PySequence_Fast(object, "a list was expected"));
    int64_t size = shape_[depth];
    for (int64_t i = 0; i < size; ++i) {
      // Reading a value may run Python code that changes the list: ask for its length each time.
      if (PySequence_Fast_GET_SIZE(items.ptr()) != size) refuse_ragged();
      PyObject* item = PySequence_Fast_GET_ITEM(items.ptr(), i);
      if (PyFloat_CheckExact(item) && first_ == Kind::real && depth + 1 == list_rank) {
        put(PyFloat_AS_DOUBLE(item));
        continue;
      }
      nb::object kept = nb::borrow(item);
      read(item, depth + 1);
    }
    if (PySequence_Fast_GET_SIZE(items.ptr()) != size) refuse_ragged();
  }

  template <class T> void put(T value) {
    std::memcpy(next_, &value, sizeof value);
    next_ += sizeof value;
  }

  void read_value(PyObject* object) {
    Kind kind = kind_of(object);
    if (kind == Kind::none) return read_array(object);
    bool is_strong = kind == Kind::array && is_tensor_or_variable(object);
    if (is_strong && (first_ == Kind::whole || first_ == Kind::real)) {  // the first tensor decides
      Tensor held;
      become(value_of(object, held).dtype());
      first_ = Kind::array;
      strength_ = Weak::strong;
    }
    if (first_ == Kind::array || (kind == Kind::array && first_ != Kind::text)) return read_array(object);
    if (first_ == Kind::whole && kind == Kind::real) {
      become(float64);
      first_ = Kind::real;
    }
    switch (first_) {
      case Kind::truth:
        if (kind != Kind::truth) refuse_mixed();
        return put(object == Py_True);
      case Kind::whole: {
        if (kind != Kind::whole && kind != Kind::truth) refuse_mixed();
        int64_t value = whole_value(object, unsigned_);
        is_wide_ |= value != static_cast<int32_t>(value);
        return put(value);
      }
      case Kind::real:
        if (kind == Kind::real) return put(PyFloat_AS_DOUBLE(object));
        if (kind != Kind::whole && kind != Kind::truth) refuse_mixed();
        return put(real_value(object));
      case Kind::complex: {
        if (kind != Kind::complex && kind != Kind::real && kind != Kind::whole && kind != Kind::truth) refuse_mixed();
        Py_complex z = PyComplex_AsCComplex(object);
        if (z.real == -1 && PyErr_Occurred()) throw nb::python_error();
        return put(std::complex<double>(z.real, z.imag));
      }
      default:
        if (kind != Kind::text) refuse_mixed();
        *reinterpret_cast<std::string*>(next_) = text_value(object);
        next_ += sizeof(std::string);
    }
  }

  static double real_value(PyObject* object) {
    double value = PyLong_AsDouble(object);
    if (value == -1 && PyErr_Occurred()) throw nb::python_error();
    return value;
  }

  // Tensors and arrays among the values, or numbers among arrays.
  void read_array(PyObject* object) {
    Tensor value = weak_tensor(object);
    int first = shape_.rank() - value_rank_;
    bool fits = value.rank() == value_rank_;
    for (int i = 0; fits && i < value_rank_; ++i) fits = value.shape()[i] == shape_[first + i];
    if (!fits) refuse_ragged();
    DType to = values_.dtype();
    if (value.dtype() == to) {
      copy_elements(to, value.impl()->data, next_, value.size());
    } else {
      bool number = number_types.has(value.dtype()) && number_types.has(to);
      bool narrows = is_floating(value.dtype()) && is_integer(to);
      if (!number || narrows || is_complex(value.dtype())) refuse_mixed();
      convert_elements(value.dtype(), value.impl()->data, to, next_, value.size());
      if (first_ == Kind::whole) is_wide_ |= !fits_int32(value);
    }
    next_ += static_cast<size_t>(value.size()) * size_of(to);
  }
  static bool fits_int32(const Tensor& value) {
    for (int64_t v : strengthen(value, int64).span<int64_t>())
      if (v != static_cast<int32_t>(v)) return false;
    return true;
  }

  // What was read so far, in another dtype.
  void become(DType dtype) {
    DType before = values_.dtype();
    if (!literal_fits(before, dtype)) refuse_mixed();
    Tensor changed = Tensor::empty(dtype, shape_);
    auto* begin = values_.mutable_data<std::byte>();
    int64_t done = (next_ - begin) / static_cast<int64_t>(size_of(before));
    if (before != dtype) convert_elements(before, begin, dtype, changed.impl()->data, done);
    else copy_elements(dtype, begin, changed.impl()->data, done);
    values_ = changed;
    next_ = values_.mutable_data<std::byte>() + static_cast<size_t>(done) * size_of(dtype);
  }

  Shape shape_;
  Kind first_ = Kind::none;
  Weak strength_ = Weak::bare;
  bool unsigned_ = false;
  bool is_wide_ = false;
  int value_rank_ = 0;
  DType array_dtype_ = DType::invalid;
  Tensor values_;
  std::byte* next_ = nullptr;
};

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
    return Tensor::empty(dtype, weak.shape());  // [] is of any kind
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

Tensor weak_tensor(PyObject* object) {
  if (is_tensor(object)) return tensor_of(object);
  if (is_variable(object)) return value_of_variable(object);
  Kind kind = kind_of(object);
  if (kind == Kind::array) return from_numpy(object);
  if (kind != Kind::none) return scalar_tensor(object, kind);
  if (object == Py_None) refuse_type(object);
  if (is_tensor_shape(object)) return shape_tensor(object);
  if (PyList_Check(object) || PyTuple_Check(object)) {
    if (thread_state.recorder && holds_tensors(object)) return packed(object);
    return ListReader(object).finish();
  }
  bool knows = PyObject_HasAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object)), "__tf_tensor__") ||
               PyObject_HasAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object)), "__array__");
  if (!knows && is_list(object)) return ListReader(object).finish();
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
  if (dtype == uint64 && (PyList_Check(object) || PyTuple_Check(object))) value = ListReader(object, uint64).finish();
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

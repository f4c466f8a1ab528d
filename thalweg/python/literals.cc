// The first value of a list decides the kind, integers may become reals on the way, ragged and mixed lists are refused.
#include "thalweg/python/literals.h"

#include <cstring>

#include "thalweg/core/complex.h"
#include "thalweg/core/convert.h"
#include "thalweg/core/error.h"
#include "thalweg/python/convert.h"

namespace thalweg::python {

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

bool literal_fits(DType from, DType to) {
  if (from == to) return true;
  if (from == bool_ || is_integer(from)) return number_types.has(to);
  if (is_floating(from)) return is_floating(to) || is_complex(to);
  return is_complex(from) && is_complex(to);
}

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

namespace {

[[noreturn]] void refuse_ragged() { throw ValueError("Can't convert non-rectangular Python sequence to Tensor."); }
[[noreturn]] void refuse_mixed() { throw ValueError("Can't convert Python sequence with mixed types to Tensor."); }

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
      value_rank_ = value.rank();
      if (is_whole_array(value)) {  // NumPy's integers in a list are read as Python's
        first_ = Kind::whole;
        return;
      }
      array_dtype_ = value.dtype();
      strength_ = value.impl()->weak;
    } else if (first_ == Kind::none) {
      Tensor value = weak_tensor(object);  // an object that knows how to be a tensor; throws for others
      for (int64_t dim : value.shape()) shape_.push_back(dim);
      first_ = Kind::array;
      array_dtype_ = natural_dtype(*value.impl());
      strength_ = value.impl()->weak;
      value_rank_ = value.rank();
    }
  }

  static bool is_whole_array(const Tensor& value) {
    return value.impl()->weak == Weak::soft && is_integer(value.dtype()) && value.dtype() != uint64;
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
    if (first_ == Kind::whole && kind == Kind::array && is_floating(weak_tensor(object).dtype())) {
      become(float64);
      first_ = Kind::real;
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
    if (value.is_symbolic())
      throw TypeError("a list holds a symbolic tensor, which has no value: return it from the function that made it");
    int first = shape_.rank() - value_rank_;
    bool fits = value.rank() == value_rank_;
    for (int i = 0; fits && i < value_rank_; ++i) fits = value.shape()[i] == shape_[first + i];
    if (!fits) refuse_ragged();
    DType to = values_.dtype();
    if (value.impl()->weak == Weak::strong && strength_ == Weak::strong && value.dtype() != to)
      throw InvalidArgumentError("a list holds tensors of " + std::string(name_of(to)) + " and " +
                                 std::string(name_of(value.dtype())) + ": convert one of them with tf.cast");
    if (first_ == Kind::whole && is_integer(value.dtype())) is_wide_ |= !fits_int32(value);
    if (value.dtype() == to) {
      copy_elements(to, value.impl()->data, next_, value.size());
    } else {
      bool number = number_types.has(value.dtype()) && number_types.has(to);
      bool narrows = is_floating(value.dtype()) && is_integer(to);
      if (!number || narrows || is_complex(value.dtype())) refuse_mixed();
      convert_elements(value.dtype(), value.impl()->data, to, next_, value.size());
    }
    next_ += static_cast<size_t>(value.size()) * size_of(to);
  }
  static bool fits_int32(const Tensor& value) {
    Tensor wide = strengthen(value, int64);
    for (int64_t v : wide.span<int64_t>())
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

}  // namespace

Tensor read_list(PyObject* list, DType wanted) { return ListReader(list, wanted).finish(); }

}  // namespace thalweg::python

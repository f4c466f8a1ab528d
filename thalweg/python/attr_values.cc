// Attributes and options from Python values, by the kind of their member, and back for signatures.
#include <cmath>

#include "thalweg/core/error.h"
#include "thalweg/ops/parameter.h"
#include "thalweg/python/arguments.h"
#include "thalweg/python/convert.h"

namespace thalweg::python {
namespace {

const char* kind_name(AttrKind kind) {
  switch (kind) {
    case AttrKind::boolean:
      return "bool";
    case AttrKind::integer:
      return "int";
    case AttrKind::real:
      return "float";
    case AttrKind::text:
      return "string";
    case AttrKind::dtype:
      return "DataType";
    case AttrKind::shape:
      return "shape";
    case AttrKind::integers:
      return "list of int";
    case AttrKind::reals:
      return "list of float";
    case AttrKind::texts:
      return "list of string";
    case AttrKind::dtypes:
      return "list of DataType";
    case AttrKind::tensor:
      return "tensor";
    case AttrKind::shapes:
      return "list of shapes";
    case AttrKind::function:
      return "function";
    case AttrKind::functions:
      return "list of functions";
  }
  return "value";
}

[[noreturn]] void refuse(const char* kind, const char* name, PyObject* value) {
  raise(PyExc_TypeError, std::string("Expected ") + kind + " for argument '" + name + "' not " + repr_of(value) + ".");
}
[[noreturn]] void refuse(AttrKind kind, const char* name, PyObject* value) { refuse(kind_name(kind), name, value); }

bool is_sequence(PyObject* value) {
  if (PyList_Check(value) || PyTuple_Check(value)) return true;
  return PySequence_Check(value) && !PyUnicode_Check(value) && !PyBytes_Check(value) && !PyDict_Check(value) &&
         !is_tensor(value) && !is_numpy(value);
}

bool to_bool(PyObject* value, const char* name, Strictness strictness) {
  if (PyBool_Check(value)) return value == Py_True;
  if (strictness == Strictness::function && PyLong_CheckExact(value)) {
    int overflow = 0;
    long number = PyLong_AsLongAndOverflow(value, &overflow);
    if (number == 0 || number == 1) return number == 1;
  }
  if (is_tensor(value) || is_numpy(value)) {
    Tensor t = natural_tensor(value);
    if (t.dtype() == bool_ && t.size() == 1) return static_cast<bool>(t);
  }
  refuse(AttrKind::boolean, name, value);
}

bool is_whole(PyObject* value) {
  if (is_tensor(value)) return tensor_of(value).rank() == 0 && is_integer(tensor_of(value).dtype());
  if (is_numpy(value) && PySequence_Check(value)) return false;  // arrays are lists
  return PyIndex_Check(value);
}

int64_t to_integer(PyObject* value, const char* name, Strictness strictness = Strictness::raw_op) {
  if (strictness == Strictness::function && PyFloat_CheckExact(value)) {  // seed=124.0
    const double real = PyFloat_AS_DOUBLE(value);
    if (real == std::nearbyint(real) && std::abs(real) < 0x1p53) return static_cast<int64_t>(real);
  }
  if (!PyIndex_Check(value)) refuse(AttrKind::integer, name, value);
  nb::object number = owned(PyNumber_Index(value));
  long long result = PyLong_AsLongLong(number.ptr());
  if (result == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    throw InvalidArgumentError(std::string("the value of '") + name + "' does not fit 64 bits: " + repr_of(value));
  }
  return result;
}

double to_real(PyObject* value, const char* name) {
  if (PyUnicode_Check(value) || PyBytes_Check(value) || !PyNumber_Check(value) || PyComplex_Check(value))
    refuse(AttrKind::real, name, value);
  double result = PyFloat_AsDouble(value);
  if (result == -1 && PyErr_Occurred()) throw nb::python_error();
  return result;
}

std::string to_text(PyObject* value, const char* name) {
  Py_ssize_t size = 0;
  if (PyBytes_Check(value)) return {PyBytes_AS_STRING(value), static_cast<size_t>(PyBytes_GET_SIZE(value))};
  if (!PyUnicode_Check(value)) refuse(AttrKind::text, name, value);
  const char* text = PyUnicode_AsUTF8AndSize(value, &size);
  if (!text) throw nb::python_error();
  return {text, static_cast<size_t>(size)};
}

DType to_dtype_attr(PyObject* value, const char* name) {
  if (PyUnicode_Check(value)) {
    DType named = dtype_named(to_text(value, name));
    if (named != DType::invalid) return named;
  }
  return to_dtype(value);
}

template <class T, class F> std::vector<T> to_list(PyObject* value, const char* name, AttrKind kind, F&& convert) {
  if (!is_sequence(value)) refuse(kind, name, value);
  nb::object items = owned(PySequence_Fast(value, "a list was expected"));
  std::vector<T> list;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.ptr()); ++i) {
    nb::object item = nb::borrow(PySequence_Fast_GET_ITEM(items.ptr(), i));
    list.push_back(convert(item.ptr(), name));
  }
  return list;
}

// Tensors and arrays are read whole; lists item by item, where None is an unknown dimension.
std::vector<int64_t> to_integers(PyObject* value, const char* name) {
  if (is_tensor(value) || is_numpy(value)) {
    Tensor t = natural_tensor(value);
    if (!is_integer(t.dtype()) || t.rank() > 1) refuse(AttrKind::integers, name, value);
    Tensor wide = strengthen(t, int64);
    auto span = wide.span<int64_t>();
    return {span.begin(), span.end()};
  }
  return to_list<int64_t>(value, name, AttrKind::integers, [](PyObject* item, const char* n) {
    return item == Py_None ? unknown : to_integer(item, n);
  });
}
std::vector<double> to_reals(PyObject* value, const char* name) {
  if (is_tensor(value) || is_numpy(value)) {
    Tensor t = natural_tensor(value);
    if (!real_types.has(t.dtype()) || t.rank() > 1) refuse(AttrKind::reals, name, value);
    Tensor wide = strengthen(t, float64);
    auto span = wide.span<double>();
    return {span.begin(), span.end()};
  }
  return to_list<double>(value, name, AttrKind::reals, to_real);
}

// A traced function is an opaque object in Python, or an object that has one as `_body`.
constexpr const char* function_capsule = "thalweg.FunctionBody";
FunctionAttr to_function(PyObject* value, const char* name) {
  nb::object body = PyCapsule_CheckExact(value) ? nb::borrow(value) : nb::getattr(value, "_body", nb::none());
  void* held = PyCapsule_GetPointer(body.ptr(), function_capsule);
  if (!held) {
    PyErr_Clear();
    refuse(AttrKind::function, name, value);
  }
  return *static_cast<FunctionAttr*>(held);
}

/// Each kind of value as Python shows it.
struct ToPython {
  nb::object operator()(std::monostate) const { return nb::none(); }
  nb::object operator()(bool v) const { return nb::bool_(v); }
  nb::object operator()(int64_t v) const { return nb::int_(v); }
  nb::object operator()(double v) const { return nb::float_(v); }
  nb::object operator()(const std::string& v) const { return nb::str(v.c_str(), v.size()); }
  nb::object operator()(DType v) const { return v == DType::invalid ? nb::none() : nb::steal(wrap_dtype(v)); }
  nb::object operator()(const Shape& v) const {
    return v.has_rank() ? nb::object(nb::list(shape_tuple(v))) : nb::none();
  }
  nb::object operator()(const Tensor& v) const { return nb::steal(wrap(v)); }
  nb::object operator()(const FunctionAttr& v) const {
    if (!v) return nb::none();
    return nb::steal(PyCapsule_New(new FunctionAttr(v), function_capsule, [](PyObject* capsule) {
      delete static_cast<FunctionAttr*>(PyCapsule_GetPointer(capsule, function_capsule));
    }));
  }
  template <class T> nb::object operator()(const std::vector<T>& v) const {
    nb::list list;
    for (const T& item : v) list.append((*this)(item));
    return list;
  }
};

}  // namespace

AttrValue to_attr_value(PyObject* value, const MemberType& type, const char* name, Strictness strictness) {
  if (value == Py_None) {
    if (!type.optional && type.kind != AttrKind::shape) refuse(type.kind, name, value);
    return {};
  }
  switch (type.kind) {
    case AttrKind::boolean:
      return to_bool(value, name, strictness);
    case AttrKind::integer:
      return to_integer(value, name, strictness);
    case AttrKind::real:
      return to_real(value, name);
    case AttrKind::text:
      return to_text(value, name);
    case AttrKind::dtype:
      return to_dtype_attr(value, name);
    case AttrKind::shape:
      return to_shape(value);
    case AttrKind::integers:
      if (!is_whole(value)) return to_integers(value, name);
      // One number is one axis; lists of numbers take it as a list of one.
      if (&type == &member_type<Axis>()) return to_integer(value, name);
      return std::vector<int64_t>{to_integer(value, name)};
    case AttrKind::reals:
      return to_reals(value, name);
    case AttrKind::texts:
      // One text stands for a list of one, where a function says so: pad_values="#".
      if (strictness == Strictness::function && (PyUnicode_Check(value) || PyBytes_Check(value)))
        return std::vector<std::string>{to_text(value, name)};
      return to_list<std::string>(value, name, type.kind, to_text);
    case AttrKind::dtypes:
      return to_list<DType>(value, name, type.kind, to_dtype_attr);
    case AttrKind::tensor:
      // A bare number takes the dtype of the call: uniform([2], maxval=3) draws reals.
      if (&type == &member_type<Parameter>()) return weak_tensor(value);
      return natural_tensor(value);
    case AttrKind::shapes:
      return to_list<Shape>(value, name, type.kind, [](PyObject* item, const char*) { return to_shape(item); });
    case AttrKind::function:
      return to_function(value, name);
    case AttrKind::functions:
      return to_list<FunctionAttr>(value, name, type.kind, to_function);
  }
  return {};
}

void set_attr(const AttrType& type, void* object, int row, PyObject* value, Strictness strictness) {
  const AttrRow& r = type.rows[static_cast<size_t>(row)];
  bool takes_none = r.type->optional || r.type->kind == AttrKind::shape;
  if (value == Py_None && strictness == Strictness::function && !takes_none) return;  // the default
  std::string name(r.name);
  AttrValue converted = to_attr_value(value, *r.type, name.c_str(), strictness);
  if (!type.set(object, row, converted)) refuse(r.type->kind, name.c_str(), value);
}

PyObject* from_attr_value(const AttrValue& value) { return std::visit(ToPython{}, value).release().ptr(); }

}  // namespace thalweg::python

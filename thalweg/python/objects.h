// Tensors as Python objects, and what every file of the module shares: errors, the GIL, the names Python registers.
#pragma once
#include <nanobind/nanobind.h>

#include <optional>
#include <span>
#include <string>

#include "thalweg/core/tensor.h"

namespace thalweg::python {

namespace nb = nanobind;

/// A tensor in Python: the handle, and what users hang on it (Keras sets attributes on tensors).
struct PyTensor {
  PyObject_HEAD Tensor tensor;
  PyObject* attributes;
  PyObject* weak_references;
};

/// `tf.Tensor`, the class of the tensors that have a value, that of those a traced function will compute, and that of
/// the tensors that models are made of.
extern PyTypeObject* tensor_type;
extern PyTypeObject* eager_tensor_type;
extern PyTypeObject* symbolic_tensor_type;
extern PyTypeObject* keras_tensor_type;
/// Makes them; called once by the module.
void make_tensor_types();

inline bool is_keras_tensor(PyObject* object) { return Py_TYPE(object) == keras_tensor_type; }
inline bool is_tensor(PyObject* object) {
  return Py_TYPE(object) == eager_tensor_type || Py_TYPE(object) == symbolic_tensor_type || is_keras_tensor(object);
}
inline const Tensor& tensor_of(PyObject* object) { return reinterpret_cast<PyTensor*>(object)->tensor; }
/// A new Python object for a tensor; None for an undefined one.
PyObject* wrap(Tensor tensor);

/// A variable in Python: the tensor object of its handle. `tf.Variable` is a Python class over this type.
struct PyVariable {
  PyObject_HEAD PyObject* handle;
};
extern PyTypeObject* variable_type;
/// variable_type.cc; after the tensor types.
void make_variable_type();

inline bool is_variable(PyObject* object) { return PyObject_TypeCheck(object, variable_type) != 0; }
inline bool is_tensor_or_variable(PyObject* object) { return is_tensor(object) || is_variable(object); }
/// The handle of a variable; ValueError before `__init__` has run.
const Tensor& handle_of(PyObject* variable);
/// The value of a variable now; tapes see that it was read.
Tensor value_of_variable(PyObject* variable);
/// A tensor as it is; the value of a variable, which `held` keeps.
inline const Tensor& value_of(PyObject* object, Tensor& held) {
  if (is_tensor(object)) return tensor_of(object);
  return held = value_of_variable(object);
}
/// The node behind a symbolic tensor, a `tf.Operation` (new reference).
PyObject* operation_of(const Tensor& symbolic);
/// The Python object of a variable: the one that was made, or a new one when that is gone (new reference).
PyObject* wrap_variable(const Tensor& handle);

/// Sets Python's error from the C++ exception being handled.
void set_python_error() noexcept;
/// Runs `body`; an exception becomes Python's error and the result null (or -1).
template <class F> auto guarded(F&& body) noexcept -> decltype(body()) {
  try {
    return body();
  } catch (...) {
    set_python_error();
    if constexpr (std::is_pointer_v<decltype(body())>) return nullptr;
    else return -1;
  }
}
/// Throws with the error that Python has set when a call returned null.
inline PyObject* checked(PyObject* result) {
  if (!result) throw nb::python_error();
  return result;
}
inline void checked(int result) {
  if (result < 0) throw nb::python_error();
}
inline nb::object owned(PyObject* result) { return nb::steal(checked(result)); }
/// A new str; bytes that are no UTF-8 are shown as \xNN.
inline PyObject* unicode(std::string_view text) {
  return checked(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
}
/// Of a method in a table: positional and named arguments.
inline constexpr int with_keywords = METH_FASTCALL | METH_KEYWORDS;
/// The text of a Python str.
std::string text_of(nb::handle text);
/// Python's repr, for messages; long ones are cut.
std::string repr_of(PyObject* object);
/// A tensor as `str` or `repr` shows it, by NumPy's print options where they were changed (tensor_type.cc).
std::string shown(const Tensor& tensor, bool as_repr);
/// A Python exception of a built-in type.
[[noreturn]] void raise(PyObject* type, const std::string& message);

/// Lets other Python threads run while a kernel works on much data; cheap when it does not.
class WithoutGil {
 public:
  explicit WithoutGil(bool heavy) {
    if (heavy) released_.emplace();
  }

 private:
  std::optional<nb::gil_scoped_release> released_;
};
/// Whether a tensor makes a kernel long: much data, or a shape that asks for much.
bool is_heavy(const TensorImpl* tensor);

/// The Python classes and functions that the module calls; the package registers them by name when it is imported.
enum class Hook {
  dtype,
  as_dtype,
  tensor_shape,
  errors,
  named_tuple,
  record_names,
  docs,
  signature,
  reference,
  variable_classes,
  variable_enums,
  indexed_slices,
  warn,
  single_values,  // functions whose list may be one value, and whether only a tensor may stand alone
  conversion,     // what tf.register_tensor_conversion_function was told, as a function of an object
  numpy_text,     // how NumPy shows a value where its print options were changed
  count
};
PyObject* hook(Hook which);

/// The `tf.DType` of a dtype (new reference), and back from anything `tf.as_dtype` takes.
PyObject* wrap_dtype(DType dtype);
DType to_dtype(PyObject* object);
/// A `TensorShape` (new reference), and back from a TensorShape, a list, a tuple, a number, a tensor or None.
PyObject* wrap_shape(const Shape& shape);
Shape to_shape(PyObject* object);
/// Whether this is a `TensorShape`.
bool is_tensor_shape(PyObject* object);
/// The dimensions as a tuple, unknown ones None.
nb::object shape_tuple(const Shape& shape);
/// The dtype's name in C++ messages of TensorFlow: `float`, `double`, `half`, others as in Python.
std::string cpp_name_of(DType dtype);

/// Registers the functions of each file with the module.
void define_hooks(nb::module_& module);
void define_conversions(nb::module_& module);
void define_op_calls(nb::module_& module);
void define_function_calls(nb::module_& module);
void define_devices(nb::module_& module);
void define_dlpack(nb::module_& module);
void define_variables(nb::module_& module);
void define_name_scopes(nb::module_& module);
void define_tapes(nb::module_& module);
void define_protos(nb::module_& module);
/// functions.cc: tracing and traced functions.
void define_functions(nb::module_& module);
/// control_dependencies.cc: the order of ops in graphs.
void define_control_dependencies(nb::module_& module);
/// host_functions.cc: Python's code inside of traced functions.
void define_host_functions(nb::module_& module);
/// keras_convert.cc: Keras's objects.
void define_data(nb::module_& module);
void define_keras(nb::module_& module);
/// graph_defs.cc: traced functions as TensorFlow's messages.
void define_graph_defs(nb::module_& module);
/// keras_datasets.cc and keras_utils.cc: what tf.keras.datasets and tf.keras.utils call.
void define_keras_datasets(nb::module_& module);
void define_keras_utils(nb::module_& module);

}  // namespace thalweg::python

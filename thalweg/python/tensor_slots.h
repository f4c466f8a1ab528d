// The parts of the Tensor type, one file each; tensor_type.cc puts them together.
#pragma once
#include <vector>

#include "thalweg/python/objects.h"

namespace thalweg::python {

/// operators.cc: arithmetic, comparison, truth and numbers.
void add_operator_slots(std::vector<PyType_Slot>& slots);
/// The same for variables, which have fewer.
void add_variable_operator_slots(std::vector<PyType_Slot>& slots);
/// indexing.cc: x[...], len, iteration.
void add_indexing_slots(std::vector<PyType_Slot>& slots);
/// x[key].
PyObject* subscript(const Tensor& x, PyObject* key);
/// numpy.cc: the buffer protocol.
void add_buffer_slots(std::vector<PyType_Slot>& slots);
/// tensor_methods.cc: named attributes and methods.
void add_method_slots(std::vector<PyType_Slot>& slots);
/// Those that only tensors with a value have.
void add_value_slots(std::vector<PyType_Slot>& slots);
/// symbolic_tensor.cc: what tensors of traced functions have, and what they refuse.
void add_symbolic_slots(std::vector<PyType_Slot>& slots);

/// keras_tensor.cc: what tensors of models have, and what they refuse.
void add_keras_slots(std::vector<PyType_Slot>& slots);

/// The elements as NumPy shows them: an array, a NumPy scalar for rank 0, bytes for a string (new reference).
PyObject* to_numpy(const Tensor& tensor);
/// A method `__array__(dtype=None, copy=None)`.
PyObject* to_array(PyObject* self, PyObject* const* args, Py_ssize_t num_args, PyObject* keywords);

/// dlpack.cc: `__dlpack__(...)`.
PyObject* to_dlpack(PyObject* self);

template <class F> PyType_Slot slot(int which, F function) {
  if constexpr (std::is_function_v<std::remove_pointer_t<F>>) return {which, reinterpret_cast<void*>(function)};
  else return {which, static_cast<void*>(function)};
}

}  // namespace thalweg::python

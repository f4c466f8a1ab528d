// Python objects as tensors.
#pragma once
#include "thalweg/python/objects.h"

namespace thalweg::python {

/// Any object TensorFlow would take as a tensor. Tensors come as they are; Python's numbers and lists are bare (their
/// reals float64), arrays of NumPy soft: the op they enter decides their dtype.
Tensor weak_tensor(PyObject* object);
/// With the dtype it has alone: reals float32, integers int32 (int64 when they need it), arrays their own.
Tensor natural_tensor(PyObject* object);
/// With this dtype; TypeError where TensorFlow would not convert (1.5 as int32), ValueError for a tensor of another.
Tensor tensor_as(PyObject* object, DType dtype);
/// An operand beside a tensor: it takes that tensor's dtype, arrays by a cast.
Tensor operand_like(PyObject* object, DType dtype);

/// ValueError for None where a tensor must be given: names the callable and the argument.
[[noreturn]] void refuse_none(const std::string& callable, const std::string& argument);
/// The tensor of an argument, borrowed where it is one, else kept in `held`.
inline TensorImpl* borrow_weak(PyObject* object, Tensor& held) {
  if (is_tensor(object)) return tensor_of(object).get();
  held = weak_tensor(object);
  return held.get();
}
inline TensorImpl* borrow_natural(PyObject* object, Tensor& held) {
  if (is_tensor(object)) return tensor_of(object).get();
  held = natural_tensor(object);
  return held.get();
}
/// The tensors of a list argument; a tensor is a list along its first axis.
std::vector<Tensor> tensor_list(PyObject* object, bool weak, const char* who, const char* name);

/// Whether tf.register_tensor_conversion_function was called.
extern bool has_conversions;
/// The value of an object whose class derives from tf.Variable and keeps its value in its own way.
Tensor value_of_own_variable(PyObject* variable);

/// packing.cc: lists with tensors among them, while a tape listens: a stack, so that gradients find their way through.
bool holds_tensors(PyObject* list);
Tensor packed(PyObject* list);

/// numpy.cc: whether this is an array or a scalar of NumPy, and its elements (soft).
bool is_numpy(PyObject* object);
Tensor from_numpy(PyObject* object);
/// The same tensor with another shape of as many elements; shares the memory.
Tensor with_shape(const Tensor& tensor, const Shape& shape);

}  // namespace thalweg::python

// Lists of tensors as one tensor, by a stack that tapes and tracers see.
#include "thalweg/core/error.h"
#include "thalweg/ops/joining.h"
#include "thalweg/python/convert.h"

namespace thalweg::python {
namespace {

bool is_list(PyObject* object) { return PyList_Check(object) || PyTuple_Check(object); }

// The first tensor or variable, depth first; a list that contains itself ends at the deepest rank.
PyObject* first_tensor(PyObject* list, int depth) {
  if (depth > Shape::max_rank) return nullptr;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list); ++i) {
    PyObject* item = PySequence_Fast_GET_ITEM(list, i);
    if (is_tensor_or_variable(item)) return item;
    if (!is_list(item)) continue;
    if (PyObject* found = first_tensor(item, depth + 1)) return found;
  }
  return nullptr;
}

Tensor pack(PyObject* list, DType dtype, int depth) {
  if (depth > Shape::max_rank)
    throw ValueError("a nested list has more than " + std::to_string(Shape::max_rank) + " levels, or contains itself");
  if (PySequence_Fast_GET_SIZE(list) == 0) return Tensor::empty(dtype, {0});
  std::vector<Tensor> values;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list); ++i) {
    nb::object item = nb::borrow(PySequence_Fast_GET_ITEM(list, i));
    values.push_back(is_list(item.ptr()) ? pack(item.ptr(), dtype, depth + 1) : operand_like(item.ptr(), dtype));
  }
  return stack(values);
}

}  // namespace

bool holds_tensors(PyObject* list) { return first_tensor(list, 0) != nullptr; }

Tensor packed(PyObject* list) {
  Tensor held;
  return pack(list, value_of(first_tensor(list, 0), held).dtype(), 0);
}

}  // namespace thalweg::python

// Python numbers, strings and nested lists, as values of tensors.
#pragma once
#include "thalweg/python/objects.h"

namespace thalweg::python {

enum class Kind : uint8_t { none, truth, whole, real, complex, text, array };
/// What kind of value this is; none for lists and for objects of other classes.
Kind kind_of(PyObject* object);
/// A list or tuple, or another sequence that is no value itself.
bool is_list(PyObject* object);
/// Which literals TensorFlow converts: truth and integers to any number, reals to reals and complex.
bool literal_fits(DType from, DType to);
/// Past 2^63 only where uint64 is asked for, as the same 64 bits.
int64_t whole_value(PyObject* object, bool unsigned_too);
/// The bytes of a str or bytes.
std::string text_value(PyObject* object);
/// A nested list as a tensor; `wanted` is the dtype that was asked for, if any: integers past 2^63 need it.
Tensor read_list(PyObject* list, DType wanted = DType::invalid);

}  // namespace thalweg::python

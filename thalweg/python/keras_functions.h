// Public functions and operators on the tensors of models: each call becomes a layer.
#pragma once
#include "thalweg/ops/function.h"
#include "thalweg/python/objects.h"

namespace thalweg::python {

/// Whether there has ever been a tensor of a model: until then nobody looks for one.
extern bool has_keras_tensors;
/// Whether there is one in an argument, at any depth of lists, tuples and dicts.
bool holds_keras_tensor(PyObject* argument);

/// Calls a function whose arguments hold such tensors: `slots` are those of its parameters, then of its options, null
/// where nothing was given. `name` may be null.
Results call_on_models(const FunctionDef& function, PyObject* const* slots, PyObject* name);

/// An operator between two operands, of which one is such a tensor, or on one (`right` is null); new reference.
PyObject* operate_on_models(const char* symbol, PyObject* left, PyObject* right);
/// x[key]; new reference.
PyObject* slice_model_tensor(PyObject* x, PyObject* key);

}  // namespace thalweg::python

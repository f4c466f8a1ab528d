// Gradients as Python sees them: tensors, and IndexedSlices for those of lookups.
#pragma once
#include "thalweg/python/objects.h"

namespace thalweg::python {

/// None, an IndexedSlices, or a tensor (new reference).
PyObject* wrap_gradient(Tensor gradient);
/// What Python gives as a gradient.
Tensor to_gradient(PyObject* object);

}  // namespace thalweg::python

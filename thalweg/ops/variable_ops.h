// The ops on variables, by handle; the class Variable and the Python package call these.
#pragma once
#include "thalweg/core/variable_resource.h"

namespace thalweg {

/// The value now. Tapes that watch what is read see the variable.
THALWEG_API Tensor read_variable(const Tensor& handle);
THALWEG_API void assign_variable(const Tensor& handle, const Tensor& value);
THALWEG_API void add_to_variable(const Tensor& handle, const Tensor& delta);
THALWEG_API void subtract_from_variable(const Tensor& handle, const Tensor& delta);
/// The dimensions of its value, as a vector.
THALWEG_API Tensor variable_shape(const Tensor& handle);
/// Tells the tapes of this thread that a variable is about to be read.
THALWEG_API void note_access(const Tensor& handle);

}  // namespace thalweg

// How ops reach the variables that handles lead to.
#pragma once
#include <string>

#include "thalweg/core/variable_resource.h"
#include "thalweg/ops/op.h"

namespace thalweg {

/// What ops that change variables have in common.
inline constexpr Traits changes_variable{.stateful = true,
                                         .not_differentiable = "it changes a variable and has no result"};

/// The variable that an input leads to; fails when it holds another dtype.
template <class Call> VariableResource& variable_input(const Call& c, int input, DType dtype) {
  VariableResource& variable = variable_of(c.tensor(input));
  if (variable.dtype() != dtype)
    c.fail(variable.describe() + " was used with the dtype " + std::string(name_of(dtype)));
  return variable;
}
/// The same for infer: null while the handle is not known.
inline const VariableResource* known_variable(const InferCall& c, int input, DType dtype) {
  c.require_rank(input, 0);
  return c.has_value(input) ? &variable_input(c, input, dtype) : nullptr;
}

}  // namespace thalweg

// Traced functions as Python holds them.
#pragma once
#include "thalweg/graph/function_core.h"

namespace thalweg::python {

/// A traced function; whoever calls it has checked the arguments.
struct Body {
  FunctionAttr body;
};

}  // namespace thalweg::python

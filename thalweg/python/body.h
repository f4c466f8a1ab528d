// Traced functions as Python holds them.
#pragma once
#include <vector>

#include "thalweg/graph/function_body.h"
#include "thalweg/graph/function_core.h"
#include "thalweg/python/objects.h"

namespace thalweg::python {

/// A traced function; whoever calls it has checked the arguments.
struct Body {
  explicit Body(FunctionAttr function);
  FunctionAttr body;
  /// The Python objects behind the host functions inside. Here Python's garbage collector sees them: they often lead
  /// back to whoever holds this.
  std::vector<nb::object> hosts;
};
/// How the garbage collector looks into a Body.
extern PyType_Slot body_slots[];

}  // namespace thalweg::python

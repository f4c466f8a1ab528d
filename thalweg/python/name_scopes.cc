// The scope of names of a thread: what tf.name_scope enters and leaves.
#include <nanobind/stl/string.h>

#include "thalweg/core/name_scope.h"
#include "thalweg/python/objects.h"

namespace thalweg::python {

void define_name_scopes(nb::module_& module) {
  module.def("current_name_scope", [] { return current_name_scope(); }, "What names begin with now: `outer/dense/`.");
  module.def(
      "enter_name_scope", [](const std::string& name) { return detail::enter_name_scope(name); },
      "Enters a scope; returns the one before.");
  module.def(
      "restore_name_scope", [](const std::string& scope) { detail::restore_name_scope(scope); },
      "Makes this the scope again.");
}

}  // namespace thalweg::python

// Values that change, behind handles: what classes of the package keep their state in.
#include "thalweg/core/variable_resource.h"
#include "thalweg/python/objects.h"

namespace thalweg::python {
namespace {

const Tensor& tensor_argument(nb::handle object) {
  if (!is_tensor(object.ptr())) raise(PyExc_TypeError, "a tensor was expected, got " + repr_of(object.ptr()));
  return tensor_of(object.ptr());
}

}  // namespace

void define_variables(nb::module_& module) {
  module.def(
      "make_variable",
      [](const char* name, nb::handle value) {
        const Tensor& tensor = tensor_argument(value);
        return nb::steal(
            wrap(make_handle(std::make_shared<VariableResource>(name, tensor.dtype(), tensor.shape(), tensor))));
      },
      "The handle of a new variable with this value.");
  module.def(
      "read_variable", [](nb::handle handle) { return nb::steal(wrap(variable_of(tensor_argument(handle)).read())); },
      "The value now.");
  module.def(
      "assign_variable",
      [](nb::handle handle, nb::handle value) { variable_of(tensor_argument(handle)).assign(tensor_argument(value)); },
      "Puts another value of the same dtype and shape in its place.");
}

}  // namespace thalweg::python

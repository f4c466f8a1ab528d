// The extension module: everything in it is made from the registries; python/thalweg gives it TensorFlow's names.
#include "thalweg/core/version.h"
#include "thalweg/python/objects.h"

NB_MODULE(_thalweg, module) {
  using namespace thalweg::python;
  nb::set_leak_warnings(false);  // callables and types live as long as the process
  make_tensor_types();
  module.attr("Tensor") = nb::borrow(reinterpret_cast<PyObject*>(tensor_type));
  module.attr("SymbolicTensor") = nb::borrow(reinterpret_cast<PyObject*>(symbolic_tensor_type));
  module.attr("KerasTensor") = nb::borrow(reinterpret_cast<PyObject*>(keras_tensor_type));
  module.attr("EagerTensor") = nb::borrow(reinterpret_cast<PyObject*>(eager_tensor_type));
  make_variable_type();
  module.attr("VariableBase") = nb::borrow(reinterpret_cast<PyObject*>(variable_type));
  module.attr("version") = thalweg::version();
  define_hooks(module);
  define_conversions(module);
  define_op_calls(module);
  define_function_calls(module);
  define_devices(module);
  define_dlpack(module);
  define_variables(module);
  define_name_scopes(module);
  define_tapes(module);
  define_protos(module);
  define_functions(module);
  define_host_functions(module);
  define_control_dependencies(module);
  define_graph_defs(module);
  define_data(module);
  define_keras(module);
  define_keras_datasets(module);
  define_keras_utils(module);
}

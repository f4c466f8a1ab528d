// Operations, and the scopes in which others wait for them.
#include "thalweg/graph/control_dependencies.h"

#include "thalweg/graph/tracer.h"
#include "thalweg/python/objects.h"

namespace thalweg::python {
namespace {

/// A node of a graph that is being traced, as one of its results leads to it.
struct Operation {
  Tensor result;
  graph::Origin origin() const { return graph::origin_of(*result.impl()); }
  graph::Label label() const { return graph::label_of(*result.impl()); }
};

struct ControlScope {
  std::optional<ControlDependencies> scope;
  // Tensors, operations and variables, which nothing has to wait for; None leaves the scopes around.
  void enter(nb::handle before) {
    if (before.is_none()) {
      scope.emplace(nullptr);
      return;
    }
    std::vector<Tensor> tensors;
    for (nb::handle item : before) {
      if (is_tensor(item.ptr())) tensors.push_back(tensor_of(item.ptr()));
      else if (nb::isinstance<Operation>(item)) tensors.push_back(nb::cast<const Operation&>(item).result);
    }
    scope.emplace(tensors);
  }
  void exit() { scope.reset(); }
};

}  // namespace

PyObject* operation_of(const Tensor& symbolic) { return nb::cast(Operation{symbolic}).release().ptr(); }

void define_control_dependencies(nb::module_& module) {
  nb::class_<Operation>(module, "Operation")
      .def_prop_ro("name", [](const Operation& o) { return nb::str(o.label().name.c_str()); })
      .def_prop_ro("type", [](const Operation& o) { return nb::str(o.label().op.c_str()); })
      .def("__eq__",
           [](const Operation& a, const Operation& b) {
             return a.origin().graph == b.origin().graph && a.origin().node == b.origin().node;
           })
      .def("__hash__", [](const Operation& o) { return reinterpret_cast<size_t>(o.origin().node); })
      .def("__repr__", [](const Operation& o) {
        return nb::str(("<tf.Operation '" + o.label().name + "' type=" + o.label().op + ">").c_str());
      });
  nb::class_<ControlScope>(module, "ControlScope")
      .def(nb::init<>())
      .def("enter", &ControlScope::enter, nb::arg("before").none())
      .def("exit", &ControlScope::exit);
}

}  // namespace thalweg::python

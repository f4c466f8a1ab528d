// Structures, configurations and objects of Keras between Python and the engine.
#pragma once
#include "thalweg/keras/model.h"
#include "thalweg/python/objects.h"

namespace thalweg::python {

/// Lists, tuples and dicts of what TensorFlow takes as a tensor; None is nothing.
Nest to_nest(nb::handle object);
/// Python's containers, with what `leaf` makes of each tensor.
template <class F> nb::object from_nest(const Nest& nest, const F& leaf) {
  if (nest.is_none()) return nb::none();
  if (nest.is_tensor()) return leaf(nest.tensor());
  if (nest.is_dict()) {
    nb::dict dict;
    for (size_t i = 0; i < nest.size(); ++i) dict[nb::str(nest.keys()[i].c_str())] = from_nest(nest[i], leaf);
    return dict;
  }
  nb::list list;
  for (const Nest& item : nest.items()) list.append(from_nest(item, leaf));
  if (nest.kind() == Nest::Kind::tuple) return nb::tuple(list);
  return list;
}
/// With the tensors themselves.
nb::object from_nest(const Nest& nest);
/// The shapes of tensors in their structure: `TensorShape`s.
nb::object shapes_of(const Nest& nest);
/// Tensors without values for a shape, or for a structure of shapes.
Nest stand_ins(nb::handle shapes, DType dtype);

/// Python's values, and objects of Keras among them: configurations.
keras::Value to_value(nb::handle object);
/// Lists under names that mean shapes are tuples, as Keras has them.
nb::object from_value(const keras::Value& value);

/// The handle of a Python variable.
nb::object wrap_variable_object(const Variable& variable);
Variable to_variable(nb::handle object);
nb::list from_variables(const std::vector<Variable>& variables);

/// The objects behind Python's: those of the package hold one, callables become one.
std::shared_ptr<keras::Object> to_object(nb::handle object);
/// A Python object for one of the engine's: the one that holds it, or a new one of the class with its name.
nb::object from_object(const std::shared_ptr<keras::Object>& object, const char* kind);
/// The handle of a kind from a name, a configuration, an object, a callable or None.
template <class H> H to_handle(nb::handle object) {
  H handle;
  keras::from_value(handle, to_value(object));
  return handle;
}

keras::Logs to_logs(nb::handle dict);
nb::dict from_logs(const keras::Logs& logs);

/// What the class of the package that implements Keras registers: how objects are made for the engine's.
void define_keras(nb::module_& module);
/// keras_objects.cc, keras_layers.cc, keras_models.cc
void define_keras_objects(nb::module_& module);
void define_keras_layers(nb::module_& module);
void define_keras_callbacks(nb::module_& module);
void define_keras_cells(nb::module_& module);
void define_keras_models(nb::module_& module);

/// A class of Python that implements one of the engine's interfaces. The Python object owns the C++ one; handles of the
/// engine own a reference to the Python object for as long as there is one.
template <class Interface> class PythonBacked {
 public:
  explicit PythonBacked(PyObject* self) : self_(self) {}
  nb::handle me() const { return self_; }
  /// A handle that keeps the Python object.
  std::shared_ptr<Interface> handle(Interface* object) {
    if (std::shared_ptr<Interface> known = current_.lock()) return known;
    Py_INCREF(self_);
    std::shared_ptr<Interface> made(object, [self = self_](Interface*) {
      nb::gil_scoped_acquire acquire;
      Py_DECREF(self);
    });
    current_ = made;
    return made;
  }

 private:
  PyObject* self_;  // borrowed: it owns this
  std::weak_ptr<Interface> current_;
};

}  // namespace thalweg::python

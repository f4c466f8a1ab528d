#include "thalweg/python/keras_convert.h"

#include <nanobind/stl/string.h>

#include "thalweg/core/error.h"
#include "thalweg/python/convert.h"

namespace thalweg::python {

using keras::Value;

Nest to_nest(nb::handle object) {
  if (object.is_none()) return {};
  PyObject* p = object.ptr();
  if (is_tensor(p)) return Nest(tensor_of(p));
  if (is_variable(p)) return Nest(value_of_variable(p));
  if (PyDict_Check(p)) {
    std::vector<Nest::Entry> entries;
    for (auto [key, item] : nb::borrow<nb::dict>(object)) entries.emplace_back(text_of(nb::str(key)), to_nest(item));
    return Nest::dict(std::move(entries));
  }
  if (PyTuple_Check(p) || PyList_Check(p)) {
    // Lists of numbers are tensors, lists of tensors and arrays are structures.
    bool structured = false;
    for (nb::handle item : object)
      structured |= is_tensor_or_variable(item.ptr()) || is_numpy(item.ptr()) || PyDict_Check(item.ptr()) ||
                    PyTuple_Check(item.ptr()) || item.is_none() ||
                    !(PyNumber_Check(item.ptr()) || PyList_Check(item.ptr()) || PyUnicode_Check(item.ptr()) ||
                      PyBytes_Check(item.ptr()));
    if (PyList_Check(p) && !structured && PyList_GET_SIZE(p) > 0) {
      bool nested = false;
      for (nb::handle item : object) nested |= PyList_Check(item.ptr());
      if (nested) {
        for (nb::handle item : object)
          for (nb::handle inner : item) structured |= is_tensor_or_variable(inner.ptr()) || is_numpy(inner.ptr());
      }
      if (!structured) return Nest(natural_tensor(p));
    }
    std::vector<Nest> items;
    for (nb::handle item : object) items.push_back(to_nest(item));
    return PyTuple_Check(p) ? Nest::tuple(std::move(items)) : Nest::list(std::move(items));
  }
  return Nest(natural_tensor(p));
}

nb::object from_nest(const Nest& nest) {
  return from_nest(nest, [](const Tensor& t) { return nb::steal(wrap(t)); });
}
nb::object shapes_of(const Nest& nest) {
  return from_nest(nest, [](const Tensor& t) { return nb::steal(wrap_shape(t.shape())); });
}

Nest stand_ins(nb::handle shapes, DType dtype) {
  PyObject* p = shapes.ptr();
  auto is_shape = [](nb::handle h) {
    if (is_tensor_shape(h.ptr())) return true;
    if (!PyTuple_Check(h.ptr()) && !PyList_Check(h.ptr())) return false;
    for (nb::handle item : h)
      if (!item.is_none() && !PyLong_Check(item.ptr()) && !PyIndex_Check(item.ptr())) return false;
    return true;
  };
  if (is_shape(shapes)) return Nest(keras::detail::stand_in(dtype, to_shape(p)));
  if (shapes.is_none()) return Nest(keras::detail::stand_in(dtype, Shape::unknown_rank()));
  if (PyIndex_Check(p)) return Nest(keras::detail::stand_in(dtype, Shape{nb::cast<int64_t>(shapes)}));
  if (PyDict_Check(p)) {
    std::vector<Nest::Entry> entries;
    for (auto [key, item] : nb::borrow<nb::dict>(shapes))
      entries.emplace_back(text_of(nb::str(key)), stand_ins(item, dtype));
    return Nest::dict(std::move(entries));
  }
  std::vector<Nest> items;
  for (nb::handle item : shapes) items.push_back(stand_ins(item, dtype));
  return PyTuple_Check(p) ? Nest::tuple(std::move(items)) : Nest::list(std::move(items));
}

Value to_value(nb::handle object) {
  PyObject* p = object.ptr();
  if (object.is_none()) return {};
  if (PyBool_Check(p)) return p == Py_True;
  if (PyLong_Check(p)) return nb::cast<int64_t>(object);
  if (PyFloat_Check(p)) return PyFloat_AS_DOUBLE(p);
  if (PyUnicode_Check(p)) return text_of(object);
  if (p == Py_Ellipsis) return Value::map({{"class_name", "__ellipsis__"}});
  if (is_tensor_shape(p)) return keras::to_value(to_shape(p));
  if (PyDict_Check(p)) {
    Value::Map entries;
    for (auto [key, item] : nb::borrow<nb::dict>(object)) entries.emplace_back(text_of(nb::str(key)), to_value(item));
    return entries;
  }
  if (PyTuple_Check(p) || PyList_Check(p)) {
    Value::List items;
    for (nb::handle item : object) items.push_back(to_value(item));
    return items;
  }
  if (std::shared_ptr<keras::Object> held = to_object(object)) return held;
  if (nb::hasattr(object, "as_numpy_dtype")) return keras::to_value(to_dtype(p));  // tf.DType
  if (is_tensor_or_variable(p) || is_numpy(p)) {
    // NumPy's numbers as numbers, arrays as lists.
    Tensor t = natural_tensor(p);
    return keras::to_value(t);
  }
  if (PyType_Check(p) && nb::hasattr(object, "get_config")) return to_value(object());  // a class stands for an object
  if (PyType_Check(p)) return keras::to_value(to_dtype(p));                             // np.float32
  if (PyIndex_Check(p)) return nb::cast<int64_t>(nb::steal(PyNumber_Index(p)));
  if (PyNumber_Check(p) && !PyCallable_Check(p)) return nb::cast<double>(nb::steal(PyNumber_Float(p)));
  raise(PyExc_TypeError, "this cannot be part of a configuration: " + repr_of(p));
}

namespace {
/// Lists as tuples, at any depth.
nb::object in_tuples(const nb::object& made) {
  if (!nb::isinstance<nb::list>(made)) return made;
  nb::list items;
  for (nb::handle item : made) items.append(in_tuples(nb::borrow(item)));
  return nb::tuple(items);
}
}  // namespace

nb::object from_value(const Value& value) {
  if (value.is_none()) return nb::none();
  if (value.is_bool()) return nb::bool_(value.boolean());
  if (value.is_integer()) return nb::int_(value.integer());
  if (value.is_real()) return nb::float_(value.number());
  if (value.is_text()) return nb::str(value.text().c_str(), value.text().size());
  if (value.is_list()) {
    nb::list list;
    for (const Value& item : value.list()) list.append(from_value(item));
    return list;
  }
  if (std::shared_ptr<keras::Object> held = value.object()) return from_object(held, "");
  if (value.map().size() == 1 && value["class_name"].is_text() && value["class_name"].text() == "__ellipsis__")
    return nb::borrow(Py_Ellipsis);
  nb::dict dict;
  for (const auto& [key, item] : value.map()) {
    nb::object made = from_value(item);
    // Keras has tuples here.
    const bool is_shape = key.ends_with("shape") || key.ends_with("_size") || key == "strides" ||
                          key == "dilation_rate" || key.ends_with("padding") || key == "cropping" || key == "size" ||
                          key == "dims";
    if (is_shape) made = in_tuples(made);
    dict[nb::str(key.c_str())] = made;
  }
  return dict;
}

nb::object wrap_variable_object(const Variable& variable) { return nb::steal(wrap_variable(variable.handle())); }
Variable to_variable(nb::handle object) {
  if (!is_variable(object.ptr())) raise(PyExc_TypeError, "a tf.Variable was expected, got " + repr_of(object.ptr()));
  return Variable::from_handle(handle_of(object.ptr()));
}

nb::list from_variables(const std::vector<Variable>& variables) {
  nb::list list;
  for (const Variable& v : variables) list.append(wrap_variable_object(v));
  return list;
}

keras::Logs to_logs(nb::handle dict) {
  keras::Logs logs;
  if (dict.is_none()) return logs;
  for (auto [key, item] : nb::borrow<nb::dict>(dict))
    logs.set(text_of(nb::str(key)), nb::cast<double>(nb::steal(checked(PyNumber_Float(item.ptr())))));
  return logs;
}
nb::dict from_logs(const keras::Logs& logs) {
  nb::dict dict;
  for (const auto& [name, number] : logs) dict[nb::str(name.c_str())] = nb::float_(number);
  return dict;
}

void define_keras(nb::module_& module) {
  nb::module_ keras = module.def_submodule("keras", "Keras's objects.");
  define_keras_objects(keras);
  define_keras_callbacks(keras);
  define_keras_layers(keras);
  define_keras_cells(keras);
  define_keras_models(keras);
}

}  // namespace thalweg::python

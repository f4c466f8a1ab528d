#include "thalweg/python/keras_functions.h"

#include "thalweg/core/error.h"
#include "thalweg/keras/call_arguments.h"
#include "thalweg/keras/function_layer.h"
#include "thalweg/python/convert.h"
#include "thalweg/python/keras_convert.h"

namespace thalweg::python {

bool has_keras_tensors = false;

bool holds_keras_tensor(PyObject* argument) {
  if (!argument) return false;
  if (is_keras_tensor(argument)) return true;
  if (PyList_Check(argument) || PyTuple_Check(argument)) {
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(argument); ++i)
      if (holds_keras_tensor(PySequence_Fast_GET_ITEM(argument, i))) return true;
    return false;
  }
  if (PySlice_Check(argument)) {
    auto* s = reinterpret_cast<PySliceObject*>(argument);
    return holds_keras_tensor(s->start) || holds_keras_tensor(s->stop) || holds_keras_tensor(s->step);
  }
  if (!PyDict_Check(argument)) return false;
  PyObject *key, *item;
  Py_ssize_t at = 0;
  while (PyDict_Next(argument, &at, &key, &item))
    if (holds_keras_tensor(item)) return true;
  return false;
}

namespace {

using keras::Value;

bool is_array(PyObject* object) { return is_tensor_or_variable(object) || is_numpy(object); }
/// A variable by its handle, so that every call of the model reads it anew; other arrays as they are.
Tensor tensor_for_model(PyObject* object) {
  return is_variable(object) ? handle_of(object) : is_tensor(object) ? tensor_of(object) : weak_tensor(object);
}

/// An argument as a configuration has it, its tensors taken out.
Value to_named(PyObject* object, std::vector<Nest>& tensors) {
  if (is_array(object)) {
    tensors.emplace_back(tensor_for_model(object));
    return keras::make_place(tensors.size() - 1);
  }
  if (PyList_Check(object) || PyTuple_Check(object)) {
    Value::List items;
    for (nb::handle item : nb::handle(object)) items.push_back(to_named(item.ptr(), tensors));
    return items;
  }
  if (object == Py_Ellipsis) return Value::map({{"class_name", "__ellipsis__"}});
  if (PySlice_Check(object)) {
    auto* s = reinterpret_cast<PySliceObject*>(object);
    return Value::map({{"start", to_named(s->start, tensors)},
                       {"stop", to_named(s->stop, tensors)},
                       {"step", to_named(s->step, tensors)}});
  }
  return to_value(object);
}

/// The first argument: a tensor, a list of them, or an empty list where it is neither.
Nest to_first(PyObject* object) {
  if (is_array(object)) return Nest(tensor_for_model(object));
  if (!holds_keras_tensor(object)) {
    if (PyUnicode_Check(object) || object == Py_None) return Nest::list({});
    return Nest(weak_tensor(object));
  }
  std::vector<Nest> items;
  for (nb::handle item : nb::handle(object)) items.push_back(to_first(item.ptr()));
  return PyTuple_Check(object) ? Nest::tuple(std::move(items)) : Nest::list(std::move(items));
}

/// What Keras writes besides what was given.
void complete(Value& named, const keras::FunctionStyle& style) {
  for (const auto& [key, value] : style.always)
    if (!named.contains(key)) named.set(key, value);
}
std::string written_name(const keras::FunctionStyle& style, std::string_view name) {
  for (const auto& [ours, theirs] : style.renamed)
    if (ours == name) return theirs;
  return std::string(name);
}

PyObject* wrap_one(const Nest& made) { return wrap(made.tensor()); }

}  // namespace

Results call_on_models(const FunctionDef& function, PyObject* const* slots, PyObject* name) {
  const keras::FunctionStyle style = keras::style_of(function);
  Value named = Value::Map();
  std::vector<Nest> tensors;
  const Nest first = to_first(slots[0]);
  if (first.is_sequence() && first.size() == 0) named.set(function.params[0].name, to_named(slots[0], tensors));
  for (size_t i = 1; i < function.params.size(); ++i)
    named.set(written_name(style, function.params[i].name), to_named(slots[i], tensors));
  for (size_t i = 0; function.options && i < function.options->rows.size(); ++i)
    if (PyObject* given = slots[function.params.size() + i])
      named.set(written_name(style, function.options->rows[i].name), to_named(given, tensors));
  if (name && name != Py_None) named.set("name", to_value(name));
  complete(named, style);
  Results results;
  const Nest made = keras::call_symbol(style.symbol, first, named, std::move(tensors));
  if (function.result == ResultKind::one) results.one = made.tensor();
  else results.many = made.flatten();
  return results;
}

PyObject* operate_on_models(const char* symbol, PyObject* left, PyObject* right) {
  const std::string_view name = symbol;
  const bool compares = name == "__operators__.eq" || name == "__operators__.ne";
  Nest first;
  if (is_array(left)) first = Nest(tensor_for_model(left));
  // TensorFlow has made the left operand a tensor before it looks for models.
  else first = Nest(tensor_as(left, tensor_of(right).dtype()));
  Value named = Value::Map();
  std::vector<Nest> tensors;
  if (right) named.set(compares ? "other" : name == "linalg.matmul" ? "b" : "y", to_named(right, tensors));
  if (!compares && name != "math.abs") named.set("name", Value());
  return wrap_one(keras::call_symbol(symbol, first, named, std::move(tensors)));
}

PyObject* slice_model_tensor(PyObject* x, PyObject* key) {
  return guarded([&] {
    std::vector<Nest> tensors;
    Value named = Value::Map();
    named.set("slice_spec", to_named(key, tensors));
    return wrap_one(keras::call_symbol("__operators__.getitem", Nest(tensor_for_model(x)), named, std::move(tensors)));
  });
}

}  // namespace thalweg::python

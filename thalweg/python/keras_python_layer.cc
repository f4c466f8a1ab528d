#include "thalweg/python/keras_python_layer.h"

#include <utility>

#include "thalweg/graph/init_scope.h"
#include "thalweg/keras/call_arguments.h"
#include "thalweg/keras/call_context.h"
#include "thalweg/keras/functional.h"
#include "thalweg/python/convert.h"

namespace thalweg::python {

using keras::CallArgs;
using keras::LayerInterface;
using keras::Value;

Overrides overrides_of(nb::handle type) {
  nb::object known = nb::getattr(type, "_overrides", nb::none());
  auto has = [&](const char* name) { return nb::cast<bool>(known[name]); };
  std::vector<std::string> arguments;
  for (nb::handle name : nb::object(known["arguments"])) arguments.push_back(text_of(name));
  return {has("build"),
          has("call"),
          has("compute_mask"),
          has("compute_output_shape"),
          has("get_config"),
          has("reset_states"),
          has("train_step"),
          has("test_step"),
          has("predict_step"),
          has("takes_training"),
          has("takes_mask"),
          has("takes_constants"),
          has("needs_training"),
          has("needs_mask"),
          has("supports_masking"),
          has("get_initial_state"),
          arguments};
}

namespace {

/// Fills the places of tensors among other arguments again.
nb::object with_tensors(nb::handle structure, const std::vector<Tensor>& tensors, size_t& next, nb::handle marker) {
  PyObject* p = structure.ptr();
  if (p == marker.ptr()) return nb::steal(wrap(tensors.at(next++)));
  if (PyDict_Check(p)) {
    nb::dict made;
    for (auto [key, item] : nb::borrow<nb::dict>(structure)) made[key] = with_tensors(item, tensors, next, marker);
    return made;
  }
  if (PyTuple_CheckExact(p) || PyList_CheckExact(p)) {
    nb::list made;
    for (nb::handle item : structure) made.append(with_tensors(item, tensors, next, marker));
    if (PyTuple_Check(p)) return nb::tuple(made);
    return made;
  }
  return nb::borrow(structure);
}
/// Takes the tensors out of other arguments; their places are marked.
nb::object without_tensors(nb::handle structure, std::vector<Nest>& tensors, nb::handle marker) {
  PyObject* p = structure.ptr();
  if (is_tensor(p)) {
    tensors.emplace_back(tensor_of(p));
    return nb::borrow(marker);
  }
  if (PyDict_Check(p)) {
    nb::dict made;
    for (auto [key, item] : nb::borrow<nb::dict>(structure)) made[key] = without_tensors(item, tensors, marker);
    return made;
  }
  if (PyTuple_CheckExact(p) || PyList_CheckExact(p)) {
    nb::list made;
    for (nb::handle item : structure) made.append(without_tensors(item, tensors, marker));
    if (PyTuple_Check(p)) return nb::tuple(made);
    return made;
  }
  return nb::borrow(structure);
}
/// An argument of a configuration with its tensors.
nb::object from_named(const Value& value, const std::vector<Tensor>& tensors) {
  if (std::optional<size_t> place = keras::place_in(value)) return nb::steal(wrap(tensors.at(*place)));
  if (!keras::has_places(value)) return from_value(value);
  if (value.is_list()) {
    nb::list list;
    for (const Value& item : value.list()) list.append(from_named(item, tensors));
    return list;
  }
  nb::dict dict;
  for (const auto& [key, item] : value.map()) dict[nb::str(key.c_str())] = from_named(item, tensors);
  return dict;
}
/// The same as a configuration has it; the marked places are those of tensors.
Value to_named(nb::handle structure, size_t& next, nb::handle marker) {
  PyObject* p = structure.ptr();
  if (p == marker.ptr()) return keras::make_place(next++);
  if (PyDict_Check(p)) {
    Value::Map entries;
    for (auto [key, item] : nb::borrow<nb::dict>(structure))
      entries.emplace_back(text_of(nb::str(key)), to_named(item, next, marker));
    return entries;
  }
  if (PyTuple_Check(p) || PyList_Check(p)) {
    Value::List items;
    for (nb::handle item : structure) items.push_back(to_named(item, next, marker));
    return items;
  }
  return to_value(structure);
}
nb::object marker() {
  static auto& object =
      *new nb::object(nb::steal(PyObject_CallNoArgs(reinterpret_cast<PyObject*>(&PyBaseObject_Type))));
  return object;
}

}  // namespace

namespace {
/// The flat states of a cell in the structure of its sizes, `state_size = (2, (3, 4))`.
nb::object packed_states(nb::handle cell, const nb::object& states) {
  nb::object sizes = nb::getattr(cell, "state_size", nb::none());
  bool is_nested = false;
  if (PyTuple_Check(sizes.ptr()) || PyList_Check(sizes.ptr()))
    for (nb::handle item : sizes) is_nested |= PyTuple_Check(item.ptr()) || PyList_Check(item.ptr());
  return is_nested ? nb::module_::import_("thalweg.nest").attr("pack_sequence_as")(sizes, states) : states;
}
}  // namespace

Nest PyLayer::call(const Nest& inputs, const CallArgs& args) {
  if (!own_.call) {
    if (inner_) return inner_->call(inputs, args);
    if (!is_model()) return inputs;
    with_python([&] {
      raise(PyExc_NotImplementedError,
            "Model '" + name + "' (" + class_name() + ") has no `call` method: write `def call(self, inputs)`.");
    });
  }
  return with_python([&] {
    nb::list arguments;
    // A recurrent layer gives a cell the step and the states in one.
    if (keras::detail::has_states(*this, inputs, args)) {
      arguments.append(from_nest(inputs[0]));
      arguments.append(packed_states(me(), from_nest(inputs[1])));
    } else {
      arguments.append(from_nest(inputs));
    }
    nb::dict keywords;
    if (args.rest) {
      const std::vector<Tensor> tensors = args.more.flatten();
      if (args.rest->own) {
        nb::object rest = nb::borrow(static_cast<PyObject*>(const_cast<void*>(args.rest->own.get())));
        size_t next = 0;
        nb::object filled = with_tensors(rest, tensors, next, marker());
        for (nb::handle item : nb::object(filled[0])) arguments.append(item);
        for (auto [key, item] : nb::cast<nb::dict>(nb::object(filled[1]))) keywords[key] = item;
      } else {  // read from a configuration
        for (const auto& [key, value] : args.rest->named.map())
          keywords[nb::str(key.c_str())] = from_named(value, tensors);
      }
    }
    if (own_.takes_training && args.training.given() && !keywords.contains("training"))
      keywords["training"] = nb::bool_(static_cast<bool>(args.training));
    if (own_.takes_mask && !args.mask.is_none() && !keywords.contains("mask")) keywords["mask"] = from_nest(args.mask);
    if (own_.needs_training && !keywords.contains("training")) keywords["training"] = nb::none();
    if (own_.needs_mask && !keywords.contains("mask")) keywords["mask"] = nb::none();
    if (own_.takes_constants && !args.constants.is_none()) keywords["constants"] = from_nest(args.constants);
    if (!args.initial_state.is_none()) keywords["initial_state"] = from_nest(args.initial_state);
    return to_nest(nb::object(me().attr("call")(*arguments, **keywords)));
  });
}

namespace {

/// Sizes as cells of Python write them: a number, a TensorShape, or lists of them.
void add_sizes(nb::handle given, std::vector<Shape>& sizes) {
  PyObject* p = given.ptr();
  if (is_tensor_shape(p)) {
    sizes.push_back(to_shape(p));
  } else if (PyTuple_Check(p) || PyList_Check(p)) {
    for (nb::handle item : given) add_sizes(item, sizes);
  } else if (PyDict_Check(p)) {
    raise(PyExc_TypeError,
          "sizes of states and outputs are numbers, TensorShapes, or lists of them, got " + repr_of(p));
  } else if (PyIndex_Check(p)) {
    sizes.push_back(Shape{nb::cast<int64_t>(nb::steal(checked(PyNumber_Index(p))))});
  }
}
/// Those of an attribute; none where it is not there, or where only the base class has it.
std::vector<Shape> sizes_of(nb::handle cell, const char* attribute) {
  return with_python([&] {
    std::vector<Shape> sizes;
    nb::object given = nb::steal(PyObject_GetAttrString(cell.ptr(), attribute));
    if (given.is_valid()) {
      add_sizes(given, sizes);
    } else if (PyErr_ExceptionMatches(PyExc_AttributeError) || PyErr_ExceptionMatches(PyExc_NotImplementedError)) {
      PyErr_Clear();
    } else {
      throw nb::python_error();
    }
    return sizes;
  });
}

}  // namespace

void PyLayer::track(const Variable& variable, bool is_own) {
  nb::object attributes = me().attr("__dict__");
  std::erase_if(tracked_, [&](const Tracked& one) { return !one.is_own && !is_attribute(one.variable, attributes); });
  for (const Tracked& one : tracked_)
    if (is_same(one.variable, variable)) return;
  tracked_.push_back({variable, is_own, inner_ && !inner_->is_model() && !inner_->built});
}

void PyLayer::untrack(const Variable& variable, const Variable& other) {
  for (auto one = tracked_.begin(); one != tracked_.end(); ++one) {
    if (!is_same(one->variable, variable)) continue;
    if (other.defined()) *one = {other, false, one->is_early};
    else tracked_.erase(one);
    return;
  }
}

void PyLayer::use_initial_weights() {
  if (initial_weights.empty()) return;
  InitScope outside;  // at once, whatever is being traced
  keras::Layer(shared_from_this()).set_weights(std::exchange(initial_weights, {}));
}

std::vector<Shape> PyLayer::state_size() const { return inner_ ? inner_->state_size() : sizes_of(me(), "state_size"); }
bool PyLayer::is_cell() const {
  if (inner_) return inner_->is_cell();
  return with_python([&] {
    nb::object size = nb::steal(PyObject_GetAttrString(me().ptr(), "state_size"));
    if (size.is_valid()) return true;
    PyErr_Clear();
    return false;
  });
}
std::vector<Shape> PyLayer::output_size() const {
  if (inner_) return inner_->output_size();
  std::vector<Shape> sizes = sizes_of(me(), "output_size");
  return sizes.empty() ? LayerInterface::output_size() : sizes;
}
std::vector<Tensor> PyLayer::get_initial_state(const Tensor& inputs, const Tensor& batch_size, DType state_dtype) {
  if (!own_.get_initial_state)
    return inner_ ? inner_->get_initial_state(inputs, batch_size, state_dtype)
                  : LayerInterface::get_initial_state(inputs, batch_size, state_dtype);
  return with_python([&] {
    nb::object batch = batch_size.is_symbolic() ? nb::steal(wrap(batch_size)) : nb::int_(batch_size.item<int64_t>());
    nb::object states =
        me().attr("get_initial_state")(nb::arg("inputs") = nb::steal(wrap(inputs)), nb::arg("batch_size") = batch,
                                       nb::arg("dtype") = nb::steal(wrap_dtype(state_dtype)));
    return to_nest(states).flatten();
  });
}

namespace {
/// The other arguments by name, for configurations; None where they cannot be in one.
Value named_arguments(const PyLayer& layer, nb::handle positional, nb::handle keywords) {
  size_t next = 0;
  Value::Map named;
  try {
    size_t i = 0;
    for (nb::handle item : positional) {
      Value value = to_named(item, next, marker());
      const std::vector<std::string>& names = layer.call_arguments();
      named.emplace_back(i < names.size() ? names[i] : "args_" + std::to_string(i), std::move(value));
      ++i;
    }
    for (auto [key, item] : nb::borrow<nb::dict>(keywords))
      named.emplace_back(text_of(nb::str(key)), to_named(item, next, marker()));
  } catch (nb::python_error&) {
    return {};
  }
  return named;
}

/// Gives `training` and `mask`, which contexts know too, and what follows them by name.
void name_own_arguments(const PyLayer& layer, nb::object& positional, nb::object& keywords) {
  const std::vector<std::string>& names = layer.call_arguments();
  const size_t count = nb::len(positional);
  size_t first = 0;
  while (first < std::min(count, names.size()) && names[first] != "training" && names[first] != "mask") ++first;
  if (first >= std::min(count, names.size())) return;
  nb::list before;
  nb::dict named;
  named.update(nb::borrow<nb::dict>(keywords));
  for (size_t i = 0; i < count; ++i) {
    if (i < first) before.append(positional[i]);
    else if (i < names.size() && !named.contains(names[i].c_str())) named[names[i].c_str()] = positional[i];
    else return;  // Python says what is wrong
  }
  positional = nb::tuple(before);
  keywords = named;
}
}  // namespace

CallArgs to_call_args(const LayerInterface& layer, nb::handle given, nb::handle named, Nest& inputs) {
  nb::object positional = nb::borrow(given), keywords = nb::borrow(named);
  CallArgs args;
  nb::dict rest;
  std::vector<Nest> after_first;  // inputs besides the first that have names, in the order of the parameters
  auto* python = dynamic_cast<const PyLayer*>(&layer);
  const bool of_python = python && (python->writes_call() || !python->inner());
  if (of_python) name_own_arguments(*python, positional, keywords);
  for (auto [key, item] : nb::borrow<nb::dict>(keywords)) {
    std::string name = text_of(key);
    if (name == "training") {
      if (item.is_none()) continue;
      const int truth = PyObject_IsTrue(item.ptr());
      if (truth < 0) throw nb::python_error();
      args.training = truth == 1;
    } else if (name == "mask") {
      args.mask = to_nest(item);
      args.ignores_masks = Flag(item.is_none());
    } else if (of_python) {
      rest[key] = item;
    } else if (name == "initial_state") {
      args.initial_state = to_nest(item);
    } else if (name == "count_weights") {
      args.more = to_nest(item);
    } else if (name == "constants") {
      args.constants = to_nest(item);
      if (args.constants.is_tensor()) args.constants = Nest::list({args.constants});
    } else if (name == "attention_mask") {
      args.attention_mask = to_nest(item);
    } else if (name == "return_attention_scores") {
      args.return_attention_scores = Flag(PyObject_IsTrue(item.ptr()) == 1);
    } else if (name == "use_causal_mask") {
      args.use_causal_mask = Flag(PyObject_IsTrue(item.ptr()) == 1);
    } else if (name == "value" || name == "states") {
      after_first.insert(after_first.begin(), to_nest(item));
    } else if (name == "key") {
      if (!item.is_none()) after_first.push_back(to_nest(item));
    } else {
      raise(PyExc_TypeError, layer.class_name() + ".call() got an unexpected keyword argument " + repr_of(key.ptr()));
    }
  }
  const size_t count = nb::len(positional);
  if (of_python && (count > 0 || nb::len(rest) > 0)) {
    std::vector<Nest> tensors;
    nb::object kept = without_tensors(nb::make_tuple(positional, rest), tensors, marker());
    args.more = Nest::list(std::move(tensors));
    auto others = std::make_shared<keras::NamedArgs>();
    if (keras::functional::is_symbolic(inputs, args))
      others->named = named_arguments(*python, nb::object(kept[0]), nb::object(kept[1]));
    others->own = std::shared_ptr<const void>(kept.release().ptr(), [](const void* object) {
      nb::gil_scoped_acquire acquire;
      Py_DECREF(static_cast<PyObject*>(const_cast<void*>(object)));
    });
    args.rest = std::move(others);
  } else if (count > 0 || !after_first.empty()) {
    std::vector<Nest> all = {inputs};
    for (nb::handle item : positional) all.push_back(to_nest(item));
    all.insert(all.end(), after_first.begin(), after_first.end());
    inputs = Nest::list(std::move(all));
  }
  return args;
}

}  // namespace thalweg::python

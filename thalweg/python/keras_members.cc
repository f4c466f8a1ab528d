// What objects of Keras show of themselves in Python: weights, layers, options, and what they demand of inputs.
#include <nanobind/stl/string.h>

#include "thalweg/keras/layers/wrappers.h"
#include "thalweg/ops/fixed_variable.h"
#include "thalweg/python/convert.h"
#include "thalweg/python/keras_python_layer.h"

namespace thalweg::python {
namespace {

using keras::InputSpec;
using keras::LayerInterface;
using keras::Value;

/// The object whose members are meant: for a class of Python that comes from one of the engine's, that one's.
std::shared_ptr<keras::Object> described(Core& core) {
  std::shared_ptr<keras::Object> object = core.get();
  auto* python = dynamic_cast<PyLayer*>(object.get());
  if (!python) return object;
  return python->inner() ? python->inner()->shared_from_this() : nullptr;
}

/// The options of a struct of the library; without rows where it is none.
struct Options {
  const keras::Rows* rows = nullptr;
  void* object = nullptr;
};
Options options_of(keras::Object& object, const char* kind) {
  const keras::Class* known = keras::find_class(kind, object.class_name());
  if (!known) return {};
  const keras::Rows& rows = known->rows();
  void* self = object.self(&rows);
  return self ? Options{&rows, self} : Options{};
}
const char* kind_of(const keras::Object& object) {
  if (dynamic_cast<const LayerInterface*>(&object)) return LayerInterface::kind;
  if (dynamic_cast<const keras::LossInterface*>(&object)) return keras::LossInterface::kind;
  if (dynamic_cast<const keras::MetricInterface*>(&object)) return keras::MetricInterface::kind;
  return "";
}

/// Functions and the like as the objects they are; null where the option is something else.
template <class H> nb::object handle_of_option(const Options& options, const std::string& name) {
  H* found = options.rows->find<H>(name, options.object);
  if (!found) return {};
  // Nothing is the identity, as Keras has it.
  if (std::same_as<H, keras::Activation> && !found->defined()) return from_object(H("linear").pointer(), "activation");
  return from_object(found->pointer(), H::Interface::kind);
}

nb::object option_of(keras::Object& object, const std::string& name) {
  const Options options = options_of(object, kind_of(object));
  if (options.rows && options.rows->find(name)) {
    if (auto* pattern = options.rows->find<keras::layers::LayerPattern>(name, options.object))
      return from_object(pattern->layer().pointer(), "layer");
    if (auto* layers = options.rows->find<std::vector<keras::Layer>>(name, options.object)) {
      nb::list all;
      for (const keras::Layer& layer : *layers) all.append(from_object(layer.pointer(), "layer"));
      return all;
    }
    for (auto* look : {&handle_of_option<keras::Activation>, &handle_of_option<keras::Initializer>,
                       &handle_of_option<keras::Regularizer>, &handle_of_option<keras::Constraint>})
      if (nb::object found = look(options, name); found.is_valid()) return found;
  }
  Value config = object.get_config();
  // Some options are in no configuration.
  if (options.rows && options.rows->find(name) && !config.contains(name)) config = options.rows->get(options.object);
  if (!config.is_map() || !config.contains(name)) return {};
  return from_value(Value::map({{name, config[name]}}))[name.c_str()];  // under its name: shapes are tuples
}

/// The member of this name that is a variable, of the object itself or of a struct in it; or null.
Variable* variable_in(const module::Parts& parts, const std::string& name) {
  for (const module::Part& part : parts.list()) {
    if (part.type->kind == module::Type::Kind::variable) {
      if (part.name == name) return const_cast<Variable*>(static_cast<const Variable*>(part.object));
    } else if (part.type->kind == module::Type::Kind::module && !part.type->shared(part.object)) {
      module::Parts inner;
      part.type->list_parts(part.object, inner);
      if (Variable* found = variable_in(inner, name)) return found;
    }
  }
  return nullptr;
}
Variable* variable_in(const keras::Object& object, const std::string& name) {
  module::Parts parts;
  object.list_parts(parts);
  return variable_in(parts, name);
}

nb::object part_of(const keras::Object& object, const std::string& name) {
  if (const Variable* variable = variable_in(object, name)) return wrap_variable_object(*variable);
  module::Parts parts;
  object.list_parts(parts);
  for (const module::Part& part : parts.list()) {
    if (part.name != name || part.type->kind == module::Type::Kind::variable) continue;
    const module::Shared* shared = part.type->shared(part.object);
    if (auto* inner = dynamic_cast<const LayerInterface*>(shared))
      return from_object(std::const_pointer_cast<LayerInterface>(inner->shared_from_this()), "layer");
  }
  return {};
}

int rank_of(nb::handle number) { return number.is_none() ? -1 : nb::cast<int>(number); }

InputSpec to_spec(nb::handle spec) {
  InputSpec made;
  made.ndim = rank_of(spec.attr("ndim"));
  made.min_ndim = rank_of(spec.attr("min_ndim"));
  made.max_ndim = rank_of(spec.attr("max_ndim"));
  made.allows_last_axis_of_one = nb::cast<bool>(spec.attr("allow_last_axis_squeeze"));
  if (nb::object dtype = spec.attr("dtype"); !dtype.is_none()) made.dtype = to_dtype(dtype.ptr());
  if (nb::object shape = spec.attr("shape"); !shape.is_none()) made.shape = to_shape(shape.ptr());
  for (auto [axis, size] : nb::cast<nb::dict>(nb::object(spec.attr("axes"))))
    if (!size.is_none()) made.axes.emplace_back(nb::cast<int>(axis), nb::cast<int64_t>(size));
  return made;
}

nb::dict from_spec(const InputSpec& spec) {
  nb::dict made;
  auto set_rank = [&](const char* name, int rank) {
    if (rank >= 0) made[name] = nb::int_(rank);
  };
  set_rank("ndim", spec.ndim);
  set_rank("min_ndim", spec.min_ndim);
  set_rank("max_ndim", spec.max_ndim);
  if (spec.dtype != DType::invalid) made["dtype"] = nb::str(std::string(name_of(spec.dtype)).c_str());
  if (spec.shape.has_rank()) made["shape"] = nb::tuple(nb::steal(wrap_shape(spec.shape)));
  nb::dict axes;
  for (const auto& [axis, size] : spec.axes) axes[nb::int_(axis)] = nb::int_(size);
  if (!spec.axes.empty()) made["axes"] = axes;
  if (spec.allows_last_axis_of_one) made["allow_last_axis_squeeze"] = nb::bool_(true);
  return made;
}

}  // namespace

void define_keras_members(nb::module_& module) {
  // A weight, a layer or an option by the name of the member; AttributeError where there is none.
  define(module, "member", [](Core& core, const std::string& name) -> nb::object {
    if (std::shared_ptr<keras::Object> object = described(core)) {
      if (nb::object found = part_of(*object, name); found.is_valid()) return found;
      if (nb::object found = option_of(*object, name); found.is_valid()) return found;
    }
    raise(PyExc_AttributeError, name);
  });
  // Sets an option of the engine's struct; false where it has none of this name.
  define(module, "set_member", [](Core& core, const std::string& name, nb::handle value) {
    std::shared_ptr<keras::Object> object = described(core);
    if (!object) return false;
    const Options options = options_of(*object, kind_of(*object));
    if (!options.rows || !options.rows->find(name)) return false;
    options.rows->set(options.object, Value::map({{name, to_value(value)}}));
    if (auto* layer = dynamic_cast<LayerInterface*>(object.get())) layer->check();
    return true;
  });
  // Puts a variable, or a tensor that stands for one, in the place of a weight; false where there is none of this name.
  define(module, "set_weight", [](Core& core, const std::string& name, nb::handle value) {
    std::shared_ptr<keras::Object> object = described(core);
    Variable* weight = object ? variable_in(*object, name) : nullptr;
    if (!weight) return false;
    if (value.is_none()) *weight = Variable();
    else if (is_variable(value.ptr())) *weight = to_variable(value);
    else *weight = fixed_variable(natural_tensor(value.ptr()));
    return true;
  });
  // (options of InputSpec for each input, whether Keras has them in a list)
  define(module, "input_specs", [](Core& core) {
    std::shared_ptr<LayerInterface> layer = as_interface<LayerInterface>(core);
    nb::list specs;
    bool is_list = layer->is_network();
    for (const InputSpec& spec : layer->input_spec()) {
      specs.append(from_spec(spec));
      is_list |= spec.has_more;
    }
    return nb::make_tuple(specs, is_list || nb::len(specs) > 1);
  });
  define(module, "set_input_specs", [](Core& core, nb::handle specs) {
    auto* python = dynamic_cast<PyLayer*>(core.get().get());
    if (!python) raise(PyExc_AttributeError, "a layer of the library knows by itself what inputs it takes");
    std::vector<InputSpec> made;
    for (nb::handle spec : specs) made.push_back(to_spec(spec));
    python->own_input_spec = std::move(made);
  });
}

}  // namespace thalweg::python

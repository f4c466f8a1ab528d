// Layers that Python implements, and how the arguments of calls come from Python.
#pragma once
#include "thalweg/keras/call_context.h"
#include "thalweg/keras/eager_only.h"
#include "thalweg/python/keras_core.h"

namespace thalweg::python {

/// What the class of a Python layer writes itself, asked once for each class.
struct Overrides {
  bool build, call, compute_mask, compute_output_shape, get_config, reset_states;
  bool train_step, test_step, predict_step;
  bool takes_training, takes_mask, takes_constants, needs_training, needs_mask, supports_masking, get_initial_state;
  std::vector<std::string> arguments;  // of `call`, behind the inputs
};

Overrides overrides_of(nb::handle type);

/// A layer whose methods Python has; where it has none, those of the engine's layer that its class comes from.
class PyLayer : public keras::LayerInterface,
                public PythonBacked<keras::LayerInterface>,
                public HasPython,
                public keras::EagerOnly {
 public:
  PyLayer(PyObject* self, std::shared_ptr<keras::LayerInterface> inner)
      : PythonBacked(self), inner_(std::move(inner)), own_(overrides_of(nb::handle(self).type())) {}

  nb::handle python() const override { return me(); }
  keras::LayerInterface* inner() const { return inner_.get(); }
  bool writes_call() const { return own_.call; }
  const std::vector<std::string>& call_arguments() const { return own_.arguments; }
  std::string class_name() const override {
    return with_python([&] { return text_of(me().type().attr("__name__")); });
  }
  keras::Value get_config() const override {
    if (!own_.get_config) return inner_ ? inner_->get_config() : keras::Value(keras::Value::Map());
    return with_python([&] { return to_value(me().attr("get_config")()); });
  }
  /// A class that writes its configuration says all of it.
  bool has_whole_config() const override { return own_.get_config || LayerInterface::has_whole_config(); }
  void build(const Nest& inputs) override {
    with_python([&] {
      if (own_.build) me().attr("build")(shapes_of(inputs));
      else build_inner(inputs);
    });
    use_initial_weights();
  }
  /// Sets the weights to what was given for them, once.
  void use_initial_weights();
  void set_activity_regularizer(const keras::Regularizer& regularizer) {
    own_activity_regularizer_ = regularizer;
    activity_regularizer = &own_activity_regularizer_;
  }
  void* find_member(std::string_view member, const keras::MemberKind* kind) override {
    return inner_ ? inner_->find_member(member, kind) : nullptr;
  }
  void build_inner(const Nest& inputs) {
    if (!inner_) return;
    keras::detail::build_if_needed(*inner_, inputs);
  }
  Nest call(const Nest& inputs, const keras::CallArgs& args) override;
  Nest compute_mask(const Nest& inputs, const Nest& mask) override {
    if (own_.compute_mask)
      return with_python(
          [&] { return to_nest(nb::object(me().attr("compute_mask")(from_nest(inputs), from_nest(mask)))); });
    return compute_inner_mask(inputs, mask);
  }
  /// What the class says from which a class of Python comes.
  Nest compute_inner_mask(const Nest& inputs, const Nest& mask) {
    return inner_ ? inner_->compute_mask(inputs, mask) : keras::LayerInterface::compute_mask(inputs, mask);
  }
  bool supports_masking() const override {
    if (engine_supports_masking()) return true;
    return with_python([&] { return nb::cast<bool>(nb::getattr(me(), "supports_masking", nb::bool_(false))); });
  }
  /// What is known without asking Python, which asks this in its turn.
  bool engine_supports_masking() const { return own_.compute_mask || (inner_ && inner_->supports_masking()); }
  std::vector<keras::InputSpec> input_spec() const override {
    if (own_input_spec) return *own_input_spec;
    return inner_ && !own_.call ? inner_->input_spec() : std::vector<keras::InputSpec>();
  }
  void reset_states() override {
    if (own_.reset_states) with_python([&] { me().attr("reset_states")(); });
    else if (inner_) inner_->reset_states();
  }
  std::vector<Variable> kept_states() const override {
    return inner_ ? inner_->kept_states() : std::vector<Variable>();
  }
  bool is_network() const override { return inner_ && inner_->is_network() && !own_.call; }
  bool takes_named_arguments() const override { return own_.call || (inner_ && inner_->takes_named_arguments()); }
  bool is_model() const override { return is_trained_as_model || (inner_ && inner_->is_model()); }
  bool has_train_step() const override { return own_.train_step; }
  bool has_test_step() const override { return own_.test_step; }
  bool has_predict_step() const override { return own_.predict_step; }
  Nest train_step(keras::Model&, const Nest& data) override { return step("train", data); }
  Nest test_step(keras::Model&, const Nest& data) override { return step("test", data); }
  Nest predict_step(keras::Model&, const Nest& data) override { return step("predict", data); }

  void list_parts(module::Parts& parts) const override {
    nb::gil_scoped_acquire acquire;
    nb::object attributes = me().attr("__dict__");
    list_tracked(attributes, true, parts);
    if (inner_) inner_->list_parts(parts);
    list_tracked(attributes, false, parts);
    for (auto [key, item] : nb::cast<nb::dict>(attributes)) {
      std::string name = text_of(nb::str(key));
      if (!name.starts_with("_core")) look(name, item, parts, 0);
    }
  }

  bool is_dynamic() const override {
    return with_python([&] { return nb::cast<nb::dict>(nb::object(me().attr("__dict__"))).contains("_dynamic"); });
  }
  Nest stated_outputs(const Nest& inputs) override {
    return with_python(
        [&] { return stand_ins(me().attr("compute_output_shape")(shapes_of(inputs)), policy.compute_dtype()); });
  }

  // Of cells.
  std::vector<Shape> state_size() const override;
  bool is_cell() const override;
  std::vector<Shape> output_size() const override;
  std::vector<Tensor> get_initial_state(const Tensor& inputs, const Tensor& batch_size, DType state_dtype) override;
  bool takes_bare_state() const override { return inner_ && !own_.call && inner_->takes_bare_state(); }

  /// Weights are listed in the order in which they were made by add_weight, or became attributes.
  void track(const Variable& variable, bool is_own);
  /// Those that add_weight made.
  std::vector<Variable> own_weights() const {
    std::vector<Variable> made;
    for (const Tracked& one : tracked_)
      if (one.is_own) made.push_back(one.variable);
    return made;
  }
  /// One that is a weight no more; `other`, where it is defined, takes its place.
  void untrack(const Variable& variable, const Variable& other);

  std::optional<std::vector<keras::InputSpec>> own_input_spec;  // set by the program
  std::vector<Tensor> initial_weights;                          // what they are set to once they are built

 private:
  Nest step(const char* which, const Nest& data) {
    return with_python([&] { return to_nest(nb::object(me().attr("_step")(which, from_nest(data)))); });
  }
  struct Tracked {
    Variable variable;
    bool is_own;    // made by add_weight; others count while they are attributes
    bool is_early;  // there before the layer that the class comes from made its weights
  };
  void list_tracked(nb::handle attributes, bool early, module::Parts& parts) const {
    for (const Tracked& one : tracked_)
      if (one.is_early == early && (one.is_own || is_attribute(one.variable, attributes)))
        parts.keep(std::to_string(parts.list().size()), one.variable);
  }
  static bool is_attribute(const Variable& variable, nb::handle attributes) {
    for (auto [key, item] : nb::borrow<nb::dict>(attributes))
      if (is_variable(item.ptr()) && is_same(to_variable(item), variable)) return true;
    return false;
  }
  static bool is_listed(const Variable& variable, const module::Parts& parts) {
    for (const module::Part& part : parts.list())
      if (part.type->kind == module::Type::Kind::variable &&
          is_same(*static_cast<const Variable*>(part.object), variable))
        return true;
    return false;
  }
  // Variables, layers and metrics among attributes, and in their containers.
  void look(const std::string& name, nb::handle item, module::Parts& parts, int depth) const {
    constexpr int deepest = 8;
    PyObject* p = item.ptr();
    if (depth > deepest || PyType_Check(p)) return;
    if (is_variable(p)) {
      Variable variable = to_variable(item);
      if (!is_listed(variable, parts)) parts.keep(name, variable);
    } else if (PyList_Check(p) || PyTuple_Check(p)) {
      size_t i = 0;
      for (nb::handle inner : item) look(name + "/" + std::to_string(i++), inner, parts, depth + 1);
    } else if (PyDict_Check(p)) {
      for (auto [key, inner] : nb::borrow<nb::dict>(item))
        look(name + "/" + text_of(nb::str(key)), inner, parts, depth + 1);
    } else if (nb::object core = nb::getattr(item, "_core", nb::none()); nb::isinstance<Core>(core)) {
      std::shared_ptr<keras::Object> object = nb::cast<Core&>(core).get();
      if (auto layer = std::dynamic_pointer_cast<keras::LayerInterface>(object)) parts.keep(name, keras::Layer(layer));
      else if (auto metric = std::dynamic_pointer_cast<keras::MetricInterface>(object))
        parts.keep(name, keras::Metric(metric));
    } else if (nb::hasattr(item, "_is_thalweg_module")) {  // tf.Module
      for (auto [key, inner] : nb::cast<nb::dict>(nb::object(item.attr("__dict__"))))
        look(name + "/" + text_of(nb::str(key)), inner, parts, depth + 1);
    }
  }

  std::shared_ptr<keras::LayerInterface> inner_;
  Overrides own_;
  std::vector<Tracked> tracked_;
  keras::Regularizer own_activity_regularizer_;
};

/// The arguments of a call: those that every layer knows, the rest for a layer of Python. Further inputs join `inputs`.
keras::CallArgs to_call_args(const keras::LayerInterface& layer, nb::handle positional, nb::handle keywords,
                             Nest& inputs);

/// keras_members.cc, keras_nodes.cc
void define_keras_members(nb::module_& module);
void define_keras_nodes(nb::module_& module);

}  // namespace thalweg::python

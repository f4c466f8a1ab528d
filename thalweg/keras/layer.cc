#include "thalweg/keras/layer.h"

#include <set>

#include "thalweg/core/error.h"
#include "thalweg/graph/init_scope.h"
#include "thalweg/keras/call_context.h"
#include "thalweg/keras/functional.h"
#include "thalweg/keras/metric.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/shaping.h"

namespace thalweg::keras {

template class Handle<LayerInterface>;

namespace detail {
std::vector<Shape> shapes_of(const Nest& tensors) {
  std::vector<Shape> shapes;
  for (const Tensor& t : tensors.flatten()) shapes.push_back(t.shape());
  return shapes;
}

namespace {

/// What a member of a layer holds: a layer or a metric.
struct Held {
  Layer layer;
  Metric metric;
};
/// What is directly in a layer: its own variables with their paths, and what its members hold.
struct Inside {
  std::vector<NamedVariable> variables;
  std::vector<Held> held;
};

template <class I> std::shared_ptr<I> shared_as(const module::Shared* shared) {
  auto* found = dynamic_cast<const I*>(shared);
  return found ? std::const_pointer_cast<I>(found->shared_from_this()) : nullptr;
}

void list_held(const module::Parts& parts, std::vector<Held>& found) {
  for (const module::Part& part : parts.list()) {
    if (part.type->kind == module::Type::Kind::variable) continue;
    const module::Shared* shared = part.type->shared(part.object);
    if (auto layer = shared_as<LayerInterface>(shared)) {
      found.push_back({Layer(layer), {}});
    } else if (auto metric = shared_as<MetricInterface>(shared)) {
      found.push_back({{}, Metric(metric)});
    } else if (!shared) {
      module::Parts inner;
      part.type->list_parts(part.object, inner);
      list_held(inner, found);
    }
  }
}

Inside look_inside(const LayerInterface& layer) {
  module::Parts parts;
  layer.list_parts(parts);
  Inside found{list_variables(layer), {}};
  list_held(parts, found.held);
  for (const char* name : {"activation", "recurrent_activation"}) {
    auto* activation = const_cast<LayerInterface&>(layer).member<Activation>(name);
    if (auto* held = activation ? dynamic_cast<Activation::Interface::Adapt<Layer>*>(activation->get()) : nullptr)
      found.held.push_back({held->layer, {}});
  }
  return found;
}

/// Each variable once.
class Collected {
 public:
  void add(const Variable& variable) {
    if (seen_.insert(variable.handle().get()).second) variables_.push_back(variable);
  }
  void add(const std::vector<Variable>& all) {
    for (const Variable& v : all) add(v);
  }
  std::vector<Variable> take() { return std::move(variables_); }

 private:
  std::set<const TensorImpl*> seen_;
  std::vector<Variable> variables_;
};

}  // namespace

void name_weights(const LayerInterface& layer) {
  CallContext* context = CallContext::current();
  for (auto& [path, variable] : look_inside(layer).variables) {
    VariableResource& resource = variable_of(variable.handle());
    if (resource.name().empty()) resource.rename(context ? context->weight_name(path) : path);
  }
}

void build_if_needed(LayerInterface& layer, const Nest& inputs) {
  if (layer.built) return;
  layer.build(inputs);
  name_weights(layer);
  layer.built_shapes = shapes_of(inputs);
  layer.built = true;
}

void collect_metrics(const LayerInterface& layer, std::vector<Metric>& found) {
  auto add = [&](const Metric& metric) {
    for (const Metric& other : found)
      if (is_same(other, metric)) return;
    found.push_back(metric);
  };
  const Inside inside = look_inside(layer);
  for (const Held& held : inside.held)
    if (held.metric.defined()) add(held.metric);
  for (const Metric& metric : layer.metrics) add(metric);
  for (const Held& held : inside.held)
    if (held.layer.defined()) collect_metrics(*held.layer.get(), found);
}

}  // namespace detail

LayerInterface::~LayerInterface() = default;

Nest LayerInterface::compute_mask(const Nest&, const Nest& mask) {
  if (supports_masking() || mask.is_none()) return mask;
  // A mask that comes in and is not understood ends here; Keras refuses it only where it was given by hand.
  return {};
}

void LayerInterface::adapt(const Tensor&) {
  throw ValueError("layer '" + name + "' (" + class_name() + ") has nothing to learn from data: it has no `adapt`");
}

std::vector<Shape> LayerInterface::output_size() const {
  std::vector<Shape> sizes = state_size();
  sizes.resize(1, Shape::unknown_rank());
  return sizes;
}
std::vector<Tensor> LayerInterface::get_initial_state(const Tensor&, const Tensor& batch_size, DType state_dtype) {
  std::vector<Tensor> states;
  for (const Shape& size : state_size()) states.push_back(detail::zeros_of_batch(batch_size, size, state_dtype));
  return states;
}
Tensor detail::zeros_of_batch(const Tensor& batch_size, const Shape& size, DType dtype) {
  Shape whole = size;
  whole.insert(0, batch_size.is_symbolic() ? unknown : batch_size.item<int64_t>());
  if (whole.is_fully_defined()) return zeros(whole, {.dtype = dtype});
  std::vector<Tensor> dims = {batch_size};
  for (int64_t dim : size) dims.emplace_back(static_cast<int32_t>(dim));
  return ensure_shape(zeros(stack(dims), {.dtype = dtype}), whole);
}

void LayerInterface::start(const LayerOptions& options) {
  check();
  if (auto* own = member<std::string>("name"); own && !own->empty()) name = *own;
  if (auto* own = member<Flag>("trainable")) trainable = *own;
  if (auto* own = member<DType>("dtype"); own && *own != DType::invalid) policy = *own;
  auto* own_policy = member<Policy>("dtype");
  if (own_policy && own_policy->given()) policy = *own_policy;
  auto with_batch = [](Shape shape) {
    shape.insert(0, unknown);
    return shape;
  };
  if (auto* own = member<Shape>("input_shape"); own && own->has_rank()) batch_input_shape = with_batch(*own);
  activity_regularizer = member<Regularizer>("activity_regularizer");
  if (!options.name.empty()) name = options.name;
  if (!options.trainable) trainable = false;
  if (options.dtype.given()) policy = options.dtype;
  if (own_policy) *own_policy = policy;  // layers that it makes later take this one, whatever is global then
  if (options.input_shape.has_rank()) batch_input_shape = with_batch(options.input_shape);
  if (name.empty()) {
    std::string base = to_snake_case(class_name());
    name = unique_name(base.empty() ? "lambda" : base);
  }
}

Value LayerInterface::whole_config() const {
  if (has_whole_config()) return get_config();
  Value config = Value::map({{"name", name}, {"trainable", trainable}, {"dtype", to_value(policy)}});
  if (batch_input_shape) config.set("batch_input_shape", to_value(*batch_input_shape));
  const Value own = get_config();  // the loop does not keep it
  for (const auto& [key, value] : own.map())
    if (key != "name" && key != "trainable" && key != "dtype" && key != "input_shape") config.set(key, value);
  return config;
}

std::shared_ptr<Object> LayerInterface::as_kind(std::string_view kind) {
  if (kind != ActivationTag::kind) return nullptr;
  return std::make_shared<Activation::Interface::Adapt<Layer>>(Layer(shared_from_this()));
}

Value LayerInterface::build_config() const {
  if (built_shapes.empty()) return {};
  const bool is_single = built_shapes.size() == 1 || !state_size().empty();  // cells leave out their states
  return Value::map({{"input_shape", is_single ? to_value(built_shapes[0]) : to_value(built_shapes)}});
}

namespace {
/// TypeError in Python's words for arguments that are not there, or that no one knows.
void check_arguments(const Value& config, const Rows& rows) {
  std::string missing;
  int count = 0;
  for (const Member& member : rows.members) {
    if (!member.required || config.contains(member.name)) continue;
    missing += (count++ ? " and '" : "'") + std::string(member.name) + "'";
  }
  if (count > 0)
    throw TypeError(detail::class_name_of(rows.struct_name) + ".__init__() missing " + std::to_string(count) +
                    " required positional argument" + (count > 1 ? "s" : "") + ": " + missing);
  for (const auto& [name, value] : config.map()) {
    if (rows.find(name)) continue;
    std::string known;
    for (const Member& other : rows.members) known.append(known.empty() ? "" : ", ").append(other.name);
    std::string message = "('Keyword argument not understood:', '" + name + "'); ";
    throw TypeError(message.append(detail::class_name_of(rows.struct_name)).append(" has: ").append(known));
  }
}
}  // namespace

LayerOptions detail::take_layer_options(Value& config, std::optional<Shape>& batch_input_shape, const Rows& rows) {
  LayerOptions options;
  auto take = [&](const char* key, auto&& use) {
    if (!config.contains(key) || rows.find(key)) return;
    if (!config[key].is_none()) use(config[key]);
    config.erase(key);
  };
  take("name", [&](const Value& v) { options.name = v.text(); });
  take("trainable", [&](const Value& v) { options.trainable = Flag(v.boolean()); });
  take("dtype", [&](const Value& v) { from_value(options.dtype, v); });
  take("batch_input_shape", [&](const Value& v) { from_value(batch_input_shape, v); });
  take("input_shape", [&](const Value& v) { from_value(options.input_shape, v); });
  check_arguments(config, rows);
  return options;
}

Variable add_weight(const Shape& shape, const WeightOptions& options) {
  detail::CallContext* context = detail::CallContext::current();
  if (!context)
    throw ValueError("add_weight makes a weight of the layer that is being built: call it in build() or call()");
  return detail::make_weight(context->layer(), shape, options);
}

Variable detail::make_weight(LayerInterface& layer, const Shape& shape, const WeightOptions& options) {
  const Policy& policy = layer.policy;
  const DType dtype = options.dtype == DType::invalid ? policy.variable_dtype() : options.dtype;
  static const Initializer glorot = "glorot_uniform", zeros = "zeros";
  Initializer initializer = options.initializer.defined() ? options.initializer : (is_floating(dtype) ? glorot : zeros);
  // A name stands for a new initializer wherever it is read, though options may be copied from layer to layer.
  if (initializer.get()->is_by_name) initializer = renewed(initializer);
  if (!shape.is_fully_defined())
    throw ValueError("a weight of layer '" + layer.name + "' cannot have the shape " + shape.str() +
                     ": the dimensions of the input that it depends on must be known");
  std::string name = options.name;
  CallContext* context = CallContext::current();
  if (!name.empty() && context && &context->layer() == &layer) name = context->weight_name(name);
  InitScope outside;  // weights are made at once, whatever is being traced
  Variable made(initializer(shape, dtype), {.trainable = options.trainable, .name = "weight", .dtype = dtype});
  VariableResource& resource = variable_of(made.handle());
  resource.rename(std::move(name));  // without one: until the layer is built, then that of the member
  resource.autocast = options.autocast && is_floating(dtype) && policy.compute_dtype() != policy.variable_dtype();
  if (options.constraint.defined()) resource.constraint = options.constraint.pointer();
  if (options.regularizer.defined()) layer.regularized.emplace_back(made, options.regularizer);
  return made;
}

void Layer::build(const Shape& input_shape) const {
  detail::CallContext context(*p_, {}, false);
  detail::build_if_needed(*p_, Nest(detail::stand_in(compute_dtype(), input_shape)));
}
void Layer::build(const std::vector<Shape>& input_shapes) const {
  std::vector<Nest> inputs;
  for (const Shape& shape : input_shapes) inputs.emplace_back(detail::stand_in(compute_dtype(), shape));
  detail::CallContext context(*p_, {}, false);
  detail::build_if_needed(*p_, Nest::list(std::move(inputs)));
}

void Layer::set_trainable(bool trainable) const {
  p_->trainable = trainable;
  for (const Layer& layer : layers()) layer.set_trainable(trainable);
}

std::vector<Layer> Layer::layers() const {
  std::vector<Layer> all;
  for (const detail::Held& held : detail::look_inside(*p_).held)
    if (held.layer.defined()) all.push_back(held.layer);
  return all;
}

// The variables of metrics count among the weights of models, in the order of the members, and nowhere else: Keras's
// way.
std::vector<Variable> Layer::trainable_weights() const {
  if (!p_->trainable) return {};
  detail::Inside inside = detail::look_inside(*p_);
  detail::Collected all;
  auto own = [&] {
    for (auto& [path, variable] : inside.variables)
      if (variable.trainable()) all.add(variable);
  };
  if (!p_->is_model()) own();
  for (const detail::Held& held : inside.held)
    if (held.layer.defined()) all.add(held.layer.trainable_weights());
  if (p_->is_model()) own();
  return all.take();
}
std::vector<Variable> Layer::non_trainable_weights() const {
  detail::Inside inside = detail::look_inside(*p_);
  detail::Collected all;
  auto own = [&] {
    for (auto& [path, variable] : inside.variables)
      if (!p_->trainable && variable.trainable()) all.add(variable);
    for (auto& [path, variable] : inside.variables)
      if (!variable.trainable()) all.add(variable);
  };
  if (!p_->is_model()) own();
  for (const detail::Held& held : inside.held) {
    if (held.layer.defined()) all.add(p_->trainable ? held.layer.non_trainable_weights() : held.layer.weights());
    else if (p_->is_model()) all.add(held.metric.variables());
  }
  if (p_->is_model()) own();
  return all.take();
}
std::vector<Variable> Layer::weights() const {
  detail::Collected all;
  if (p_->is_model()) {
    detail::Inside inside = detail::look_inside(*p_);
    for (const detail::Held& held : inside.held)
      all.add(held.layer.defined() ? held.layer.weights() : held.metric.variables());
    for (bool trainable : {true, false})
      for (auto& [path, variable] : inside.variables)
        if (variable.trainable() == trainable) all.add(variable);
  } else {
    all.add(trainable_weights());
    all.add(non_trainable_weights());
  }
  return all.take();
}

Variable Layer::weight(std::string_view name) const {
  std::vector<Variable> found;
  std::string names;
  for (const Variable& v : weights()) {
    const std::string whole = v.name().substr(0, v.name().rfind(':'));
    names += (names.empty() ? "" : ", ") + whole;
    if (whole == name) return v;
    if (whole.ends_with("/" + std::string(name))) found.push_back(v);
  }
  if (found.size() == 1) return found[0];
  throw ValueError("layer '" + this->name() + "' has " + (found.empty() ? "no weight" : "more than one weight") + " '" +
                   std::string(name) + "'; " + (names.empty() ? "it has none" : "its weights: " + names) +
                   (p_->built ? "" : " (it is not built yet)"));
}

std::vector<Tensor> Layer::get_weights() const {
  std::vector<Tensor> values;
  for (const Variable& v : weights()) values.push_back(v.value());
  return values;
}
void Layer::set_weights(const std::vector<Tensor>& values) const {
  std::vector<Variable> all = weights();
  if (all.size() != values.size())
    throw ValueError("You called `set_weights(weights)` on layer \"" + name() + "\" with a weight list of length " +
                     std::to_string(values.size()) + ", but the layer was expecting " + std::to_string(all.size()) +
                     " weights.");
  for (size_t i = 0; i < all.size(); ++i)
    if (!all[i].shape().is_compatible_with(values[i].shape()))
      throw ValueError("Layer " + name() + " weight shape " + all[i].shape().str() +
                       " is not compatible with provided weight shape " + values[i].shape().str() + ".");
  for (size_t i = 0; i < all.size(); ++i) all[i].assign(cast(values[i], all[i].dtype()));
}
int64_t Layer::count_params() const {
  if (!built() && layers().empty() && weights().empty())
    throw ValueError("You tried to call `count_params` on layer " + name() +
                     ", but the layer isn't built. You can build it manually via: `" + name() +
                     ".build(batch_input_shape)`.");
  int64_t count = 0;
  for (const Variable& v : weights())
    if (v.shape().is_fully_defined()) count += v.shape().num_elements();
  return count;
}

std::vector<Tensor> Layer::losses() const {
  std::vector<Tensor> all = p_->losses.empty() ? p_->symbolic_losses : p_->losses;
  for (const auto& [variable, regularizer] : p_->regularized) all.push_back(regularizer(variable.value()));
  for (const Layer& layer : layers()) {
    std::vector<Tensor> inner = layer.losses();
    all.insert(all.end(), inner.begin(), inner.end());
  }
  return all;
}

Shape Layer::compute_output_shape(const Shape& input_shape) const {
  Nest input(detail::stand_in(compute_dtype(), input_shape));
  Nest stated = p_->compute_output_shape(input);
  return (stated.is_none() ? functional::infer_outputs(*this, input, {}) : stated).tensor().shape();
}
void Layer::reset_states() const {
  p_->reset_states();
  for (const Layer& layer : layers()) layer.reset_states();
}

void Layer::adapt(const Tensor& data) const {
  detail::CallContext context(*p_, {}, false);
  p_->adapt(data);
  detail::name_weights(*p_);
  p_->batch_input_shape = Shape(std::vector<int64_t>(static_cast<size_t>(data.rank()), unknown));  // as Keras has it
}

Layer Layer::from_config(std::string_view class_name, const Value& config) {
  return Layer(std::static_pointer_cast<LayerInterface>(make_object(LayerInterface::kind, class_name, config)));
}

}  // namespace thalweg::keras

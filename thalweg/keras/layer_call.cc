// What happens when a layer is called: who calls whom, casts, masks, losses.
#include <atomic>

#include "thalweg/core/companion.h"
#include "thalweg/core/error.h"
#include "thalweg/core/name_scope.h"
#include "thalweg/core/thread_state.h"
#include "thalweg/keras/backend.h"
#include "thalweg/keras/call_context.h"
#include "thalweg/keras/functional.h"
#include "thalweg/ops/autocast.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/shaping.h"

namespace thalweg::keras {
namespace detail {
namespace {
thread_local CallContext* innermost = nullptr;
thread_local int shapes_only = 0;
thread_local int recording = 0;
thread_local const LayerInterface* unscoped = nullptr;
}  // namespace

CallContext::CallContext(LayerInterface& layer, Choice training, bool has_scope)
    : layer_(layer), training_(training), has_scope_(has_scope && &layer != unscoped), outer_(innermost) {
  if (!training.given()) training_ = outer_ ? outer_->training_ : backend::learning_phase();
  innermost = this;
}
std::string CallContext::weight_name(const std::string& name) const {
  std::string whole = name;
  const CallContext* context = this;
  while (true) {
    if (context->has_scope_) whole.insert(0, context->layer_.name + "/");
    if (!context->outer_) break;
    context = context->outer_;
    if (context->layer_.is_network()) return whole;
  }
  return thread_state.tracer ? whole : scoped_name(whole);
}
CallContext::~CallContext() { innermost = outer_; }
CallContext* CallContext::current() { return innermost; }
DType own_dtype() { return innermost->layer().policy.compute_dtype(); }

ShapesOnly::ShapesOnly() { ++shapes_only; }
ShapesOnly::~ShapesOnly() { --shapes_only; }
bool ShapesOnly::is_on() { return shapes_only > 0; }

Unscoped::Unscoped(const LayerInterface& layer) : outer_(std::exchange(unscoped, &layer)) {}
Unscoped::~Unscoped() { unscoped = outer_; }

Recording::Recording() { ++recording; }
Recording::~Recording() { --recording; }
bool Recording::is_on() { return recording > 0; }

namespace {

Nest call_with_context(LayerInterface& layer, const Nest& inputs, const CallArgs& args) {
  const DType dtype = layer.policy.compute_dtype();
  AutocastScope reading(is_floating(dtype) ? dtype : DType::invalid);
  try {
    return layer.call(inputs, args);
  } catch (Error& error) {
    // Said once, by the innermost layer.
    if (std::string_view(error.what()).find("\n  in layer '") == std::string_view::npos) {
      std::string text = "\n  in layer '" + layer.name + "' (" + layer.class_name() + "), inputs";
      for (const Tensor& t : inputs.flatten()) text += " " + std::string(name_of(t.dtype())) + t.shape().str();
      error.add_context(text);
    }
    throw;
  }
}

// Most programs never add a loss: then no call has to look for those of the call before.
std::atomic<bool> has_added_losses = false;
void keep_loss(LayerInterface& layer, const Tensor& loss) {
  has_added_losses = true;
  layer.losses.push_back(loss);
}
/// A call that becomes a part of a model adds what has no value yet.
void note_loss(LayerInterface& layer, DType dtype) {
  if (!Recording::is_on()) return;
  auto node = std::make_shared<functional::Node>();
  // Not the layer itself, which holds the tensor and with it the node.
  node->layer = Layer([](const Tensor& loss) { return loss; }, {.name = layer.name + "/loss"});
  node->inputs = Nest::list({});
  node->outputs = Nest(stand_in(dtype, {}));
  node->output_names = {layer.name + "/loss:0"};
  layer.symbolic_losses.push_back(functional::outputs_of(node).tensor());
}
void clear_losses(LayerInterface& layer) {
  layer.losses.clear();
  for (const Layer& inner : Layer(layer.shared_from_this()).layers()) clear_losses(*inner.get());
}

void put_masks(const Nest& outputs, const Nest& masks) {
  std::vector<Tensor> flat = outputs.flatten();
  if (masks.is_tensor()) {
    if (!flat.empty()) set_companion(flat[0], masks.tensor());
    return;
  }
  for (size_t i = 0; i < flat.size() && i < masks.size(); ++i)
    if (masks[i].is_tensor()) set_companion(flat[i], masks[i].tensor());
}

/// An output that is an input itself must not get a mask of its own: other layers see the input too.
Nest separated(const Nest& outputs, const Nest& inputs) {
  std::vector<Tensor> in = inputs.flatten();
  return outputs.map([&](const Tensor& t) {
    for (const Tensor& other : in)
      if (other.get() == t.get()) return identity(t);
    return t;
  });
}

}  // namespace

bool has_states(const LayerInterface& layer, const Nest& inputs, const CallArgs& args) {
  return inputs.is_sequence() && inputs.size() == 2 && !args.rest && !layer.state_size().empty();
}

Nest masks_of(const Nest& tensors) {
  if (tensors.is_tensor()) return Nest(companion_of(tensors.tensor()));
  bool any = false;
  std::vector<Tensor> flat = tensors.flatten();
  for (const Tensor& t : flat) any |= t.impl()->has_companion;
  if (!any) return {};
  std::vector<Nest> masks;
  for (const Tensor& t : flat) masks.emplace_back(companion_of(t));
  return Nest::list(std::move(masks));
}

Nest with_masks(const Nest& tensors, const Nest& masks) {
  size_t next = 0;
  return tensors.map([&](const Tensor& t) {
    const size_t i = next++;
    const Nest mask = masks.is_tensor() ? (i == 0 ? masks : Nest()) : i < masks.size() ? masks[i] : Nest();
    if (!mask.is_tensor() || companion_of(t).get() == mask.tensor().get()) return t;
    Tensor other = identity(t);
    set_companion(other, mask.tensor());
    return other;
  });
}

Nest cast_inputs(const LayerInterface& layer, const Nest& inputs) {
  const DType dtype = layer.policy.compute_dtype();
  if (!layer.autocast || !is_floating(dtype)) return inputs;
  auto fits = [&](const Tensor& t) { return !is_floating(t.dtype()) || t.dtype() == dtype; };
  if (inputs.is_tensor()) return fits(inputs.tensor()) ? inputs : Nest(cast(inputs.tensor(), dtype));
  for (const Tensor& t : inputs.flatten())
    if (!fits(t)) return inputs.map([&](const Tensor& u) { return fits(u) ? u : cast(u, dtype); });
  return inputs;
}

Nest run(LayerInterface& layer, const Nest& given, const CallArgs& args) {
  CallContext context(layer, args.training);
  if (!context.outer() && has_added_losses) clear_losses(layer);
  Nest inputs = cast_inputs(layer, given);
  check_inputs(layer, inputs);
  std::optional<NameScope> scope;
  if (thread_state.tracer) scope.emplace(layer.name);
  if (!layer.built) build_if_needed(layer, has_states(layer, inputs, args) ? inputs[0] : inputs);
  CallArgs with = args;
  with.training = context.training();
  if (with.mask.is_none() && !with.ignores_masks) with.mask = masks_of(given);
  Nest outputs = call_with_context(layer, inputs, with);
  // What a network gives carries its masks already.
  if (!layer.is_network() && (!with.mask.is_none() || layer.supports_masking())) {
    Nest masks = layer.compute_mask(inputs, with.mask);
    if (!masks.is_none()) {
      outputs = separated(outputs, given);
      put_masks(outputs, masks);
    }
  }
  if (layer.activity_regularizer && layer.activity_regularizer->defined()) {
    for (const Tensor& t : outputs.flatten())
      if (ShapesOnly::is_on()) note_loss(layer, t.dtype());
      else keep_loss(layer, (*layer.activity_regularizer)(t) / cast(shape(t)(0), t.dtype()));
  }
  return outputs;
}

}  // namespace detail

void add_loss(const Tensor& loss) {
  detail::CallContext* context = detail::CallContext::current();
  if (!context) throw ValueError("add_loss adds to the losses of the layer that is being called: call it in call()");
  if (detail::ShapesOnly::is_on()) detail::note_loss(context->layer(), loss.dtype());
  else detail::keep_loss(context->layer(), loss);
}

Tensor Layer::only(const Nest& output) const {
  if (output.is_tensor()) return output.tensor();
  std::string names, count = std::to_string(output.size());
  for (size_t i = 0; i < output.size(); ++i) names.append(i ? ", " : "").append(1, static_cast<char>('a' + i % 26));
  throw ValueError("layer '" + name() + "' gives " + output.str() + ", not one tensor: take it as `" +
                   (output.is_sequence() ? "auto [" + names + "] = layer.call<" + count + ">(x)`"
                                         : "layer.call<std::map<std::string, Tensor>>(x)`"));
}

Nest Layer::invoke(const Nest& inputs, const CallArgs& args) const {
  if (!p_) throw ValueError("this layer is empty: it was never made");
  if (functional::is_symbolic(inputs, args)) [[unlikely]]
    return functional::record(*this, inputs, args);
  return detail::run(*p_, inputs, args);
}

}  // namespace thalweg::keras

#include "thalweg/keras/functions.h"

namespace thalweg::keras {

template class Handle<Activation::Interface>;
template class Handle<Initializer::Interface>;
template class Handle<Regularizer::Interface>;
template class Handle<Constraint::Interface>;

Initializer renewed(const Initializer& initializer) {
  if (!initializer.defined()) return initializer;
  auto made = std::dynamic_pointer_cast<Initializer::Interface>(initializer.get()->renewed(InitializerTag::kind));
  return made ? Initializer(std::move(made)) : initializer;
}

Value to_value(const Activation& activation) {
  if (!activation.defined()) return "linear";
  Value value = object_to_value(ActivationTag::kind, activation.get());
  // A layer may be an activation, and is written as what it is.
  if (value.is_map() && find_class("layer", value["class_name"].text())) value.set("module", "keras.layers");
  return value;
}

}  // namespace thalweg::keras

// What writing and reading graphs of layers as configurations share.
#pragma once
#include "thalweg/keras/functional.h"

namespace thalweg::keras::network {

/// Keras counts the calls of a model from one: the first is that which made it.
inline int first_index(const LayerInterface& layer) {
  if (auto* sequential = dynamic_cast<const SequentialModel*>(&layer)) return sequential->graph() ? 1 : 0;
  return dynamic_cast<const FunctionalModel*>(&layer) ? 1 : 0;
}

/// Layers whose further inputs are arguments of their own in Keras: query, then value and key.
inline bool names_inputs(const LayerInterface& layer) { return layer.class_name() == "MultiHeadAttention"; }
inline constexpr const char* input_names[] = {"query", "value", "key"};

/// What stands in the place of a layer's name where a tensor has a value.
inline constexpr const char* constant_value = "_CONSTANT_VALUE";

}  // namespace thalweg::keras::network

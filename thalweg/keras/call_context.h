// Which layers this thread is calling: what the inner ones take from the outer ones.
#pragma once
#include "thalweg/keras/layer.h"

namespace thalweg::keras::detail {

/// One call of a layer, or its construction; they nest.
class CallContext {
 public:
  /// Without a scope its weights are called after their members alone, as where build is called by hand.
  CallContext(LayerInterface& layer, Choice training, bool has_scope = true);
  ~CallContext();
  CallContext(const CallContext&) = delete;
  CallContext& operator=(const CallContext&) = delete;

  /// The innermost, or null.
  static CallContext* current();
  LayerInterface& layer() const { return layer_; }
  CallContext* outer() const { return outer_; }
  Choice training() const { return training_; }
  /// `my_model/dense/kernel` for the kernel of the layer; the layers of a network do without its name.
  std::string weight_name(const std::string& name) const;

 private:
  LayerInterface& layer_;
  Choice training_;
  bool has_scope_;
  CallContext* outer_;
};

/// While one lives, layers are called to learn the shapes of their outputs: what they add to losses is dropped.
class ShapesOnly {
 public:
  ShapesOnly();
  ~ShapesOnly();
  ShapesOnly(const ShapesOnly&) = delete;
  ShapesOnly& operator=(const ShapesOnly&) = delete;
  static bool is_on();
};

/// While one lives, weights made in a call of this layer are called without its name, as where Keras builds a model by
/// hand.
class Unscoped {
 public:
  explicit Unscoped(const LayerInterface& layer);
  ~Unscoped();
  Unscoped(const Unscoped&) = delete;
  Unscoped& operator=(const Unscoped&) = delete;

 private:
  const LayerInterface* outer_;
};

/// While one lives, a call becomes a part of a model: what graphs refuse is refused.
class Recording {
 public:
  Recording();
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  static bool is_on();
};

/// Makes the weights of a layer for these inputs, once, in its name scope.
void build_if_needed(LayerInterface& layer, const Nest& inputs);
/// Whether these are the step and the states of a cell, whose weights are made for the step alone.
THALWEG_API bool has_states(const LayerInterface& layer, const Nest& inputs, const CallArgs& args);
/// ValueError in Keras's words where an input is not what the layer demands.
void check_inputs(const LayerInterface& layer, const Nest& inputs);
/// The metrics among the members of a layer and of those in it, and those that calls added; each once.
void collect_metrics(const LayerInterface& layer, std::vector<Metric>& found);
/// Zeros of this size for each example of a batch, whose number may be known only when it runs.
Tensor zeros_of_batch(const Tensor& batch_size, const Shape& size, DType dtype);
/// The masks that the tensors carry, in their structure; None where no tensor has one.
Nest masks_of(const Nest& tensors);
/// The tensors with these masks, as others where they carry another one now.
Nest with_masks(const Nest& tensors, const Nest& masks);
/// The dtype that the layer which is being called computes in.
DType own_dtype();
/// The inputs in the dtype that the layer computes in.
Nest cast_inputs(const LayerInterface& layer, const Nest& inputs);

}  // namespace thalweg::keras::detail

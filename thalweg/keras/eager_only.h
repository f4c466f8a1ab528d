// Layers that can only run eagerly, for what they compute is no op of a graph: `dynamic` in Keras.
#pragma once
#include "thalweg/keras/layer.h"

namespace thalweg::keras {

/// What such layers are besides; only another language has them.
class THALWEG_API EagerOnly {
 public:
  virtual ~EagerOnly() = default;
  virtual bool is_dynamic() const = 0;
  /// What the layer says of the shapes of its outputs, as tensors without values: a model cannot find out.
  virtual Nest stated_outputs(const Nest& inputs) = 0;
};

/// Whether this layer can only run eagerly, or one in it.
THALWEG_API bool is_dynamic(const Layer& layer);

}  // namespace thalweg::keras

// Layers around other layers.
#pragma once
#include "thalweg/keras/layer.h"

namespace thalweg::keras::layers {

/// A layer as a model for others: kept as configuration, with weights that nobody trains.
class THALWEG_API LayerPattern {
 public:
  LayerPattern() = default;
  LayerPattern(const Layer& layer) : layer_(layer) {}  // NOLINT
  const Layer& layer() const { return layer_; }
  bool defined() const { return layer_.defined(); }

 private:
  Layer layer_;
};
THALWEG_API Value to_value(const LayerPattern& pattern);
THALWEG_API void from_value(LayerPattern& pattern, const Value& value);

}  // namespace thalweg::keras::layers
template <> inline constexpr bool thalweg::holds_no_variables<thalweg::keras::layers::LayerPattern> = true;

namespace thalweg::keras::layers {

struct BidirectionalOptions {
  std::optional<std::string> merge_mode = "concat";  // or "sum", "mul", "ave"; nothing: both outputs
  LayerPattern backward_layer = {};                  // left out: the layer itself, the other way round
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// A recurrent layer and another like it that goes backwards, with their outputs merged. The states of both follow the
/// output where the layer returns them; `initial_state` is given for both.
THALWEG_API Layer Bidirectional(const Layer& layer, const BidirectionalOptions& options = {});

struct TimeDistributedOptions {
  Shape input_shape = Shape::unknown_rank();
  std::string name = {};
  Policy dtype = {};
  Flag trainable = true;
};
/// Applies a layer to each step of sequences [batch, time, ...].
THALWEG_API Layer TimeDistributed(const Layer& layer, const TimeDistributedOptions& options = {});

}  // namespace thalweg::keras::layers

// The layer behind keras::Input.
#pragma once
#include "thalweg/keras/functional.h"

namespace thalweg::keras {

/// An input with its batch dimension.
THALWEG_API Tensor make_input(const Shape& batch_shape, DType dtype, const std::string& name);
/// The input that an InputLayer stands for.
THALWEG_API Tensor input_of(const Layer& input_layer);

struct InputLayerOptions {
  Shape input_shape = Shape::unknown_rank();  // without the batch
  std::optional<int64_t> batch_size = {};
  DType dtype = DType::invalid;  // float32, where left out
  Flag sparse = false;
  std::string name = {};
  Flag ragged = false;
  std::optional<Shape> batch_input_shape = {};  // instead of shape and batch
};

/// Stands for the input of a model; gives back what it is called with.
struct THALWEG_API InputLayer {
  InputLayerOptions options = {};

  void check();
  Tensor call(const Tensor& x) { return x; }
  void complete_config(Value& config) const;
  static constexpr bool has_whole_config = true;
};

namespace layers {
/// The input of a Sequential model: `layers::InputLayer({.input_shape = {28, 28}})`.
THALWEG_API Layer InputLayer(const InputLayerOptions& options = {});
}  // namespace layers

}  // namespace thalweg::keras

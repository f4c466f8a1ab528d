// The layer behind keras::Input.
#pragma once
#include "thalweg/keras/functional.h"

namespace thalweg::keras {

/// An input with its batch dimension.
THALWEG_API Tensor make_input(const Shape& batch_shape, DType dtype, const std::string& name);
/// The input that an InputLayer stands for.
THALWEG_API Tensor input_of(const Layer& input_layer);

/// Stands for the input of a model; gives back what it is called with.
struct InputLayer {
  std::optional<Shape> batch_input_shape = {};
  DType dtype = DType::float32;
  bool sparse = false, ragged = false;
  std::string name = {};
  Tensor call(const Tensor& x) { return x; }
  static constexpr bool has_whole_config = true;
};

}  // namespace thalweg::keras

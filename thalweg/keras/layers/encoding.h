// What layers that give categories have in common: how categories are written.
#pragma once
#include "thalweg/keras/layer.h"

namespace thalweg::keras::layers {

/// What such a layer may be asked for; ValueError in Keras's words for other modes. SparseTensors are refused.
void check_output_mode(const char* layer_name, const std::string& output_mode, bool sparse,
                       const std::vector<std::string>& modes);
/// The dtype of what it gives where none is given: int64 for categories themselves, float32 for places.
void complete_dtype(Policy& policy, const std::string& output_mode);

struct EncodeOptions {
  std::string output_mode = "int";
  int64_t depth = 0;  // how many categories there are
  DType dtype = DType::float32;
  Tensor count_weights = {};
};
/// Categories as they are, as a place each, or counted in the last dimension.
Tensor encode(const Tensor& categories, const EncodeOptions& options);
/// The shape of that.
Shape encoded_shape(Shape input, const std::string& output_mode, int64_t depth);

}  // namespace thalweg::keras::layers

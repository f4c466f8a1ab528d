// Pictures of models.
#pragma once
#include "thalweg/keras/model.h"

namespace thalweg::keras::utils {

struct PlotModelOptions {
  std::string to_file = "model.png";
  Flag show_shapes = false;
  Flag show_dtype = false;
  Flag show_layer_names = true;
  std::string rankdir = "TB";  // LR: from left to right
  Flag expand_nested = false;
  int64_t dpi = 96;
  std::vector<std::string> layer_range = {};  // the first and the last layer: names, or regular expressions
  Flag show_layer_activations = false;
  Flag show_trainable = false;
};
/// The model in the language of Graphviz.
THALWEG_API std::string model_to_dot(const Model& model, const PlotModelOptions& options = {});
/// Writes the picture, and the text of `model_to_dot` beside it. The picture needs Graphviz's program `dot`: without it
/// there is a warning, and only the text. Returns the name of the file that was written last.
THALWEG_API std::string plot_model(const Model& model, const PlotModelOptions& options = {});

}  // namespace thalweg::keras::utils

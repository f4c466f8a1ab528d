// Models as tables of their layers, character by character as Keras 2.15 prints them.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "thalweg/core/export.h"
#include "thalweg/ops/options.h"

namespace thalweg::keras {

class Model;
class Layer;

struct SummaryOptions {
  int64_t line_length = 0;             // left out: 65, or 98 where layers have several connections
  std::vector<double> positions = {};  // where columns end: parts of the line, or characters
  Flag expand_nested = false;          // the layers of models that are layers too
  Flag show_trainable = false;
  std::vector<std::string> layer_range = {};  // the first and the last layer: names, or regular expressions
};
/// The numbers of the first of the layers that a range names, and of the one behind the last; all for an empty range.
std::pair<size_t, size_t> chosen_layers(const std::vector<Layer>& layers, const std::vector<std::string>& range);
/// What `model.summary()` prints.
THALWEG_API std::string summary_text(const Model& model, const SummaryOptions& options = {});

}  // namespace thalweg::keras

// Models as tables of their layers, character by character as Keras 2.15 prints them.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "thalweg/core/export.h"
#include "thalweg/ops/options.h"

namespace thalweg::keras {

class Model;

struct SummaryOptions {
  int64_t line_length = 0;             // left out: 65, or 98 where layers have several connections
  std::vector<double> positions = {};  // where columns end: parts of the line, or characters
  Flag expand_nested = false;          // the layers of models that are layers too
  Flag show_trainable = false;
  std::vector<std::string> layer_range = {};  // the first and the last layer: names, or regular expressions
};
/// What `model.summary()` prints.
THALWEG_API std::string summary_text(const Model& model, const SummaryOptions& options = {});

}  // namespace thalweg::keras

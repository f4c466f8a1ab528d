// What callbacks that follow one number of the logs have in common.
#pragma once
#include <string>

#include "thalweg/core/warning.h"
#include "thalweg/keras/logs.h"

namespace thalweg::keras::callbacks {

/// The number, or null after a warning that lists what there is.
inline const double* monitored(const Logs& logs, const std::string& name, const std::string& what) {
  if (const double* found = logs.find(name)) return found;
  std::string known;
  for (const auto& [other, value] : logs) known += (known.empty() ? "" : ",") + other;
  warn(what + " on metric `" + name + "` which is not available. Available metrics are: " + known);
  return nullptr;
}

/// Another mode than auto, min and max counts as auto, after a warning.
inline void check_mode(const std::string& what, const std::string& mode) {
  if (mode != "auto" && mode != "min" && mode != "max") warn(what + " " + mode + " is unknown, fallback to auto mode.");
}

}  // namespace thalweg::keras::callbacks

// Names of the nodes of a graph.
#pragma once
#include <string>
#include <string_view>
#include <unordered_map>

#include "thalweg/core/export.h"

namespace thalweg {

/// Names that are given once each: `x`, then `x_1`, `x_2`. Letters that differ in case alone count as one, since a
/// graph may end up as files of a system that thinks so.
class THALWEG_API UniqueNames {
 public:
  /// The name itself when it is new, else with a number.
  std::string make(std::string_view name);

 private:
  std::unordered_map<std::string, int> used_;
};

}  // namespace thalweg

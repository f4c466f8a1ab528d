// Which rewritings of graphs are done before they run.
#pragma once
#include <map>
#include <string>

#include "thalweg/core/export.h"

namespace thalweg {

namespace config::optimizer {

/// Switches passes on and off, by TensorFlow's names: "constant_folding", "arithmetic_optimization",
/// "function_optimization", "common_subgraph_elimination", "dependency_optimization", "disable_model_pruning",
/// "remapping" (fusion), "layout_optimizer" (images and weights in the order in which kernels read them),
/// "loop_optimization", "disable_meta_optimizer" (all of them). Functions that have run keep the plan that they have.
THALWEG_API void set_experimental_options(const std::map<std::string, bool>& options);
/// The options that were set.
THALWEG_API std::map<std::string, bool> get_experimental_options();

/// Fuses all that can be in functions that have not run yet, as their own `jit_compile` does.
THALWEG_API void set_jit(bool enabled);
/// Whether that is on.
THALWEG_API bool get_jit();

}  // namespace config::optimizer

}  // namespace thalweg

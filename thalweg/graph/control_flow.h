// Conditionals and loops as ops: the parts are traced as functions of their own.
#pragma once
#include "thalweg/graph/function_core.h"

namespace thalweg::graph {

/// The results of one of two functions without arguments. With a value that is known, only that one is called.
std::vector<Tensor> cond(const Tensor& predicate, const TraceBody& then, const TraceBody& otherwise);
/// The results of the function with this number; of the last one when there is none.
std::vector<Tensor> switch_case(const Tensor& index, const std::vector<TraceBody>& branches);
/// Replaces the values by what the body makes of them as long as the condition holds. `invariants` are shapes that
/// values keep, where they may change from turn to turn; empty: the shapes they come with. -1 iterations: no limit.
std::vector<Tensor> while_loop(const TraceBody& condition, const TraceBody& body, const std::vector<Tensor>& values,
                               const std::vector<Shape>& invariants = {}, int64_t maximum_iterations = -1,
                               int64_t parallel_iterations = 10);

}  // namespace thalweg::graph

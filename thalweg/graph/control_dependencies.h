// Ops that must run before others although these do not read their results.
#pragma once
#include <initializer_list>
#include <span>

#include "thalweg/core/tensor.h"

namespace thalweg {

namespace graph {
class GraphTracer;
struct Node;
}  // namespace graph

/// While one lives, what is traced in this thread runs only after these tensors have been computed, and makes them
/// needed: `ControlDependencies scope({check, total});`. Scopes add up. Outside of functions, and for effects such as
/// assignments, which run in program order anyway, it changes nothing.
class THALWEG_API ControlDependencies {
 public:
  [[nodiscard]] explicit ControlDependencies(std::span<const Tensor> before);
  [[nodiscard]] ControlDependencies(std::initializer_list<Tensor> before)
      : ControlDependencies(std::span(before.begin(), before.size())) {}
  /// `ControlDependencies scope(nullptr);` leaves the scopes around it.
  [[nodiscard]] explicit ControlDependencies(std::nullptr_t);
  ~ControlDependencies();
  ControlDependencies(const ControlDependencies&) = delete;
  ControlDependencies& operator=(const ControlDependencies&) = delete;

 private:
  graph::GraphTracer* tracer_;
  std::vector<graph::Node*> before_;
};
/// `auto scope = control_dependencies({check});`
[[nodiscard]] inline ControlDependencies control_dependencies(std::initializer_list<Tensor> before) { return before; }

}  // namespace thalweg

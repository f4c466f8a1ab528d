#include "thalweg/graph/control_dependencies.h"

#include <algorithm>

#include "thalweg/graph/tracer.h"
#include "thalweg/ops/shaping.h"

namespace thalweg {
ControlDependencies::ControlDependencies(std::span<const Tensor> before) : tracer_(graph::current_tracer()) {
  if (!tracer_) return;
  before_ = tracer_->controls;
  std::vector<graph::Node*> all = before_;
  for (const Tensor& t : before) {
    if (!t.defined() || !t.is_symbolic()) continue;
    graph::Origin origin = graph::origin_of(*t.impl());
    if (origin.graph != tracer_->graph().serial()) continue;  // of a function around this one: computed before its call
    if (std::ranges::find(tracer_->graph().arguments, origin.node) != tracer_->graph().arguments.end()) continue;
    // Calls may dissolve into the ops of their functions; this stays.
    if (graph::is_call(*origin.node->op)) origin = graph::origin_of(*identity(t).impl());
    if (std::ranges::find(all, origin.node) == all.end()) all.push_back(origin.node);
  }
  tracer_->controls = std::move(all);
}

ControlDependencies::ControlDependencies(std::nullptr_t) : tracer_(graph::current_tracer()) {
  if (tracer_) before_ = std::exchange(tracer_->controls, {});
}

ControlDependencies::~ControlDependencies() {
  if (tracer_) tracer_->controls = std::move(before_);
}

}  // namespace thalweg

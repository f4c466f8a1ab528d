#include "thalweg/graph/branches.h"

#include "thalweg/core/error.h"

namespace thalweg::graph {
namespace {
std::atomic<uint64_t> next_branch{0};
}

void BranchTracer::add(const TraceBody& body, const std::vector<Spec>& arguments) {
  auto tracer = std::make_unique<GraphTracer>(current_tracer());
  tracer->may_create_variables = false;
  Tracing tracing(tracer.get());
  tracer->trace(arguments, body);
  tracers_.push_back(std::move(tracer));
}

Spec BranchTracer::result(size_t branch, size_t i) const {
  const Value& v = tracers_[branch]->graph().results[i];
  return v.node->results[static_cast<size_t>(v.index)];
}

BranchTracer::Branches BranchTracer::finish(const std::string& name, bool pass_on) {
  Branches made;
  for (size_t k = 0; k < tracers_.size(); ++k)
    for (size_t i = 0; i < tracers_[k]->captures().size(); ++i) {
      Tensor t = tracers_[k]->captures()[i];  // the lists grow while the others learn of it
      size_t before = tracers_[0]->captures().size();
      for (auto& tracer : tracers_) tracer->value_of(t);
      if (k == 0 || tracers_[0]->captures().size() > before) made.captures.push_back(t);
    }
  uint64_t number = next_branch++;
  for (size_t k = 0; k < tracers_.size(); ++k) {
    GraphTracer& tracer = *tracers_[k];
    for (const Tensor& t : made.captures) {
      Value v = tracer.value_of(t);
      tracer.graph().arguments.push_back(v.node);
      if (pass_on && k > 0) tracer.graph().results.push_back(v);
    }
    auto body = std::make_shared<FunctionBody>(name + "_" + std::to_string(number) + "_" + std::to_string(k),
                                               std::move(tracer.graph()));
    made.stateful |= body->is_stateful();
    made.bodies.push_back(std::move(body));
  }
  return made;
}

FunctionAttr make_body(const std::string& name, const std::vector<Spec>& arguments,
                       const std::function<std::vector<Tensor>(std::span<const Tensor>)>& body) {
  GraphTracer tracer(nullptr);
  if (current_tracer()) tracer.graph().jit_compile = current_tracer()->graph().jit_compile;
  Tracing tracing(&tracer);
  tracer.trace(arguments, [&](std::span<const Tensor> symbolic) { return Traced{body(symbolic), nullptr}; });
  return std::make_shared<FunctionBody>(name, std::move(tracer.graph()));
}

}  // namespace thalweg::graph

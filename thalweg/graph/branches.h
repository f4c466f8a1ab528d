// Parts of control flow traced as functions of the function around them.
#pragma once
#include "thalweg/graph/function_body.h"

namespace thalweg::graph {

/// Traces functions whose calls will share their inputs: what any of them uses from outside becomes an argument of all.
class BranchTracer {
 public:
  /// Traces one more, with arguments of its own before those that are shared.
  void add(const TraceBody& body, const std::vector<Spec>& arguments = {});
  size_t num_results(size_t branch) const { return tracers_[branch]->graph().results.size(); }
  Spec result(size_t branch, size_t i) const;

  struct Branches {
    std::vector<FunctionAttr> bodies;
    std::vector<Tensor> captures;  // of the function around them
    bool stateful = false;
  };
  /// Ends tracing. With `pass_on`, every branch but the first returns what it was passed in addition (loops).
  Branches finish(const std::string& name, bool pass_on = false);

 private:
  std::vector<std::unique_ptr<GraphTracer>> tracers_;
};

/// A function of its own from ops that are applied to its arguments; nothing from outside may be used.
FunctionAttr make_body(const std::string& name, const std::vector<Spec>& arguments,
                       const std::function<std::vector<Tensor>(std::span<const Tensor>)>& body);

}  // namespace thalweg::graph

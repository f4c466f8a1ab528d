// A step of training as a traced function of structures that only the run knows.
#pragma once
#include <mutex>

#include "thalweg/graph/function_core.h"
#include "thalweg/graph/nest.h"

namespace thalweg::keras {

/// Traces its body for each kind of batch, then runs the plan. Batches of another size cost one more trace in all,
/// those of another rank one each: by ranks losses decide what to expand and squeeze, so that no trace serves several.
class StepFunction {
 public:
  using Body = std::function<Nest(const Nest& data)>;
  StepFunction(Body body, bool eagerly, bool jit_compile, const std::string& name);
  Nest operator()(const Nest& data);
  /// From now on op by op, or traced.
  void set_eagerly(bool eagerly) { eagerly_ = eagerly; }
  int tracing_count() const { return core_.tracing_count(); }

 private:
  /// The structure of a batch and its ranks as part of the key of its trace; those of the first batch are written once.
  const std::string& text_of(const Nest& data, std::string& other);

  Body body_;
  bool eagerly_;
  std::once_flag first_;
  Nest first_structure_;
  std::vector<int> first_ranks_;
  std::string first_text_;
  graph::FunctionCore core_;
};

}  // namespace thalweg::keras

#include "thalweg/keras/step_function.h"

namespace thalweg::keras {

StepFunction::StepFunction(Body body, bool eagerly, bool jit_compile, const std::string& name)
    : body_(std::move(body)),
      eagerly_(eagerly),
      core_({.reduce_retracing = true, .jit_compile = jit_compile, .name = name, .described_as = name}) {}

Nest StepFunction::operator()(const Nest& data) {
  if (eagerly_ || config::functions_run_eagerly()) return body_(data);
  const std::vector<Tensor> tensors = data.flatten();
  const std::vector<TensorRef> in(tensors.begin(), tensors.end());
  const std::string rest = data.str();
  auto result_of = [](graph::Traced&& traced) {
    return static_cast<const Nest*>(traced.structure.get())->pack(traced.tensors);
  };
  graph::TraceBody trace_body = [&](std::span<const Tensor> symbolic) {
    auto made = std::make_shared<Nest>(body_(data.pack(symbolic)));
    return graph::Traced{made->flatten(), made};
  };
  std::optional<graph::Traced> results = core_.run(in, rest, trace_body);
  return results ? result_of(std::move(*results)) : body_(data);
}

}  // namespace thalweg::keras

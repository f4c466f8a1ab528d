#include "thalweg/autodiff/custom_gradient.h"

#include "thalweg/ops/apply.h"
#include "thalweg/ops/shaping.h"
#include "thalweg/ops/variable_ops.h"

namespace thalweg::autodiff {
namespace {

class Closure final : public BackwardFunction {
 public:
  explicit Closure(GradientFunction gradient) : gradient_(std::move(gradient)) {}
  std::vector<Tensor> run(std::span<const Tensor> output_grads, uint64_t) override {
    return gradient_({output_grads.begin(), output_grads.end()});
  }

 private:
  GradientFunction gradient_;
};

}  // namespace

Tensors with_gradient(const Tensors& sources, const Tensors& results, GradientFunction gradient) {
  Recorder* recorder = thread_state.recorder;
  if (!recorder) return results;
  for (const Tensor& source : sources)
    if (source.defined() && source.dtype() == DType::resource) note_access(source);
  Tensors fresh;
  {
    StopRecording stop;  // the tape sees the whole, not the steps of a copy
    for (const Tensor& result : results) fresh.push_back(result.defined() ? identity(result) : result);
  }
  recorder->record(sources, fresh, std::make_unique<Closure>(std::move(gradient)));
  return fresh;
}

}  // namespace thalweg::autodiff

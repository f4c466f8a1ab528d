#include "thalweg/autodiff/gradient_functions.h"

#include "thalweg/core/error.h"
#include "thalweg/ops/creation.h"

namespace thalweg {

ForwardAccumulator::ForwardAccumulator(std::vector<Tensor> primals, std::vector<Tensor> tangents, int)
    : tape_({.persistent = true, .watch_accessed_variables = false}),
      primals_(std::move(primals)),
      tangents_(std::move(tangents)) {
  if (primals_.size() != tangents_.size())
    throw ValueError("ForwardAccumulator: " + std::to_string(primals_.size()) + " primals need as many tangents, got " +
                     std::to_string(tangents_.size()));
  for (size_t i = 0; i < primals_.size(); ++i) {
    const Tensor& p = primals_[i];
    bool variable = p.dtype() == DType::resource;
    Shape shape = variable ? variable_of(p).shape() : p.shape();
    DType dtype = variable ? variable_of(p).dtype() : p.dtype();
    if (!tangents_[i].shape().is_compatible_with(shape) || tangents_[i].dtype() != dtype)
      throw ValueError("ForwardAccumulator: tangent " + std::to_string(i) + " is " +
                       std::string(name_of(tangents_[i].dtype())) + tangents_[i].shape().brackets() + ", its primal " +
                       std::string(name_of(dtype)) + shape.brackets());
  }
  tape_.start();
  for (const Tensor& p : primals_) tape_.watch(p);
}

// The way back is linear in the gradient it begins with: its own derivative is the way forward.
Tensor ForwardAccumulator::jvp(const Tensor& result, UnconnectedGradients unconnected) {
  Tensor start = zeros_like(result);
  autodiff::Tape forward({.persistent = false, .watch_accessed_variables = false});
  forward.start();
  forward.watch(start);
  std::vector<Tensor> back;
  { back = tape_.gradient({&result, 1}, primals_, {&start, 1}, UnconnectedGradients::none); }
  std::vector<Tensor> targets, weights;
  for (size_t i = 0; i < back.size(); ++i)
    if (back[i].defined()) {
      targets.push_back(back[i]);
      weights.push_back(tangents_[i]);
    }
  Tensor moved = forward.gradient(targets, {&start, 1}, weights, UnconnectedGradients::none)[0];
  return moved.defined() || unconnected == UnconnectedGradients::none ? moved : zeros_like(result);
}

}  // namespace thalweg

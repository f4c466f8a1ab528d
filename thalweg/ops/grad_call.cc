#include "thalweg/ops/grad_call.h"

#include "thalweg/ops/creation.h"

namespace thalweg {

const Tensor& GradCall::make_zeros(int i) { return output_grads_[static_cast<size_t>(i)] = zeros_like(output(i)); }

}  // namespace thalweg

// Gradients of what is being traced: tf.gradients, which asks the graph itself and needs no tape.
#pragma once
#include <span>
#include <vector>

#include "thalweg/autodiff/tape.h"

namespace thalweg {

struct GradientsOptions {
  std::vector<Tensor> grad_ys = {};         // gradients of the ys, ones where left out
  std::vector<Tensor> stop_gradients = {};  // tensors that count as constants
  UnconnectedGradients unconnected_gradients = UnconnectedGradients::none;
};
/// The gradients of the sum of `ys` with respect to each of `xs`, tensors of the function that is being traced or
/// handles of variables it has read; None where the ys do not depend on one. RuntimeError outside of traced functions.
THALWEG_API std::vector<Tensor> gradients(const std::vector<Tensor>& ys, const std::vector<Tensor>& xs,
                                          const GradientsOptions& options = {});

}  // namespace thalweg

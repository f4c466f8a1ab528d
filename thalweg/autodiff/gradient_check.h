// Gradients by differences, to see whether a gradient is right.
#pragma once
#include <functional>
#include <vector>

#include "thalweg/core/tensor.h"

namespace thalweg::test {

/// One Jacobian per argument: [size of the result, size of the argument].
struct Jacobians {
  std::vector<Tensor> theoretical = {};
  std::vector<Tensor> numerical = {};
};
/// The Jacobians of f at x as the tape gives them, and as differences over `delta` show them.
THALWEG_API Jacobians compute_gradient(const std::function<Tensor(const std::vector<Tensor>&)>& f,
                                       const std::vector<Tensor>& x, double delta = 1.0 / 1024);
/// How far the two are apart at most.
THALWEG_API double max_error(const Jacobians& jacobians);

}  // namespace thalweg::test

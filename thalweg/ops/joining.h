// Putting tensors together.
#pragma once
#include <vector>

#include "thalweg/ops/options.h"

namespace thalweg {

/// Tensors one after the other along an axis they all have.
THALWEG_API Tensor concat(const std::vector<Tensor>& values, const TensorLike& axis);

struct StackOptions {
  int64_t axis = 0;
};
/// Tensors of one shape along a new axis.
THALWEG_API Tensor stack(const std::vector<Tensor>& values, const StackOptions& options = {});

// The same with an option by position (docs/decisions/0013).
template <As<int64_t> A = int64_t>
Tensor stack(const std::vector<Tensor>& values, const A& axis, StackOptions options = {}) {
  return stack(values, with(options, options.axis, axis));
}

}  // namespace thalweg

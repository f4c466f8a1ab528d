// Adding a border to a tensor.
#pragma once
#include <string>

#include "thalweg/ops/options.h"

namespace thalweg {

struct PadOptions {
  std::string mode = "CONSTANT";  // or "REFLECT", "SYMMETRIC"; in any case
  Tensor constant_values = {};    // 0 where left out
};
/// `paddings[i]` elements before and after along axis i: a constant, or a mirror image with ("SYMMETRIC") or without
/// ("REFLECT") the elements at the edge.
THALWEG_API Tensor pad(const Tensor& tensor, const TensorLike& paddings, const PadOptions& options = {});

// The same with an option by position (docs/decisions/0013).
template <As<std::string> A = std::string>
Tensor pad(const Tensor& tensor, const TensorLike& paddings, const A& mode, PadOptions options = {}) {
  return pad(tensor, paddings, with(options, options.mode, mode));
}

}  // namespace thalweg

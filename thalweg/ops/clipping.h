// Tensors scaled down to a largest norm.
#pragma once
#include <vector>

#include "thalweg/core/tensor.h"
#include "thalweg/ops/options.h"

namespace thalweg {

struct ClipByNormOptions {
  Axis axes = {};  // all where left out
};
/// t, scaled down where its Euclidean norm is larger than clip_norm.
THALWEG_API Tensor clip_by_norm(const TensorLike& t, const TensorLike& clip_norm,
                                const ClipByNormOptions& options = {});

struct ClipByGlobalNormOptions {
  Tensor use_norm = {};  // the norm of all tensors, where it is known already
};
struct ClippedByGlobalNorm {
  std::vector<Tensor> clipped;  // None stays None
  Tensor global_norm;
};
/// All tensors scaled by one number, so that their norm together is at most clip_norm; NaN where it is not finite.
THALWEG_API ClippedByGlobalNorm clip_by_global_norm(const std::vector<Tensor>& t_list, const TensorLike& clip_norm,
                                                    const ClipByGlobalNormOptions& options = {});

// The same with an option by position (docs/decisions/0013).
template <As<Axis> A = Axis>
Tensor clip_by_norm(const TensorLike& t, const TensorLike& clip_norm, const A& axes, ClipByNormOptions options = {}) {
  return clip_by_norm(t, clip_norm, with(options, options.axes, axes));
}

}  // namespace thalweg

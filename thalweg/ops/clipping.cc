#include "thalweg/ops/clipping.h"

#include "thalweg/core/error.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/indexed_slices.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_elementary.h"
#include "thalweg/ops/norms.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/selection.h"

namespace thalweg {

Tensor clip_by_norm(const TensorLike& t, const TensorLike& clip_norm, const ClipByNormOptions& options) {
  if (is_indexed_slices(t))
    return map_values(t, [&](const Tensor& values) { return clip_by_norm(values, clip_norm, options); });
  Tensor x = t.own();
  Tensor squares = reduce_sum(square(x), {.axis = options.axes, .keepdims = true});
  // The square root has no slope at 0, so it is taken of 1 there.
  Tensor positive = squares > 0;
  Tensor size = where(positive, sqrt(where(positive, squares, ones_like(squares))), squares);
  Tensor scaled = multiply(x, clip_norm);
  if (!scaled.shape().is_compatible_with(x.shape()))
    throw InvalidArgumentError("clip_by_norm: clip_norm broadcasts t from " + x.shape().brackets() + " to " +
                               scaled.shape().brackets());
  return scaled / maximum(size, clip_norm);
}

ClippedByGlobalNorm clip_by_global_norm(const std::vector<Tensor>& t_list, const TensorLike& clip_norm,
                                        const ClipByGlobalNormOptions& options) {
  Tensor size = options.use_norm.defined() ? options.use_norm : linalg::global_norm(t_list);
  Tensor limit = clip_norm.as(size.dtype());
  // An infinite norm less itself is NaN, and so is everything then.
  Tensor scale = limit * minimum(1 / size, 1 / limit) + (size - size);
  ClippedByGlobalNorm result{{}, size};
  for (const Tensor& t : t_list)
    result.clipped.push_back(t.defined() ? map_values(t, [&](const Tensor& x) { return x * scale; }) : t);
  return result;
}

namespace {

// Python's pair (list, norm), as one list.
std::vector<Tensor> clip_all(const std::vector<Tensor>& t_list, const TensorLike& clip_norm,
                             const ClipByGlobalNormOptions& options) {
  ClippedByGlobalNorm result = clip_by_global_norm(t_list, clip_norm, options);
  result.clipped.push_back(result.global_norm);
  return result.clipped;
}

const FunctionDef* const clipping_functions[] = {
    &define_function<Tensor(const TensorLike&, const TensorLike&, const ClipByNormOptions&), clip_by_norm>(
        {"clip_by_norm"}, {"t", "clip_norm"}),
    &define_function<clip_all>({"clip_by_global_norm"}, {"t_list", "clip_norm"}),
};
}  // namespace

}  // namespace thalweg

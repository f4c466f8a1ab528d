// Reading elements and rows by index.
#pragma once
#include <optional>

#include "thalweg/ops/options.h"

namespace thalweg {

struct GatherOptions {
  std::optional<bool> validate_indices = {};  // indices are always checked
  std::optional<int64_t> axis = {};           // the first dimension after the batch where left out
  int64_t batch_dims = 0;
};
/// The slices of params along an axis that the indices name; the first `batch_dims` dimensions belong together.
THALWEG_API Tensor gather(const TensorLike& params, const TensorLike& indices, const GatherOptions& options = {});

struct GatherNdOptions {
  int64_t batch_dims = 0;
};
/// The slices that lists of coordinates name: indices [..., depth] point into the first `depth` dimensions of params.
THALWEG_API Tensor gather_nd(const TensorLike& params, const TensorLike& indices, const GatherNdOptions& options = {});

// The same with an option by position (docs/decisions/0013).
template <As<int64_t> A = int64_t>
Tensor gather_nd(const TensorLike& params, const TensorLike& indices, const A& batch_dims,
                 GatherNdOptions options = {}) {
  return gather_nd(params, indices, with(options, options.batch_dims, batch_dims));
}

namespace nn {

struct EmbeddingLookupOptions {
  std::optional<double> max_norm = {};  // longer rows are scaled down to this length
};
/// The rows of an embedding table that the ids name.
THALWEG_API Tensor embedding_lookup(const TensorLike& params, const TensorLike& ids,
                                    const EmbeddingLookupOptions& options = {});

}  // namespace nn

}  // namespace thalweg

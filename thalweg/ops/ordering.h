// The same elements in another order.
#pragma once
#include <optional>

#include "thalweg/ops/options.h"

namespace thalweg {

/// The tensor with the order along some axes reversed.
THALWEG_API Tensor reverse(const TensorLike& tensor, const TensorLike& axis);

struct ReverseSequenceOptions {
  std::optional<int64_t> seq_axis = {};
  std::optional<int64_t> batch_axis = {};
};
/// For each entry of the batch the first `seq_lengths` steps in reverse, the others as they are.
THALWEG_API Tensor reverse_sequence(const TensorLike& input, const TensorLike& seq_lengths,
                                    const ReverseSequenceOptions& options = {});
/// The elements moved along axes by a shift; what leaves at one end comes back at the other.
THALWEG_API Tensor roll(const TensorLike& input, const TensorLike& shift, const TensorLike& axis);

namespace math {
/// y with y[x[i]] = i.
THALWEG_API Tensor invert_permutation(const TensorLike& x);
}  // namespace math

}  // namespace thalweg

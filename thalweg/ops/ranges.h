// Sequences of numbers.
#pragma once
#include "thalweg/ops/creation.h"

namespace thalweg {

struct LinspaceOptions {
  int64_t axis = 0;
};
/// `num` evenly spaced values from start to stop, both included; along a new axis where start and stop are not scalars.
THALWEG_API Tensor linspace(const TensorLike& start, const TensorLike& stop, int64_t num,
                            const LinspaceOptions& options = {});

struct SequenceMaskOptions {
  Tensor maxlen = {};  // the largest length where left out
  DType dtype = DType::bool_;
};
/// [..., maxlen]: true at positions below each length.
THALWEG_API Tensor sequence_mask(const TensorLike& lengths, const SequenceMaskOptions& options = {});

// The same with an option by position (docs/decisions/0013).
template <As<Tensor> A = Tensor>
Tensor sequence_mask(const TensorLike& lengths, const A& maxlen, SequenceMaskOptions options = {}) {
  return sequence_mask(lengths, with(options, options.maxlen, maxlen));
}

}  // namespace thalweg

// Contractions and what follows them in one op, under TensorFlow's names: made by passes, and found in graphs that
// TensorFlow has optimised.
#pragma once
#include <memory>
#include <string_view>

#include "thalweg/kernels/kept_filter.h"
#include "thalweg/ops/op.h"

namespace thalweg::fused {

/// An op that a pass puts in the place of a contraction. It takes the contraction's inputs and attributes, then the
/// inputs of what follows, whose names stand in `fused_ops`: "BiasAdd" or "FusedBatchNorm", perhaps "Add" of an array
/// like the result, perhaps an activation.
struct Contraction {
  const Op* plain;
  const Op* with_epilogue;
  const Op* with_kept_filter;  // input 1 never changes; `fused_ops` may be empty; null where nothing is to be kept
  TypeSet types;
};
/// The contraction that the op is, plain or with an epilogue; null for others.
const Contraction* find_contraction(const Op& op);

/// Whether the epilogue may end with this op.
bool is_activation(std::string_view op);

/// Attributes of `with_kept_filter`, from those of the same contraction with an epilogue.
Attrs keep_filter(const Op& with_kept_filter, AttrsRef with_epilogue);

}  // namespace thalweg::fused

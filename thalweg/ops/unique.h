// Distinct elements, and what one list has and another has not.
#pragma once
#include "thalweg/ops/options.h"

namespace thalweg {

struct UniqueOptions {
  DType out_idx = DType::int32;
};
struct Unique {
  Tensor y = {};
  Tensor idx = {};
};
/// The distinct elements of a vector in the order they first appear, and for each element of x its place among them.
THALWEG_API Unique unique(const TensorLike& x, const UniqueOptions& options = {});

struct UniqueWithCounts {
  Tensor y = {};
  Tensor idx = {};
  Tensor count = {};
};
/// The same, and how often each appears.
THALWEG_API UniqueWithCounts unique_with_counts(const TensorLike& x, const UniqueOptions& options = {});

struct SetDiffOptions {
  DType index_dtype = DType::int32;
};
struct SetDiff {
  Tensor out = {};
  Tensor idx = {};
};
/// The elements of x that y does not have, in their order, and where they are in x.
THALWEG_API SetDiff setdiff1d(const TensorLike& x, const TensorLike& y, const SetDiffOptions& options = {});

// The same with an option by position (docs/decisions/0013).
template <As<DType> A = DType> Unique unique(const TensorLike& x, const A& out_idx, UniqueOptions options = {}) {
  return unique(x, with(options, options.out_idx, out_idx));
}
template <As<DType> A = DType>
UniqueWithCounts unique_with_counts(const TensorLike& x, const A& out_idx, UniqueOptions options = {}) {
  return unique_with_counts(x, with(options, options.out_idx, out_idx));
}
template <As<DType> A = DType>
SetDiff setdiff1d(const TensorLike& x, const TensorLike& y, const A& index_dtype, SetDiffOptions options = {}) {
  return setdiff1d(x, y, with(options, options.index_dtype, index_dtype));
}

}  // namespace thalweg

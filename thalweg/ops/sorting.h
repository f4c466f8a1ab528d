// Order by size: the largest elements, sorting, and searching in what is sorted.
#pragma once
#include <string>

#include "thalweg/ops/options.h"

namespace thalweg {

struct SortOptions {
  int64_t axis = -1;
  std::string direction = "ASCENDING";  // or "DESCENDING"
};
/// The elements in order along an axis.
THALWEG_API Tensor sort(const TensorLike& values, const SortOptions& options = {});

struct ArgsortOptions {
  int64_t axis = -1;
  std::string direction = "ASCENDING";
  Flag stable = false;  // equal elements keep their order in any case
};
/// The int32 indices that put the elements in order along an axis.
THALWEG_API Tensor argsort(const TensorLike& values, const ArgsortOptions& options = {});

struct SearchsortedOptions {
  std::string side = "left";  // or "right"
  DType out_type = DType::int32;
};
/// Where each value would be inserted in a sequence sorted along its last axis: before ("left") or after equal
/// elements.
THALWEG_API Tensor searchsorted(const TensorLike& sorted_sequence, const TensorLike& values,
                                const SearchsortedOptions& options = {});

// The same with an option by position (docs/decisions/0013).
template <As<int64_t> A = int64_t> Tensor sort(const TensorLike& values, const A& axis, SortOptions options = {}) {
  return sort(values, with(options, options.axis, axis));
}
template <As<int64_t> A = int64_t>
Tensor argsort(const TensorLike& values, const A& axis, ArgsortOptions options = {}) {
  return argsort(values, with(options, options.axis, axis));
}
template <As<std::string> A = std::string>
Tensor searchsorted(const TensorLike& sorted_sequence, const TensorLike& values, const A& side,
                    SearchsortedOptions options = {}) {
  return searchsorted(sorted_sequence, values, with(options, options.side, side));
}

namespace math {

struct TopKOptions {
  Tensor k = {};  // 1 where left out
  Flag sorted = true;
  DType index_type = DType::int32;
};
struct TopK {
  Tensor values = {};
  Tensor indices = {};
};
/// The k largest elements along the last axis and where they are, `auto [values, indices] = top_k(x, 3)`; of equal
/// elements the first comes first.
THALWEG_API TopK top_k(const TensorLike& input, const TopKOptions& options = {});
/// Whether fewer than k predictions [batch, classes] exceed that of the target; false where that cannot be said.
THALWEG_API Tensor in_top_k(const TensorLike& targets, const TensorLike& predictions, const TensorLike& k);
/// How many of the sorted boundaries are at most each element: the number of the bucket between them it falls in.
THALWEG_API Tensor bucketize(const TensorLike& input, const std::vector<float>& boundaries);

// The same with an option by position (docs/decisions/0013).
template <As<Tensor> A = Tensor> TopK top_k(const TensorLike& input, const A& k, TopKOptions options = {}) {
  return top_k(input, with(options, options.k, k));
}

}  // namespace math

namespace nn {
using math::in_top_k, math::top_k;
}  // namespace nn

}  // namespace thalweg

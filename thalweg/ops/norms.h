// Norms of vectors and matrices, and tensors scaled by them.
#pragma once
#include <vector>

#include "thalweg/core/tensor.h"
#include "thalweg/ops/options.h"

namespace thalweg {

struct NormOptions {
  Tensor ord = {};  // "euclidean" where left out; "fro", "inf", or a number such as 1, 2 or infinity
  Axis axis = {};   // one axis for vectors, two for matrices; left out, all elements make one vector
  Flag keepdims = {};
};
/// The norm of vectors or matrices: `norm(x, {.ord = 1, .axis = {0, 1}})`.
THALWEG_API Tensor norm(const TensorLike& tensor, const NormOptions& options = {});

// The same with an option by position (docs/decisions/0013).
template <As<Tensor> A = Tensor> Tensor norm(const TensorLike& tensor, const A& ord, NormOptions options = {}) {
  return norm(tensor, with(options, options.ord, ord));
}

namespace linalg {
using thalweg::norm;

struct NormalizeOptions {
  Tensor ord = {};
  Axis axis = {};
};
struct NormalizeResult {
  Tensor normalized, norm;
};
/// A tensor divided by its norm, and the norm with the axes kept.
THALWEG_API NormalizeResult normalize(const TensorLike& tensor, const NormalizeOptions& options = {});

/// The Euclidean norm of all elements of several tensors; None among them counts as nothing.
THALWEG_API Tensor global_norm(const std::vector<Tensor>& t_list);

// The same with an option by position (docs/decisions/0013).
template <As<Tensor> A = Tensor>
NormalizeResult normalize(const TensorLike& tensor, const A& ord, NormalizeOptions options = {}) {
  return normalize(tensor, with(options, options.ord, ord));
}

}  // namespace linalg

struct L2NormalizeOptions {
  Axis axis = {};
  double epsilon = 1e-12;
};
namespace math {
/// x divided by its Euclidean norm along an axis, which counts as at least sqrt(epsilon).
THALWEG_API Tensor l2_normalize(const TensorLike& x, const L2NormalizeOptions& options = {});

// The same with an option by position (docs/decisions/0013).
template <As<Axis> A = Axis> Tensor l2_normalize(const TensorLike& x, const A& axis, L2NormalizeOptions options = {}) {
  return l2_normalize(x, with(options, options.axis, axis));
}

}  // namespace math
namespace nn {
using math::l2_normalize;
}
namespace linalg {
using math::l2_normalize;
}

}  // namespace thalweg

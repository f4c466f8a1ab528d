// Permuting the dimensions of a tensor.
#pragma once
#include "thalweg/ops/options.h"

namespace thalweg {

struct TransposeOptions {
  Axis perm = {};  // reverses the dimensions where left out
  Flag conjugate = false;
};
/// Dimension i of the result is dimension perm[i] of `a`.
THALWEG_API Tensor transpose(const TensorLike& a, const TransposeOptions& options = {});

// The same with an option by position (docs/decisions/0013).
template <As<Axis> A = Axis> Tensor transpose(const TensorLike& a, const A& perm, TransposeOptions options = {}) {
  return transpose(a, with(options, options.perm, perm));
}

namespace detail {
/// The same for a permutation that is a tensor.
Tensor transpose_by(const Tensor& a, const Tensor& perm);
}  // namespace detail

namespace linalg {
struct MatrixTransposeOptions {
  Flag conjugate = false;
};
/// Swaps the last two dimensions.
THALWEG_API Tensor matrix_transpose(const TensorLike& a, const MatrixTransposeOptions& options = {});
/// The conjugate of the transposed matrix.
THALWEG_API Tensor adjoint(const TensorLike& matrix);
}  // namespace linalg

}  // namespace thalweg

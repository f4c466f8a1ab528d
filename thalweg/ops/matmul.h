// Matrix products.
#pragma once
#include "thalweg/core/tensor.h"
#include "thalweg/ops/options.h"

namespace thalweg {

struct MatMulOptions {
  Flag transpose_a = {};
  Flag transpose_b = {};
  Flag adjoint_a = {};  // transposed and conjugated
  Flag adjoint_b = {};
  Flag a_is_sparse = {};  // TensorFlow's hints, which change no result
  Flag b_is_sparse = {};
  DType output_type = DType::invalid;
};
/// The product of matrices, or of two batches of them: [..., m, k] by [..., k, n] gives [..., m, n].
THALWEG_API Tensor matmul(const TensorLike& a, const TensorLike& b, const MatMulOptions& options = {});

struct MatVecOptions {
  Flag transpose_a = {};
  Flag adjoint_a = {};
  Flag a_is_sparse = {};
  Flag b_is_sparse = {};
};

namespace linalg {
using thalweg::matmul;
/// A matrix by a vector: [..., m, k] by [..., k] gives [..., m].
THALWEG_API Tensor matvec(const TensorLike& a, const TensorLike& b, const MatVecOptions& options = {});
}  // namespace linalg

}  // namespace thalweg

// Decompositions and solutions of linear equations, over batches of matrices [..., rows, columns].
#pragma once
#include <optional>

#include "thalweg/core/tensor.h"
#include "thalweg/ops/options.h"

namespace thalweg::linalg {

/// The lower triangular factor of positive definite matrices; NaN where a matrix is not.
THALWEG_API Tensor cholesky(const TensorLike& input);
/// Solves a x = rhs where `chol` is the Cholesky factor of a.
THALWEG_API Tensor cholesky_solve(const TensorLike& chol, const TensorLike& rhs);

struct QrOptions {
  Flag full_matrices = {};
};
struct QrResult {
  Tensor q, r;
};
/// Orthonormal columns q and an upper triangular r with q r = input.
THALWEG_API QrResult qr(const TensorLike& input, const QrOptions& options = {});

struct SvdOptions {
  Flag full_matrices = {};
  Flag compute_uv = true;
};
struct SvdResult {
  Tensor s, u, v;  // u and v are None where they were not asked for
};
/// Singular values, falling, and the vectors: tensor = u diag(s) v^H.
THALWEG_API SvdResult svd(const TensorLike& tensor, const SvdOptions& options = {});

struct EighResult {
  Tensor e, v;
};
/// Eigenvalues, rising, and eigenvectors (columns of v) of Hermitian matrices, of which the lower triangle is read.
THALWEG_API EighResult eigh(const TensorLike& tensor);
/// The eigenvalues of Hermitian matrices.
THALWEG_API Tensor eigvalsh(const TensorLike& tensor);
/// Eigenvalues and eigenvectors of any square matrices; complex.
THALWEG_API EighResult eig(const TensorLike& tensor);
/// The eigenvalues of any square matrices; complex.
THALWEG_API Tensor eigvals(const TensorLike& tensor);

struct InvOptions {
  Flag adjoint = {};
};
/// Inverses of matrices, or of their adjoints; an error where one has none.
THALWEG_API Tensor inv(const TensorLike& input, const InvOptions& options = {});

struct PinvOptions {
  Tensor rcond = {};  // singular values below rcond times the largest count as 0
  Flag validate_args = {};
};
/// Moore-Penrose pseudo-inverses.
THALWEG_API Tensor pinv(const Tensor& a, const PinvOptions& options = {});

struct MatrixRankOptions {
  Tensor tol = {};
  Flag validate_args = {};
};
/// How many singular values are larger than a tolerance.
THALWEG_API Tensor matrix_rank(const Tensor& a, const MatrixRankOptions& options = {});

/// Determinants.
THALWEG_API Tensor det(const TensorLike& input);
struct SlogdetResult {
  Tensor sign, log_abs_determinant;
};
/// Signs and logarithms of determinants.
THALWEG_API SlogdetResult slogdet(const TensorLike& input);
/// The logarithm of the determinant of positive definite matrices.
THALWEG_API Tensor logdet(const TensorLike& matrix);

struct SolveOptions {
  Flag adjoint = {};
};
/// x with matrix x = rhs.
THALWEG_API Tensor solve(const TensorLike& matrix, const TensorLike& rhs, const SolveOptions& options = {});

struct TriangularSolveOptions {
  Flag lower = true;
  Flag adjoint = {};
};
/// x with matrix x = rhs for triangular matrices; batches broadcast.
THALWEG_API Tensor triangular_solve(const TensorLike& matrix, const TensorLike& rhs,
                                    const TriangularSolveOptions& options = {});

/// The same for matrices given as bands [..., bands, n]: of a lower one the diagonal comes first and element
/// [row, row - i] stands at [i, row]; of an upper one the diagonal comes last.
THALWEG_API Tensor banded_triangular_solve(const TensorLike& bands, const TensorLike& rhs,
                                           const TriangularSolveOptions& options = {});

struct LstsqOptions {
  double l2_regularizer = 0;
  Flag fast = true;  // through normal equations, which squares the condition number
};
/// x that minimises |matrix x - rhs|^2 + l2_regularizer |x|^2.
THALWEG_API Tensor lstsq(const TensorLike& matrix, const TensorLike& rhs, const LstsqOptions& options = {});

struct LuOptions {
  DType output_idx_type = DType::int32;
};
struct LuResult {
  Tensor lu, p;
};
/// Both triangular factors in one matrix, and the order of the rows.
THALWEG_API LuResult lu(const TensorLike& input, const LuOptions& options = {});
struct LuSolveOptions {
  Flag validate_args = {};
};
/// Solves with what `lu` gave.
THALWEG_API Tensor lu_solve(const Tensor& lower_upper, const Tensor& perm, const TensorLike& rhs,
                            const LuSolveOptions& options = {});
/// The matrix that `lu` took apart.
THALWEG_API Tensor lu_reconstruct(const Tensor& lower_upper, const Tensor& perm, const LuSolveOptions& options = {});

/// The inverse from what `lu` gave.
THALWEG_API Tensor lu_matrix_inverse(const Tensor& lower_upper, const Tensor& perm, const LuSolveOptions& options = {});

/// e to the power of square matrices.
THALWEG_API Tensor expm(const TensorLike& input);
/// Principal square roots.
THALWEG_API Tensor sqrtm(const TensorLike& input);
/// Principal logarithms of complex matrices.
THALWEG_API Tensor logm(const TensorLike& input);

struct TridiagonalSolveOptions {
  std::string diagonals_format = "compact";  // [..., 3, n]: above, on and below the diagonal; or "matrix"
  Flag transpose_rhs = {};
  Flag conjugate_rhs = {};
  Flag partial_pivoting = true;
  Flag perturb_singular = {};  // a singular system is moved by rounding errors until it has a solution
};
/// Solves tridiagonal systems; NaN where one is singular.
THALWEG_API Tensor tridiagonal_solve(const TensorLike& diagonals, const TensorLike& rhs,
                                     const TridiagonalSolveOptions& options = {});
struct TridiagonalMatmulOptions {
  std::string diagonals_format = "compact";
};
/// The product of tridiagonal matrices and rhs [..., n, k].
THALWEG_API Tensor tridiagonal_matmul(const Tensor& diagonals, const Tensor& rhs,
                                      const TridiagonalMatmulOptions& options = {});

// The same with an option by position (docs/decisions/0013).
template <As<double> A = double>
Tensor lstsq(const TensorLike& matrix, const TensorLike& rhs, const A& l2_regularizer, LstsqOptions options = {}) {
  return lstsq(matrix, rhs, with(options, options.l2_regularizer, l2_regularizer));
}

}  // namespace thalweg::linalg

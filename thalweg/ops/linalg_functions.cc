// Functions of matrices made of other ops.
#include <limits>

#include "thalweg/core/error.h"
#include "thalweg/core/index.h"
#include "thalweg/ops/broadcasting.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/einsum.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/gather.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/linalg.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_complex.h"
#include "thalweg/ops/math_elementary.h"
#include "thalweg/ops/matmul.h"
#include "thalweg/ops/matrices.h"
#include "thalweg/ops/ordering.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/selection.h"
#include "thalweg/ops/shaping.h"

namespace thalweg::linalg {
namespace {

// Of the real numbers behind the dtype.
double epsilon_of(DType dtype) {
  switch (real_of(dtype)) {
    case DType::float64:
      return std::numeric_limits<double>::epsilon();
    case DType::float16:
      return 0x1p-10;
    case DType::bfloat16:
      return 0x1p-7;
    default:
      return std::numeric_limits<float>::epsilon();
  }
}
// The longer side, where both are known now.
double longer_side(const Tensor& a, const char* name) {
  if (a.rank() < 2 || a.shape()[-1] < 0 || a.shape()[-2] < 0)
    throw ValueError(std::string(name) + ": a must be matrices of known sides, got shape " + a.shape().brackets());
  return static_cast<double>(std::max(a.shape()[-1], a.shape()[-2]));
}

Tensor reordered(const Tensor& rows, const Tensor& order) {
  if (rows.rank() == 2 && order.rank() == 1) return gather(rows, order, {.axis = -2});
  // The batches broadcast with each other.
  Tensor sides = shape(rows);
  Tensor batch = broadcast_dynamic_shape(sides(slice(0, -2)), shape(order)(slice(0, -1)));
  Tensor all_rows = broadcast_to(rows, concat({batch, sides(slice_from(-2))}, 0));
  Tensor all_orders = broadcast_to(order, concat({batch, sides(slice(-2, -1))}, 0));
  return gather(all_rows, all_orders, {.axis = -2, .batch_dims = all_orders.rank() - 1});
}
void check_lu(const Tensor& lower_upper, const Tensor& perm, const char* name) {
  if (lower_upper.rank() < 2 || perm.rank() != lower_upper.rank() - 1)
    throw ValueError(std::string(name) + ": lower_upper must be [..., n, n] and perm [..., n], got " +
                     lower_upper.shape().brackets() + " and " + perm.shape().brackets());
  const int64_t rows = lower_upper.shape()[-2], columns = lower_upper.shape()[-1];
  if (rows >= 0 && columns >= 0 && rows != columns)
    throw ValueError(std::string(name) + ": lower_upper must be square, got " + lower_upper.shape().brackets());
}
Tensor unit_lower(const Tensor& lower_upper) {
  return lower_upper * matrices::triangle(lower_upper, true, false, false) +
         matrices::triangle(lower_upper, false, true, false);
}
// Where row order[i] of one is row i of the other, the way back.
Tensor inverted(const Tensor& order) {
  Tensor places = cast(range(shape(order)(-1)), order.dtype());
  Tensor same = equal(expand_dims(order, -2), expand_dims(places, -1));  // [..., row, i]
  return reduce_sum(cast(same, order.dtype()) * places, {.axis = -1});
}

}  // namespace

Tensor pinv(const Tensor& a, const PinvOptions& options) {
  const DType real = real_of(a.dtype());
  Tensor rcond = options.rcond.defined() ? cast(options.rcond, real)
                                         : cast(10 * longer_side(a, "pinv") * epsilon_of(a.dtype()), real);
  SvdResult f = svd(a);
  Tensor cutoff = rcond * reduce_max(f.s, {.axis = -1});
  Tensor s = where(f.s > expand_dims(cutoff, -1), f.s, cast(std::numeric_limits<double>::infinity(), real));
  if (is_complex(a.dtype())) s = cast(s, a.dtype());
  return matmul(f.v / expand_dims(s, -2), f.u, {.adjoint_b = true});
}

Tensor matrix_rank(const Tensor& a, const MatrixRankOptions& options) {
  Tensor s = svd(a, {.compute_uv = false}).s;
  Tensor tol = options.tol.defined() ? cast(options.tol, s.dtype())
                                     : reduce_max(s, {.axis = -1, .keepdims = true}) *
                                           cast(epsilon_of(a.dtype()) * longer_side(a, "matrix_rank"), s.dtype());
  return reduce_sum(cast(s > tol, DType::int32), {.axis = -1});
}

Tensor logdet(const TensorLike& matrix) {
  Tensor diagonal = einsum("...ii->...i", {cholesky(matrix)});
  return 2 * reduce_sum(log(math::real(diagonal)), {.axis = -1});
}

Tensor lu_solve(const Tensor& lower_upper, const Tensor& perm, const TensorLike& rhs, const LuSolveOptions&) {
  check_lu(lower_upper, perm, "lu_solve");
  Tensor right = rhs.as(lower_upper.dtype());
  const int64_t side = lower_upper.shape()[-1];
  if (right.rank() < 2 || (side >= 0 && right.shape()[-2] >= 0 && right.shape()[-2] != side))
    throw ValueError("lu_solve: rhs must be [..., n, k] for lower_upper [..., n, n], got " + right.shape().brackets() +
                     " and " + lower_upper.shape().brackets());
  return triangular_solve(lower_upper, triangular_solve(unit_lower(lower_upper), reordered(right, perm)),
                          {.lower = false});
}

Tensor lu_reconstruct(const Tensor& lower_upper, const Tensor& perm, const LuSolveOptions&) {
  check_lu(lower_upper, perm, "lu_reconstruct");
  Tensor product = matmul(unit_lower(lower_upper), lower_upper * matrices::triangle(lower_upper, false, true, true));
  return reordered(product, inverted(perm));
}

Tensor lu_matrix_inverse(const Tensor& lower_upper, const Tensor& perm, const LuSolveOptions&) {
  check_lu(lower_upper, perm, "lu_matrix_inverse");
  return lu_solve(lower_upper, perm, zeros_like(lower_upper) + matrices::triangle(lower_upper, false, true, false));
}

namespace {
const FunctionDef* const linalg_functions_functions[] = {
    &define_function<pinv>({"linalg.pinv"}, {"a"}),
    &define_function<matrix_rank>({"linalg.matrix_rank"}, {"a"}),
    &define_function<logdet>({"linalg.logdet"}, {"matrix"}),
    &define_function<lu_solve>({"linalg.lu_solve"}, {"lower_upper", "perm", "rhs"}),
    &define_function<lu_reconstruct>({"linalg.lu_reconstruct"}, {"lower_upper", "perm"}),
    &define_function<lu_matrix_inverse>({"linalg.lu_matrix_inverse"}, {"lower_upper", "perm"}),
};
}  // namespace

}  // namespace thalweg::linalg

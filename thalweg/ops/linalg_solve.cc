// Triangular, tridiagonal and least squares equations.
#include <algorithm>
#include <limits>

#include "thalweg/core/error.h"
#include "thalweg/core/index.h"
#include "thalweg/kernels/broadcast.h"
#include "thalweg/kernels/lapack.h"
#include "thalweg/kernels/tridiagonal_perturbed.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/diagonals.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/linalg.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_complex.h"
#include "thalweg/ops/matmul.h"
#include "thalweg/ops/matrices.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/shaping.h"
#include "thalweg/ops/transposing.h"

namespace thalweg {
namespace {

using matrices::for_each, matrices::Input, matrices::Output;

struct TriangularAttrs {
  bool lower = true;
  bool adjoint = false;
};
struct LeastSquaresAttrs {
  bool fast = true;
};
struct TridiagonalAttrs {
  bool partial_pivoting = true;
  bool perturb_singular = false;
};

const Op& MatrixTriangularSolve = define_op({
    .name = "MatrixTriangularSolve",
    .doc = "Solves matrix x = rhs for triangular matrices, of which the other triangle is not read; batches broadcast.",
    .signature = "matrix: T, rhs: T -> output: T",
    .types = {{"T", matrices::all | types(DType::bfloat16)}},
    .attrs = attrs_of<TriangularAttrs>(),
    .infer =
        [](InferCall& c) {
          matrices::require_square(c, 0);
          matrices::infer_solution(c, true);
        },
    .kernel = {[](const KernelCall& c) {
      const auto& attrs = c.attrs<TriangularAttrs>();
      int64_t n = c.shape(0)[-1], k = c.shape(1)[-1];
      if (c.output_shape().count() == 0) return;
      Shape batch = matrices::leading(c.output_shape()), batch_a = matrices::leading(c.shape(0)),
            batch_b = matrices::leading(c.shape(1));
      kernels::BroadcastPlan<2> plan(batch, {&batch_a, &batch_b});
      matrices::visit(c.dtype(), [&]<class T>(T*) {
        Input<T> a(c, 0), b(c, 1);
        Output<T> x(c, 0);
        const int64_t inner = plan.size[0];
        for_each(batch.count(), [&](int64_t i) {
          kernels::RowWalk<2> walk(plan, i / inner);
          const int64_t from_a = walk.offset[0] + i % inner * plan.stride[0][0],
                        from_b = walk.offset[1] + i % inner * plan.stride[1][0];
          std::copy(b + from_b * n * k, b + (from_b + 1) * n * k, x + i * n * k);
          kernels::solve_triangular<T>(n, k, a + from_a * n * n, attrs.lower, attrs.adjoint, x + i * n * k);
          return true;
        });
        x.finish();
      });
    }},
    .grad =
        [](GradCall& g) {
          auto [lower, adjoint] = g.attrs<TriangularAttrs>();
          Tensor right = linalg::triangular_solve(g.input(0), g.output_grad(), {.lower = lower, .adjoint = !adjoint});
          g.input_grad(1, right);
          if (!g.wants(0)) return;
          Tensor grad = adjoint ? -matmul(g.output(), right, {.adjoint_b = true})
                                : -matmul(right, g.output(), {.adjoint_b = true});
          g.input_grad(0, lower ? linalg::band_part(grad, -1, 0) : linalg::band_part(grad, 0, -1));
        },
    .grad_reads = reads::inputs<0> | reads::outputs<0>,
    .traits = {.broadcasts = true},
});

// The Cholesky factor of a^H a, or of a a^H, with a penalty on the diagonal.
Tensor factor_of_gram(const Tensor& a, bool tall, const Tensor& penalty) {
  Tensor gram = matmul(a, a, {.adjoint_a = tall, .adjoint_b = !tall});
  if (penalty.defined()) gram = gram + matrices::triangle(gram, false, true, false) * penalty;
  return linalg::cholesky(gram);
}

// Of the normal equations: x = (a^H a + l2)^-1 a^H b, or a^H (a a^H + l2)^-1 b where a is wide.
void grad_of_normal_equations(GradCall& g, bool tall) {
  const Tensor &a = g.input(0), &b = g.input(1), &x = g.output(), &d = g.output_grad();
  Tensor lower = factor_of_gram(a, tall, cast(g.input(2), a.dtype()));
  if (tall) {
    Tensor z = linalg::cholesky_solve(lower, d), xz = matmul(x, z, {.adjoint_b = true});
    g.input_grad(1, matmul(a, z));
    // Of complex matrices the adjoint of xz should be added; TensorFlow transposes alone.
    g.input_grad(0, matmul(b, z, {.adjoint_b = true}) - matmul(a, xz + linalg::matrix_transpose(xz)));
  } else {
    Tensor right = linalg::cholesky_solve(lower, matmul(a, d)), z = linalg::cholesky_solve(lower, b);
    g.input_grad(1, right);
    Tensor rest = d - matmul(a, right, {.adjoint_a = true});
    g.input_grad(0, matmul(z, rest, {.adjoint_b = true}) - matmul(right, matmul(z, a, {.adjoint_a = true})));
  }
}
// Of x = p b with the pseudo-inverse p (Golub and Pereyra 1973, "The differentiation of pseudo-inverses and nonlinear
// least squares problems"): true as long as the rank stays the same.
void grad_of_shortest_solution(GradCall& g) {
  const Tensor &a = g.input(0), &b = g.input(1), &x = g.output(), &d = g.output_grad();
  Tensor p = linalg::pinv(a), right = matmul(p, d, {.adjoint_a = true});
  g.input_grad(1, right);
  Tensor residual = b - matmul(a, x), outside = d - matmul(a, right, {.adjoint_a = true});
  g.input_grad(0, matmul(residual, matmul(p, right), {.adjoint_b = true}) +
                      matmul(matmul(p, x, {.adjoint_a = true}), outside, {.adjoint_b = true}) -
                      matmul(right, x, {.adjoint_b = true}));
}
void grad_of_least_squares(GradCall& g) {
  if (!g.attrs<LeastSquaresAttrs>().fast) return grad_of_shortest_solution(g);
  const Shape& a = g.input(0).shape();
  if (!a.has_rank() || a[-1] < 0 || a[-2] < 0)
    throw ValueError("the gradient of MatrixSolveLs needs matrices of known sides, got shape " + a.brackets());
  grad_of_normal_equations(g, a[-2] >= a[-1]);
}

const Op& MatrixSolveLs = define_op({
    .name = "MatrixSolveLs",
    .doc = "Least squares solutions of matrix x = rhs: through normal equations with a penalty on |x|, or the shortest "
           "one for any rank.",
    .signature = "matrix: T, rhs: T, l2_regularizer: double -> output: T",
    .types = {{"T", matrices::all}},
    .attrs = attrs_of<LeastSquaresAttrs>(),
    .infer =
        [](InferCall& c) {
          c.require_rank(2, 0);
          matrices::require_spectral(c, 0);
          matrices::infer_solution(c, false);
        },
    .kernel = {[](const KernelCall& c) {
      int64_t m = c.shape(0)[-2], n = c.shape(0)[-1], k = c.shape(1)[-1];
      const double l2 = *c.input<double>(2);
      const bool fast = c.attrs<LeastSquaresAttrs>().fast;
      if (!(l2 >= 0)) c.fail("l2_regularizer must be >= 0, got " + std::to_string(l2));
      matrices::visit(c.dtype(), [&]<class T>(T*) {
        Input<T> a(c, 0), b(c, 1);
        Output<T> x(c, 0);
        bool good = for_each(matrices::batch_of(c.shape(0)), [&](int64_t i) {
          return fast ? kernels::least_squares_fast<T>(m, n, k, a + i * m * n, b + i * m * k, l2, x + i * n * k)
                      : kernels::least_squares<T>(m, n, k, a + i * m * n, b + i * m * k, x + i * n * k);
        });
        if (!good)
          c.fail(
              "Input matrix was rank deficient or ill-conditioned. Try setting fast=False or provide a larger "
              "l2_regularizer > 0.");
        x.finish();
      });
    }},
    .grad = grad_of_least_squares,
    .grad_reads = reads::inputs<0, 1, 2> | reads::outputs<0>,
});

const Op& TridiagonalSolve = define_op({
    .name = "TridiagonalSolve",
    .doc =
        "Solves systems whose matrices have three diagonals [..., 3, n]: above, on and below the main one. Where one "
        "is singular, NaN, or the solution of a system near by.",
    .signature = "diagonals: T, rhs: T -> output: T",
    .types = {{"T", matrices::computed}},
    .attrs = attrs_of<TridiagonalAttrs>(),
    .infer =
        [](InferCall& c) {
          const auto& attrs = c.attrs<TridiagonalAttrs>();
          c.require(!attrs.perturb_singular || attrs.partial_pivoting, "perturb_singular needs partial_pivoting");
          c.require_rank_at_least(0, 2);
          c.require_rank_at_least(1, 2);
          const Shape &d = c.shape(0), &b = c.shape(1);
          if (!d.has_rank() || !b.has_rank()) return c.output(0, b);
          if (d[-2] >= 0 && d[-2] != 3) c.fail("diagonals must be [..., 3, n], got " + d.brackets());
          Shape batch_d = matrices::leading(d), batch_b = matrices::leading(b);
          if (!batch_d.is_compatible_with(batch_b) || (d[-1] >= 0 && b[-2] >= 0 && d[-1] != b[-2]))
            c.fail("diagonals " + d.brackets() + " and rhs " + b.brackets() +
                   " do not fit: [..., 3, n] and [..., n, k] are expected");
          Shape out = batch_d.merge_with(batch_b);
          out.push_back(d[-1] >= 0 ? d[-1] : b[-2]);
          out.push_back(b[-1]);
          c.output(0, out);
        },
    .kernel = {[](const KernelCall& c) {
      const auto& attrs = c.attrs<TridiagonalAttrs>();
      int64_t n = c.shape(0)[-1], k = c.shape(1)[-1];
      if (c.output_shape().count() == 0) return;
      matrices::visit(c.dtype(), [&]<class T>(T*) {
        auto *d = c.input<T>(0), *b = c.input<T>(1);
        auto* x = c.output<T>();
        for_each(matrices::batch_of(c.shape(1)), [&](int64_t i) {
          if (attrs.perturb_singular)
            kernels::solve_tridiagonal_perturbed<T>(n, k, d + i * 3 * n, b + i * n * k, x + i * n * k);
          else if (!kernels::solve_tridiagonal<T>(n, k, d + i * 3 * n, b + i * n * k, attrs.partial_pivoting,
                                                  x + i * n * k))
            std::fill_n(x + i * n * k, n * k, T(std::numeric_limits<kernels::Real<T>>::quiet_NaN()));
          return true;
        });
      });
    }},
    .grad =
        [](GradCall& g) {
          auto [pivoting, perturb] = g.attrs<TridiagonalAttrs>();
          // The transposed matrix has the outer diagonals exchanged and moved by one; as in TensorFlow complex numbers
          // are not conjugated.
          const Tensor& d = g.input(0);
          auto shifted = [](const Tensor& x, bool left) {  // along the last axis, 0 where nothing comes in
            Tensor cut = left ? x(ellipsis, slice_from(1)) : x(ellipsis, slice(0, -1));
            Tensor filler = zeros_like(x(ellipsis, left ? slice(0, 1) : slice_from(-1)));
            return left ? concat({cut, filler}, -1) : concat({filler, cut}, -1);
          };
          Tensor above = d(ellipsis, 0, all), on = d(ellipsis, 1, all), below = d(ellipsis, 2, all);
          Tensor turned = stack({shifted(below, true), on, shifted(above, false)}, {.axis = -2});
          Tensor right = linalg::tridiagonal_solve(turned, g.output_grad(),
                                                   {.partial_pivoting = pivoting, .perturb_singular = perturb});
          g.input_grad(1, right);
          if (!g.wants(0)) return;
          // d loss / d matrix[i, j] = -right[i] x[j], summed over the columns of rhs; only three diagonals are wanted.
          const Tensor& x = g.output();
          auto row_shifted = [&](const Tensor& y, bool up) {
            return linalg::matrix_transpose(shifted(linalg::matrix_transpose(y), up));
          };
          auto diagonal = [&](const Tensor& y) { return -reduce_sum(right * y, {.axis = -1}); };
          g.input_grad(
              0, stack({diagonal(row_shifted(x, true)), diagonal(x), diagonal(row_shifted(x, false))}, {.axis = -2}));
        },
    .grad_reads = reads::inputs<0> | reads::outputs<0>,
});

// Where TensorFlow has every matrix solved by itself, because the batch does not fit the cache.
bool is_large_batch(const Shape& a, DType dtype) {
  return a.count() * static_cast<int64_t>(size_of(dtype)) > 256000 && matrices::batch_of(a) > std::min(a[-1], a[-2]);
}

// Through normal equations; batches broadcast, and NaN tells a singular matrix.
Tensor least_squares(const Tensor& a, const Tensor& b, double l2) {
  const bool tall = a.shape()[-2] >= a.shape()[-1];
  Tensor lower = factor_of_gram(a, tall, l2 != 0 ? cast(l2, a.dtype()) : Tensor());
  return tall ? linalg::cholesky_solve(lower, matmul(a, b, {.adjoint_a = true}))
              : matmul(a, linalg::cholesky_solve(lower, b), {.adjoint_a = true});
}

// [..., 3, n]: above, on and below the diagonal.
Tensor compact(const TensorLike& diagonals, const std::string& format, const char* name) {
  if (format == "compact") return diagonals.own();
  if (format == "matrix") return linalg::diag_part(diagonals, {.k = {-1, 1}, .align = "LEFT_RIGHT"});
  throw ValueError(std::string(name) + ": diagonals_format is '" + format +
                   "'; it must be 'compact' ([..., 3, n]) or 'matrix'");
}

}  // namespace

namespace linalg {
Tensor triangular_solve(const TensorLike& matrix, const TensorLike& rhs, const TriangularSolveOptions& options) {
  return apply1(MatrixTriangularSolve, {matrix, rhs}, TriangularAttrs{options.lower, options.adjoint});
}
Tensor lstsq(const TensorLike& matrix, const TensorLike& rhs, const LstsqOptions& options) {
  Tensor a = matrix.own();
  if (options.fast && a.rank() >= 2 && a.shape().is_fully_defined() && !is_large_batch(a.shape(), a.dtype()))
    return least_squares(a, rhs.as(a.dtype()), options.l2_regularizer);
  Tensor penalty = Tensor(std::vector<double>{options.l2_regularizer}, Shape{});
  return apply1(MatrixSolveLs, {matrix, rhs, penalty}, LeastSquaresAttrs{options.fast});
}
Tensor tridiagonal_solve(const TensorLike& diagonals, const TensorLike& rhs, const TridiagonalSolveOptions& options) {
  if (options.perturb_singular && !options.partial_pivoting)
    throw ValueError("linalg.tridiagonal_solve: partial_pivoting must be True if perturb_singular is.");
  Tensor three = compact(diagonals, options.diagonals_format, "tridiagonal_solve");
  const Shape &d = three.shape(), &b = rhs.tensor().shape();
  Tensor right = rhs.tensor();
  // A rhs with one rank less holds vectors.
  const bool vectors = d.has_rank() && b.has_rank() && b.rank() == d.rank() - 1;
  if (vectors) right = expand_dims(options.conjugate_rhs ? math::conj(rhs) : rhs.tensor(), -1);
  else if (options.transpose_rhs) right = matrix_transpose(rhs, {.conjugate = options.conjugate_rhs});
  else if (options.conjugate_rhs) right = math::conj(rhs);
  Tensor x =
      apply1(TridiagonalSolve, {three, right}, TridiagonalAttrs{options.partial_pivoting, options.perturb_singular});
  return vectors ? squeeze(x, {.axis = -1}) : x;
}
Tensor tridiagonal_matmul(const Tensor& diagonals, const Tensor& rhs, const TridiagonalMatmulOptions& options) {
  Tensor three = compact(diagonals, options.diagonals_format, "tridiagonal_matmul");
  const Shape &d = three.shape(), &b = rhs.shape();
  if (!matrices::computed.has(three.dtype()))
    throw InvalidArgumentError("tridiagonal_matmul: diagonals of dtype " + std::string(name_of(three.dtype())) +
                               " are not multiplied");
  if (d.has_rank() && b.has_rank() &&
      (d.rank() < 2 || b.rank() != d.rank() || !matrices::leading(d).is_compatible_with(matrices::leading(b)) ||
       (d[-1] >= 0 && b[-2] >= 0 && d[-1] != b[-2])))
    throw InvalidArgumentError("tridiagonal_matmul: diagonals " + d.brackets() + " and rhs " + b.brackets() +
                               " do not fit: [..., 3, n] and [..., n, k] are expected");
  auto column = [&](int64_t i) { return expand_dims(three(ellipsis, i, all), -1); };
  Tensor up = concat({rhs(ellipsis, slice_from(1), all), zeros_like(rhs(ellipsis, slice(0, 1), all))}, -2);
  Tensor down = concat({zeros_like(rhs(ellipsis, slice(0, 1), all)), rhs(ellipsis, slice(0, -1), all)}, -2);
  return column(0) * up + column(1) * rhs + column(2) * down;
}
}  // namespace linalg

namespace {
const FunctionDef* const linalg_solve_functions[] = {
    &define_function<linalg::triangular_solve>({"linalg.triangular_solve"}, {"matrix", "rhs"}),
    &define_function<Tensor(const TensorLike&, const TensorLike&, const linalg::LstsqOptions&), linalg::lstsq>(
        {"linalg.lstsq"}, {"matrix", "rhs"}),
    &define_function<linalg::tridiagonal_solve>({"linalg.tridiagonal_solve"}, {"diagonals", "rhs"}),
    &define_function<linalg::tridiagonal_matmul>({"linalg.tridiagonal_matmul"}, {"diagonals", "rhs"}),
};
}  // namespace

}  // namespace thalweg

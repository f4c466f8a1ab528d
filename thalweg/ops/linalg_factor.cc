// Triangular factors, determinants, inverses and what they solve.
#include "thalweg/core/index.h"
#include "thalweg/kernels/lapack.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/diagonals.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/infer.h"
#include "thalweg/ops/linalg.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_complex.h"
#include "thalweg/ops/matmul.h"
#include "thalweg/ops/matrices.h"
#include "thalweg/ops/shaping.h"
#include "thalweg/ops/transposing.h"

namespace thalweg {
namespace {

using matrices::for_each, matrices::Input, matrices::Output;

constexpr const char* singular = "Input is not invertible.";

struct AdjointAttrs {
  bool adjoint = false;
};
struct LuAttrs {
  DType output_idx_type = DType::int32;
};

Tensor wide(const Tensor& per_matrix) { return expand_dims(expand_dims(per_matrix, -1), -1); }

// Keeps the lower triangle and halves the diagonal.
Tensor lower_and_half(const Tensor& x) {
  Tensor lower = linalg::band_part(x, -1, 0);
  return linalg::set_diag(lower, linalg::diag_part(x) * 0.5);
}
// l^-H phi(l^H grad) l^-1, where phi keeps the lower triangle and halves the diagonal; then the Hermitian part, as if
// both triangles had been read.
Tensor gradient_of_cholesky(const Tensor& l, const Tensor& grad) {
  Tensor left = linalg::triangular_solve(l, lower_and_half(matmul(l, grad, {.adjoint_a = true})), {.adjoint = true});
  Tensor x = linalg::triangular_solve(l, linalg::adjoint(left), {.adjoint = true});
  return (x + linalg::adjoint(x)) * 0.5;
}

const Op& Cholesky = define_op({
    .name = "Cholesky",
    .doc = "Lower triangular factors of positive definite matrices, of which the lower triangle is read; NaN where one "
           "is not.",
    .signature = "input: T -> output: T",
    .types = {{"T", matrices::all}},
    .infer = matrices::infer_square,
    .kernel = {[](const KernelCall& c) {
      int64_t n = c.output_shape()[-1];
      matrices::visit(c.dtype(), [&]<class T>(T*) {
        Input<T> in(c, 0);
        Output<T> out(c, 0);
        for_each(matrices::batch_of(c.shape(0)), [&](int64_t i) {
          kernels::cholesky<T>(n, in + i * n * n, out + i * n * n);
          return true;
        });
        out.finish();
      });
    }},
    .grad = [](GradCall& g) { g.input_grad(0, gradient_of_cholesky(g.output(), g.output_grad())); },
    .grad_reads = reads::outputs<0>,
});

const Op& CholeskyGrad = define_op({
    .name = "CholeskyGrad",
    .doc = "The gradient of matrices from the gradient of their Cholesky factors l.",
    .signature = "l: T, grad: T -> output: T",
    .types = {{"T", types(DType::float16, DType::float32, DType::float64)}},
    .infer =
        [](InferCall& c) {
          matrices::require_square(c, 0);
          matrices::require_square(c, 1);
          infer::same_shape(c);
        },
    .kernel = {[](const KernelCall& c) {
      int64_t n = c.output_shape()[-1];
      matrices::visit(c.dtype(), [&]<class T>(T*) {
        Input<T> l(c, 0), grad(c, 1);
        Output<T> out(c, 0);
        for_each(matrices::batch_of(c.shape(0)), [&](int64_t i) {
          kernels::cholesky_gradient<T>(n, l + i * n * n, grad + i * n * n, out + i * n * n);
          return true;
        });
        out.finish();
      });
    }},
    // The Hermitian part s of what comes in returns to phi(l^H grad) as l^-1 s l^-H, and through l^-1 on both sides of
    // it.
    .grad =
        [](GradCall& g) {
          const Tensor& d = g.output_grad();
          Tensor l = linalg::band_part(g.input(0), -1, 0);
          Tensor s = (d + linalg::adjoint(d)) * 0.5, left = linalg::triangular_solve(l, s);
          Tensor inner = lower_and_half(linalg::triangular_solve(l, linalg::adjoint(left)));
          g.input_grad(1, matmul(l, inner));
          if (!g.wants(0)) return;
          Tensor outer = linalg::triangular_solve(l, matmul(s, g.output())) * 2.0;
          Tensor grad = matmul(g.input(1), inner, {.adjoint_b = true}) - linalg::adjoint(outer);
          g.input_grad(0, linalg::band_part(grad, -1, 0));
        },
    .grad_reads = reads::inputs<0, 1> | reads::outputs<0>,
});

const Op& MatrixInverse = define_op({
    .name = "MatrixInverse",
    .doc = "Inverses of square matrices, or of their adjoints.",
    .signature = "input: T -> output: T",
    .types = {{"T", matrices::all}},
    .attrs = attrs_of<AdjointAttrs>(),
    .infer = matrices::infer_square,
    .kernel = {[](const KernelCall& c) {
      int64_t n = c.output_shape()[-1];
      matrices::visit(c.dtype(), [&]<class T>(T*) {
        Input<T> in(c, 0);
        Output<T> out(c, 0);
        bool good = for_each(matrices::batch_of(c.shape(0)), [&](int64_t i) {
          return kernels::invert<T>(n, in + i * n * n, c.attrs<AdjointAttrs>().adjoint, out + i * n * n);
        });
        if (!good) c.fail(singular);
        out.finish();
      });
    }},
    .grad =
        [](GradCall& g) {
          bool adjoint = g.attrs<AdjointAttrs>().adjoint;
          const Tensor& inverse = g.output();
          Tensor inner = matmul(g.output_grad(), inverse, {.adjoint_a = adjoint, .adjoint_b = !adjoint});
          g.input_grad(0, -matmul(inverse, inner, {.adjoint_a = !adjoint}));
        },
    .grad_reads = reads::outputs<0>,
});

template <int Outputs> void infer_per_matrix(InferCall& c) {
  matrices::require_square(c, 0);
  Shape out = c.shape(0).has_rank() ? matrices::leading(c.shape(0)) : Shape::unknown_rank();
  for (int i = 0; i < Outputs; ++i) c.output(i, out);
}

const Op& MatrixDeterminant = define_op({
    .name = "MatrixDeterminant",
    .doc = "Determinants of square matrices.",
    .signature = "input: T -> output: T",
    .types = {{"T", matrices::all}},
    .infer = infer_per_matrix<1>,
    .kernel = {[](const KernelCall& c) {
      int64_t n = c.shape(0)[-1];
      matrices::visit(c.dtype(), [&]<class T>(T*) {
        Input<T> in(c, 0);
        Output<T> out(c, 0);
        for_each(matrices::batch_of(c.shape(0)), [&](int64_t i) {
          out[i] = kernels::determinant<T>(n, in + i * n * n).value;
          return true;
        });
        out.finish();
      });
    }},
    // Of complex matrices the determinant should be conjugated; TensorFlow does not.
    .grad =
        [](GradCall& g) {
          g.input_grad(0, wide(g.output_grad() * g.output()) * linalg::inv(g.input(), {.adjoint = true}));
        },
    .grad_reads = reads::inputs<0> | reads::outputs<0>,
});

const Op& LogMatrixDeterminant = define_op({
    .name = "LogMatrixDeterminant",
    .doc = "Signs and logarithms of the absolute values of determinants.",
    .signature = "input: T -> sign: T, log_abs_determinant: T",
    .types = {{"T", matrices::all}},
    .infer = infer_per_matrix<2>,
    .kernel = {[](const KernelCall& c) {
      int64_t n = c.shape(0)[-1];
      matrices::visit(c.dtype(), [&]<class T>(T*) {
        Input<T> in(c, 0);
        Output<T> sign(c, 0), logarithm(c, 1);
        for_each(matrices::batch_of(c.shape(0)), [&](int64_t i) {
          auto d = kernels::determinant<T>(n, in + i * n * n);
          sign[i] = d.sign;
          logarithm[i] = T(d.log_absolute);
          return true;
        });
        sign.finish();
        logarithm.finish();
      });
    }},
    .grad = [](GradCall& g) { g.input_grad(0, wide(g.output_grad(1)) * linalg::inv(g.input(), {.adjoint = true})); },
    .grad_reads = reads::inputs<0>,
});

const Op& MatrixSolve = define_op({
    .name = "MatrixSolve",
    .doc = "Solves matrix x = rhs for square matrices, or with their adjoints.",
    .signature = "matrix: T, rhs: T -> output: T",
    .types = {{"T", matrices::all}},
    .attrs = attrs_of<AdjointAttrs>(),
    .infer =
        [](InferCall& c) {
          matrices::require_square(c, 0);
          matrices::infer_solution(c, false);
        },
    .kernel = {[](const KernelCall& c) {
      int64_t n = c.shape(0)[-1], k = c.shape(1)[-1];
      matrices::visit(c.dtype(), [&]<class T>(T*) {
        Input<T> a(c, 0), b(c, 1);
        Output<T> x(c, 0);
        bool good = for_each(matrices::batch_of(c.shape(0)), [&](int64_t i) {
          return kernels::solve<T>(n, k, a + i * n * n, b + i * n * k, c.attrs<AdjointAttrs>().adjoint, x + i * n * k);
        });
        if (!good) c.fail(singular);
        x.finish();
      });
    }},
    .grad =
        [](GradCall& g) {
          bool adjoint = g.attrs<AdjointAttrs>().adjoint;
          Tensor right = linalg::solve(g.input(0), g.output_grad(), {.adjoint = !adjoint});
          g.input_grad(1, right);
          if (g.wants(0))
            g.input_grad(0, adjoint ? -matmul(g.output(), right, {.adjoint_b = true})
                                    : -matmul(right, g.output(), {.adjoint_b = true}));
        },
    .grad_reads = reads::inputs<0> | reads::outputs<0>,
});

const Op& Lu = define_op({
    .name = "Lu",
    .doc = "Both triangular factors of square matrices in one, and the order of the rows.",
    .signature = "input: T -> lu: T, p: output_idx_type",
    .types = {{"T", matrices::all}, {"output_idx_type", index_types}},
    .attrs = attrs_of<LuAttrs>(),
    .infer =
        [](InferCall& c) {
          matrices::infer_square(c);
          Shape order = c.shape(0);
          if (order.has_rank()) {
            order = matrices::leading(c.shape(0));
            order.push_back(matrices::require_square(c, 0));
          }
          c.output(1, order);
        },
    .kernel = {[](const KernelCall& c) {
      int64_t n = c.shape(0)[-1], batch = matrices::batch_of(c.shape(0));
      const bool long_index = c.output_dtype(1) == DType::int64;
      Tensor narrow = long_index ? Tensor::empty(DType::int32, c.output_shape(1)) : Tensor();
      auto* order = long_index ? narrow.mutable_data<int32_t>() : c.output<int32_t>(1);
      matrices::visit(c.dtype(), [&]<class T>(T*) {
        Input<T> in(c, 0);
        Output<T> out(c, 0);
        bool good = for_each(
            batch, [&](int64_t i) { return kernels::lu_factor<T>(n, in + i * n * n, out + i * n * n, order + i * n); });
        if (!good) c.fail(singular);
        out.finish();
      });
      if (long_index) convert_elements(DType::int32, order, DType::int64, c.output(1), batch * n);
    }},
    // l^-H (strictly lower l^H dl + upper du u^H) u^-H, its rows put back where they came from.
    .grad =
        [](GradCall& g) {
          const Tensor &lu = g.output(0), &d = g.output_grad(0), &order = g.output(1);
          Tensor eye = matrices::triangle(lu, false, true, false);
          Tensor lower = linalg::set_diag(linalg::band_part(lu, -1, 0), ones_like(linalg::diag_part(lu)));
          Tensor upper = linalg::band_part(lu, 0, -1);
          auto strictly_lower = [&](const Tensor& x) { return linalg::band_part(x, -1, 0) - x * eye; };
          Tensor middle = strictly_lower(matmul(lower, strictly_lower(d), {.adjoint_a = true})) +
                          linalg::band_part(matmul(linalg::band_part(d, 0, -1), upper, {.adjoint_b = true}), 0, -1);
          Tensor left = linalg::triangular_solve(lower, middle, {.adjoint = true});
          Tensor ordered = linalg::adjoint(linalg::triangular_solve(upper, linalg::adjoint(left), {.lower = false}));
          Tensor rows = cast(range(shape(lu)(-1)), order.dtype());
          Tensor moves = cast(equal(expand_dims(order, -1), rows), lu.dtype());  // [..., place, row it came from]
          g.input_grad(0, matmul(moves, ordered, {.transpose_a = true}));
        },
    .grad_reads = reads::outputs<0, 1>,
});

}  // namespace

namespace linalg {
Tensor cholesky(const TensorLike& input) { return apply1(Cholesky, {input}); }
Tensor cholesky_solve(const TensorLike& chol, const TensorLike& rhs) {
  return triangular_solve(chol, triangular_solve(chol, rhs), {.adjoint = true});
}
Tensor inv(const TensorLike& input, const InvOptions& options) {
  return apply1(MatrixInverse, {input}, AdjointAttrs{options.adjoint});
}
Tensor det(const TensorLike& input) { return apply1(MatrixDeterminant, {input}); }
SlogdetResult slogdet(const TensorLike& input) {
  auto [sign, logarithm] = apply_n<2>(LogMatrixDeterminant, {input});
  return {sign, logarithm};
}
Tensor solve(const TensorLike& matrix, const TensorLike& rhs, const SolveOptions& options) {
  return apply1(MatrixSolve, {matrix, rhs}, AdjointAttrs{options.adjoint});
}
LuResult lu(const TensorLike& input, const LuOptions& options) {
  auto [factors, order] = apply_n<2>(Lu, {input}, LuAttrs{options.output_idx_type});
  return {factors, order};
}
}  // namespace linalg

namespace {
const FunctionDef* const linalg_factor_functions[] = {
    &define_function<linalg::cholesky>({"linalg.cholesky"}, {"input"}),
    &define_function<linalg::cholesky_solve>({"linalg.cholesky_solve"}, {"chol", "rhs"}),
    &define_function<linalg::inv>({"linalg.inv"}, {"input"}),
    &define_function<linalg::det>({"linalg.det"}, {"input"}),
    &define_function<linalg::slogdet>({"linalg.slogdet"}, {"input"}),
    &define_function<linalg::solve>({"linalg.solve"}, {"matrix", "rhs"}),
    &define_function<linalg::lu>({"linalg.lu"}, {"input"}),
};
}  // namespace

}  // namespace thalweg

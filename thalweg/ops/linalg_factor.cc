// Triangular factors, determinants, inverses and what they solve.
#include "thalweg/kernels/lapack.h"
#include "thalweg/ops/apply.h"
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
    // l^-H phi(l^H grad) l^-1, where phi keeps the lower triangle and halves the diagonal; then the Hermitian part.
    .grad =
        [](GradCall& g) {
          const Tensor& l = g.output();
          Tensor both = matrices::triangle(l, true, true, false) + matrices::triangle(l, true, false, false);
          Tensor middle = matmul(l, g.output_grad(), {.adjoint_a = true}) * both;
          Tensor left = linalg::triangular_solve(l, middle, {.adjoint = true});
          Tensor x = linalg::triangular_solve(l, linalg::adjoint(left), {.adjoint = true});
          g.input_grad(0, (x + linalg::adjoint(x)) * 0.25);
        },
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
    .grad =
        [](GradCall& g) {
          g.input_grad(0, wide(g.output_grad() * math::conj(g.output())) * linalg::inv(g.input(), {.adjoint = true}));
        },
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
const FunctionDef* const functions[] = {
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

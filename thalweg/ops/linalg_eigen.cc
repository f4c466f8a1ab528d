// Eigenvalues, and functions of matrices.
#include "thalweg/kernels/lapack.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/diagonals.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/linalg.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_complex.h"
#include "thalweg/ops/math_rounding.h"
#include "thalweg/ops/matmul.h"
#include "thalweg/ops/matrices.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/selection.h"
#include "thalweg/ops/shaping.h"
#include "thalweg/ops/splitting.h"
#include "thalweg/ops/transposing.h"

namespace thalweg {
namespace {

using matrices::batch_and, matrices::for_each, matrices::gap_reciprocals, matrices::Input, matrices::Output;

struct SelfAdjointEigAttrs {
  bool compute_v = true;
};
struct EigAttrs {
  bool compute_v = true;
  DType Tout = DType::complex64;
};

// v^-H (diag(de) + f * (v^H dv - v^H v diag(Re v^H dv))) v^H with f = conj(1 / (e_j - e_i)) off the diagonal
// (Boeddeker et al. 2017, "On the computation of complex-valued gradients", 4.77): vectors keep their length.
void grad_of_eig(GradCall& g) {
  const Tensor &e = g.output(0), &de = g.output_grad(0);
  const bool vectors = g.attrs<EigAttrs>().compute_v;
  Tensor v = vectors ? g.output(1) : linalg::eig(g.input()).v, inner = linalg::diag(de);
  if (vectors) {
    Tensor vdv = matmul(v, g.output_grad(1), {.adjoint_a = true});
    Tensor lengths = cast(math::real(linalg::diag_part(vdv)), v.dtype());
    inner =
        inner + math::conj(gap_reciprocals(e)) * (vdv - matmul(v, v, {.adjoint_a = true}) * expand_dims(lengths, -2));
  }
  Tensor grad = linalg::solve(linalg::adjoint(v), matmul(inner, v, {.adjoint_b = true}));
  g.input_grad(0, cast(grad, g.input().dtype()));
}

// The derivative of a function of matrices along d stands beside its value: f([[a, d], [0, a]]) = [[f(a), f'(a, d)],
// [0, f(a)]] (Mathias 1996, "A chain rule for matrix functions"); its adjoint is the one of a^H, or of a^T where
// TensorFlow does not conjugate. d is scaled, so that the blocks are about equally large.
template <bool Conjugates> void grad_of_matrix_function(GradCall& g) {
  Tensor a = linalg::matrix_transpose(g.input(), {.conjugate = Conjugates});
  const Tensor& d = g.output_grad();
  Tensor largest = stop_gradient(reduce_max(abs(d), {.axis = {-2, -1}, .keepdims = true}));
  Tensor size = cast(where(equal(largest, 0), ones_like(largest), largest), d.dtype());
  Tensor blocks = concat({concat({a, d / size}, -1), concat({zeros_like(a), a}, -1)}, -2);
  Tensor upper = split(apply1(g.op, {blocks}), 2, {.axis = -2})[0];
  g.input_grad(0, split(upper, 2, {.axis = -1})[1] * size);
}

const Op& SelfAdjointEigV2 = define_op({
    .name = "SelfAdjointEigV2",
    .doc = "Eigenvalues, rising, and eigenvectors of Hermitian matrices, of which the lower triangle is read.",
    .signature = "input: T -> e: T, v: T",
    .types = {{"T", matrices::all}},
    .attrs = attrs_of<SelfAdjointEigAttrs>(),
    .infer =
        [](InferCall& c) {
          matrices::require_spectral(c, 0);
          int64_t n = matrices::require_square(c, 0);
          c.output(0, batch_and(c, {n}));
          c.output(1, c.attrs<SelfAdjointEigAttrs>().compute_v ? batch_and(c, {n, n}) : Shape{});
        },
    .kernel = {[](const KernelCall& c) {
      int64_t n = c.shape(0)[-1], batch = matrices::batch_of(c.shape(0));
      const bool vectors = c.attrs<SelfAdjointEigAttrs>().compute_v;
      matrices::visit(c.dtype(), [&]<class T>(T*) {
        using R = kernels::Real<T>;
        Input<T> in(c, 0);
        Output<T> e(c, 0), v(c, 1);
        if (!vectors) *static_cast<T*>(v) = T{0};
        Tensor values = Tensor::empty(dtype_of<R>, Shape{batch, n});
        auto* real = values.mutable_data<R>();
        bool good = for_each(batch, [&](int64_t i) {
          return kernels::hermitian_eigen<T>(n, in + i * n * n, real + i * n, vectors ? v + i * n * n : nullptr);
        });
        if (!good) c.fail("Self-adjoint eigen decomposition was not successful. The input might not be valid.");
        std::copy(real, real + batch * n, static_cast<T*>(e));
        e.finish();
        v.finish();
      });
    }},
    // v (diag(de) + f * (v^H dv)) v^H with f = 1 / (e_j - e_i) off the diagonal; only the lower triangle was read, so
    // what belongs to both triangles is put below the diagonal.
    .grad =
        [](GradCall& g) {
          const Tensor &e = g.output(0), &de = g.output_grad(0);
          const bool vectors = g.attrs<SelfAdjointEigAttrs>().compute_v;
          Tensor v = vectors ? g.output(1) : linalg::eigh(g.input()).v, inner = linalg::diag(de);
          if (vectors) inner = inner + gap_reciprocals(e) * matmul(v, g.output_grad(1), {.adjoint_a = true});
          Tensor grad = matmul(v, matmul(inner, v, {.adjoint_b = true}));
          Tensor lower = linalg::band_part(grad + linalg::adjoint(grad), -1, 0);
          g.input_grad(0, linalg::set_diag(lower, linalg::diag_part(lower) * 0.5));
        },
    .grad_reads = reads::inputs<0> | reads::outputs<0, 1>,
});

const Op& Eig = define_op({
    .name = "Eig",
    .doc = "Eigenvalues and eigenvectors of square matrices.",
    .signature = "input: T -> e: Tout, v: Tout",
    .types = {{"T", matrices::computed}, {"Tout", complex_types}},
    .attrs = attrs_of<EigAttrs>(),
    .infer =
        [](InferCall& c) {
          DType wanted = is_complex(c.dtype(0)) ? c.dtype(0) : complex_of(c.dtype(0));
          c.require(c.attrs<EigAttrs>().Tout == wanted, "Tout must be the complex type of the input's precision");
          matrices::require_spectral(c, 0);
          int64_t n = matrices::require_square(c, 0);
          c.output(0, wanted, batch_and(c, {n}));
          c.output(1, wanted, c.attrs<EigAttrs>().compute_v ? batch_and(c, {n, n}) : Shape{});
        },
    .kernel = {[](const KernelCall& c) {
      int64_t n = c.shape(0)[-1];
      const bool vectors = c.attrs<EigAttrs>().compute_v;
      matrices::visit(c.dtype(), [&]<class T>(T*) {
        using C = std::complex<kernels::Real<T>>;
        auto *e = c.output<C>(0), *v = c.output<C>(1);
        if (!vectors) *v = C{0};
        bool good = for_each(matrices::batch_of(c.shape(0)), [&](int64_t i) {
          return kernels::general_eigen<T>(n, c.input<T>(0) + i * n * n, e + i * n, vectors ? v + i * n * n : nullptr);
        });
        if (!good) c.fail("Eigen decomposition was not successful. The input might not be valid.");
      });
    }},
    .grad = grad_of_eig,
    .grad_reads = reads::inputs<0> | reads::outputs<0, 1>,
});

template <auto F>
constexpr Kernel matrix_function = {[](const KernelCall& c) {
  int64_t n = c.output_shape()[-1];
  matrices::visit(c.dtype(), [&]<class T>(T* type) {
    Input<T> in(c, 0);
    Output<T> out(c, 0);
    for_each(matrices::batch_of(c.shape(0)), [&](int64_t i) {
      F(type, n, in + i * n * n, out + i * n * n);
      return true;
    });
    out.finish();
  });
}};
void infer_function(InferCall& c) {
  matrices::require_spectral(c, 0);
  matrices::infer_square(c);
}

const Op& MatrixExponential = define_op({
    .name = "MatrixExponential",
    .doc = "e to the power of square matrices.",
    .signature = "input: T -> output: T",
    .types = {{"T", matrices::all}},
    .infer = infer_function,
    .kernel =
        matrix_function<[]<class T>(T*, int64_t n, const T* a, T* out) { kernels::matrix_exponential<T>(n, a, out); }>,
    .grad = grad_of_matrix_function<true>,
    .grad_reads = reads::inputs<0>,
});

const Op& MatrixSquareRoot = define_op({
    .name = "MatrixSquareRoot",
    .doc = "Principal square roots of square matrices; NaN where a real one has none.",
    .signature = "input: T -> output: T",
    .types = {{"T", matrices::all}},
    .infer = infer_function,
    .kernel =
        matrix_function<[]<class T>(T*, int64_t n, const T* a, T* out) { kernels::matrix_square_root<T>(n, a, out); }>,
    .grad = grad_of_matrix_function<false>,
    .grad_reads = reads::inputs<0>,
});

const Op& MatrixLogarithm = define_op({
    .name = "MatrixLogarithm",
    .doc = "Principal logarithms of square complex matrices.",
    .signature = "input: T -> output: T",
    .types = {{"T", complex_types}},
    .infer = infer_function,
    .kernel = matrix_function<[]<class T>(T*, int64_t n, const T* a, T* out) {
      if constexpr (!std::is_floating_point_v<T>) kernels::matrix_logarithm<T>(n, a, out);
    }>,
    .grad = grad_of_matrix_function<true>,
    .grad_reads = reads::inputs<0>,
});

EigAttrs eig_attrs(const Tensor& x, bool vectors) {
  return {vectors, is_complex(x.dtype()) ? x.dtype() : complex_of(x.dtype())};
}

}  // namespace

namespace linalg {
EighResult eigh(const TensorLike& tensor) {
  auto [e, v] = apply_n<2>(SelfAdjointEigV2, {tensor}, SelfAdjointEigAttrs{true});
  return {e, v};
}
Tensor eigvalsh(const TensorLike& tensor) {
  return apply_n<2>(SelfAdjointEigV2, {tensor}, SelfAdjointEigAttrs{false})[0];
}
EighResult eig(const TensorLike& tensor) {
  Tensor x = tensor.own();
  auto [e, v] = apply_n<2>(Eig, {x}, eig_attrs(x, true));
  return {e, v};
}
Tensor eigvals(const TensorLike& tensor) {
  Tensor x = tensor.own();
  return apply_n<2>(Eig, {x}, eig_attrs(x, false))[0];
}
Tensor expm(const TensorLike& input) { return apply1(MatrixExponential, {input}); }
Tensor sqrtm(const TensorLike& input) { return apply1(MatrixSquareRoot, {input}); }
Tensor logm(const TensorLike& input) { return apply1(MatrixLogarithm, {input}); }
}  // namespace linalg

namespace {
const FunctionDef* const linalg_eigen_functions[] = {
    &define_function<linalg::eigh>({"linalg.eigh"}, {"tensor"}),
    &define_function<linalg::eigvalsh>({"linalg.eigvalsh"}, {"tensor"}),
    &define_function<linalg::eig>({"linalg.eig", "eig"}, {"tensor"}),
    &define_function<linalg::eigvals>({"linalg.eigvals", "eigvals"}, {"tensor"}),
    &define_function<linalg::expm>({"linalg.expm"}, {"input"}),
    &define_function<linalg::sqrtm>({"linalg.sqrtm"}, {"input"}),
    &define_function<linalg::logm>({"linalg.logm"}, {"input"}),
};
}  // namespace

}  // namespace thalweg

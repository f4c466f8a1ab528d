// Orthogonal factors, singular values, eigenvalues, and functions of matrices.
#include <algorithm>

#include "thalweg/core/index.h"
#include "thalweg/kernels/lapack.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/linalg.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_complex.h"
#include "thalweg/ops/math_elementary.h"
#include "thalweg/ops/matmul.h"
#include "thalweg/ops/matrices.h"
#include "thalweg/ops/shaping.h"
#include "thalweg/ops/transposing.h"

namespace thalweg {
namespace {

using matrices::for_each, matrices::Input, matrices::Output;

struct QrAttrs {
  bool full_matrices = false;
};
struct SvdAttrs {
  bool compute_uv = true;
  bool full_matrices = false;
};
struct SelfAdjointEigAttrs {
  bool compute_v = true;
};
struct EigAttrs {
  bool compute_v = true;
  DType Tout = DType::complex64;
};

int64_t smaller(int64_t a, int64_t b) { return a < 0 || b < 0 ? (a == 0 || b == 0 ? 0 : -1) : std::min(a, b); }

// The batch dimensions of input 0 with others after them; nothing known where its rank is not.
Shape batch_and(const InferCall& c, std::initializer_list<int64_t> dims) {
  if (!c.shape(0).has_rank()) return Shape::unknown_rank();
  Shape out = matrices::leading(c.shape(0));
  for (int64_t d : dims) out.push_back(d);
  return out;
}
int64_t rows(const InferCall& c) { return c.shape(0).has_rank() ? c.shape(0)[-2] : -1; }
int64_t columns(const InferCall& c) { return c.shape(0).has_rank() ? c.shape(0)[-1] : -1; }

// With q and r thin or square (Walter and Lehmann 2010, "Algorithmic differentiation of linear algebra functions"): the
// part of dq outside q's space comes through r^-1, what is inside through the skew part of both gradients.
void grad_of_qr(GradCall& g) {
  const Tensor &q = g.output(0), &r = g.output(1), &dq = g.output_grad(0), &dr = g.output_grad(1);
  auto times_adjoint_inverse = [&](const Tensor& x) {  // x r^-H
    return linalg::adjoint(linalg::triangular_solve(r, linalg::adjoint(x), {.lower = false}));
  };
  Tensor qdq = matmul(q, dq, {.adjoint_a = true}), rdr = matmul(r, dr, {.adjoint_b = true});
  Tensor skew = (qdq - linalg::adjoint(qdq)) + (rdr - linalg::adjoint(rdr));
  Tensor inside = matmul(q, dr + times_adjoint_inverse(skew * matrices::triangle(skew, true, false, false)));
  g.input_grad(0, inside + times_adjoint_inverse(dq - matmul(q, qdq)));
}

const Op& Qr = define_op({
    .name = "Qr",
    .doc = "Orthonormal columns q and upper triangular r with q r = input; by Householder reflections, so r's diagonal "
           "may be negative.",
    .signature = "input: T -> q: T, r: T",
    .types = {{"T", matrices::all}},
    .attrs = attrs_of<QrAttrs>(),
    .infer =
        [](InferCall& c) {
          matrices::require_spectral(c, 0);
          int64_t m = rows(c), n = columns(c), p = c.attrs<QrAttrs>().full_matrices ? m : smaller(m, n);
          c.output(0, batch_and(c, {m, p}));
          c.output(1, batch_and(c, {p, n}));
        },
    .kernel = {[](const KernelCall& c) {
      int64_t m = c.shape(0)[-2], n = c.shape(0)[-1], p = c.output_shape(0)[-1];
      matrices::visit(c.dtype(), [&]<class T>(T*) {
        Input<T> in(c, 0);
        Output<T> q(c, 0), r(c, 1);
        for_each(matrices::batch_of(c.shape(0)), [&](int64_t i) {
          kernels::qr_factor<T>(m, n, c.attrs<QrAttrs>().full_matrices, in + i * m * n, q + i * m * p, r + i * p * n);
          return true;
        });
        q.finish();
        r.finish();
      });
    }},
    .grad = grad_of_qr,
});

const Op& Svd = define_op({
    .name = "Svd",
    .doc = "Singular values s, falling, and vectors with input = u diag(s) v^H; u and v are scalars without meaning "
           "where they were not asked for.",
    .signature = "input: T -> s: T, u: T, v: T",
    .types = {{"T", matrices::all}},
    .attrs = attrs_of<SvdAttrs>(),
    .infer =
        [](InferCall& c) {
          matrices::require_spectral(c, 0);
          const auto& attrs = c.attrs<SvdAttrs>();
          int64_t m = rows(c), n = columns(c), p = smaller(m, n);
          c.output(0, c.dtype(0), batch_and(c, {p}));
          c.output(1, attrs.compute_uv ? batch_and(c, {m, attrs.full_matrices ? m : p}) : Shape{});
          c.output(2, attrs.compute_uv ? batch_and(c, {n, attrs.full_matrices ? n : p}) : Shape{});
        },
    .kernel = {[](const KernelCall& c) {
      const auto& attrs = c.attrs<SvdAttrs>();
      int64_t m = c.shape(0)[-2], n = c.shape(0)[-1], count = std::min(m, n), p = attrs.full_matrices ? m : count,
              q = attrs.full_matrices ? n : count;
      matrices::visit(c.dtype(), [&]<class T>(T*) {
        using R = kernels::Real<T>;
        Input<T> in(c, 0);
        Output<T> s(c, 0), u(c, 1), v(c, 2);
        int64_t batch = matrices::batch_of(c.shape(0));
        if (!attrs.compute_uv) *static_cast<T*>(u) = *static_cast<T*>(v) = T{0};
        Tensor values = Tensor::empty(dtype_of<R>, Shape{batch, count});
        auto* real = values.mutable_data<R>();
        bool good = for_each(batch, [&](int64_t i) {
          T *left = attrs.compute_uv ? u + i * m * p : nullptr, *right = attrs.compute_uv ? v + i * n * q : nullptr;
          return kernels::singular_values<T>(m, n, attrs.full_matrices, in + i * m * n, real + i * count, left, right);
        });
        if (!good) c.fail("the singular value decomposition did not converge");
        std::copy(real, real + batch * count, static_cast<T*>(s));
        s.finish();
        u.finish();
        v.finish();
      });
    }},
});

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
          Tensor v = vectors ? g.output(1) : linalg::eigh(g.input()).v;
          Tensor eye = matrices::triangle(v, false, true, false);
          Tensor inner = expand_dims(de, -2) * eye;
          if (vectors) {
            Tensor gaps = expand_dims(e, -2) - expand_dims(e, -1) + eye;
            inner = inner + (1 - eye) * matmul(v, g.output_grad(1), {.adjoint_a = true}) / gaps;
          }
          Tensor grad = matmul(v, matmul(inner, v, {.adjoint_b = true}));
          Tensor both = grad + linalg::adjoint(grad);
          g.input_grad(0, both * (matrices::triangle(v, true, true, false) - eye * 0.5));
        },
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
});

const Op& MatrixSquareRoot = define_op({
    .name = "MatrixSquareRoot",
    .doc = "Principal square roots of square matrices; NaN where a real one has none.",
    .signature = "input: T -> output: T",
    .types = {{"T", matrices::all}},
    .infer = infer_function,
    .kernel =
        matrix_function<[]<class T>(T*, int64_t n, const T* a, T* out) { kernels::matrix_square_root<T>(n, a, out); }>,
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
});

EigAttrs eig_attrs(const Tensor& x, bool vectors) {
  return {vectors, is_complex(x.dtype()) ? x.dtype() : complex_of(x.dtype())};
}

}  // namespace

namespace linalg {
QrResult qr(const TensorLike& input, const QrOptions& options) {
  auto [q, r] = apply_n<2>(Qr, {input}, QrAttrs{options.full_matrices});
  return {q, r};
}
SvdResult svd(const TensorLike& tensor, const SvdOptions& options) {
  auto [s, u, v] = apply_n<3>(Svd, {tensor}, SvdAttrs{options.compute_uv, options.full_matrices});
  s = math::real(s);
  return options.compute_uv ? SvdResult{s, u, v} : SvdResult{s, {}, {}};
}
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

// Python gets the values alone where the vectors were not asked for.
std::vector<Tensor> svd_list(const TensorLike& tensor, const linalg::SvdOptions& options) {
  linalg::SvdResult f = linalg::svd(tensor, options);
  return options.compute_uv ? std::vector<Tensor>{f.s, f.u, f.v} : std::vector<Tensor>{f.s};
}

const FunctionDef* const functions[] = {
    &define_function<linalg::qr>({"linalg.qr"}, {"input"}),
    &define_function<svd_list>({"linalg.svd"}, {"tensor"}),
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

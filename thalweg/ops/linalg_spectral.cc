// Orthogonal factors, singular values, eigenvalues, and functions of matrices.
#include <algorithm>

#include "thalweg/core/error.h"
#include "thalweg/core/index.h"
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
#include "thalweg/ops/math_elementary.h"
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

// With q and r thin or square, r invertible (Walter and Lehmann 2010, "Algorithmic differentiation of linear algebra
// functions"; for complex numbers Roberts and Roberts 2020, "QR and LQ decomposition matrix backpropagation
// algorithms"): the part of dq outside q's space comes through r^-1, what is inside through the skew part of both
// gradients.
Tensor gradient_of_qr(const Tensor& q, const Tensor& r, const Tensor& dq, const Tensor& dr) {
  auto times_adjoint_inverse = [&](const Tensor& x) {  // x r^-H
    return linalg::adjoint(linalg::triangular_solve(r, linalg::adjoint(x), {.lower = false}));
  };
  Tensor qdq = matmul(q, dq, {.adjoint_a = true}), rdr = matmul(r, dr, {.adjoint_b = true});
  Tensor skew = (qdq - linalg::adjoint(qdq)) + (rdr - linalg::adjoint(rdr));
  Tensor inside = matmul(q, dr + times_adjoint_inverse(linalg::band_part(skew, -1, 0)));
  Tensor grad = inside + times_adjoint_inverse(dq - matmul(q, qdq));
  if (!is_complex(q.dtype())) return grad;
  // r's diagonal stays real: what would turn it is taken out again.
  Tensor diagonal = linalg::diag_part(rdr - linalg::adjoint(qdq));
  Tensor turn = linalg::diag(diagonal - cast(math::real(diagonal), q.dtype()));
  return grad + times_adjoint_inverse(matmul(q, turn, {.adjoint_b = true}));
}
void grad_of_qr(GradCall& g) {
  const Tensor &q = g.output(0), &r = g.output(1), &dq = g.output_grad(0), &dr = g.output_grad(1);
  const Shape& a = g.input().shape();
  if (!a.has_rank() || a[-1] < 0 || a[-2] < 0)
    throw ValueError("the gradient of Qr needs matrices of known sides, got shape " + a.brackets());
  const int64_t m = a[-2], n = a[-1];
  if (m > n && g.attrs<QrAttrs>().full_matrices)
    throw InvalidArgumentError("Qr has no gradient for full_matrices and more rows than columns (shape " +
                               a.brackets() + "): the columns of q beyond the input's are not determined by it");
  if (m >= n) return g.input_grad(0, gradient_of_qr(q, r, dq, dr));
  // A wide matrix is [x, y] and r is [u, q^H y] with q u = x.
  Tensor y = g.input()(ellipsis, slice_from(m)), dv = dr(ellipsis, slice_from(m));
  Tensor dx =
      gradient_of_qr(q, r(ellipsis, slice(0, m)), dq + matmul(y, dv, {.adjoint_b = true}), dr(ellipsis, slice(0, m)));
  g.input_grad(0, concat({dx, matmul(q, dv)}, -1));
}

// x / (x^2 + 1e-20): 1 / x, but 0 where x is, as TensorFlow has it for equal eigenvalues.
Tensor safe_reciprocal(const Tensor& x) { return x * reciprocal(x * x + 1e-20); }
// 1 / (values_j - values_i) at [i, j], 0 on the diagonal.
Tensor gap_reciprocals(const Tensor& values) {
  Tensor gaps = expand_dims(values, -2) - expand_dims(values, -1);
  return linalg::set_diag(safe_reciprocal(gaps), zeros_like(values));
}

// Of input = u diag(s) v^H with as many columns in u as it has rows (Giles 2008, "Collected matrix derivative results";
// Townsend 2016, "Differentiating the singular value decomposition"; complex: Wan and Zhang 2019).
Tensor gradient_of_svd(const Tensor& s, const Tensor& u, const Tensor& v, const Tensor& ds, const Tensor& du,
                       const Tensor& dv, bool square, bool full) {
  const int64_t m = s.shape()[-1];
  Tensor f = gap_reciprocals(s * s), inverse = linalg::diag(safe_reciprocal(s)), diagonal = linalg::diag(s);
  Tensor v1 = full ? v(ellipsis, slice(0, m)) : v, dv1 = full ? dv(ellipsis, slice(0, m)) : dv;
  Tensor fu = f * matmul(u, du, {.adjoint_a = true}), vdv = matmul(v1, dv1, {.adjoint_a = true}), fv = f * vdv;
  Tensor inner =
      linalg::diag(ds) + matmul(fu + linalg::adjoint(fu), diagonal) + matmul(diagonal, fv + linalg::adjoint(fv));
  if (is_complex(s.dtype())) {  // only the difference of the phases of u and v is free
    Tensor phase = linalg::diag(linalg::diag_part(vdv));
    inner = inner + 0.5 * matmul(inverse, linalg::adjoint(phase) - phase);
  }
  Tensor grad = matmul(u, matmul(inner, v1, {.adjoint_b = true}));
  if (square) return grad;
  // What of dv lies outside of v's space.
  Tensor turned = linalg::adjoint(dv1);
  Tensor outside = turned - matmul(matmul(turned, v1), v1, {.adjoint_b = true});
  if (full) {
    Tensor v2 = v(ellipsis, slice_from(m)), dv2 = dv(ellipsis, slice_from(m));
    outside = outside - matmul(matmul(v1, dv2, {.adjoint_a = true}), v2, {.adjoint_b = true});
  }
  return grad + matmul(matmul(u, inverse), outside);
}
void grad_of_svd(GradCall& g) {
  const auto& attrs = g.attrs<SvdAttrs>();
  const Tensor &a = g.input(), &ds = g.output_grad(0);
  if (!attrs.compute_uv) {
    auto [s, u, v] = linalg::svd(a);
    return g.input_grad(0, matmul(u * expand_dims(ds, -2), v, {.adjoint_b = true}));
  }
  const Shape& shape = a.shape();
  if (!shape.has_rank() || shape[-1] < 0 || shape[-2] < 0)
    throw ValueError("the gradient of Svd needs matrices of known sides, got shape " + shape.brackets());
  const int64_t m = shape[-2], n = shape[-1];
  const bool full = attrs.full_matrices;
  if (full && std::abs(m - n) > 1)
    throw InvalidArgumentError("Svd has no gradient for full_matrices and sides that differ by more than 1 (shape " +
                               shape.brackets() + "): the further vectors are not determined by the input");
  const Tensor &s = g.output(0), &u = g.output(1), &v = g.output(2);
  const Tensor &du = g.output_grad(1), &dv = g.output_grad(2);
  // A tall matrix is the adjoint of a wide one.
  g.input_grad(0, m > n ? linalg::adjoint(gradient_of_svd(s, v, u, ds, dv, du, false, full))
                        : gradient_of_svd(s, u, v, ds, du, dv, m == n, full && m != n));
}

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
    .grad_reads = reads::inputs<0> | reads::outputs<0, 1>,
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
    .grad = grad_of_svd,
    .grad_reads = reads::inputs<0> | reads::outputs<0, 1, 2>,
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

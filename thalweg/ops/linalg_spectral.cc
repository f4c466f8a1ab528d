// Orthogonal factors and singular values.
#include <algorithm>

#include "thalweg/core/error.h"
#include "thalweg/core/index.h"
#include "thalweg/kernels/lapack.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/diagonals.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/linalg.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_complex.h"
#include "thalweg/ops/matmul.h"
#include "thalweg/ops/matrices.h"
#include "thalweg/ops/shaping.h"
#include "thalweg/ops/transposing.h"

namespace thalweg {
namespace {

using matrices::batch_and, matrices::columns, matrices::for_each, matrices::Input, matrices::Output, matrices::rows;

struct QrAttrs {
  bool full_matrices = false;
};
struct SvdAttrs {
  bool compute_uv = true;
  bool full_matrices = false;
};

int64_t smaller(int64_t a, int64_t b) { return a < 0 || b < 0 ? (a == 0 || b == 0 ? 0 : -1) : std::min(a, b); }

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

// Of input = u diag(s) v^H with as many columns in u as it has rows (Giles 2008, "Collected matrix derivative results";
// Townsend 2016, "Differentiating the singular value decomposition"; complex: Wan and Zhang 2019).
Tensor gradient_of_svd(const Tensor& s, const Tensor& u, const Tensor& v, const Tensor& ds, const Tensor& du,
                       const Tensor& dv, bool square, bool full) {
  const int64_t m = s.shape()[-1];
  Tensor f = matrices::gap_reciprocals(s * s), inverse = linalg::diag(matrices::safe_reciprocal(s)),
         diagonal = linalg::diag(s);
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
}  // namespace linalg

namespace {

// Python gets the values alone where the vectors were not asked for.
std::vector<Tensor> svd_list(const TensorLike& tensor, const linalg::SvdOptions& options) {
  linalg::SvdResult f = linalg::svd(tensor, options);
  return options.compute_uv ? std::vector<Tensor>{f.s, f.u, f.v} : std::vector<Tensor>{f.s};
}

const FunctionDef* const linalg_spectral_functions[] = {
    &define_function<linalg::qr>({"linalg.qr"}, {"input"}),
    &define_function<svd_list>({"linalg.svd"}, {"tensor"}),
};
}  // namespace

}  // namespace thalweg

// Triangular equations whose matrices are stored as bands.
#include <algorithm>

#include "thalweg/core/error.h"
#include "thalweg/kernels/broadcast.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/diagonals.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/linalg.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/matmul.h"
#include "thalweg/ops/matrices.h"
#include "thalweg/ops/shaping.h"

namespace thalweg {
namespace {

struct BandedAttrs {
  bool lower = true;
  bool adjoint = false;
};

template <class T> T conjugate(T x) {
  if constexpr (std::is_floating_point_v<T>) return x;
  else return std::conj(x);
}

/// Element [row, row - offset] of a lower, [row, row + offset] of an upper matrix stands at [band, row] of the bands.
template <class T> struct Bands {
  const T* data;
  int64_t num_bands, n;
  bool lower;
  T at(int64_t row, int64_t offset) const { return data[(lower ? offset : num_bands - 1 - offset) * n + row]; }
};

// Solves for k right sides in place: x is [n, k]. False where the diagonal has a 0.
template <class T> bool solve(const Bands<T>& a, bool adjoint, T* x, int64_t k) {
  const bool forward = a.lower != adjoint;
  const int64_t n = a.n;
  for (int64_t step = 0; step < n; ++step) {
    const int64_t row = forward ? step : n - 1 - step;
    const T diagonal = a.at(row, 0);
    if (diagonal == T(0)) return false;
    // Row `row` of the matrix meets the rows of x that are solved; of the adjoint, the column that lies across.
    const int64_t reach = std::min(a.num_bands - 1, step);
    for (int64_t offset = 1; offset <= reach; ++offset) {
      const int64_t other = forward ? row - offset : row + offset;
      const T factor = adjoint ? conjugate(a.at(other, offset)) : a.at(row, offset);
      for (int64_t j = 0; j < k; ++j) x[row * k + j] -= factor * x[other * k + j];
    }
    for (int64_t j = 0; j < k; ++j) x[row * k + j] /= adjoint ? conjugate(diagonal) : diagonal;
  }
  return true;
}

void infer_banded(InferCall& c) {
  c.require_rank_at_least(0, 2);
  c.require_rank_at_least(1, 2);
  const Shape &a = c.shape(0), &b = c.shape(1);
  if (!a.has_rank() || !b.has_rank()) return c.output(0, Shape::unknown_rank());
  for (int i : {0, 1})
    if (c.shape(i).num_elements() == 0)
      c.fail(c.op.args[static_cast<size_t>(i)].name + " must not be empty, got shape " + c.shape(i).brackets());
  if (a[-1] >= 0 && b[-2] >= 0 && a[-1] != b[-2])
    c.fail("matrix " + a.brackets() + " and rhs " + b.brackets() +
           " do not fit: [..., bands, n] and [..., n, k] are expected");
  Shape batch_a = matrices::leading(a), batch_b = matrices::leading(b), out;
  if (!broadcast_shapes(batch_a, batch_b, out))
    c.fail("the batches of matrix " + a.brackets() + " and rhs " + b.brackets() + " do not broadcast");
  out.push_back(a[-1] >= 0 ? a[-1] : b[-2]);
  out.push_back(b[-1]);
  c.output(0, out);
}

const Op& BandedTriangularSolve = define_op({
    .name = "BandedTriangularSolve",
    .doc = "Solves matrix x = rhs for triangular matrices given as bands [..., bands, n]: of a lower one the diagonal "
           "comes first, of an upper one last; batches broadcast.",
    .signature = "matrix: T, rhs: T -> output: T",
    .types = {{"T", matrices::computed}},
    .attrs = attrs_of<BandedAttrs>(),
    .infer = infer_banded,
    .kernel = {[](const KernelCall& c) {
      const auto& attrs = c.attrs<BandedAttrs>();
      const int64_t num_bands = c.shape(0)[-2], n = c.shape(0)[-1], k = c.shape(1)[-1];
      Shape batch = matrices::leading(c.output_shape()), batch_a = matrices::leading(c.shape(0)),
            batch_b = matrices::leading(c.shape(1));
      kernels::BroadcastPlan<2> plan(batch, {&batch_a, &batch_b});
      matrices::visit(c.dtype(), [&]<class T>(T*) {
        const T *a = c.input<T>(0), *b = c.input<T>(1);
        T* x = c.output<T>();
        const int64_t inner = plan.size[0], count = batch.count();
        for (int64_t i = 0; i < count; ++i) {
          kernels::RowWalk<2> walk(plan, i / inner);
          const int64_t from_a = walk.offset[0] + i % inner * plan.stride[0][0],
                        from_b = walk.offset[1] + i % inner * plan.stride[1][0];
          std::copy_n(b + from_b * n * k, n * k, x + i * n * k);
          if (!solve(Bands<T>{a + from_a * num_bands * n, num_bands, n, attrs.lower}, attrs.adjoint, x + i * n * k, k))
            c.fail("Input matrix is not invertible.");
        }
      });
    }},
    .grad =
        [](GradCall& g) {
          auto [lower, adjoint] = g.attrs<BandedAttrs>();
          const Tensor& a = g.input(0);
          Tensor right = linalg::banded_triangular_solve(a, g.output_grad(), {.lower = lower, .adjoint = !adjoint});
          g.input_grad(1, right);
          if (!g.wants(0)) return;
          const int64_t num_bands = a.shape().has_rank() ? a.shape()[-2] : unknown;
          if (num_bands < 0)
            throw ValueError("the gradient of BandedTriangularSolve needs a known number of bands, got shape " +
                             a.shape().brackets());
          Tensor grad = adjoint ? -matmul(g.output(), right, {.adjoint_b = true})
                                : -matmul(right, g.output(), {.adjoint_b = true});
          Axis bands = lower ? Axis{1 - num_bands, 0} : Axis{0, num_bands - 1};
          Tensor part = linalg::diag_part(grad, {.k = bands, .align = "LEFT_RIGHT"});
          g.input_grad(0, num_bands == 1 ? expand_dims(part, -2) : part);
        },
    .grad_reads = reads::inputs<0> | reads::outputs<0>,
    .traits = {.broadcasts = true},
});

}  // namespace

namespace linalg {
Tensor banded_triangular_solve(const TensorLike& bands, const TensorLike& rhs, const TriangularSolveOptions& options) {
  return apply1(BandedTriangularSolve, {bands, rhs}, BandedAttrs{options.lower, options.adjoint});
}
}  // namespace linalg

namespace {
const FunctionDef& banded =
    define_function<linalg::banded_triangular_solve>({"linalg.banded_triangular_solve"}, {"bands", "rhs"});
}  // namespace

}  // namespace thalweg

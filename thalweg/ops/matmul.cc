#include "thalweg/ops/matmul.h"

#include "thalweg/core/error.h"
#include "thalweg/kernels/broadcast.h"
#include "thalweg/kernels/gemm.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/infer.h"
#include "thalweg/ops/math_complex.h"
#include "thalweg/ops/shaping.h"

namespace thalweg {
namespace {

using kernels::Operand;

struct MatMulAttrs {
  bool transpose_a = false;
  bool transpose_b = false;
};
struct BatchMatMulAttrs {
  bool adj_x = false;
  bool adj_y = false;
};
struct BatchMatMulV3Attrs {
  DType Tout = DType::invalid;
  bool adj_x = false;
  bool adj_y = false;
};

// Rows and columns of an operand as it enters the product.
int64_t rows(const Shape& s, bool turned) { return s[turned ? -1 : -2]; }
int64_t columns(const Shape& s, bool turned) { return s[turned ? -2 : -1]; }

void check_inner(const InferCall& c, bool turn_a, bool turn_b) {
  const Shape &a = c.shape(0), &b = c.shape(1);
  int64_t left = columns(a, turn_a), right = rows(b, turn_b);
  if (left < 0 || right < 0 || left == right) return;
  const std::string &x = c.op.args[0].name, &y = c.op.args[1].name;
  c.fail("inner dimensions differ: " + x + " is " + a.brackets() + (turn_a ? " transposed" : "") + ", " + y + " is " +
         b.brackets() + (turn_b ? " transposed" : "") + "; " + x + "'s columns (" + std::to_string(left) +
         ") must equal " + y + "'s rows (" + std::to_string(right) + ")");
}

void infer_matmul(InferCall& c) {
  auto attrs = c.attrs<MatMulAttrs>();
  c.require_rank(0, 2);
  c.require_rank(1, 2);
  Shape out = Shape::of_rank(2);
  if (c.shape(0).has_rank()) out[0] = rows(c.shape(0), attrs.transpose_a);
  if (c.shape(1).has_rank()) out[1] = columns(c.shape(1), attrs.transpose_b);
  if (c.shape(0).has_rank() && c.shape(1).has_rank()) check_inner(c, attrs.transpose_a, attrs.transpose_b);
  c.output(0, out);
}

Shape batch_of(const Shape& s) { return Shape(s.dims().first(static_cast<size_t>(s.rank() - 2))); }

void infer_batch(InferCall& c, bool adj_x, bool adj_y, bool broadcasts, DType out_dtype) {
  c.require_rank_at_least(0, 2);
  c.require_rank_at_least(1, 2);
  const Shape &x = c.shape(0), &y = c.shape(1);
  if (!x.has_rank() || !y.has_rank()) return c.output(0, out_dtype, Shape::unknown_rank());
  Shape bx = batch_of(x), by = batch_of(y), out;
  bool fits = broadcasts ? broadcast_shapes(bx, by, out) : bx.is_compatible_with(by);
  if (!fits)
    c.fail("the batch dimensions " + bx.brackets() + " and " + by.brackets() +
           (broadcasts ? " do not broadcast" : " differ"));
  if (!broadcasts) out = bx.merge_with(by);
  check_inner(c, adj_x, adj_y);
  out.push_back(rows(x, adj_x));
  out.push_back(columns(y, adj_y));
  c.output(0, out_dtype, out);
}

void run_products(DType dtype, const Shape& x, const void* px, Operand op_x, const Shape& y, const void* py,
                  Operand op_y, const Shape& out, void* pz) {
  kernels::GemmShape shape{out[-2], out[-1], columns(x, op_x != Operand::plain), op_x, op_y};
  int64_t size_x = x[-1] * x[-2], size_y = y[-1] * y[-2], size_z = out[-1] * out[-2];
  Shape bx = batch_of(x), by = batch_of(y), bz = batch_of(out);
  if (out.count() == 0) return;
  // Batches that run straight through (or repeat one matrix) are one call; others go product by product.
  kernels::BroadcastPlan<2> plan(bz, {&bx, &by});
  size_t bytes = size_of(dtype);
  auto at = [&](const void* p, int64_t i) { return static_cast<const char*>(p) + i * static_cast<int64_t>(bytes); };
  int64_t inner = plan.size[0], groups = bz.count() / inner;
  kernels::RowWalk<2> walk(plan, 0);
  for (int64_t g = 0; g < groups; ++g, walk.next())
    kernels::batch_gemm(dtype, shape, inner, at(px, walk.offset[0] * size_x), plan.stride[0][0] * size_x,
                        at(py, walk.offset[1] * size_y), plan.stride[1][0] * size_y,
                        static_cast<char*>(pz) + g * inner * size_z * static_cast<int64_t>(bytes), size_z);
}

template <class Attrs> void run_batch(const KernelCall& c) {
  const auto& attrs = c.attrs<Attrs>();
  Tensor x = c.tensor(0), y = c.tensor(1);
  DType t = c.output_dtype();
  if (x.dtype() != t) x = cast(x, t);
  if (y.dtype() != t) y = cast(y, t);
  run_products(t, x.shape(), x.impl()->data, attrs.adj_x ? Operand::adjoint : Operand::plain, y.shape(), y.impl()->data,
               attrs.adj_y ? Operand::adjoint : Operand::plain, c.output_shape(), c.output());
}

// The batches that broadcast are summed by whoever collects the gradients. An integer operand, which only the newest op
// takes beside real numbers, counts as one of the gradient's type and gets none.
template <class Attrs> void grad_of_batch(GradCall& g) {
  const bool ax = g.attrs<Attrs>().adj_x, ay = g.attrs<Attrs>().adj_y;
  const Tensor& d = g.output_grad();
  auto operand = [&](int i) { return g.input(i).dtype() == d.dtype() ? g.input(i) : cast(g.input(i), d.dtype()); };
  if (g.wants(0) && !is_integer(g.input(0).dtype())) {
    Tensor y = operand(1);
    g.input_grad(0, ax ? matmul(y, d, {.adjoint_a = ay, .adjoint_b = true}) : matmul(d, y, {.adjoint_b = !ay}));
  }
  if (g.wants(1) && !is_integer(g.input(1).dtype())) {
    Tensor x = operand(0);
    g.input_grad(1, ay ? matmul(d, x, {.adjoint_a = true, .adjoint_b = ax}) : matmul(x, d, {.adjoint_a = !ax}));
  }
}

constexpr TypeSet matmul_types = float_types | complex_types | types(int32, int64, uint8, uint16, uint32, uint64);
constexpr TypeSet batch_types = float_types | complex_types | types(int16, int32, int64, uint8, uint16, uint32, uint64);

const Op& MatMul = define_op({
    .name = "MatMul",
    .doc = "The product of two matrices, each perhaps transposed.",
    .signature = "a: T, b: T -> product: T",
    .types = {{"T", matmul_types}},
    .attrs = attrs_of<MatMulAttrs>(),
    .infer = infer_matmul,
    .kernel = {[](const KernelCall& c) {
      auto attrs = c.attrs<MatMulAttrs>();
      const Shape& out = c.output_shape();
      kernels::gemm(c.dtype(), attrs.transpose_a, attrs.transpose_b, out[0], out[1],
                    columns(c.shape(0), attrs.transpose_a), c.input(0), c.input(1), c.output());
    }},
    .grad =
        [](GradCall& g) {
          auto [ta, tb] = g.attrs<MatMulAttrs>();
          const Tensor& d = g.output_grad();
          if (g.wants(0)) {
            Tensor b = math::conj(g.input(1));
            g.input_grad(
                0, ta ? matmul(b, d, {.transpose_a = tb, .transpose_b = true}) : matmul(d, b, {.transpose_b = !tb}));
          }
          if (g.wants(1)) {
            Tensor a = math::conj(g.input(0));
            g.input_grad(
                1, tb ? matmul(d, a, {.transpose_a = true, .transpose_b = ta}) : matmul(a, d, {.transpose_a = !ta}));
          }
        },
    .grad_reads = reads::inputs<0, 1>,
    .traits = {.never_fails = true},
});

const Op& BatchMatMul = define_op({
    .name = "BatchMatMul",
    .doc = "Products of two equal batches of matrices.",
    .signature = "x: T, y: T -> output: T",
    .types = {{"T", float_types | complex_types | index_types}},
    .attrs = attrs_of<BatchMatMulAttrs>(),
    .infer =
        [](InferCall& c) {
          infer_batch(c, c.attrs<BatchMatMulAttrs>().adj_x, c.attrs<BatchMatMulAttrs>().adj_y, false, c.dtype(0));
        },
    .kernel = {run_batch<BatchMatMulAttrs>},
    .grad = grad_of_batch<BatchMatMulAttrs>,
    .grad_reads = reads::inputs<0, 1>,
});

const Op& BatchMatMulV2 = define_op({
    .name = "BatchMatMulV2",
    .doc = "Products of two batches of matrices that broadcast.",
    .signature = "x: T, y: T -> output: T",
    .types = {{"T", batch_types}},
    .attrs = attrs_of<BatchMatMulAttrs>(),
    .infer =
        [](InferCall& c) {
          infer_batch(c, c.attrs<BatchMatMulAttrs>().adj_x, c.attrs<BatchMatMulAttrs>().adj_y, true, c.dtype(0));
        },
    .kernel = {run_batch<BatchMatMulAttrs>},
    .grad = grad_of_batch<BatchMatMulAttrs>,
    .grad_reads = reads::inputs<0, 1>,
    .traits = {.broadcasts = true, .never_fails = true},
});

constexpr TypeSet v3_types = float_types | complex_types | types(uint8, int8, int16, int32, int64);
const Op& BatchMatMulV3 = define_op({
    .name = "BatchMatMulV3",
    .doc = "Products of two batches of matrices that broadcast, with a result type of its own.",
    .signature = "x: Ta, y: Tb -> output: Tout",
    .types = {{"Ta", v3_types}, {"Tb", v3_types}, {"Tout", float_types | complex_types | types(int16, int32, int64)}},
    .attrs = attrs_of<BatchMatMulV3Attrs>(),
    .infer =
        [](InferCall& c) {
          const auto& attrs = c.attrs<BatchMatMulV3Attrs>();
          auto is_small = [&](int i) { return c.dtype(i) == DType::int8 || c.dtype(i) == DType::uint8; };
          bool mixed = (c.dtype(0) == DType::bfloat16 && is_small(1)) || (c.dtype(1) == DType::bfloat16 && is_small(0));
          c.require(mixed || c.dtype(0) == c.dtype(1) || (is_integer(c.dtype(0)) && is_integer(c.dtype(1))),
                    "x and y must have the same dtype, or both be integers, or be bfloat16 and integers of 8 bits");
          c.require(!mixed || c.result_dtype(0) == DType::bfloat16, "Tout must be bfloat16 where x or y is");
          c.require(is_integer(c.dtype(0)) || c.dtype(0) == c.result_dtype(0),
                    "Tout must be the dtype of x unless x holds integers");
          infer_batch(c, attrs.adj_x, attrs.adj_y, true, c.result_dtype(0));
        },
    .kernel = {run_batch<BatchMatMulV3Attrs>},
    .grad = grad_of_batch<BatchMatMulV3Attrs>,
    .grad_reads = reads::inputs<0, 1>,
    .traits = {.broadcasts = true},
});

}  // namespace

Tensor matmul(const TensorLike& a, const TensorLike& b, const MatMulOptions& options) {
  if ((options.transpose_a && options.adjoint_a) || (options.transpose_b && options.adjoint_b))
    throw ValueError("matmul: of transpose_a and adjoint_a only one can be True, and likewise for b");
  if (options.output_type != DType::invalid && options.output_type != a.tensor().dtype())
    return apply1(BatchMatMulV3, {a, b},
                  BatchMatMulV3Attrs{options.output_type, options.transpose_a || options.adjoint_a,
                                     options.transpose_b || options.adjoint_b});
  if (a.tensor().rank() == 2 && b.tensor().rank() == 2) {
    bool conj_a = options.adjoint_a && is_complex(a.tensor().dtype()),
         conj_b = options.adjoint_b && is_complex(b.tensor().dtype());
    MatMulAttrs attrs{options.transpose_a || options.adjoint_a, options.transpose_b || options.adjoint_b};
    if (!conj_a && !conj_b) return apply1(MatMul, {a, b}, attrs);
    return apply1(MatMul, {conj_a ? math::conj(a) : a.tensor(), conj_b ? math::conj(b) : b.tensor()}, attrs);
  }
  // A batch knows adjoints only: a transposed complex operand is conjugated first.
  bool conj_a = options.transpose_a && is_complex(a.tensor().dtype()),
       conj_b = options.transpose_b && is_complex(b.tensor().dtype());
  BatchMatMulAttrs attrs{options.transpose_a || options.adjoint_a, options.transpose_b || options.adjoint_b};
  if (!conj_a && !conj_b) return apply1(BatchMatMulV2, {a, b}, attrs);
  return apply1(BatchMatMulV2, {conj_a ? math::conj(a) : a.tensor(), conj_b ? math::conj(b) : b.tensor()}, attrs);
}

Tensor linalg::matvec(const TensorLike& a, const TensorLike& b, const MatVecOptions& options) {
  Tensor product = matmul(a, expand_dims(b, -1), {.transpose_a = options.transpose_a, .adjoint_a = options.adjoint_a});
  return squeeze(product, {.axis = {-1}});
}

namespace {
const FunctionDef* const matmul_functions[] = {
    &define_function<thalweg::matmul>({"matmul", "linalg.matmul"}, {"a", "b"}),
    &define_function<linalg::matvec>({"linalg.matvec"}, {"a", "b"}),
};
}  // namespace

}  // namespace thalweg

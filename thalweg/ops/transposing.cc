#include "thalweg/ops/transposing.h"

#include "thalweg/core/error.h"
#include "thalweg/core/threads.h"
#include "thalweg/kernels/strided_copy.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/integers.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/ordering.h"
#include "thalweg/ops/shaping.h"

namespace thalweg {
namespace {

/// The permutation, checked: every axis once.
template <class Call> Integers permutation(const Call& c, int rank) {
  Integers perm = integers(c, 1);
  if (perm.count != rank)
    c.fail("perm has " + std::to_string(perm.count) + " entries, but x has " + std::to_string(rank) + " dimensions");
  unsigned seen = 0;
  for (int64_t& axis : std::span(perm.at, static_cast<size_t>(perm.count))) {
    if (axis < 0 || axis >= rank)
      c.fail("perm holds " + std::to_string(axis) + ", which is no axis of x: it must lie in [0, " +
             std::to_string(rank) + ")");
    if (seen >> axis & 1u) c.fail("perm holds " + std::to_string(axis) + " twice");
    seen |= 1u << axis;
  }
  return perm;
}

void infer_transpose(InferCall& c) {
  c.require_rank(1, 1);
  const Shape& in = c.shape(0);
  int rank = in.has_rank()                                               ? in.rank()
             : c.shape(1).has_rank() && c.shape(1)[0] <= Shape::max_rank ? static_cast<int>(c.shape(1)[0])
                                                                         : -1;
  if (in.has_rank() && c.shape(1).has_rank() && c.shape(1)[0] >= 0 && c.shape(1)[0] != rank)
    c.fail("perm has " + std::to_string(c.shape(1)[0]) + " entries, but x has " + std::to_string(rank) + " dimensions");
  if (!in.has_rank() || !c.has_value(1)) return c.output(0, Shape::of_rank(rank));
  Integers perm = permutation(c, rank);
  Shape out;
  for (int64_t axis : perm) out.push_back(in[static_cast<int>(axis)]);
  c.output(0, out);
}

void run_transpose(const KernelCall& c) {
  const Shape &in = c.shape(0), &out = c.output_shape();
  Integers perm = permutation(c, in.rank());
  int64_t in_strides[Shape::max_rank], out_strides[Shape::max_rank], moved[Shape::max_rank];
  kernels::dense_strides(in, in_strides);
  kernels::dense_strides(out, out_strides);
  for (int i = 0; i < perm.count; ++i) moved[i] = in_strides[perm[i]];
  kernels::StridedCopy copy;
  copy.axes(out, moved, out_strides);
  copy.run(c.dtype(), c.input(0), c.output());
}

template <class Part> void conjugate_in_place(Part* parts, int64_t count) {
  parallel_for(count, 0.5, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) parts[2 * i + 1] = -parts[2 * i + 1];
  });
}

void transpose_gradient(GradCall& g) {
  g.input_grad(0, apply1(g.op, {g.output_grad(), math::invert_permutation(g.input(1))}));
}

const Op& Transpose = define_op({
    .name = "Transpose",
    .doc = "Dimension i of y is dimension perm[i] of x.",
    .signature = "x: T, perm: Tperm -> y: T",
    .types = {{"Tperm", index_types}},
    .infer = infer_transpose,
    .kernel = {run_transpose},
    .grad = transpose_gradient,
    .grad_reads = reads::inputs<1>,
    .traits = {.never_fails = true},
});

const Op& ConjugateTranspose = define_op({
    .name = "ConjugateTranspose",
    .doc = "Dimension i of y is dimension perm[i] of x; complex elements are conjugated.",
    .signature = "x: T, perm: Tperm -> y: T",
    .types = {{"Tperm", index_types}},
    .infer = infer_transpose,
    .kernel = {[](const KernelCall& c) {
      run_transpose(c);
      if (c.dtype() == DType::complex64) conjugate_in_place(c.output<float>(), c.output_shape().count());
      if (c.dtype() == DType::complex128) conjugate_in_place(c.output<double>(), c.output_shape().count());
    }},
    .grad = transpose_gradient,
    .grad_reads = reads::inputs<1>,
});

Tensor permute(const TensorLike& a, const Tensor& perm, bool conjugate) {
  return apply1(conjugate && is_complex(a.tensor().dtype()) ? ConjugateTranspose : Transpose, {a, perm});
}

}  // namespace

Tensor transpose(const TensorLike& a, const TransposeOptions& options) {
  if (options.perm.given()) return permute(a, index_list(options.perm.axes()), options.conjugate);
  const Shape& in = a.tensor().shape();
  if (!in.has_rank()) {
    Tensor count = rank(a);
    return permute(a, range(subtract(count, 1), -1, -1), options.conjugate);
  }
  Tensor perm = Tensor::empty(DType::int32, {in.rank()});
  for (int i = 0; i < in.rank(); ++i) perm.mutable_data<int32_t>()[i] = in.rank() - 1 - i;
  return permute(a, perm, options.conjugate);
}

Tensor detail::transpose_by(const Tensor& a, const Tensor& perm) { return permute(a, perm, false); }

Tensor linalg::matrix_transpose(const TensorLike& a, const MatrixTransposeOptions& options) {
  const Shape& in = a.tensor().shape();
  if (!in.has_rank()) {
    Tensor count = rank(a);
    Tensor swapped = stack({subtract(count, 1), subtract(count, 2)});
    return permute(a, concat({range(0, subtract(count, 2)), swapped}, 0), options.conjugate);
  }
  int n = in.rank();
  if (n < 2) throw ValueError("matrix_transpose: a must have at least 2 dimensions, got shape " + in.brackets());
  Tensor perm = Tensor::empty(DType::int32, {n});
  for (int i = 0; i < n; ++i) perm.mutable_data<int32_t>()[i] = i < n - 2 ? i : i == n - 2 ? n - 1 : n - 2;
  return permute(a, perm, options.conjugate);
}

Tensor linalg::adjoint(const TensorLike& matrix) { return matrix_transpose(matrix, {.conjugate = true}); }

namespace {
const FunctionDef* const transposing_functions[] = {
    &define_function<Tensor(const TensorLike&, const TransposeOptions&), transpose>({"transpose"}, {"a"}),
    &define_function<linalg::matrix_transpose>({"linalg.matrix_transpose"}, {"a"}),
    &define_function<linalg::adjoint>({"linalg.adjoint"}, {"matrix"}),
};
}  // namespace

}  // namespace thalweg

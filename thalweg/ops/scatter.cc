#include "thalweg/ops/scatter.h"

#include "thalweg/ops/apply.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/division.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/gather.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/scatter_updates.h"
#include "thalweg/ops/shaping.h"

namespace thalweg {
namespace {

using scatter::Larger;
using scatter::Minus;
using scatter::Plus;
using scatter::Smaller;

void check_updates(InferCall& c, int indices, int updates, const Shape& target) {
  c.require_rank_at_least(indices, 1);
  c.require_rank_at_least(updates, 1);
  scatter::check_updates(c, c.shape(indices), c.shape(updates), target);
}

void refuse_empty_output(const KernelCall& c, int indices) {
  if (c.output_shape().count() == 0 && c.shape(indices).count(0, c.shape(indices).rank() - 1) > 0)
    c.fail("indices and updates are given for an output without elements, of shape " + c.output_shape().brackets());
}

template <TypeSet S, class F> void combine_updates(const KernelCall& c, int indices, int updates) {
  RowOffsets rows = row_offsets(c, indices, c.output_shape());
  if (c.count(updates) == 0) return;
  run_updates(rows.at, c.output_shape().count() / rows.row, rows.row, scatter::combining_loop<S, F>(c.output_dtype()),
              c.output(), c.input(updates));
}

constexpr TypeSet scatter_types = plain_types | types(string);
const Op& ScatterNd = define_op({
    .name = "ScatterNd",
    .doc = "Zeros of a shape with updates added at the places that indices [..., depth] name.",
    .signature = "indices: Tindices, updates: T, shape: Tindices -> output: T",
    .types = {{"Tindices", types(int16, int32, int64)}, {"T", scatter_types}},
    .infer =
        [](InferCall& c) {
          Shape target = c.shape_value(2);
          if (c.has_value(2) && target.num_elements() < 0) c.fail("the shape " + target.brackets() + " is too large");
          check_updates(c, 0, 1, target);
          c.output(0, target);
        },
    .kernel = {[](const KernelCall& c) {
      refuse_empty_output(c, 0);
      if (!is_object(c.output_dtype()))
        std::memset(c.output(), 0, static_cast<size_t>(c.output_shape().count()) * size_of(c.output_dtype()));
      combine_updates<scatter_types, Plus>(c, 0, 1);
    }},
    .grad = [](GradCall& g) { g.input_grad(1, gather_nd(g.output_grad(), g.input(0))); },
    .grad_reads = reads::inputs<0>,
});

void infer_tensor_scatter(InferCall& c) {
  c.require_rank_at_least(0, 1);
  check_updates(c, 1, 2, c.shape(0));
  c.output(0, c.shape(0));
}
template <TypeSet S, class F> void run_tensor_scatter(const KernelCall& c) {
  refuse_empty_output(c, 1);
  copy_elements(c.dtype(), c.input(0), c.output(), c.count(0));
  combine_updates<S, F>(c, 1, 2);
}

const Op& TensorScatterUpdate = define_op({
    .name = "TensorScatterUpdate",
    .doc = "The tensor with slices replaced; of several updates of one place the last counts.",
    .signature = "tensor: T, indices: Tindices, updates: T -> output: T",
    .types = {{"Tindices", types(int16, int32, int64, uint16)}},
    .infer = infer_tensor_scatter,
    .kernel = {[](const KernelCall& c) {
      refuse_empty_output(c, 1);
      copy_elements(c.dtype(), c.input(0), c.output(), c.count(0));
      RowOffsets rows = row_offsets(c, 1, c.shape(0));
      if (c.count(2) == 0) return;
      run_updates(rows.at, c.count(0) / rows.row, rows.row, scatter::replacing_loop(c.dtype()), c.output(), c.input(2));
    }},
    .grad =
        [](GradCall& g) {
          if (g.wants(0))
            g.input_grad(0, tensor_scatter_nd_update(g.output_grad(), g.input(1), zeros_like(g.input(2))));
          if (g.wants(2)) g.input_grad(2, gather_nd(g.output_grad(), g.input(1)));
        },
    .grad_reads = reads::inputs<1>,
});

const Op& TensorScatterAdd = define_op({
    .name = "TensorScatterAdd",
    .doc = "The tensor with updates added to slices.",
    .signature = "tensor: T, indices: Tindices, updates: T -> output: T",
    .types = {{"Tindices", index_types}},
    .infer = infer_tensor_scatter,
    .kernel = {.run = run_tensor_scatter<number_types, Plus>, .types = number_types},
    .grad =
        [](GradCall& g) {
          g.input_grad(0, g.output_grad());
          if (g.wants(2)) g.input_grad(2, gather_nd(g.output_grad(), g.input(1)));
        },
    .grad_reads = reads::inputs<1>,
});

const Op& TensorScatterSub = define_op({
    .name = "TensorScatterSub",
    .doc = "The tensor with updates subtracted from slices.",
    .signature = "tensor: T, indices: Tindices, updates: T -> output: T",
    .types = {{"Tindices", index_types}},
    .infer = infer_tensor_scatter,
    .kernel = {.run = run_tensor_scatter<number_types, Minus>, .types = number_types},
    .grad =
        [](GradCall& g) {
          g.input_grad(0, g.output_grad());
          if (g.wants(2)) g.input_grad(2, -gather_nd(g.output_grad(), g.input(1)));
        },
    .grad_reads = reads::inputs<1>,
});

// The gradient is shared by the element and the updates that equal the result.
void grad_of_extreme(GradCall& g) {
  const Tensor &x = g.input(0), &indices = g.input(1), &updates = g.input(2), &grad = g.output_grad();
  Tensor from_x = cast(equal(x, g.output()), grad.dtype());
  Tensor from_updates = cast(equal(updates, gather_nd(g.output(), indices)), grad.dtype());
  Tensor total = from_x + scatter_nd(indices, from_updates, shape(x, {.out_type = indices.dtype()}));
  if (g.wants(0)) g.input_grad(0, grad * from_x / total);
  if (g.wants(2)) g.input_grad(2, gather_nd(grad / total, indices) * from_updates);
}

const Op& TensorScatterMin = define_op({
    .name = "TensorScatterMin",
    .doc = "The smaller of each element and its updates.",
    .signature = "tensor: T, indices: Tindices, updates: T -> output: T",
    .types = {{"Tindices", index_types}},
    .infer = infer_tensor_scatter,
    .kernel = {.run = run_tensor_scatter<real_types, Smaller>, .types = real_types},
    .grad = grad_of_extreme,
});

const Op& TensorScatterMax = define_op({
    .name = "TensorScatterMax",
    .doc = "The larger of each element and its updates.",
    .signature = "tensor: T, indices: Tindices, updates: T -> output: T",
    .types = {{"Tindices", index_types}},
    .infer = infer_tensor_scatter,
    .kernel = {.run = run_tensor_scatter<real_types, Larger>, .types = real_types},
    .grad = grad_of_extreme,
});

}  // namespace

Tensor scatter_nd(const TensorLike& indices, const TensorLike& updates, const TensorLike& shape) {
  return apply1(ScatterNd, {indices, updates, shape});
}
Tensor tensor_scatter_nd_update(const TensorLike& tensor, const TensorLike& indices, const TensorLike& updates) {
  return apply1(TensorScatterUpdate, {tensor, indices, updates});
}
Tensor tensor_scatter_nd_add(const TensorLike& tensor, const TensorLike& indices, const TensorLike& updates) {
  return apply1(TensorScatterAdd, {tensor, indices, updates});
}
Tensor tensor_scatter_nd_sub(const TensorLike& tensor, const TensorLike& indices, const TensorLike& updates) {
  return apply1(TensorScatterSub, {tensor, indices, updates});
}
Tensor tensor_scatter_nd_min(const TensorLike& tensor, const TensorLike& indices, const TensorLike& updates) {
  return apply1(TensorScatterMin, {tensor, indices, updates});
}
Tensor tensor_scatter_nd_max(const TensorLike& tensor, const TensorLike& indices, const TensorLike& updates) {
  return apply1(TensorScatterMax, {tensor, indices, updates});
}

namespace {
const FunctionDef* const scatter_functions[] = {
    &define_function<scatter_nd>({"scatter_nd"}, {"indices", "updates", "shape"}),
    &define_function<tensor_scatter_nd_update>({"tensor_scatter_nd_update"}, {"tensor", "indices", "updates"}),
    &define_function<tensor_scatter_nd_add>({"tensor_scatter_nd_add"}, {"tensor", "indices", "updates"}),
    &define_function<tensor_scatter_nd_sub>({"tensor_scatter_nd_sub"}, {"tensor", "indices", "updates"}),
    &define_function<tensor_scatter_nd_min>({"tensor_scatter_nd_min"}, {"tensor", "indices", "updates"}),
    &define_function<tensor_scatter_nd_max>({"tensor_scatter_nd_max"}, {"tensor", "indices", "updates"}),
};
}  // namespace

}  // namespace thalweg

#include "thalweg/ops/joining.h"

#include "thalweg/core/error.h"
#include "thalweg/kernels/strided_copy.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/infer.h"
#include "thalweg/ops/integers.h"
#include "thalweg/ops/shaping.h"
#include "thalweg/ops/slicing.h"
#include "thalweg/ops/splitting.h"

namespace thalweg {
namespace {

/// What all of a list have in common, but for one axis (-1: none); fails when they do not fit.
Shape common_shape(const InferCall& c, std::span<const TensorRef> values, int axis) {
  Shape all = Shape::unknown_rank();
  for (const TensorRef& value : values) {
    Shape own = value.p->shape;
    if (own.has_rank() && axis >= 0) {
      if (all.has_rank() && own.rank() != all.rank())
        c.fail("all values must have the same rank, got " + all.brackets() + " and " + own.brackets());
      own[axis] = unknown;
    }
    if (!all.is_compatible_with(own))
      c.fail("the shapes " + all.brackets() + " and " + own.brackets() + " do not fit together");
    all = all.merge_with(own);
  }
  return all;
}

// Output and inputs as [outer, length * inner]: the parts of each row lie one after the other.
struct Rows {
  int64_t outer = 1, inner = 1;
  Rows(const Shape& shape, int axis) : outer(shape.count(0, axis)), inner(shape.count(axis + 1, shape.rank())) {}
};
void copy_part(DType dtype, int64_t outer, int64_t row, const void* in, int64_t in_row, void* out, int64_t out_row) {
  kernels::StridedCopy copy;
  copy.axis(outer, in_row, out_row);
  copy.axis(row, 1, 1);
  copy.run(dtype, in, out);
}

void infer_concat(InferCall& c, std::span<const TensorRef> values, int axis_argument) {
  c.require(values.size() >= 2, "at least two values are needed");
  const TensorRef& axis_input = c.argument(axis_argument)[0];
  const Shape& axis_shape = axis_input.p->shape;
  bool one = axis_shape.rank() <= 0 || (axis_shape.rank() == 1 && (axis_shape[0] == 1 || axis_shape[0] < 0));
  if (!one)  // old graphs give the axis as a vector of one element
    c.fail("the axis must be a scalar, got shape " + axis_input.p->shape.brackets());
  int rank = -1;
  for (const TensorRef& value : values) {
    int own = value.p->shape.rank();
    if (own >= 0 && rank >= 0 && own != rank)
      c.fail("all values must have the same rank, got " + std::to_string(rank) + " and " + std::to_string(own));
    if (own >= 0) rank = own;
  }
  if (rank == 0) c.fail("scalars cannot be joined: use stack");
  if (rank < 0 || axis_input.p->form == Form::symbolic) return c.output(0, values[0].p->dtype, Shape::of_rank(rank));
  int axis = checked_axis(c, integer(c, axis_argument), rank);
  Shape out = common_shape(c, values, axis);
  int64_t length = 0;
  for (const TensorRef& value : values) {
    int64_t own = value.p->shape.has_rank() ? value.p->shape[axis] : unknown;
    if (own < 0 || length < 0) length = unknown;
    else if (__builtin_add_overflow(length, own, &length)) c.fail("the result is too long");
  }
  out[axis] = length;
  c.output(0, values[0].p->dtype, out);
}

void run_concat(const KernelCall& c, std::span<const TensorRef> values, int64_t axis_value) {
  const Shape& out = c.output_shape();
  DType dtype = c.output_dtype();
  int axis = checked_axis(c, axis_value, out.rank());
  Rows rows(out, axis);
  int64_t out_row = out[axis] * rows.inner, at = 0;
  for (const TensorRef& value : values) {
    int64_t row = value.p->shape[axis] * rows.inner;
    copy_part(dtype, rows.outer, row, value.p->data, row, kernels::element(dtype, c.output(), at), out_row);
    at += row;
  }
}

template <class Call> void check_offsets(const Call& c) {
  std::span<const TensorRef> shapes = c.argument(1);
  Integers first = integers(c, shapes[0]);
  int axis = checked_axis(c, integer(c, 0), first.count, "concat_dim");
  for (const TensorRef& s : shapes) {
    Integers dims = integers(c, s);
    bool same = dims.count == first.count;
    for (int d = 0; same && d < dims.count; ++d) same = d == axis || dims[d] == first[d];
    if (!same) c.fail("the shapes must agree but for dimension " + std::to_string(axis));
  }
}
const Op& ConcatOffset = define_op({
    .name = "ConcatOffset",
    .doc = "Where each of several shapes begins in what they make when joined along concat_dim.",
    .signature = "concat_dim: int32, shape: N * shape_type -> offset: N * shape_type",
    .types = {{"shape_type", index_types}},
    .infer =
        [](InferCall& c) {
          std::span<const TensorRef> shapes = c.argument(1);
          c.require(shapes.size() >= 2, "at least two shapes are needed");
          bool known = c.has_value(0);
          for (size_t i = 0; i < shapes.size(); ++i) {
            const TensorImpl& s = *shapes[i].p;
            if (s.shape.has_rank() && s.shape.rank() != 1)
              c.fail("each shape must be a vector, got " + s.shape.brackets());
            known = known && s.form != Form::symbolic;
            c.output(static_cast<int>(i), s.dtype, s.shape.has_rank() ? s.shape : Shape::of_rank(1));
          }
          if (c.shape(0).is_fully_defined() && c.shape(0).num_elements() != 1) c.fail("concat_dim must be a scalar");
          if (known) check_offsets(c);
        },
    .kernel = {[](const KernelCall& c) {
      check_offsets(c);
      std::span<const TensorRef> shapes = c.argument(1);
      int rank = static_cast<int>(shapes[0].p->shape.count());
      int axis = checked_axis(c, integer(c, 0), rank, "concat_dim");
      int64_t at = 0;
      for (size_t i = 0; i < shapes.size(); ++i) {
        int out = static_cast<int>(i);
        for (int d = 0; d < rank; ++d) {
          if (c.output_dtype(out) == DType::int32) c.output<int32_t>(out)[d] = d == axis ? static_cast<int32_t>(at) : 0;
          else c.output<int64_t>(out)[d] = d == axis ? at : 0;
        }
        if (__builtin_add_overflow(at, integers(c, shapes[i])[axis], &at)) c.fail("the offsets are too large");
      }
    }},
    .traits = {.not_differentiable = "shapes have no gradient"},
});

// Each value's gradient is its slice, found by the offsets that only the shapes decide.
void concat_gradient(GradCall& g, int first, int axis_input) {
  std::vector<Tensor> values;
  for (int i = 0; i < g.num_inputs() - 1; ++i) values.push_back(g.input(first + i));
  std::vector<Tensor> shapes = shape_n(values);
  Tensor axis = cast(g.input(axis_input), DType::int32);
  std::vector<TensorRef> in{axis};
  in.insert(in.end(), shapes.begin(), shapes.end());
  std::vector<Tensor> offsets = apply_list(ConcatOffset, in, {}, static_cast<int>(shapes.size()));
  for (size_t i = 0; i < values.size(); ++i)
    if (g.wants(first + static_cast<int>(i)))
      g.input_grad(first + static_cast<int>(i), slice(g.output_grad(), offsets[i], shapes[i]));
}

const Op& Concat = define_op({
    .name = "Concat",
    .doc = "Values one after the other along the axis concat_dim.",
    .signature = "concat_dim: int32, values: N * T -> output: T",
    .infer = [](InferCall& c) { infer_concat(c, c.argument(1), 0); },
    .kernel = {[](const KernelCall& c) { run_concat(c, c.argument(1), integer(c, 0)); }},
    .grad = [](GradCall& g) { concat_gradient(g, 1, 0); },
    .grad_reads = reads::inputs<0>,
});

const Op& ConcatV2 = define_op({
    .name = "ConcatV2",
    .doc = "Values one after the other along an axis.",
    .signature = "values: N * T, axis: Tidx -> output: T",
    .types = {{"Tidx", index_types}},
    .infer = [](InferCall& c) { infer_concat(c, c.argument(0), 1); },
    .dims = [](const DimsCall& c) { return dims::joined(c, 0, c.num_inputs() - 1); },
    .kernel = {[](const KernelCall& c) { run_concat(c, c.argument(0), integer(c, 1)); }},
    .grad = [](GradCall& g) { concat_gradient(g, 0, g.num_inputs() - 1); },
    .grad_reads = reads::inputs<2, 3>,
});

struct PackAttrs {
  int64_t axis = 0;
};
const Op& Pack = define_op({
    .name = "Pack",
    .doc = "Values of one shape along a new axis.",
    .signature = "values: N * T -> output: T",
    .attrs = attrs_of<PackAttrs>(),
    .infer =
        [](InferCall& c) {
          c.require(c.num_inputs() >= 1, "at least one value is needed");
          Shape out = common_shape(c, c.argument(0), -1);
          if (!out.has_rank()) return c.output(0, c.dtype(0), out);
          out.insert(checked_axis(c, c.attrs<PackAttrs>().axis, out.rank() + 1), c.num_inputs());
          c.output(0, c.dtype(0), out);
        },
    .dims = [](const DimsCall& c) { return dims::joined(c, 0, c.num_inputs()); },
    .kernel = {[](const KernelCall& c) {
      const Shape& out = c.output_shape();
      DType dtype = c.output_dtype();
      int axis = checked_axis(c, c.attrs<PackAttrs>().axis, out.rank());
      Rows rows(out, axis);
      for (int i = 0; i < c.num_inputs(); ++i)
        copy_part(dtype, rows.outer, rows.inner, c.input(i), rows.inner,
                  kernels::element(dtype, c.output(), i * rows.inner), out[axis] * rows.inner);
    }},
    .grad =
        [](GradCall& g) {
          std::vector<Tensor> parts =
              unstack(g.output_grad(), {.num = g.num_inputs(), .axis = g.attrs<PackAttrs>().axis});
          for (int i = 0; i < g.num_inputs(); ++i) g.input_grad(i, std::move(parts[static_cast<size_t>(i)]));
        },
    .grad_reads = reads::nothing,
});

}  // namespace

Tensor concat(const std::vector<Tensor>& values, const TensorLike& axis) {
  if (values.empty()) throw ValueError("concat: there is nothing to join");
  if (values.size() == 1) return identity(values[0]);
  return apply_values(ConcatV2, values, {index_tensor(axis)});
}

Tensor stack(const std::vector<Tensor>& values, const StackOptions& options) {
  if (values.empty() && (options.axis == 0 || options.axis == -1)) return Tensor::empty(DType::float32, {0});
  return apply_values(Pack, values, {}, PackAttrs{options.axis});
}

namespace {
const FunctionDef* const joining_functions[] = {
    &define_function<concat>({"concat"}, {"values", "axis"}),
    &define_function<Tensor(const std::vector<Tensor>&, const StackOptions&), stack>({"stack"}, {"values"}),
};
}  // namespace

}  // namespace thalweg

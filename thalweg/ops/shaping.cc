#include "thalweg/ops/shaping.h"

#include "thalweg/core/convert.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/infer.h"
#include "thalweg/ops/integers.h"

namespace thalweg {
namespace {

void pass_gradient(GradCall& g) { g.input_grad(0, g.output_grad()); }
void reshape_gradient(GradCall& g) { g.input_grad(0, reshape(g.output_grad(), shape(g.input()))); }
void show_input(const KernelCall& c) { c.share(0, 0); }
void copy_input(const KernelCall& c) { copy_elements(c.dtype(), c.input(0), c.output(), c.count(0)); }

const Op& Identity = define_op({
    .name = "Identity",
    .doc = "The input itself.",
    .signature = "input: T -> output: T",
    .infer = infer::like_input<0>,
    .dims = dims::like_first,
    .kernel = {show_input},
    .grad = pass_gradient,
    .grad_reads = reads::nothing,
    .traits = {.view = true, .forwards = true},
});

const Op& IdentityN = define_op({
    .name = "IdentityN",
    .doc = "The inputs themselves, of any number and any types.",
    .signature = "input: list T -> output: list T",
    .infer =
        [](InferCall& c) {
          c.require(c.num_inputs() >= 1, "at least one input is needed");
          for (int i = 0; i < c.num_inputs(); ++i) c.output(i, c.dtype(i), c.shape(i));
        },
    .kernel = {[](const KernelCall& c) {
      for (int i = 0; i < c.num_inputs(); ++i) c.share(i, i);
    }},
    .grad =
        [](GradCall& g) {
          for (int i = 0; i < g.num_inputs(); ++i) g.input_grad(i, g.output_grad(i));
        },
    .grad_reads = reads::nothing,
    .traits = {.view = true, .forwards = true},
});

const Op& Snapshot = define_op({
    .name = "Snapshot",
    .doc = "The input; what happens to it later is not seen.",
    .signature = "input: T -> output: T",
    .infer = infer::like_input<0>,
    .kernel = {show_input},
    .grad = pass_gradient,
    .grad_reads = reads::nothing,
    .traits = {.view = true, .forwards = true},
});

const Op& DeepCopy = define_op({
    .name = "DeepCopy",
    .doc = "A copy in memory of its own.",
    .signature = "x: T -> y: T",
    .infer = infer::like_input<0>,
    .kernel = {copy_input},
    .grad = pass_gradient,
    .grad_reads = reads::nothing,
    .traits = {.stateful = true},
});

const Op& StopGradient = define_op({
    .name = "StopGradient",
    .doc = "The input, treated as a constant by gradients.",
    .signature = "input: T -> output: T",
    .infer = infer::like_input<0>,
    .kernel = {show_input},
    .traits = {.view = true, .forwards = true, .not_differentiable = "it is there to stop gradients"},
});

struct PreventGradientAttrs {
  std::string message = "";
};
const Op& PreventGradient = define_op({
    .name = "PreventGradient",
    .doc = "The input; asking for a gradient through it is an error.",
    .signature = "input: T -> output: T",
    .attrs = attrs_of<PreventGradientAttrs>(),
    .infer = infer::like_input<0>,
    .kernel = {show_input},
    .traits = {.view = true, .forwards = true, .not_differentiable = "its gradient was disabled on purpose"},
});

const Op& Reshape = define_op({
    .name = "Reshape",
    .doc = "The elements in another shape. One dimension may be -1: it follows from the others.",
    .signature = "tensor: T, shape: Tshape -> output: T",
    .types = {{"Tshape", index_types}},
    .infer =
        [](InferCall& c) {
          c.require_rank(1, 1);
          const Shape& in = c.shape(0);
          if (!c.has_value(1)) {
            const Shape& shape = c.shape(1);
            if (shape.has_rank() && shape[0] > Shape::max_rank)
              c.fail("shape has " + std::to_string(shape[0]) + " dimensions, too many");
            return c.output(0, c.partial_value(1));
          }
          Integers dims = integers(c, 1);
          Shape out;
          int open = -1;
          int64_t known = 1, known_beside_zeros = 1;  // the product of the dimensions given
          bool overflow = false;
          for (int i = 0; i < dims.count; ++i) {
            if (dims[i] == -1) {
              c.require(open < 0, "only one dimension of shape may be -1");
              open = i;
            } else if (dims[i] < 0) {
              c.fail("shape has a negative dimension, " + std::to_string(dims[i]));
            } else {
              overflow |= __builtin_mul_overflow(known, dims[i], &known);
              if (dims[i] > 0) overflow |= __builtin_mul_overflow(known_beside_zeros, dims[i], &known_beside_zeros);
            }
            out.push_back(dims[i]);
          }
          if (overflow && out.num_elements() != 0) c.fail("the shape " + out.brackets() + " is too large");
          int64_t count = 1;  // the product of the input's known dimensions
          bool complete = in.is_fully_defined();
          for (int64_t d : in.dims())
            if (d >= 0 && __builtin_mul_overflow(count, d, &count)) count = 0;  // only beside a dimension of 0
          auto refuse = [&] {
            c.fail("the elements of " + in.brackets() + " do not fill the shape " + out.brackets());
          };
          if (open >= 0 && complete) {
            if (known == 0) {  // TensorFlow's rule: what is left of the input beside its own zeros
              if (count != 0) refuse();
              int64_t beside_zeros = 1;
              for (int64_t d : in.dims())
                if (d > 0 && __builtin_mul_overflow(beside_zeros, d, &beside_zeros)) refuse();
              out[open] = beside_zeros / known_beside_zeros;
            } else {
              if (count % known != 0) refuse();
              out[open] = count / known;
            }
          } else if (complete) {
            if (count != known) refuse();
          } else if (open < 0 && in.has_rank() && count > 0 && known % count != 0) {
            refuse();
          }
          c.output(0, out);
        },
    .dims = dims::like_first,
    .kernel = {show_input},
    .grad = reshape_gradient,
    .grad_reads = reads::nothing,
    .traits = {.view = true, .never_fails = true, .keeps_elements = true},
});

const Op& ExpandDims = define_op({
    .name = "ExpandDims",
    .doc = "A new dimension of length 1 at position dim.",
    .signature = "input: T, dim: Tdim -> output: T",
    .types = {{"Tdim", index_types}},
    .infer =
        [](InferCall& c) {
          const Shape& in = c.shape(0);
          if (c.shape(1).is_fully_defined() && c.shape(1).num_elements() != 1)
            c.fail("dim must be a scalar, got shape " + c.shape(1).brackets());
          if (!in.has_rank()) return c.output(0, in);
          if (!c.has_value(1)) return c.output(0, Shape::of_rank(in.rank() + 1));
          Shape out = in;
          out.insert(checked_axis(c, integer(c, 1), in.rank() + 1, "dim"), 1);
          c.output(0, out);
        },
    .kernel = {show_input},
    .grad = reshape_gradient,
    .grad_reads = reads::nothing,
    .traits = {.view = true, .never_fails = true},
});

struct SqueezeAttrs {
  std::vector<int64_t> squeeze_dims = {};
};
const Op& Squeeze = define_op({
    .name = "Squeeze",
    .doc = "Without the dimensions of length 1: all of them, or those that squeeze_dims names.",
    .signature = "input: T -> output: T",
    .attrs = attrs_of<SqueezeAttrs>(),
    .infer =
        [](InferCall& c) {
          const Shape& in = c.shape(0);
          if (!in.has_rank()) return c.output(0, in);
          const auto& named = c.attrs<SqueezeAttrs>().squeeze_dims;
          bool drop[Shape::max_rank] = {};
          for (int64_t axis : named) {
            int i = checked_axis(c, axis, in.rank(), "squeeze_dims");
            if (in[i] >= 0 && in[i] != 1)
              c.fail("dimension " + std::to_string(i) + " has length " + std::to_string(in[i]) +
                     " and cannot be squeezed; it must be 1");
            drop[i] = true;
          }
          Shape out;
          for (int i = 0; i < in.rank(); ++i) {
            if (named.empty() && in[i] < 0) return c.output(0, Shape::unknown_rank());
            if (named.empty() ? in[i] != 1 : !drop[i]) out.push_back(in[i]);
          }
          c.output(0, out);
        },
    .kernel = {show_input},
    .grad = reshape_gradient,
    .grad_reads = reads::nothing,
    .traits = {.view = true, .never_fails = true, .keeps_elements = true},
});

struct EnsureShapeAttrs {
  Shape shape = Shape::unknown_rank();
};
const Op& EnsureShape = define_op({
    .name = "EnsureShape",
    .doc = "The input, checked against a shape that may be partly unknown.",
    .signature = "input: T -> output: T",
    .attrs = attrs_of<EnsureShapeAttrs>(),
    .infer =
        [](InferCall& c) {
          const Shape& wanted = c.attrs<EnsureShapeAttrs>().shape;
          if (!c.shape(0).is_compatible_with(wanted))
            c.fail("the shape " + c.shape(0).brackets() + " is not compatible with the expected " + wanted.brackets());
          c.output(0, c.shape(0).merge_with(wanted));
        },
    .kernel = {show_input},
    .grad = pass_gradient,
    .grad_reads = reads::nothing,
    .traits = {.view = true},
});

struct ShapeAttrs {
  DType out_type = DType::int32;
};
// Shapes are written as int32 only when they fit, as TensorFlow does.
void write_integers(const KernelCall& c, int output, std::span<const int64_t> values) {
  if (c.output_dtype(output) == DType::int64) {
    std::copy(values.begin(), values.end(), c.output<int64_t>(output));
    return;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] > INT32_MAX)
      c.fail("the number " + std::to_string(values[i]) + " does not fit int32; use out_type int64");
    c.output<int32_t>(output)[i] = static_cast<int32_t>(values[i]);
  }
}
void infer_shapes(InferCall& c) {
  for (int i = 0; i < c.num_inputs(); ++i)
    c.output(i, c.shape(i).has_rank() ? Shape{c.shape(i).rank()} : Shape::of_rank(1));
}
void write_shapes(const KernelCall& c) {
  for (int i = 0; i < c.num_inputs(); ++i) write_integers(c, i, c.shape(i).dims());
}

const Op& ShapeOp = define_op({
    .name = "Shape",
    .doc = "The dimensions of the input as a vector.",
    .signature = "input: T -> output: out_type",
    .types = {{"out_type", index_types}},
    .attrs = attrs_of<ShapeAttrs>(),
    .infer = infer_shapes,
    .dims = [](const DimsCall& c) { return c.shape(0); },
    .kernel = {write_shapes},
    .traits = {.shape_only = true, .not_differentiable = "a shape does not depend on the elements"},
});

const Op& ShapeN = define_op({
    .name = "ShapeN",
    .doc = "The dimensions of each input as vectors.",
    .signature = "input: N * T -> output: N * out_type",
    .types = {{"out_type", index_types}},
    .attrs = attrs_of<ShapeAttrs>(),
    .infer =
        [](InferCall& c) {
          c.require(c.num_inputs() >= 1, "at least one input is needed");
          infer_shapes(c);
        },
    .kernel = {write_shapes},
    .traits = {.shape_only = true, .not_differentiable = "a shape does not depend on the elements"},
});

const Op& Size = define_op({
    .name = "Size",
    .doc = "The number of elements.",
    .signature = "input: T -> output: out_type",
    .types = {{"out_type", index_types}},
    .attrs = attrs_of<ShapeAttrs>(),
    .infer = infer::scalar,
    .kernel = {[](const KernelCall& c) {
      int64_t count = c.count(0);
      write_integers(c, 0, {&count, 1});
    }},
    .traits = {.shape_only = true, .not_differentiable = "a size does not depend on the elements"},
});

const Op& Rank = define_op({
    .name = "Rank",
    .doc = "The number of dimensions.",
    .signature = "input: T -> output: int32",
    .infer = infer::scalar,
    .dims = [](const DimsCall& c) { return c.shape(0).has_rank() ? Shape{c.shape(0).rank()} : c.unknown(); },
    .kernel = {[](const KernelCall& c) { *c.output<int32_t>() = c.shape(0).rank(); }},
    .traits = {.shape_only = true, .not_differentiable = "a rank does not depend on the elements"},
});

}  // namespace

Tensor identity(const TensorLike& input) { return apply1(Identity, {input}); }
std::vector<Tensor> identity_n(const std::vector<Tensor>& input) {
  return apply_list(IdentityN, std::vector<TensorRef>(input.begin(), input.end()), {}, static_cast<int>(input.size()));
}
Tensor stop_gradient(const TensorLike& input) { return apply1(StopGradient, {input}); }
Tensor reshape(const TensorLike& tensor, const TensorLike& shape) {
  Tensor dims = index_tensor(shape);  // one number is the one dimension
  if (dims.defined() && dims.rank() == 0 && !dims.is_symbolic()) dims = apply1(Reshape, {dims, Tensor({int32_t{1}})});
  return apply1(Reshape, {tensor, dims});
}
Tensor expand_dims(const TensorLike& input, const TensorLike& axis) {
  return apply1(ExpandDims, {input, index_tensor(axis)});
}
Tensor squeeze(const TensorLike& input, const SqueezeOptions& options) {
  return apply1(Squeeze, {input}, SqueezeAttrs{options.axis.axes()});
}
Tensor ensure_shape(const Tensor& x, const Shape& shape) { return apply1(EnsureShape, {x}, EnsureShapeAttrs{shape}); }
Tensor shape(const TensorLike& input, const ShapeOptions& options) {
  return apply1(ShapeOp, {input}, ShapeAttrs{options.out_type});
}
std::vector<Tensor> shape_n(const std::vector<Tensor>& input, const ShapeOptions& options) {
  return apply_list(ShapeN, std::vector<TensorRef>(input.begin(), input.end()), ShapeAttrs{options.out_type},
                    static_cast<int>(input.size()));
}
Tensor size(const TensorLike& input, const ShapeOptions& options) {
  return apply1(Size, {input}, ShapeAttrs{options.out_type});
}
Tensor rank(const TensorLike& input) { return apply1(Rank, {input}); }

namespace {
const FunctionDef* const shaping_functions[] = {
    &define_function<identity>({"identity"}, {"input"}),
    &define_function<identity_n>({"identity_n"}, {"input"}),
    &define_function<stop_gradient>({"stop_gradient"}, {"input"}),
    &define_function<reshape>({"reshape"}, {"tensor", "shape"}),
    &define_function<expand_dims>({"expand_dims"}, {"input", "axis"}),
    &define_function<Tensor(const TensorLike&, const SqueezeOptions&), squeeze>({"squeeze"}, {"input"}),
    &define_function<ensure_shape>({"ensure_shape"}, {"x", "shape"}),
    &define_function<Tensor(const TensorLike&, const ShapeOptions&), shape>({"shape"}, {"input"}),
    &define_function<std::vector<Tensor>(const std::vector<Tensor>&, const ShapeOptions&), shape_n>({"shape_n"},
                                                                                                    {"input"}),
    &define_function<Tensor(const TensorLike&, const ShapeOptions&), size>({"size"}, {"input"}),
    &define_function<rank>({"rank"}, {"input"}),
};
}  // namespace

}  // namespace thalweg

#include "thalweg/ops/splitting.h"

#include "thalweg/core/error.h"
#include "thalweg/kernels/strided_copy.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/integers.h"
#include "thalweg/ops/joining.h"

namespace thalweg {
namespace {

// Copies each output out of its place along the axis; `lengths(i)` says how much of the axis it takes.
template <class Lengths> void run_split(const KernelCall& c, int input, int axis, Lengths lengths) {
  const Shape& in = c.shape(input);
  DType dtype = c.dtype(input);
  int64_t outer = in.count(0, axis), inner = in.count(axis + 1, in.rank()), at = 0;
  for (int i = 0; i < c.num_outputs(); ++i) {
    int64_t row = lengths(i) * inner;
    kernels::StridedCopy copy;
    copy.axis(outer, in[axis] * inner, row);
    copy.axis(row, 1, 1);
    copy.run(dtype, kernels::element(dtype, c.input(input), at), c.output(i));
    at += row;
  }
}

// The gradients of all parts.
std::vector<Tensor> part_gradients(GradCall& g, int count) {
  std::vector<Tensor> parts;
  for (int i = 0; i < count; ++i) parts.push_back(g.output_grad(i));
  return parts;
}

struct UnpackAttrs {
  int64_t num = 0;
  int64_t axis = 0;
};
const Op& Unpack = define_op({
    .name = "Unpack",
    .doc = "The num slices along an axis, without it.",
    .signature = "value: T -> output: num * T",
    .attrs = attrs_of<UnpackAttrs>(),
    .infer =
        [](InferCall& c) {
          const UnpackAttrs& a = c.attrs<UnpackAttrs>();
          Shape out = c.shape(0);
          if (out.has_rank()) {
            int axis = checked_axis(c, a.axis, out.rank());
            if (out[axis] >= 0 && out[axis] != a.num)
              c.fail("num is " + std::to_string(a.num) + ", but dimension " + std::to_string(axis) + " has length " +
                     std::to_string(out[axis]));
            out.erase(axis);
          }
          for (int i = 0; i < c.num_outputs(); ++i) c.output(i, c.dtype(0), out);
        },
    .kernel = {[](const KernelCall& c) {
      run_split(c, 0, checked_axis(c, c.attrs<UnpackAttrs>().axis, c.shape(0).rank()), [](int) { return int64_t{1}; });
    }},
    .grad =
        [](GradCall& g) {
          const UnpackAttrs& a = g.attrs<UnpackAttrs>();
          g.input_grad(0, stack(part_gradients(g, static_cast<int>(a.num)), {.axis = a.axis}));
        },
    .grad_reads = reads::nothing,
});

struct SplitAttrs {
  int64_t num_split = 1;
};
void require_scalar(const InferCall& c, int i) {
  if (c.shape(i).is_fully_defined() && c.shape(i).num_elements() != 1)
    c.fail(c.op.args[static_cast<size_t>(i)].name + " must be a scalar, got shape " + c.shape(i).brackets());
}
const Op& Split = define_op({
    .name = "Split",
    .doc = "num_split equal parts along the axis split_dim.",
    .signature = "split_dim: int32, value: T -> output: num_split * T",
    .attrs = attrs_of<SplitAttrs>(),
    .infer =
        [](InferCall& c) {
          int64_t parts = c.attrs<SplitAttrs>().num_split;
          c.require(parts >= 1, "num_split must be positive");
          require_scalar(c, 0);
          Shape out = c.shape(1);
          if (out.has_rank() && out.rank() == 0) c.fail("a scalar cannot be split");
          if (out.has_rank() && c.has_value(0)) {
            int axis = checked_axis(c, integer(c, 0), out.rank(), "split_dim");
            if (out[axis] >= 0 && out[axis] % parts != 0)
              c.fail("dimension " + std::to_string(axis) + " has length " + std::to_string(out[axis]) + ", which " +
                     std::to_string(parts) + " does not divide");
            if (out[axis] >= 0) out[axis] /= parts;
          } else {
            out = Shape::of_rank(out.rank());
          }
          for (int i = 0; i < c.num_outputs(); ++i) c.output(i, c.dtype(1), out);
        },
    .kernel = {[](const KernelCall& c) {
      int axis = checked_axis(c, integer(c, 0), c.shape(1).rank(), "split_dim");
      int64_t each = c.shape(1)[axis] / c.num_outputs();
      run_split(c, 1, axis, [&](int) { return each; });
    }},
    .grad =
        [](GradCall& g) {
          g.input_grad(1, concat(part_gradients(g, static_cast<int>(g.attrs<SplitAttrs>().num_split)), g.input(0)));
        },
    .grad_reads = reads::inputs<0>,
});

/// The sizes of the parts, the one given as -1 filled in; fails unless they make up the axis exactly.
template <class Call> std::vector<int64_t> split_sizes(const Call& c, int64_t length) {
  std::vector<int64_t> sizes = c.values(1);
  int64_t sum = 0;
  int64_t* open = nullptr;
  for (int64_t& size : sizes) {
    if (size == -1) {
      if (open) c.fail("only one of size_splits may be -1");
      open = &size;
    } else if (size < 0) {
      c.fail("size_splits must not be negative, got " + std::to_string(size));
    } else if (__builtin_add_overflow(sum, size, &sum)) {
      c.fail("the sum of size_splits is too large");
    }
  }
  if (length < 0) return sizes;
  if (open ? sum > length : sum != length)
    c.fail("size_splits add up to " + std::to_string(sum) + ", but the dimension has length " + std::to_string(length));
  if (open) *open = length - sum;
  return sizes;
}
const Op& SplitV = define_op({
    .name = "SplitV",
    .doc = "Parts of the sizes size_splits along the axis split_dim; one size may be -1.",
    .signature = "value: T, size_splits: Tlen, split_dim: int32 -> output: num_split * T",
    .types = {{"Tlen", types(DType::int8, DType::int32, DType::int64)}},
    .attrs = attrs_of<SplitAttrs>(),
    .infer =
        [](InferCall& c) {
          int64_t parts = c.attrs<SplitAttrs>().num_split;
          c.require(parts >= 1, "num_split must be positive");
          c.require_rank(1, 1);
          require_scalar(c, 2);
          if (c.shape(1).has_rank() && c.shape(1)[0] >= 0 && c.shape(1)[0] != parts)
            c.fail("size_splits has " + std::to_string(c.shape(1)[0]) + " entries, but num_split is " +
                   std::to_string(parts));
          Shape out = c.shape(0);
          if (out.has_rank() && out.rank() == 0) c.fail("a scalar cannot be split");
          int axis = out.has_rank() && c.has_value(2) ? checked_axis(c, integer(c, 2), out.rank(), "split_dim") : -1;
          if (axis < 0) out = Shape::of_rank(out.rank());
          std::vector<int64_t> sizes;
          if (c.has_value(1)) sizes = split_sizes(c, axis < 0 ? unknown : out[axis]);
          for (int i = 0; i < c.num_outputs(); ++i) {
            if (axis >= 0) out[axis] = sizes.empty() ? unknown : sizes[static_cast<size_t>(i)];
            c.output(i, c.dtype(0), out);
          }
        },
    .kernel = {[](const KernelCall& c) {
      int axis = checked_axis(c, integer(c, 2), c.shape(0).rank(), "split_dim");
      std::vector<int64_t> sizes = split_sizes(c, c.shape(0)[axis]);
      run_split(c, 0, axis, [&](int i) { return sizes[static_cast<size_t>(i)]; });
    }},
    .grad =
        [](GradCall& g) {
          g.input_grad(0, concat(part_gradients(g, static_cast<int>(g.attrs<SplitAttrs>().num_split)), g.input(2)));
        },
    .grad_reads = reads::inputs<2>,
});

int64_t known_length(const Tensor& value, int64_t axis, const char* name) {
  const Shape& shape = value.shape();
  if (shape.has_rank()) {
    if (axis < -shape.rank() || axis >= shape.rank())
      throw ValueError(std::string(name) + ": axis " + std::to_string(axis) + " is out of range for shape " +
                       shape.brackets());
    int64_t length = shape[static_cast<int>(axis)];
    if (length >= 0) return length;
  }
  throw ValueError(std::string(name) + ": num cannot be told from the shape " + shape.brackets() + "; give it");
}

}  // namespace

std::vector<Tensor> unstack(const Tensor& value, const UnstackOptions& options) {
  int64_t num = options.num ? *options.num : known_length(value, options.axis, "unstack");
  UnpackAttrs attrs{num, options.axis};
  return apply_list(Unpack, std::initializer_list<TensorRef>{value}, attrs, Unpack.count_outputs(1, attrs));
}

std::vector<Tensor> split(const Tensor& value, const TensorLike& num_or_size_splits, const SplitOptions& options) {
  Tensor sizes = index_tensor(num_or_size_splits);
  Tensor axis = index_scalar(options.axis);
  if (sizes.shape().rank() == 0) {
    if (sizes.is_symbolic()) throw ValueError("split: the number of parts must be known when the function is traced");
    SplitAttrs attrs{sizes.item<int64_t>()};
    if (attrs.num_split < 1)
      throw InvalidArgumentError("split: the number of parts must be positive, got " + std::to_string(attrs.num_split));
    return apply_list(Split, std::initializer_list<TensorRef>{axis, value}, attrs, Split.count_outputs(2, attrs));
  }
  const Shape& count = sizes.shape();
  if (!options.num && !count.is_fully_defined())
    throw ValueError("split: num is needed, the sizes are known only later");
  SplitAttrs attrs{options.num ? *options.num : count.rank() == 1 ? count[0] : 1};
  return apply_list(SplitV, std::initializer_list<TensorRef>{value, sizes, axis}, attrs,
                    SplitV.count_outputs(3, attrs));
}

namespace {
const FunctionDef* const splitting_functions[] = {
    &define_function<std::vector<Tensor>(const Tensor&, const UnstackOptions&), unstack>({"unstack"}, {"value"}),
    &define_function<std::vector<Tensor>(const Tensor&, const TensorLike&, const SplitOptions&), split>(
        {"split"}, {"value", "num_or_size_splits"}),
};
}  // namespace

}  // namespace thalweg

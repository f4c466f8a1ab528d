#include "thalweg/ops/slicing.h"

#include "thalweg/core/convert.h"
#include "thalweg/kernels/strided_copy.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/infer.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/padding.h"
#include "thalweg/ops/shaping.h"
#include "thalweg/ops/slice_spec.h"

namespace thalweg {
namespace {

/// Fails unless the block lies within the input.
template <class Call> void check_block(const Call& c, const Shape& in, const Integers& begin, const Integers& size) {
  if (begin.count != in.rank() || size.count != in.rank())
    c.fail("begin and size need one entry for each of the " + std::to_string(in.rank()) + " dimensions");
  for (int d = 0; d < in.rank(); ++d) {
    if (begin[d] < 0 || (in[d] >= 0 && begin[d] > in[d]))
      c.fail("begin " + std::to_string(begin[d]) + " lies outside dimension " + std::to_string(d) + " of length " +
             std::to_string(in[d]));
    if (size[d] < -1 || (in[d] >= 0 && size[d] > in[d] - begin[d]))
      c.fail("size " + std::to_string(size[d]) + " from " + std::to_string(begin[d]) + " on goes beyond dimension " +
             std::to_string(d) + " of length " + std::to_string(in[d]));
  }
}

// The block of the input that a kernel copies, or writes to: offset and strides.
struct Block {
  int64_t offset = 0;
  int64_t strides[Shape::max_rank];
  Block(const Shape& in, const int64_t* begin, const int64_t* steps) {
    kernels::dense_strides(in, strides);
    for (int d = 0; d < in.rank(); ++d) {
      offset += begin[d] * strides[d];
      if (steps) strides[d] *= steps[d];
    }
  }
};

const Op& SliceOp = define_op({
    .name = "Slice",
    .doc = "The block from begin on of the size size; -1 reaches to the end.",
    .signature = "input: T, begin: Index, size: Index -> output: T",
    .types = {{"Index", index_types}},
    .infer =
        [](InferCall& c) {
          c.require_rank(1, 1);
          c.require_rank(2, 1);
          Shape in = c.shape(0);
          for (int i = 1; i < 3 && !in.has_rank(); ++i)
            if (c.shape(i).has_rank() && c.shape(i)[0] >= 0 && c.shape(i)[0] <= Shape::max_rank)
              in = Shape::of_rank(static_cast<int>(c.shape(i)[0]));
          if (!in.has_rank()) return c.output(0, in);
          for (int i = 1; i < 3; ++i)
            if (c.shape(i).has_rank() && c.shape(i)[0] >= 0 && c.shape(i)[0] != in.rank())
              c.fail(c.op.args[static_cast<size_t>(i)].name + " needs one entry for each of the " +
                     std::to_string(in.rank()) + " dimensions");
          Shape out = Shape::of_rank(in.rank());
          if (!c.has_value(2)) return c.output(0, out);
          Integers size = integers(c, 2), begin;
          if (c.has_value(1)) {
            begin = integers(c, 1);
          } else {
            begin.count = size.count;
            std::fill_n(begin.at, size.count, 0);
          }
          check_block(c, in, begin, size);
          for (int d = 0; d < in.rank(); ++d) {
            if (size[d] >= 0) out[d] = size[d];
            else if (in[d] >= 0 && c.has_value(1)) out[d] = in[d] - begin[d];
          }
          c.output(0, out);
        },
    .kernel = {[](const KernelCall& c) {
      const Shape &in = c.shape(0), &out = c.output_shape();
      if (in == out) return c.share(0, 0);
      Integers begin = integers(c, 1);
      check_block(c, in, begin, integers(c, 2));
      c.allocate(0, out);
      if (out.count() == 0) return;
      Block block(in, begin.at, nullptr);
      int64_t out_strides[Shape::max_rank];
      kernels::dense_strides(out, out_strides);
      kernels::StridedCopy copy;
      copy.axes(out, block.strides, out_strides);
      copy.run(c.dtype(), kernels::element(c.dtype(), c.input(0), block.offset), c.output());
    }},
    .grad =
        [](GradCall& g) {
          ShapeOptions same{.out_type = g.input(1).dtype()};
          Tensor after = shape(g.input(), same) - shape(g.output_grad(), same) - g.input(1);
          g.input_grad(0, pad(g.output_grad(), stack({g.input(1), after}, {.axis = 1})));
        },
    .grad_reads = reads::inputs<1>,
    .traits = {.view = true},
});

// A slice of a vector with constant bounds; new axes, and bounds that are computed, are not followed.
Shape sliced_dims(const DimsCall& c) {
  const Shape& from = c.dims(0);
  const auto& masks = c.attrs<StridedSliceAttrs>();
  if (!from.has_rank() || c.shape(0).rank() != 1 || masks.new_axis_mask) return c.unknown();
  Integers bounds[3];
  for (int i = 0; i < 3; ++i)
    if (!c.constant(i + 1) || !read_integers(*c.constant(i + 1), bounds[i])) return c.unknown();
  ResolvedSlice slice;
  if (!resolve_slice(Shape{from.rank()}, bounds[0].count, &bounds[0], &bounds[1], &bounds[2], masks, slice).empty())
    return c.unknown();
  Shape part;
  for (int64_t i = 0; i < slice.axes[0]; ++i)
    part.push_back(from[static_cast<int>(slice.begin[0] + i * slice.stride[0])]);
  return part;
}

const Op& StridedSlice = define_op({
    .name = "StridedSlice",
    .doc = "Python's input[begin:end:strides] with ellipsis, new axes and single indices given by masks.",
    .signature = "input: T, begin: Index, end: Index, strides: Index -> output: T",
    .types = {{"Index", types(DType::int16, DType::int32, DType::int64)}},
    .attrs = attrs_of<StridedSliceAttrs>(),
    .infer =
        [](InferCall& c) {
          ResolvedSlice slice;
          c.output(0, infer_slice(c, c.shape(0), 1, slice) ? slice.shape : Shape::unknown_rank());
        },
    .dims = sliced_dims,
    .kernel = {[](const KernelCall& c) {
      const Shape& in = c.shape(0);
      ResolvedSlice slice;
      read_slice(c, in, 1, slice);
      if (slice.is_whole(in)) return c.share(0, 0);
      c.allocate(0, slice.shape);
      if (slice.axes.count() == 0) return;
      Block block(in, slice.begin, slice.stride);
      int64_t out_strides[Shape::max_rank];
      kernels::dense_strides(slice.axes, out_strides);
      kernels::StridedCopy copy;
      copy.axes(slice.axes, block.strides, out_strides);
      copy.run(c.dtype(), kernels::element(c.dtype(), c.input(0), block.offset), c.output());
    }},
    .grad =
        [](GradCall& g) {
          Tensor in = shape(g.input(), {.out_type = g.input(1).dtype() == DType::int64 ? DType::int64 : DType::int32});
          auto index = [&](int i) { return cast(g.input(i), in.dtype()); };
          g.input_grad(0, apply1(*find_op("StridedSliceGrad"), {in, index(1), index(2), index(3), g.output_grad()},
                                 g.attrs<StridedSliceAttrs>()));
        },
    .grad_reads = reads::inputs<1, 2, 3>,
    .traits = {.view = true},
});

Tensor slice_again(const GradCall& g, const Tensor& of, int first) {
  return apply1(StridedSlice, {of, g.input(first), g.input(first + 1), g.input(first + 2)},
                g.attrs<StridedSliceAttrs>());
}

const Op& StridedSliceGrad = define_op({
    .name = "StridedSliceGrad",
    .doc = "Zeros of a shape, with dy at the places of a strided slice.",
    .signature = "shape: Index, begin: Index, end: Index, strides: Index, dy: T -> output: T",
    .types = {{"Index", index_types}},
    .attrs = attrs_of<StridedSliceAttrs>(),
    .infer =
        [](InferCall& c) {
          Shape out = c.shape_value(0);
          ResolvedSlice slice;
          if (infer_slice(c, out, 1, slice) && !slice.shape.is_compatible_with(c.shape(4)))
            c.fail("dy has shape " + c.shape(4).brackets() + ", but the slice has " + slice.shape.brackets());
          c.output(0, c.dtype(4), out);
        },
    .kernel = {[](const KernelCall& c) {
      const Shape& out = c.output_shape();
      DType dtype = c.dtype(4);
      ResolvedSlice slice;
      read_slice(c, out, 1, slice);
      if (!(slice.shape == c.shape(4)))
        c.fail("dy has shape " + c.shape(4).brackets() + ", but the slice has " + slice.shape.brackets());
      kernels::clear_elements(dtype, c.output(), out.count());
      if (slice.axes.count() == 0) return;
      Block block(out, slice.begin, slice.stride);
      int64_t in_strides[Shape::max_rank];
      kernels::dense_strides(slice.axes, in_strides);
      kernels::StridedCopy copy;
      copy.axes(slice.axes, in_strides, block.strides);
      copy.run(dtype, c.input(4), kernels::element(dtype, c.output(), block.offset));
    }},
    .grad = [](GradCall& g) { g.input_grad(4, slice_again(g, g.output_grad(), 1)); },
    .grad_reads = reads::inputs<1, 2, 3>,
});

// The strides of a value that broadcasts to the axes of a slice, one per axis of the input; false when it does not.
bool value_strides(const ResolvedSlice& slice, const Shape& value, int64_t* strides) {
  int64_t own[Shape::max_rank], along[Shape::max_rank];
  kernels::dense_strides(value, own);
  const Shape& shape = slice.shape;
  for (int i = 0; i < value.rank() - shape.rank(); ++i)
    if (value[i] != 1) return false;
  for (int i = 0; i < shape.rank(); ++i) {
    int k = i + value.rank() - shape.rank();
    if (k >= 0 && value[k] != shape[i] && value[k] != 1) return false;
    along[i] = k < 0 || value[k] == 1 ? 0 : own[k];
  }
  // Axes of the result and axes of the input come in the same order; those of length 1 need no stride.
  int i = 0;
  for (int d = 0; d < slice.axes.rank(); ++d) {
    strides[d] = 0;
    if (slice.axes[d] == 1) continue;
    while (shape[i] == 1) ++i;
    strides[d] = along[i++];
  }
  return true;
}

}  // namespace

bool broadcasts_to(const ResolvedSlice& slice, const Shape& value) {
  int64_t strides[Shape::max_rank];
  return value_strides(slice, value, strides);
}
void write_slice(DType dtype, const ResolvedSlice& slice, const Shape& value_shape, const void* value,
                 const Shape& shape, void* out) {
  if (slice.axes.count() == 0) return;
  int64_t in_strides[Shape::max_rank];
  value_strides(slice, value_shape, in_strides);
  Block block(shape, slice.begin, slice.stride);
  kernels::StridedCopy copy;
  copy.axes(slice.axes, in_strides, block.strides);
  copy.run(dtype, value, kernels::element(dtype, out, block.offset));
}

namespace {

const Op& TensorStridedSliceUpdate = define_op({
    .name = "TensorStridedSliceUpdate",
    .doc = "A copy of the input with the places of a strided slice replaced by a value, which may broadcast.",
    .signature = "input: T, begin: Index, end: Index, strides: Index, value: T -> output: T",
    .types = {{"Index", index_types}},
    .attrs = attrs_of<StridedSliceAttrs>(),
    .infer =
        [](InferCall& c) {
          ResolvedSlice slice;
          bool known =
              infer_slice(c, c.shape(0), 1, slice) && slice.shape.is_fully_defined() && c.shape(4).is_fully_defined();
          if (known && !broadcasts_to(slice, c.shape(4)))
            c.fail("value has shape " + c.shape(4).brackets() + ", which does not broadcast to the slice, " +
                   slice.shape.brackets());
          c.output(0, c.shape(0));
        },
    .kernel = {[](const KernelCall& c) {
      const Shape& in = c.shape(0);
      ResolvedSlice slice;
      read_slice(c, in, 1, slice);
      if (!broadcasts_to(slice, c.shape(4))) c.fail("value does not broadcast to the slice");
      copy_elements(c.dtype(), c.input(0), c.output(), in.count());
      write_slice(c.dtype(), slice, c.shape(4), c.input(4), in, c.output());
    }},
    .grad =
        [](GradCall& g) {
          if (g.wants(4)) g.input_grad(4, slice_again(g, g.output_grad(), 1));
          if (g.wants(0))
            g.input_grad(0, apply1(g.op, {g.output_grad(), g.input(1), g.input(2), g.input(3), zeros_like(g.input(4))},
                                   g.attrs<StridedSliceAttrs>()));
        },
    .grad_reads = reads::inputs<1, 2, 3>,
});

// begin, end and strides of one dtype.
struct Ends {
  Tensor begin, end, strides;
  Ends(const TensorLike& from, const TensorLike& to, const std::vector<int64_t>& steps)
      : begin(index_tensor(from)), end(index_tensor(to)) {
    DType dtype = begin.dtype() == DType::int64 || end.dtype() == DType::int64 ? DType::int64 : begin.dtype();
    begin = cast(begin, dtype);
    end = cast(end, dtype);
    strides = steps.empty() ? ones_like(begin) : cast(index_list(steps), dtype);
  }
};
StridedSliceAttrs masks_of(const StridedSliceOptions& o) {
  return {o.begin_mask, o.end_mask, o.ellipsis_mask, o.new_axis_mask, o.shrink_axis_mask};
}

}  // namespace

Tensor strided_slice_by(const Tensor& input, const Tensor& begin, const Tensor& end, const Tensor& strides,
                        const StridedSliceAttrs& masks) {
  return apply1(StridedSlice, {input, begin, end, strides}, masks);
}

Tensor slice(const Tensor& input, const TensorLike& begin, const TensorLike& size) {
  Tensor from = index_tensor(begin), extent = index_tensor(size);
  if (from.dtype() != extent.dtype()) {
    from = cast(from, DType::int64);
    extent = cast(extent, DType::int64);
  }
  return apply1(SliceOp, {input, from, extent});
}

Tensor strided_slice(const Tensor& input, const TensorLike& begin, const TensorLike& end,
                     const StridedSliceOptions& options) {
  Ends ends(begin, end, options.strides);
  return apply1(StridedSlice, {input, ends.begin, ends.end, ends.strides}, masks_of(options));
}

Tensor tensor_strided_slice_update(const Tensor& input, const TensorLike& begin, const TensorLike& end,
                                   const TensorLike& value, const StridedSliceOptions& options) {
  Ends ends(begin, end, options.strides);
  return apply1(TensorStridedSliceUpdate, {input, ends.begin, ends.end, ends.strides, value}, masks_of(options));
}

namespace {
constexpr Tensor (*slice_block)(const Tensor&, const TensorLike&, const TensorLike&) = slice;
const FunctionDef* const slicing_functions[] = {
    &define_function<slice_block>({"slice"}, {"input_", "begin", "size"}),
    &define_function<strided_slice>({"strided_slice"}, {"input_", "begin", "end"}),
    &define_function<tensor_strided_slice_update>({"tensor_strided_slice_update"}, {"input", "begin", "end", "value"}),
};
}  // namespace

}  // namespace thalweg

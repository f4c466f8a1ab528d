#include "thalweg/ops/broadcasting.h"

#include "thalweg/core/error.h"
#include "thalweg/kernels/broadcast.h"
#include "thalweg/kernels/strided_copy.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/infer.h"
#include "thalweg/ops/integers.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/shaping.h"

namespace thalweg {
namespace {

const Op& BroadcastTo = define_op({
    .name = "BroadcastTo",
    .doc = "The input repeated to fill the shape, as NumPy broadcasts.",
    .signature = "input: T, shape: Tidx -> output: T",
    .types = {{"Tidx", index_types}},
    .infer =
        [](InferCall& c) {
          Shape out = c.shape_value(1);
          Shape all;
          const Shape& in = c.shape(0);
          bool fits = !in.has_rank() || !out.has_rank() || in.rank() <= out.rank();
          fits = fits && broadcast_shapes(in, out, all) && all.is_compatible_with(out);
          if (fits && c.has_value(1) && all.has_rank()) fits = all == out || !in.is_fully_defined();
          if (!fits) c.fail("the shape " + in.brackets() + " does not broadcast to " + out.brackets());
          c.output(0, out);
        },
    .kernel = {[](const KernelCall& c) {
      const Shape &in = c.shape(0), &out = c.output_shape();
      int64_t in_strides[Shape::max_rank], out_strides[Shape::max_rank];
      kernels::dense_strides(in, in_strides);
      kernels::dense_strides(out, out_strides);
      kernels::StridedCopy copy;
      for (int d = 0; d < out.rank(); ++d) {
        int i = d - (out.rank() - in.rank());
        copy.axis(out[d], i < 0 || in[i] == 1 ? 0 : in_strides[i], out_strides[d]);
      }
      copy.run(c.dtype(), c.input(0), c.output());
    }},
    .grad = [](GradCall& g) { g.input_grad(0, g.output_grad()); },
    .grad_reads = reads::nothing,
    .traits = {.broadcasts = true, .never_fails = true, .keeps_elements = true},
});

/// Two shapes given as vectors; fails when a dimension is negative.
struct ShapePair {
  Integers s[2];
  template <class Call> explicit ShapePair(const Call& c) {
    for (int k = 0; k < 2; ++k) {
      s[k] = integers(c, k);
      if (s[k].count > Shape::max_rank) c.fail("a shape has too many dimensions");
    }
  }
  int rank() const { return s[0].count > s[1].count ? s[0].count : s[1].count; }
  /// Dimension i of shape k, counted from the left of the longer one.
  int64_t at(int k, int i) const {
    int own = i - (rank() - s[k].count);
    return own < 0 ? 1 : s[k][own];
  }
  template <class Call> void check(const Call& c) const {
    for (int i = 0; i < rank(); ++i)
      if (at(0, i) != at(1, i) && at(0, i) != 1 && at(1, i) != 1)
        c.fail("the shapes do not broadcast: dimension " + std::to_string(i) + " is " + std::to_string(at(0, i)) +
               " and " + std::to_string(at(1, i)));
  }
};
void require_vectors(InferCall& c) {
  c.require_rank(0, 1);
  c.require_rank(1, 1);
}
void store(const KernelCall& c, int output, int i, int64_t value) {
  if (c.output_dtype(output) == DType::int32) c.output<int32_t>(output)[i] = static_cast<int32_t>(value);
  else c.output<int64_t>(output)[i] = value;
}

const Op& BroadcastArgs = define_op({
    .name = "BroadcastArgs",
    .doc = "The shape that two shapes, given as vectors, broadcast to.",
    .signature = "s0: T, s1: T -> r0: T",
    .types = {{"T", index_types}},
    .infer =
        [](InferCall& c) {
          require_vectors(c);
          if (!c.shape(0).is_fully_defined() || !c.shape(1).is_fully_defined()) return c.output(0, Shape::of_rank(1));
          if (c.has_value(0) && c.has_value(1)) ShapePair(c).check(c);
          c.output(0, {std::max(c.shape(0)[0], c.shape(1)[0])});
        },
    .kernel = {[](const KernelCall& c) {
      ShapePair pair(c);
      for (int i = 0; i < pair.rank(); ++i) store(c, 0, i, pair.at(0, i) == 1 ? pair.at(1, i) : pair.at(0, i));
    }},
    .traits = {.not_differentiable = "shapes have no gradient"},
});

const Op& BroadcastGradientArgs = define_op({
    .name = "BroadcastGradientArgs",
    .doc = "The axes along which a gradient must be summed for each of two operands that were broadcast.",
    .signature = "s0: T, s1: T -> r0: T, r1: T",
    .types = {{"T", index_types}},
    .infer =
        [](InferCall& c) {
          require_vectors(c);
          if (c.has_value(0) && c.has_value(1)) ShapePair(c).check(c);
          for (int k = 0; k < 2; ++k) c.output(k, Shape::of_rank(1));
        },
    .kernel = {[](const KernelCall& c) {
      ShapePair pair(c);
      bool equal =
          pair.s[0].count == pair.s[1].count && std::equal(pair.s[0].begin(), pair.s[0].end(), pair.s[1].begin());
      for (int k = 0; k < 2; ++k) {
        int axes[Shape::max_rank], count = 0;
        for (int i = 0; i < pair.rank() && !equal; ++i)
          if (pair.at(k, i) == 1) axes[count++] = i;
        c.allocate(k, {count});
        for (int i = 0; i < count; ++i) store(c, k, i, axes[i]);
      }
    }},
    .traits = {.not_differentiable = "shapes have no gradient"},
});

template <class Call> Integers checked_multiples(const Call& c, int rank) {
  Integers multiples = integers(c, 1);
  if (multiples.count != rank)
    c.fail("multiples has " + std::to_string(multiples.count) + " entries, but input has " + std::to_string(rank) +
           " dimensions");
  for (int64_t m : multiples)
    if (m < 0) c.fail("multiples must not be negative, got " + std::to_string(m));
  return multiples;
}
const Op& Tile = define_op({
    .name = "Tile",
    .doc = "The input repeated multiples[i] times along axis i.",
    .signature = "input: T, multiples: Tmultiples -> output: T",
    .types = {{"Tmultiples", index_types}},
    .infer =
        [](InferCall& c) {
          c.require_rank(1, 1);
          const Shape& in = c.shape(0);
          int64_t length = c.shape(1).has_rank() ? c.shape(1)[0] : unknown;
          if (in.has_rank() && length >= 0 && length != in.rank())
            c.fail("multiples has " + std::to_string(length) + " entries, but input has " + std::to_string(in.rank()) +
                   " dimensions");
          if (!in.has_rank())
            return c.output(0,
                            length >= 0 && length <= Shape::max_rank ? Shape::of_rank(static_cast<int>(length)) : in);
          if (!c.has_value(1)) return c.output(0, Shape::of_rank(in.rank()));
          Integers multiples = checked_multiples(c, in.rank());
          Shape out = in;
          for (int d = 0; d < in.rank(); ++d) {
            if (in[d] < 0 && multiples[d] != 0) continue;
            if (__builtin_mul_overflow(in[d] < 0 ? 0 : in[d], multiples[d], &out[d])) c.fail("the result is too large");
          }
          if (out.is_fully_defined() && out.num_elements() < 0)
            c.fail("the result, " + out.brackets() + ", is too large");
          c.output(0, out);
        },
    .kernel = {[](const KernelCall& c) {
      const Shape &in = c.shape(0), &out = c.output_shape();
      Integers multiples = checked_multiples(c, in.rank());
      int64_t in_strides[Shape::max_rank], out_strides[Shape::max_rank];
      kernels::dense_strides(in, in_strides);
      kernels::dense_strides(out, out_strides);
      kernels::StridedCopy copy;
      for (int d = 0; d < in.rank(); ++d) {
        copy.axis(multiples[d], 0, in[d] * out_strides[d]);
        copy.axis(in[d], in_strides[d], out_strides[d]);
      }
      copy.run(c.dtype(), c.input(0), c.output());
    }},
    .grad =
        [](GradCall& g) {
          // As [multiple, length, multiple, length ...], summed over every multiple.
          int rank = g.input().rank();
          if (rank < 0) throw ValueError("Tile: the gradient needs the number of dimensions of input");
          Tensor multiples = g.input(1), lengths = shape(g.input(), {.out_type = multiples.dtype()});
          std::vector<int64_t> axes;
          for (int64_t d = 0; d < rank; ++d) axes.push_back(2 * d);
          Tensor pairs = reshape(stack({multiples, lengths}, {.axis = 1}), {-1});
          g.input_grad(0, rank == 0 ? g.output_grad() : reduce_sum(reshape(g.output_grad(), pairs), {.axis = axes}));
        },
    .grad_reads = reads::inputs<1>,
});

}  // namespace

Tensor tile(const TensorLike& input, const TensorLike& multiples) {
  return apply1(Tile, {input, index_tensor(multiples)});
}
Tensor sum_to_shape_of(const Tensor& like, const Tensor& broadcast) {
  const Shape &from = broadcast.shape(), &to = like.shape();
  if (!from.is_fully_defined() || !to.is_fully_defined()) {
    Tensor dims = shape(like);
    auto axes = apply_n<2>(BroadcastGradientArgs, {dims, shape(broadcast)});
    return reshape(detail::sum_along(broadcast, axes[0]), dims);
  }
  if (from == to) return broadcast;
  std::vector<int64_t> axes;
  int more = from.rank() - to.rank();
  for (int i = 0; i < from.rank(); ++i)
    if (i < more || (to[i - more] == 1 && from[i] != 1)) axes.push_back(i);
  Tensor sum = reduce_sum(broadcast, {.axis = axes});
  return sum.shape() == to ? sum : reshape(sum, std::vector<int64_t>(to.dims().begin(), to.dims().end()));
}

Tensor broadcast_to(const TensorLike& input, const TensorLike& shape) {
  return apply1(BroadcastTo, {input, index_tensor(shape)});
}
Shape broadcast_static_shape(const Shape& shape_x, const Shape& shape_y) {
  Shape result;
  if (!broadcast_shapes(shape_x, shape_y, result))
    throw ValueError("broadcast_static_shape: the shapes " + shape_x.str() + " and " + shape_y.str() +
                     " do not broadcast");
  return result;
}
Tensor broadcast_dynamic_shape(const TensorLike& shape_x, const TensorLike& shape_y) {
  return apply1(BroadcastArgs, {index_tensor(shape_x), index_tensor(shape_y)});
}

namespace {
const FunctionDef* const broadcasting_functions[] = {
    &define_function<broadcast_to>({"broadcast_to"}, {"input", "shape"}),
    &define_function<broadcast_dynamic_shape>({"broadcast_dynamic_shape"}, {"shape_x", "shape_y"}),
    &define_function<tile>({"tile"}, {"input", "multiples"}),
};
}  // namespace

}  // namespace thalweg

#include "thalweg/ops/blocks.h"

#include <algorithm>

#include "thalweg/kernels/strided_copy.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/grad_call.h"

namespace thalweg {
namespace {

struct DepthSpaceAttrs {
  int64_t block_size = 2;
  std::string data_format = "NHWC";
};
/// Where height, width and channels are.
struct Layout {
  int height, width, channels;
};
template <class Call> Layout layout_of(const Call& c) {
  const std::string& format = c.template attrs<DepthSpaceAttrs>().data_format;
  if (format == "NHWC") return {1, 2, 3};
  if (format == "NCHW") return {2, 3, 1};
  c.fail("data_format must be NHWC or NCHW, got \"" + format + '"');
}
// The number of pixels of a block; blocks without end would overflow the channels.
int64_t checked_block(const InferCall& c) {
  int64_t block = c.attrs<DepthSpaceAttrs>().block_size;
  if (block < 2 || block > 1 << 20)
    c.fail("block_size must be at least 2 and at most 1048576, got " + std::to_string(block));
  c.require_rank(0, 4);
  return block;
}
// Shapes are [batch, ...]; "long" is the side with more channels.
void run_depth_space(const KernelCall& c, bool to_depth) {
  Layout at = layout_of(c);
  int64_t block = c.attrs<DepthSpaceAttrs>().block_size;
  const Shape &in = c.shape(0), &out = c.output_shape();
  const Shape &space = to_depth ? in : out, &depth = to_depth ? out : in;
  if (in.count() == 0) return;
  int64_t s[4], d[4];
  kernels::dense_strides(space, s);
  kernels::dense_strides(depth, d);
  int64_t channels = space[at.channels];
  struct Dim {
    int64_t size, space_stride, depth_stride;
  };
  const Dim batch{in[0], s[0], d[0]}, row{depth[at.height], s[at.height] * block, d[at.height]},
      column{depth[at.width], s[at.width] * block, d[at.width]},
      y{block, s[at.height], d[at.channels] * channels * block}, x{block, s[at.width], d[at.channels] * channels},
      channel{channels, s[at.channels], d[at.channels]};
  // From the outermost dimension of the output inward.
  const Dim* order[6] = {&batch, &row, &column, &y, &x, &channel};
  if (at.channels == 3 && !to_depth) std::swap(order[2], order[3]);
  const Dim* channels_first[2][6] = {{&batch, &channel, &row, &y, &column, &x},
                                     {&batch, &y, &x, &channel, &row, &column}};
  if (at.channels == 1) std::copy_n(channels_first[to_depth], 6, order);
  kernels::StridedCopy copy;
  for (const Dim* dim : order)
    copy.axis(dim->size, to_depth ? dim->space_stride : dim->depth_stride,
              to_depth ? dim->depth_stride : dim->space_stride);
  copy.run(c.dtype(), c.input(0), c.output());
}

void grad_of_space_to_depth(GradCall& g);

const Op& SpaceToDepth = define_op({
    .name = "SpaceToDepth",
    .doc = "Every block of pixels becomes one pixel with as many times the channels.",
    .signature = "input: T -> output: T",
    .attrs = attrs_of<DepthSpaceAttrs>(),
    .infer =
        [](InferCall& c) {
          int64_t block = checked_block(c);
          Layout at = layout_of(c);
          Shape out = c.shape(0).has_rank() ? c.shape(0) : Shape::of_rank(4);
          for (int d : {at.height, at.width}) {
            if (out[d] < 0) continue;
            if (out[d] % block != 0)
              c.fail("height and width must be multiples of block_size (" + std::to_string(block) + "), got shape " +
                     out.brackets());
            out[d] /= block;
          }
          if (out[at.channels] >= 0 && __builtin_mul_overflow(out[at.channels], block * block, &out[at.channels]))
            c.fail("the output has too many channels");
          c.output(0, out);
        },
    .kernel = {[](const KernelCall& c) { run_depth_space(c, true); }},
    .grad = grad_of_space_to_depth,
    .grad_reads = reads::nothing,
});
const Op& DepthToSpace = define_op({
    .name = "DepthToSpace",
    .doc = "The channels of a pixel become a block of pixels.",
    .signature = "input: T -> output: T",
    .attrs = attrs_of<DepthSpaceAttrs>(),
    .infer =
        [](InferCall& c) {
          int64_t block = checked_block(c);
          Layout at = layout_of(c);
          Shape out = c.shape(0).has_rank() ? c.shape(0) : Shape::of_rank(4);
          if (out[at.channels] >= 0) {
            if (out[at.channels] % (block * block) != 0)
              c.fail("channels must be a multiple of block_size squared (" + std::to_string(block * block) +
                     "), got shape " + out.brackets());
            out[at.channels] /= block * block;
          }
          for (int d : {at.height, at.width})
            if (out[d] >= 0 && __builtin_mul_overflow(out[d], block, &out[d])) c.fail("the output is too large");
          c.output(0, out);
        },
    .kernel = {[](const KernelCall& c) { run_depth_space(c, false); }},
    .grad = [](GradCall& g) { g.input_grad(0, apply1(SpaceToDepth, {g.output_grad()}, g.attrs<DepthSpaceAttrs>())); },
    .grad_reads = reads::nothing,
});
void grad_of_space_to_depth(GradCall& g) {
  g.input_grad(0, apply1(DepthToSpace, {g.output_grad()}, g.attrs<DepthSpaceAttrs>()));
}

// The spatial dimensions, their blocks, and what is added or cut off before and after each.
struct Blocks {
  int dims = 0;
  int64_t count = 1;  // positions in a block
  int64_t size[Shape::max_rank], before[Shape::max_rank], after[Shape::max_rank];
};
// False while a value is not known yet.
bool read_blocks(const InferCall& c, Blocks& blocks) {
  c.require_rank_at_least(0, 1);
  c.require_rank(1, 1);
  c.require_rank(2, 2);
  const std::string& borders = c.op.args[2].name;
  if (c.shape(1).is_fully_defined() && !c.shape(2).is_compatible_with(Shape{c.shape(1)[0], 2}))
    c.fail(borders + " must have shape [" + std::to_string(c.shape(1)[0]) + ", 2], got " + c.shape(2).brackets());
  if (c.shape(1).is_fully_defined()) {
    if (c.shape(1)[0] >= Shape::max_rank) c.fail("block_shape has too many elements: " + std::to_string(c.shape(1)[0]));
    blocks.dims = static_cast<int>(c.shape(1)[0]);
    c.require_rank_at_least(0, blocks.dims + 1);
  }
  if (!c.has_value(1) || !c.has_value(2) || !c.shape(0).has_rank()) return false;
  std::vector<int64_t> sizes = c.values(1), around = c.values(2);
  for (int d = 0; d < blocks.dims; ++d) {
    auto k = static_cast<size_t>(d);
    blocks.size[d] = sizes[k], blocks.before[d] = around[2 * k], blocks.after[d] = around[2 * k + 1];
    if (sizes[k] < 1) c.fail("block_shape must be positive, got " + std::to_string(sizes[k]));
    if (blocks.before[d] < 0 || blocks.after[d] < 0) c.fail(borders + " must not be negative");
    if (blocks.before[d] > int64_t{1} << 40 || blocks.after[d] > int64_t{1} << 40) c.fail(borders + " are too large");
    if (__builtin_mul_overflow(blocks.count, sizes[k], &blocks.count)) c.fail("the blocks are too large");
  }
  return true;
}
Shape unknown_like(const InferCall& c) {
  return c.shape(0).has_rank() ? Shape::of_rank(c.shape(0).rank()) : c.shape(0);
}

void infer_space_to_batch(InferCall& c) {
  Blocks blocks;
  if (!read_blocks(c, blocks)) return c.output(0, unknown_like(c));
  Shape out = c.shape(0);
  if (out[0] >= 0 && __builtin_mul_overflow(out[0], blocks.count, &out[0])) c.fail("the output is too large");
  for (int d = 0; d < blocks.dims; ++d) {
    if (out[d + 1] < 0) continue;
    int64_t padded = out[d + 1] + blocks.before[d] + blocks.after[d];
    if (padded % blocks.size[d] != 0)
      c.fail("dimension " + std::to_string(d + 1) + ", " + std::to_string(padded) +
             " with its padding, is not a multiple of its block, " + std::to_string(blocks.size[d]));
    out[d + 1] = padded / blocks.size[d];
  }
  c.output(0, out);
}
void infer_batch_to_space(InferCall& c) {
  Blocks blocks;
  if (!read_blocks(c, blocks)) return c.output(0, unknown_like(c));
  Shape out = c.shape(0);
  if (out[0] >= 0) {
    if (out[0] % blocks.count != 0)
      c.fail("the batch, " + std::to_string(out[0]) + ", is not a multiple of the block's size, " +
             std::to_string(blocks.count));
    out[0] /= blocks.count;
  }
  for (int d = 0; d < blocks.dims; ++d) {
    if (out[d + 1] < 0) continue;
    if (__builtin_mul_overflow(out[d + 1], blocks.size[d], &out[d + 1])) c.fail("the output is too large");
    out[d + 1] -= blocks.before[d] + blocks.after[d];
    if (out[d + 1] < 0) c.fail("crops take away more than dimension " + std::to_string(d + 1) + " has");
  }
  c.output(0, out);
}

// For each position in a block a strided copy between space and its own batch, of the cells that lie inside of space.
void run_blocks(const KernelCall& c, bool to_batch) {
  const Shape &space = to_batch ? c.shape(0) : c.output_shape(), &cells = to_batch ? c.output_shape() : c.shape(0);
  if (c.output_shape().count() == 0) return;
  if (to_batch) kernels::clear_elements(c.dtype(), c.output(), c.output_shape().count());
  if (c.count(0) == 0) return;
  std::vector<int64_t> block = c.values(1), borders = c.values(2);
  int dims = static_cast<int>(block.size());
  int64_t s[Shape::max_rank], t[Shape::max_rank];
  kernels::dense_strides(space, s);
  kernels::dense_strides(cells, t);
  int64_t rest = space.count(dims + 1, space.rank()), positions = cells[0] / space[0];
  for (int64_t p = 0; p < positions; ++p) {
    int64_t at = 0, to = p * space[0] * t[0], size[Shape::max_rank], inner = p;
    bool empty = false;
    for (int d = dims - 1; d >= 0; --d) {
      auto k = static_cast<size_t>(d);
      int64_t offset = inner % block[k] - borders[2 * k];  // of cell 0 in space
      inner /= block[k];
      int64_t first = offset < 0 ? (-offset + block[k] - 1) / block[k] : 0;
      int64_t end =
          offset < space[d + 1] ? std::min(cells[d + 1], (space[d + 1] - offset + block[k] - 1) / block[k]) : 0;
      size[d] = end - first;
      empty |= size[d] <= 0;
      at += (offset + first * block[k]) * s[d + 1];
      to += first * t[d + 1];
    }
    if (empty) continue;
    kernels::StridedCopy copy;
    auto add = [&](int64_t n, int64_t in_space, int64_t in_cells) {
      copy.axis(n, to_batch ? in_space : in_cells, to_batch ? in_cells : in_space);
    };
    add(space[0], s[0], t[0]);
    for (int d = 0; d < dims; ++d) add(size[d], s[d + 1] * block[static_cast<size_t>(d)], t[d + 1]);
    add(rest, 1, 1);
    copy.run(c.dtype(), kernels::element(c.dtype(), c.input(0), to_batch ? at : to),
             kernels::element(c.dtype(), c.output(), to_batch ? to : at));
  }
}

const Op& SpaceToBatchND = define_op({
    .name = "SpaceToBatchND",
    .doc = "Padded space divided into blocks; every position within a block becomes a batch of its own.",
    .signature = "input: T, block_shape: Tblock_shape, paddings: Tpaddings -> output: T",
    .types = {{"Tblock_shape", index_types}, {"Tpaddings", index_types}},
    .infer = infer_space_to_batch,
    .kernel = {[](const KernelCall& c) { run_blocks(c, true); }},
    .grad = [](GradCall& g) { g.input_grad(0, batch_to_space(g.output_grad(), g.input(1), g.input(2))); },
    .grad_reads = reads::inputs<1, 2>,
});
const Op& BatchToSpaceND = define_op({
    .name = "BatchToSpaceND",
    .doc = "Batches put together to blocks of space, whose borders are cut off.",
    .signature = "input: T, block_shape: Tblock_shape, crops: Tcrops -> output: T",
    .types = {{"Tblock_shape", index_types}, {"Tcrops", index_types}},
    .infer = infer_batch_to_space,
    .kernel = {[](const KernelCall& c) { run_blocks(c, false); }},
    .grad = [](GradCall& g) { g.input_grad(0, space_to_batch(g.output_grad(), g.input(1), g.input(2))); },
    .grad_reads = reads::inputs<1, 2>,
});

}  // namespace

Tensor space_to_batch_nd(const TensorLike& input, const TensorLike& block_shape, const TensorLike& paddings) {
  return apply1(SpaceToBatchND, {input, block_shape, paddings});
}
Tensor space_to_batch(const TensorLike& input, const TensorLike& block_shape, const TensorLike& paddings) {
  return space_to_batch_nd(input, block_shape, paddings);
}
Tensor batch_to_space(const TensorLike& input, const TensorLike& block_shape, const TensorLike& crops) {
  return apply1(BatchToSpaceND, {input, block_shape, crops});
}
Tensor nn::space_to_depth(const TensorLike& input, int64_t block_size, const DepthSpaceOptions& options) {
  return apply1(SpaceToDepth, {input}, DepthSpaceAttrs{block_size, options.data_format});
}
Tensor nn::depth_to_space(const TensorLike& input, int64_t block_size, const DepthSpaceOptions& options) {
  return apply1(DepthToSpace, {input}, DepthSpaceAttrs{block_size, options.data_format});
}

namespace {
const FunctionDef* const blocks_functions[] = {
    &define_function<space_to_batch_nd>({"space_to_batch_nd"}, {"input", "block_shape", "paddings"}),
    &define_function<space_to_batch>({"space_to_batch", "nn.space_to_batch"}, {"input", "block_shape", "paddings"}),
    &define_function<batch_to_space>({"batch_to_space"}, {"input", "block_shape", "crops"}),
    &define_function<nn::space_to_depth>({"nn.space_to_depth"}, {"input", "block_size"}),
    &define_function<nn::depth_to_space>({"nn.depth_to_space"}, {"input", "block_size"}),
};
}  // namespace

}  // namespace thalweg

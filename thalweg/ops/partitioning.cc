#include "thalweg/ops/partitioning.h"

#include <algorithm>

#include "thalweg/core/error.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/elements.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/gather.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/indices.h"
#include "thalweg/ops/ranges.h"
#include "thalweg/ops/shaping.h"

namespace thalweg {
namespace {

// What follows the dimensions of `prefix` in `shape`; fails when shape does not begin with them.
Shape rest_after(const InferCall& c, const Shape& prefix, const Shape& shape, const char* names) {
  if (!prefix.has_rank() || !shape.has_rank()) return Shape::unknown_rank();
  bool fits = prefix.rank() <= shape.rank();
  for (int d = 0; fits && d < prefix.rank(); ++d) fits = prefix[d] < 0 || shape[d] < 0 || prefix[d] == shape[d];
  if (!fits) c.fail(std::string(names) + ": " + shape.brackets() + " does not begin with " + prefix.brackets());
  return Shape(shape.dims().subspan(static_cast<size_t>(prefix.rank())));
}

struct DynamicPartitionAttrs {
  int64_t num_partitions = 1;
};
void infer_partition(InferCall& c) {
  if (c.attrs<DynamicPartitionAttrs>().num_partitions < 1)
    c.fail("num_partitions must be at least 1, got " + std::to_string(c.attrs<DynamicPartitionAttrs>().num_partitions));
  Shape rest = rest_after(c, c.shape(1), c.shape(0), "data must begin with the dimensions of partitions");
  Shape out = rest.has_rank() ? Shape{unknown}.concatenate(rest) : rest;
  for (int i = 0; i < c.num_outputs(); ++i) c.output(i, out);
}

// Moves element i to the next place of its partition. bool stands for every single byte: what is written through it
// cannot be one of the pointers, so that they stay in registers.
template <class T>
void deal_out(const T* in, const int32_t* partitions, int64_t n, const std::vector<std::byte*>& outputs) {
  std::vector<T*> places;
  for (std::byte* output : outputs) places.push_back(reinterpret_cast<T*>(output));
  T** next = places.data();
  for (int64_t i = 0; i < n; ++i) *next[partitions[i]]++ = in[i];
}

void run_partition(const KernelCall& c) {
  const int32_t* partitions = c.input<int32_t>(1);
  const int64_t n = c.count(1);
  std::vector<int64_t> sizes(static_cast<size_t>(c.num_outputs()));
  bool is_good = true;
  for (int64_t i = 0; i < n && is_good; ++i) {
    is_good = partitions[i] >= 0 && partitions[i] < c.num_outputs();
    if (is_good) ++sizes[static_cast<size_t>(partitions[i])];
  }
  if (!is_good) check_indices(c, 1, Indices(c, 1), c.num_outputs());  // says which one
  const Shape& shape = c.shape(0);
  Shape out = Shape{0}.concatenate(Shape(shape.dims().subspan(static_cast<size_t>(c.shape(1).rank()))));
  std::vector<std::byte*> outputs;
  for (int i = 0; i < c.num_outputs(); ++i) {
    out[0] = sizes[static_cast<size_t>(i)];
    c.allocate(i, out);
    outputs.push_back(c.output<std::byte>(i));
  }
  int64_t row = out.count(1, out.rank());
  auto bytes = static_cast<int64_t>(size_of(c.dtype())) * row;
  if (!is_object(c.dtype()) && bytes == 1) return deal_out(c.input<bool>(0), partitions, n, outputs);
  if (!is_object(c.dtype()) && bytes == 4) return deal_out(c.input<uint32_t>(0), partitions, n, outputs);
  if (!is_object(c.dtype()) && bytes == 8) return deal_out(c.input<uint64_t>(0), partitions, n, outputs);
  kernel::visit_row_copy(c.dtype(), row, [&](const auto& copy) {
    for (int64_t i = 0; i < n; ++i) {
      std::byte*& to = outputs[static_cast<size_t>(partitions[i])];
      copy(c.input<std::byte>(0) + i * bytes, to);
      to += bytes;
    }
  });
}

const Op& DynamicPartition = define_op({
    .name = "DynamicPartition",
    .doc = "The slices of data that belong to each partition, in their order.",
    .signature = "data: T, partitions: int32 -> outputs: num_partitions * T",
    .attrs = attrs_of<DynamicPartitionAttrs>(),
    .infer = infer_partition,
    .kernel = {run_partition},
    .grad =
        [](GradCall& g) {
          int64_t count = g.attrs<DynamicPartitionAttrs>().num_partitions;
          Tensor places = reshape(range(size(g.input(1))), shape(g.input(1)));
          std::vector<Tensor> grads;
          for (int i = 0; i < static_cast<int>(count); ++i) grads.push_back(g.output_grad(i));
          Tensor rows = dynamic_stitch(dynamic_partition(places, g.input(1), count), grads);
          g.input_grad(0, reshape(rows, shape(g.input(0))));
        },
    .grad_reads = reads::inputs<1>,
});

void infer_stitch(InferCall& c) {
  auto indices = c.argument(0), data = c.argument(1);
  c.require(!data.empty(), "needs at least one pair of indices and data");
  Shape rest = Shape::unknown_rank();
  for (size_t i = 0; i < data.size(); ++i) {
    Shape one =
        rest_after(c, indices[i].p->shape, data[i].p->shape, "data must begin with the dimensions of its indices");
    if (!rest.is_compatible_with(one))
      c.fail("all data must have the same dimensions after those of their indices, got " + rest.brackets() + " and " +
             one.brackets());
    rest = rest.merge_with(one);
  }
  c.output(0, data[0].p->dtype, rest.has_rank() ? Shape{unknown}.concatenate(rest) : rest);
}
void run_stitch(const KernelCall& c) {
  auto indices = c.argument(0), data = c.argument(1);
  int64_t rows = 0;
  for (const TensorRef& t : indices)
    for (int64_t i : t.tensor().span<int32_t>()) {
      if (i < 0) c.fail("the index " + std::to_string(i) + " is negative");
      rows = std::max(rows, i + 1);
    }
  const Shape& first = data[0].p->shape;
  Shape out = Shape{rows}.concatenate(Shape(first.dims().subspan(static_cast<size_t>(indices[0].p->shape.rank()))));
  c.allocate(0, out);
  int64_t row = out.count(1, out.rank());
  DType dtype = c.output_dtype();
  auto bytes = static_cast<int64_t>(size_of(dtype)) * row;
  auto* to = c.output<std::byte>();
  // A place that no index names is 0.
  if (!is_object(dtype)) std::memset(to, 0, static_cast<size_t>(rows * bytes));
  kernel::visit_row_copy(dtype, row, [&](const auto& copy) {
    for (size_t k = 0; k < data.size(); ++k) {
      const auto* from = static_cast<const std::byte*>(data[k].p->data);
      for (int64_t i : indices[k].tensor().span<int32_t>()) {
        copy(from, to + i * bytes);
        from += bytes;
      }
    }
  });
}
void grad_of_stitch(GradCall& g) {
  int pairs = g.num_inputs() / 2;
  for (int i = 0; i < pairs; ++i)
    if (g.wants(pairs + i)) g.input_grad(pairs + i, gather(g.output_grad(), g.input(i)));
}

const Op& DynamicStitch = define_op({
    .name = "DynamicStitch",
    .doc = "Slices put in the places that the indices name; of several for one place the last counts.",
    .signature = "indices: N * int32, data: N * T -> merged: T",
    .infer = infer_stitch,
    .kernel = {run_stitch},
    .grad = grad_of_stitch,
    .grad_reads = reads::inputs<0, 1>,
});
const Op& ParallelDynamicStitch = define_op({
    .name = "ParallelDynamicStitch",
    .doc = "DynamicStitch for indices that do not repeat.",
    .signature = "indices: N * int32, data: N * T -> merged: T",
    .infer = infer_stitch,
    .kernel = {run_stitch},
    .grad = grad_of_stitch,
    .grad_reads = reads::inputs<0, 1>,
});

}  // namespace

std::vector<Tensor> dynamic_partition(const TensorLike& data, const TensorLike& partitions, int64_t num_partitions) {
  if (num_partitions < 1 || num_partitions > 1 << 20)
    throw ValueError("dynamic_partition: num_partitions must be between 1 and 1048576, got " +
                     std::to_string(num_partitions));
  const TensorRef in[] = {data, partitions};
  return apply_list(DynamicPartition, in, DynamicPartitionAttrs{num_partitions}, static_cast<int>(num_partitions));
}
Tensor dynamic_stitch(const std::vector<Tensor>& indices, const std::vector<Tensor>& data) {
  if (indices.size() != data.size())
    throw ValueError("dynamic_stitch: indices and data must be lists of the same length, got " +
                     std::to_string(indices.size()) + " and " + std::to_string(data.size()));
  std::vector<TensorRef> in(indices.begin(), indices.end());
  in.insert(in.end(), data.begin(), data.end());
  return apply_list(DynamicStitch, in, {}, 1)[0];
}

namespace {
const FunctionDef* const partitioning_functions[] = {
    &define_function<dynamic_partition>({"dynamic_partition"}, {"data", "partitions", "num_partitions"}),
    &define_function<dynamic_stitch>({"dynamic_stitch"}, {"indices", "data"}),
};
}  // namespace

}  // namespace thalweg

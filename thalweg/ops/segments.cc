#include "thalweg/ops/segments.h"

#include <limits>

#include "thalweg/core/error.h"
#include "thalweg/core/threads.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/division.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/gather.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/indices.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_elementary.h"
#include "thalweg/ops/segment_reducers.h"
#include "thalweg/ops/selection.h"
#include "thalweg/ops/shaping.h"

namespace thalweg {

std::vector<segment::Run> segment::find_runs(const KernelCall& c, int input) {
  Indices ids(c, input);
  std::vector<Run> runs;
  for (int64_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0) c.fail("segment_ids[" + std::to_string(i) + "] = " + std::to_string(ids[i]) + " is negative");
    if (i > 0 && ids[i] < ids[i - 1])
      c.fail("segment_ids must be sorted, but segment_ids[" + std::to_string(i) + "] = " + std::to_string(ids[i]) +
             " comes after " + std::to_string(ids[i - 1]));
    if (i == 0 || ids[i] != ids[i - 1]) runs.push_back({ids[i], i, i});
    runs.back().end = i + 1;
  }
  if (!runs.empty() && runs.back().id >= int64_t{1} << 40)
    c.fail("the last of segment_ids, " + std::to_string(runs.back().id) + ", would make too many segments");
  return runs;
}

void segment::reduce_runs(const KernelCall& c, const RowLoops& loops, const std::vector<Run>& runs,
                          const int64_t* places, bool start_where_empty) {
  const Shape& shape = c.output_shape();
  int64_t row = shape.count(1, shape.rank()), bytes = row * static_cast<int64_t>(size_of(c.dtype()));
  auto num_runs = static_cast<int64_t>(runs.size());
  if (row == 0) return;
  size_t total_bytes = static_cast<size_t>(row) * loops.total_size;
  if (num_runs < shape[0]) {
    std::memset(c.output(), 0, static_cast<size_t>(shape[0] * bytes));
    std::vector<std::byte> total(start_where_empty ? total_bytes : 0);
    if (start_where_empty) loops.start(total.data(), row);
    for (int64_t i = 0; start_where_empty && i < shape[0]; ++i)
      loops.finish(total.data(), c.output<std::byte>() + i * bytes, row, 1);
  }
  if (num_runs == 0) return;
  double rows_per_run = static_cast<double>(runs.back().end) / static_cast<double>(num_runs);
  parallel_for(num_runs, 5 + rows_per_run * static_cast<double>(row), [&](int64_t begin, int64_t end) {
    std::vector<std::byte> total(total_bytes);
    for (int64_t r = begin; r < end; ++r) {
      const Run& run = runs[static_cast<size_t>(r)];
      loops.start(total.data(), row);
      for (int64_t i = run.begin; i < run.end; ++i)
        loops.add(total.data(), c.input<std::byte>(0) + (places ? places[i] : i) * bytes, row);
      loops.finish(total.data(), c.output<std::byte>() + run.id * bytes, row, run.end - run.begin);
    }
  });
}

// The ids stand for data's first dimensions: others follow as ones, so that they broadcast against data.
Tensor segment::with_rank_of(Tensor per_id, const Tensor& data) {
  if (per_id.rank() < 0 || data.rank() < 0) throw ValueError("segment gradients need data of known rank");
  while (per_id.rank() < data.rank()) per_id = expand_dims(per_id, -1);
  return per_id;
}

// The product of the others in the segment: by division, but where an element is 0 by the product without zeros.
Tensor segment::grad_of_product(const Tensor& data, const Tensor& ids, const Tensor& product, const Tensor& grad,
                                Reduce sum, Reduce multiply, Spread spread, const Tensor& count) {
  Tensor is_zero = equal(data, 0);
  Tensor num_zeros = sum(cast(is_zero, int32), ids, count);
  Tensor kept = where(greater(num_zeros, 1), zeros_like(grad), grad);
  Tensor non_zero = where(is_zero, ones_like(data), data);
  Tensor others = where(is_zero, spread(multiply(non_zero, ids, count), ids), spread(product, ids) / non_zero);
  return spread(kept, ids) * others;
}
// The gradient is shared by all elements that equal the extreme.
Tensor segment::grad_of_extreme(const Tensor& data, const Tensor& ids, const Tensor& extreme, const Tensor& grad,
                                Reduce sum, Spread spread, const Tensor& count) {
  Tensor chosen = equal(data, spread(extreme, ids));
  Tensor shares = grad / sum(cast(chosen, grad.dtype()), ids, count);
  return where(chosen, spread(shares, ids), zeros_like(data));
}

namespace {

using segment::Run;

void infer_segment(InferCall& c) {
  const Shape& data = c.shape(0);
  c.require_rank_at_least(0, 1);
  c.require_rank(1, 1);
  if (!data.has_rank()) return c.output(0, Shape::unknown_rank());
  if (c.shape(1).has_rank() && data[0] >= 0 && c.shape(1)[0] >= 0 && data[0] != c.shape(1)[0])
    c.fail("segment_ids must have one id for each row of data: " + std::to_string(data[0]) + " rows, " +
           std::to_string(c.shape(1)[0]) + " ids");
  Shape out = data;
  out[0] = unknown;
  c.output(0, out);
}

template <TypeSet S, class R, int Empty = 0> void run_segment(const KernelCall& c) {
  std::vector<Run> runs = segment::find_runs(c, 1);
  Shape shape = c.shape(0);
  shape[0] = runs.empty() ? 0 : runs.back().id + 1;
  c.allocate(0, shape);
  segment::reduce_runs(c, segment::row_loops<S, R>(c.dtype()), runs, nullptr, Empty != 0);
}

Tensor sorted_sum(const Tensor& data, const Tensor& ids, const Tensor&) { return math::segment_sum(data, ids); }
Tensor sorted_product(const Tensor& data, const Tensor& ids, const Tensor&) { return math::segment_prod(data, ids); }
Tensor sorted_spread(const Tensor& segments, const Tensor& ids) { return gather(segments, ids); }
void grad_of_sorted_extreme(GradCall& g) {
  g.input_grad(
      0, segment::grad_of_extreme(g.input(0), g.input(1), g.output(), g.output_grad(), sorted_sum, sorted_spread, {}));
}
const Op& SegmentSum = define_op({
    .name = "SegmentSum",
    .doc = "The sum of the rows of each segment; ids are sorted.",
    .signature = "data: T, segment_ids: Tindices -> output: T",
    .types = {{"Tindices", index_types}},
    .infer = infer_segment,
    .kernel = {.run = run_segment<number_types, segment::Sum>, .types = number_types},
    .grad = [](GradCall& g) { g.input_grad(0, gather(g.output_grad(), g.input(1))); },
    .grad_reads = reads::inputs<1>,
});

const Op& SegmentMean = define_op({
    .name = "SegmentMean",
    .doc = "The mean of the rows of each segment; ids are sorted.",
    .signature = "data: T, segment_ids: Tindices -> output: T",
    .types = {{"Tindices", index_types}},
    .infer = infer_segment,
    .kernel = {.run = run_segment<number_types, segment::Mean>, .types = number_types},
    .grad =
        [](GradCall& g) {
          Tensor sizes = math::segment_sum(cast(ones_like(g.input(1)), g.output_grad().dtype()), g.input(1));
          g.input_grad(0, gather(g.output_grad() / segment::with_rank_of(sizes, g.input(0)), g.input(1)));
        },
    .grad_reads = reads::inputs<1>,
});

const Op& SegmentProd = define_op({
    .name = "SegmentProd",
    .doc = "The product of the rows of each segment; ids are sorted.",
    .signature = "data: T, segment_ids: Tindices -> output: T",
    .types = {{"Tindices", index_types}},
    .infer = infer_segment,
    .kernel = {.run = run_segment<number_types, segment::Product, 1>, .types = number_types},
    .grad =
        [](GradCall& g) {
          g.input_grad(0, segment::grad_of_product(g.input(0), g.input(1), g.output(), g.output_grad(), sorted_sum,
                                                   sorted_product, sorted_spread, {}));
        },
    .grad_reads = reads::inputs<0, 1> | reads::outputs<0>,
});

const Op& SegmentMax = define_op({
    .name = "SegmentMax",
    .doc = "The largest of each segment; ids are sorted.",
    .signature = "data: T, segment_ids: Tindices -> output: T",
    .types = {{"Tindices", index_types}},
    .infer = infer_segment,
    .kernel = {.run = run_segment<real_types, segment::Largest>, .types = real_types},
    .grad = grad_of_sorted_extreme,
    .grad_reads = reads::inputs<0, 1> | reads::outputs<0>,
});

const Op& SegmentMin = define_op({
    .name = "SegmentMin",
    .doc = "The smallest of each segment; ids are sorted.",
    .signature = "data: T, segment_ids: Tindices -> output: T",
    .types = {{"Tindices", index_types}},
    .infer = infer_segment,
    .kernel = {.run = run_segment<real_types, segment::Smallest>, .types = real_types},
    .grad = grad_of_sorted_extreme,
    .grad_reads = reads::inputs<0, 1> | reads::outputs<0>,
});

}  // namespace

namespace math {
Tensor segment_sum(const TensorLike& data, const TensorLike& segment_ids) {
  return apply1(SegmentSum, {data, segment_ids});
}
Tensor segment_mean(const TensorLike& data, const TensorLike& segment_ids) {
  return apply1(SegmentMean, {data, segment_ids});
}
Tensor segment_prod(const TensorLike& data, const TensorLike& segment_ids) {
  return apply1(SegmentProd, {data, segment_ids});
}
Tensor segment_max(const TensorLike& data, const TensorLike& segment_ids) {
  return apply1(SegmentMax, {data, segment_ids});
}
Tensor segment_min(const TensorLike& data, const TensorLike& segment_ids) {
  return apply1(SegmentMin, {data, segment_ids});
}
}  // namespace math

namespace {
using namespace math;
const FunctionDef* const segments_functions[] = {
    &define_function<segment_sum>({"math.segment_sum"}, {"data", "segment_ids"}),
    &define_function<segment_mean>({"math.segment_mean"}, {"data", "segment_ids"}),
    &define_function<segment_prod>({"math.segment_prod"}, {"data", "segment_ids"}),
    &define_function<segment_max>({"math.segment_max"}, {"data", "segment_ids"}),
    &define_function<segment_min>({"math.segment_min"}, {"data", "segment_ids"}),
};
}  // namespace

}  // namespace thalweg

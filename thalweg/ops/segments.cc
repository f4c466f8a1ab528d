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
  return runs;
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

template <TypeSet S, class R, int Empty> void run_segment(const KernelCall& c) {
  std::vector<Run> runs = segment::find_runs(c, 1);
  Shape shape = c.shape(0);
  shape[0] = runs.empty() ? 0 : runs.back().id + (runs.back().id < std::numeric_limits<int64_t>::max());
  c.allocate(0, shape);
  kernel::visit_type<S>(c.dtype(), [&]<class T>(T*) {
    T empty = static_cast<T>(static_cast<kernel::Wide<T>>(Empty));
    segment::reduce_runs<R, T>(c, runs, shape[0], shape.count(1, shape.rank()), empty, [](int64_t i) { return i; });
  });
}

// The ids stand for data's first dimensions: others follow as ones, so that they broadcast against data.
Tensor with_rank_of(Tensor per_id, const Tensor& data) {
  if (per_id.rank() < 0 || data.rank() < 0) throw ValueError("segment gradients need data of known rank");
  while (per_id.rank() < data.rank()) per_id = expand_dims(per_id, -1);
  return per_id;
}

// The product of the others in the segment: by division, but where an element is 0 by the product without zeros.
Tensor grad_of_product(const Tensor& data, const Tensor& ids, const Tensor& product, const Tensor& grad,
                       Tensor (*sum)(const Tensor&, const Tensor&, const Tensor&),
                       Tensor (*multiply)(const Tensor&, const Tensor&, const Tensor&),
                       Tensor (*spread)(const Tensor&, const Tensor&), const Tensor& count) {
  Tensor is_zero = equal(data, 0);
  Tensor num_zeros = sum(cast(is_zero, int32), ids, count);
  Tensor kept = where(greater(num_zeros, 1), zeros_like(grad), grad);
  Tensor non_zero = where(is_zero, ones_like(data), data);
  Tensor others = where(is_zero, spread(multiply(non_zero, ids, count), ids), spread(product, ids) / non_zero);
  return spread(kept, ids) * others;
}
// The gradient is shared by all elements that equal the extreme.
Tensor grad_of_extreme(const Tensor& data, const Tensor& ids, const Tensor& extreme, const Tensor& grad,
                       Tensor (*sum)(const Tensor&, const Tensor&, const Tensor&),
                       Tensor (*spread)(const Tensor&, const Tensor&), const Tensor& count) {
  Tensor chosen = equal(data, spread(extreme, ids));
  Tensor shares = grad / sum(cast(chosen, grad.dtype()), ids, count);
  return where(chosen, spread(shares, ids), zeros_like(data));
}

Tensor sorted_sum(const Tensor& data, const Tensor& ids, const Tensor&) { return math::segment_sum(data, ids); }
Tensor sorted_product(const Tensor& data, const Tensor& ids, const Tensor&) { return math::segment_prod(data, ids); }
Tensor sorted_spread(const Tensor& segments, const Tensor& ids) { return gather(segments, ids); }
Tensor unsorted_sum(const Tensor& data, const Tensor& ids, const Tensor& count) {
  return math::unsorted_segment_sum(data, ids, count);
}
Tensor unsorted_product(const Tensor& data, const Tensor& ids, const Tensor& count) {
  return math::unsorted_segment_prod(data, ids, count);
}
// Rows with negative ids belong to no segment.
Tensor unsorted_spread(const Tensor& segments, const Tensor& ids) {
  Tensor rows = gather(segments, maximum(ids, 0));
  return where(with_rank_of(greater_equal(ids, 0), rows), rows, zeros_like(rows));
}
void grad_of_sorted_extreme(GradCall& g) {
  g.input_grad(0, grad_of_extreme(g.input(0), g.input(1), g.output(), g.output_grad(), sorted_sum, sorted_spread, {}));
}
void grad_of_unsorted_extreme(GradCall& g) {
  g.input_grad(0, grad_of_extreme(g.input(0), g.input(1), g.output(), g.output_grad(), unsorted_sum, unsorted_spread,
                                  g.input(2)));
}

const Op& SegmentSum = define_op({
    .name = "SegmentSum",
    .doc = "The sum of the rows of each segment; ids are sorted.",
    .signature = "data: T, segment_ids: Tindices -> output: T",
    .types = {{"Tindices", index_types}},
    .infer = infer_segment,
    .kernel = {.run = run_segment<number_types, segment::Sum, 0>, .types = number_types},
    .grad = [](GradCall& g) { g.input_grad(0, gather(g.output_grad(), g.input(1))); },
});

const Op& SegmentMean = define_op({
    .name = "SegmentMean",
    .doc = "The mean of the rows of each segment; ids are sorted.",
    .signature = "data: T, segment_ids: Tindices -> output: T",
    .types = {{"Tindices", index_types}},
    .infer = infer_segment,
    .kernel = {.run = run_segment<number_types, segment::Mean, 0>, .types = number_types},
    .grad =
        [](GradCall& g) {
          Tensor sizes = math::segment_sum(cast(ones_like(g.input(1)), g.output_grad().dtype()), g.input(1));
          g.input_grad(0, gather(g.output_grad() / with_rank_of(sizes, g.input(0)), g.input(1)));
        },
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
          g.input_grad(0, grad_of_product(g.input(0), g.input(1), g.output(), g.output_grad(), sorted_sum,
                                          sorted_product, sorted_spread, {}));
        },
});

const Op& SegmentMax = define_op({
    .name = "SegmentMax",
    .doc = "The largest of each segment; ids are sorted.",
    .signature = "data: T, segment_ids: Tindices -> output: T",
    .types = {{"Tindices", index_types}},
    .infer = infer_segment,
    .kernel = {.run = run_segment<real_types, segment::Largest, 0>, .types = real_types},
    .grad = grad_of_sorted_extreme,
});

const Op& SegmentMin = define_op({
    .name = "SegmentMin",
    .doc = "The smallest of each segment; ids are sorted.",
    .signature = "data: T, segment_ids: Tindices -> output: T",
    .types = {{"Tindices", index_types}},
    .infer = infer_segment,
    .kernel = {.run = run_segment<real_types, segment::Smallest, 0>, .types = real_types},
    .grad = grad_of_sorted_extreme,
});

void infer_unsorted(InferCall& c) {
  const Shape &data = c.shape(0), &ids = c.shape(1);
  c.require_rank(2, 0);
  int64_t count = c.has_value(2) ? c.scalar(2) : unknown;
  if (c.has_value(2) && count < 0) c.fail("num_segments must not be negative, got " + std::to_string(count));
  if (!data.has_rank() || !ids.has_rank()) return c.output(0, Shape::unknown_rank());
  bool prefix = ids.rank() <= data.rank();
  for (int d = 0; prefix && d < ids.rank(); ++d) prefix = data[d] < 0 || ids[d] < 0 || data[d] == ids[d];
  if (!prefix)
    c.fail("data must begin with the dimensions of segment_ids, " + ids.brackets() + "; it is " + data.brackets());
  Shape out = {count};
  for (int d = ids.rank(); d < data.rank(); ++d) out.push_back(data[d]);
  c.output(0, out);
}

template <TypeSet S, class R> void run_unsorted(const KernelCall& c) {
  const Shape& shape = c.output_shape();
  Indices ids(c, 1);
  for (int64_t i = 0; i < ids.size(); ++i)
    if (ids[i] >= shape[0])
      c.fail("segment_ids" + position_text(c.shape(1), i) + " = " + std::to_string(ids[i]) + " is out of range [0, " +
             std::to_string(shape[0]) + ")");
  kernel::visit_type<S>(c.dtype(), [&]<class T>(T*) {
    using W = kernel::Wide<T>;
    const T* in = c.input<T>(0);
    T* out = c.output<T>();
    T start = static_cast<T>(R::template start<W>());
    if constexpr (std::is_same_v<T, Half> && !std::is_same_v<R, segment::Sum> && !std::is_same_v<R, segment::Product>)
      start.bits = static_cast<float>(start) < 0 ? 0xfbff : 0x7bff;  // the largest half, not infinity
    if constexpr (std::is_same_v<T, BFloat16> && !std::is_same_v<R, segment::Sum> &&
                  !std::is_same_v<R, segment::Product>)
      start.bits = static_cast<float>(start) < 0 ? 0xff7f : 0x7f7f;
    std::fill_n(out, shape.count(), start);
    int64_t row = shape.count(1, shape.rank());
    if (row == 0 || shape[0] == 0) return;
    for_each_update({ids.data(), static_cast<size_t>(ids.size())}, shape[0], 1 + static_cast<double>(row),
                    [&](int64_t place, int64_t i) {
                      T* y = out + place * row;
                      const T* x = in + i * row;
                      for (int64_t k = 0; k < row; ++k)
                        y[k] = static_cast<T>(R::add(static_cast<W>(y[k]), static_cast<W>(x[k])));
                    });
  });
}

const Op& UnsortedSegmentSum = define_op({
    .name = "UnsortedSegmentSum",
    .doc = "The sum of each segment; ids in any order, negative ones are left out.",
    .signature = "data: T, segment_ids: Tindices, num_segments: Tnumsegments -> output: T",
    .types = {{"Tindices", types(int16, int32, int64)}, {"Tnumsegments", index_types}},
    .infer = infer_unsorted,
    .kernel = {.run = run_unsorted<number_types, segment::Sum>, .types = number_types},
    .grad = [](GradCall& g) { g.input_grad(0, unsorted_spread(g.output_grad(), g.input(1))); },
});

const Op& UnsortedSegmentProd = define_op({
    .name = "UnsortedSegmentProd",
    .doc = "The product of each segment; ids in any order, negative ones are left out.",
    .signature = "data: T, segment_ids: Tindices, num_segments: Tnumsegments -> output: T",
    .types = {{"Tindices", index_types}, {"Tnumsegments", index_types}},
    .infer = infer_unsorted,
    .kernel = {.run = run_unsorted<number_types, segment::Product>, .types = number_types},
    .grad =
        [](GradCall& g) {
          g.input_grad(0, grad_of_product(g.input(0), g.input(1), g.output(), g.output_grad(), unsorted_sum,
                                          unsorted_product, unsorted_spread, g.input(2)));
        },
});

const Op& UnsortedSegmentMax = define_op({
    .name = "UnsortedSegmentMax",
    .doc = "The largest of each segment; ids in any order, negative ones are left out.",
    .signature = "data: T, segment_ids: Tindices, num_segments: Tnumsegments -> output: T",
    .types = {{"Tindices", index_types}, {"Tnumsegments", index_types}},
    .infer = infer_unsorted,
    .kernel = {.run = run_unsorted<real_types, segment::Largest>, .types = real_types},
    .grad = grad_of_unsorted_extreme,
});

const Op& UnsortedSegmentMin = define_op({
    .name = "UnsortedSegmentMin",
    .doc = "The smallest of each segment; ids in any order, negative ones are left out.",
    .signature = "data: T, segment_ids: Tindices, num_segments: Tnumsegments -> output: T",
    .types = {{"Tindices", index_types}, {"Tnumsegments", index_types}},
    .infer = infer_unsorted,
    .kernel = {.run = run_unsorted<real_types, segment::Smallest>, .types = real_types},
    .grad = grad_of_unsorted_extreme,
});

// How many ids each segment has, at least 1, ready to divide by.
Tensor sizes_of(const Tensor& data, const Tensor& ids, const TensorLike& num_segments) {
  Tensor sizes = math::unsorted_segment_sum(cast(ones_like(ids), data.dtype()), ids, num_segments);
  if (data.rank() < 0 || ids.rank() < 0)
    throw ValueError("unsorted_segment_mean: data and segment_ids must have a known rank");
  for (int d = ids.rank(); d < data.rank(); ++d) sizes = expand_dims(sizes, -1);
  return maximum(sizes, 1);
}

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
Tensor unsorted_segment_sum(const TensorLike& data, const TensorLike& segment_ids, const TensorLike& num_segments) {
  return apply1(UnsortedSegmentSum, {data, segment_ids, num_segments});
}
Tensor unsorted_segment_prod(const TensorLike& data, const TensorLike& segment_ids, const TensorLike& num_segments) {
  return apply1(UnsortedSegmentProd, {data, segment_ids, num_segments});
}
Tensor unsorted_segment_max(const TensorLike& data, const TensorLike& segment_ids, const TensorLike& num_segments) {
  return apply1(UnsortedSegmentMax, {data, segment_ids, num_segments});
}
Tensor unsorted_segment_min(const TensorLike& data, const TensorLike& segment_ids, const TensorLike& num_segments) {
  return apply1(UnsortedSegmentMin, {data, segment_ids, num_segments});
}
Tensor unsorted_segment_mean(const TensorLike& data, const TensorLike& segment_ids, const TensorLike& num_segments) {
  Tensor x = data.own(), ids = segment_ids.own();
  return unsorted_segment_sum(x, ids, num_segments) / sizes_of(x, ids, num_segments);
}
Tensor unsorted_segment_sqrt_n(const TensorLike& data, const TensorLike& segment_ids, const TensorLike& num_segments) {
  Tensor x = data.own(), ids = segment_ids.own();
  return unsorted_segment_sum(x, ids, num_segments) / sqrt(sizes_of(x, ids, num_segments));
}
}  // namespace math

namespace {
using namespace math;
const FunctionDef* const functions[] = {
    &define_function<segment_sum>({"math.segment_sum"}, {"data", "segment_ids"}),
    &define_function<segment_mean>({"math.segment_mean"}, {"data", "segment_ids"}),
    &define_function<segment_prod>({"math.segment_prod"}, {"data", "segment_ids"}),
    &define_function<segment_max>({"math.segment_max"}, {"data", "segment_ids"}),
    &define_function<segment_min>({"math.segment_min"}, {"data", "segment_ids"}),
    &define_function<unsorted_segment_sum>({"math.unsorted_segment_sum"}, {"data", "segment_ids", "num_segments"}),
    &define_function<unsorted_segment_prod>({"math.unsorted_segment_prod"}, {"data", "segment_ids", "num_segments"}),
    &define_function<unsorted_segment_max>({"math.unsorted_segment_max"}, {"data", "segment_ids", "num_segments"}),
    &define_function<unsorted_segment_min>({"math.unsorted_segment_min"}, {"data", "segment_ids", "num_segments"}),
    &define_function<unsorted_segment_mean>({"math.unsorted_segment_mean"}, {"data", "segment_ids", "num_segments"}),
    &define_function<unsorted_segment_sqrt_n>({"math.unsorted_segment_sqrt_n"},
                                              {"data", "segment_ids", "num_segments"}),
};
}  // namespace

}  // namespace thalweg

#include "thalweg/core/error.h"
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
#include "thalweg/ops/segments.h"
#include "thalweg/ops/selection.h"
#include "thalweg/ops/shaping.h"

namespace thalweg {
namespace {

Tensor unsorted_sum(const Tensor& data, const Tensor& ids, const Tensor& count) {
  return math::unsorted_segment_sum(data, ids, count);
}
Tensor unsorted_product(const Tensor& data, const Tensor& ids, const Tensor& count) {
  return math::unsorted_segment_prod(data, ids, count);
}
// Rows with negative ids belong to no segment.
Tensor unsorted_spread(const Tensor& segments, const Tensor& ids) {
  Tensor rows = gather(segments, maximum(ids, 0));
  return where(segment::with_rank_of(greater_equal(ids, 0), rows), rows, zeros_like(rows));
}
void grad_of_unsorted_extreme(GradCall& g) {
  g.input_grad(0, segment::grad_of_extreme(g.input(0), g.input(1), g.output(), g.output_grad(), unsorted_sum,
                                           unsorted_spread, g.input(2)));
}

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

// Rows are added in the dtype itself, half types too.
struct UnsortedLoops {
  void (*start)(void* out, int64_t n) = nullptr;
  UpdateLoop add = nullptr;
};
template <class T> T lowest_of() {
  T value{};
  if constexpr (std::is_same_v<T, Half>) value.bits = 0xfbff;
  else if constexpr (std::is_same_v<T, BFloat16>) value.bits = 0xff7f;
  else value = std::numeric_limits<T>::lowest();
  return value;
}
template <class T> T highest_of() {
  T value{};
  if constexpr (std::is_same_v<T, Half>) value.bits = 0x7bff;
  else if constexpr (std::is_same_v<T, BFloat16>) value.bits = 0x7f7f;
  else value = std::numeric_limits<T>::max();
  return value;
}
template <class R, class T> constexpr UnsortedLoops make_unsorted_loops() {
  using W = kernel::Wide<T>;
  return {[](void* out, int64_t n) {
            T start = static_cast<T>(R::template start<W>());
            // A segment without rows is the largest finite number, or the smallest.
            if constexpr (std::is_same_v<R, segment::Largest>) start = lowest_of<T>();
            if constexpr (std::is_same_v<R, segment::Smallest>) start = highest_of<T>();
            std::fill_n(static_cast<T*>(out), n, start);
          },
          [](const UpdateRange& range, void* out, const void* in) {
            range.for_each([&](int64_t place, int64_t i) {
              T* y = static_cast<T*>(out) + place * range.row;
              const T* x = static_cast<const T*>(in) + i * range.row;
              for (int64_t k = 0; k < range.row; ++k)
                y[k] = static_cast<T>(R::add(static_cast<W>(y[k]), static_cast<W>(x[k])));
            });
          }};
}

void reduce_unsorted(const KernelCall& c, const UnsortedLoops& loops) {
  const Shape& shape = c.output_shape();
  Indices ids(c, 1);
  for (int64_t i = 0; i < ids.size(); ++i)
    if (ids[i] >= shape[0])
      c.fail("segment_ids" + position_text(c.shape(1), i) + " = " + std::to_string(ids[i]) + " is out of range [0, " +
             std::to_string(shape[0]) + ")");
  loops.start(c.output(), shape.count());
  int64_t row = shape.count(1, shape.rank());
  if (row == 0 || shape[0] == 0) return;
  run_updates({ids.data(), static_cast<size_t>(ids.size())}, shape[0], row, loops.add, c.output(), c.input(0));
}
template <TypeSet S, class R> void run_unsorted(const KernelCall& c) {
  UnsortedLoops loops;
  kernel::visit_type<S>(c.dtype(), [&]<class T>(T*) { loops = make_unsorted_loops<R, T>(); });
  reduce_unsorted(c, loops);
}

const Op& UnsortedSegmentSum = define_op({
    .name = "UnsortedSegmentSum",
    .doc = "The sum of each segment; ids in any order, negative ones are left out.",
    .signature = "data: T, segment_ids: Tindices, num_segments: Tnumsegments -> output: T",
    .types = {{"Tindices", types(int16, int32, int64)}, {"Tnumsegments", index_types}},
    .infer = infer_unsorted,
    .kernel = {.run = run_unsorted<number_types, segment::Sum>, .types = number_types},
    .grad = [](GradCall& g) { g.input_grad(0, unsorted_spread(g.output_grad(), g.input(1))); },
    .grad_reads = reads::inputs<1>,
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
          g.input_grad(0, segment::grad_of_product(g.input(0), g.input(1), g.output(), g.output_grad(), unsorted_sum,
                                                   unsorted_product, unsorted_spread, g.input(2)));
        },
    .grad_reads = reads::inputs<0, 1, 2> | reads::outputs<0>,
});

const Op& UnsortedSegmentMax = define_op({
    .name = "UnsortedSegmentMax",
    .doc = "The largest of each segment; ids in any order, negative ones are left out.",
    .signature = "data: T, segment_ids: Tindices, num_segments: Tnumsegments -> output: T",
    .types = {{"Tindices", index_types}, {"Tnumsegments", index_types}},
    .infer = infer_unsorted,
    .kernel = {.run = run_unsorted<real_types, segment::Largest>, .types = real_types},
    .grad = grad_of_unsorted_extreme,
    .grad_reads = reads::inputs<0, 1, 2> | reads::outputs<0>,
});

const Op& UnsortedSegmentMin = define_op({
    .name = "UnsortedSegmentMin",
    .doc = "The smallest of each segment; ids in any order, negative ones are left out.",
    .signature = "data: T, segment_ids: Tindices, num_segments: Tnumsegments -> output: T",
    .types = {{"Tindices", index_types}, {"Tnumsegments", index_types}},
    .infer = infer_unsorted,
    .kernel = {.run = run_unsorted<real_types, segment::Smallest>, .types = real_types},
    .grad = grad_of_unsorted_extreme,
    .grad_reads = reads::inputs<0, 1, 2> | reads::outputs<0>,
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
const FunctionDef* const unsorted_segments_functions[] = {
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

// Segment reductions over the rows of data that indices choose, and their gradients. They are what sums of embeddings
// are made of; the functions over sparse tensors call them.
#include <algorithm>

#include "thalweg/ops/apply.h"
#include "thalweg/ops/gather.h"
#include "thalweg/ops/grad_call.h"
#include "thalweg/ops/indices.h"
#include "thalweg/ops/segment_reducers.h"
#include "thalweg/ops/segments.h"
#include "thalweg/ops/shaping.h"

namespace thalweg {
namespace {

using segment::Run;

struct SparseSegmentAttrs {
  bool sparse_gradient = false;
};

// indices and segment_ids are vectors of one length.
void check_pairs(InferCall& c) {
  c.require_rank_at_least(0, 1);
  c.require_rank(1, 1);
  c.require_rank(2, 1);
  if (!c.shape(1).is_compatible_with(c.shape(2)))
    c.fail("indices and segment_ids must have the same length, got " + c.shape(1).brackets() + " and " +
           c.shape(2).brackets());
}
void infer_sparse(InferCall& c) {
  check_pairs(c);
  Shape out = c.shape(0);
  if (out.has_rank()) out[0] = unknown;
  c.output(0, out);
}

template <TypeSet S, class R> void run_sparse(const KernelCall& c) {
  Indices indices(c, 1);
  check_indices(c, 1, indices, c.shape(0)[0]);
  std::vector<Run> runs = segment::find_runs(c, 2);
  Shape shape = c.shape(0);
  shape[0] = runs.empty() ? 0 : runs.back().id + 1;
  c.allocate(0, shape);
  segment::reduce_runs(c, segment::row_loops<S, R>(c.dtype()), runs, indices.data(), false);
}

void infer_sparse_grad(InferCall& c) {
  check_pairs(c);
  c.require_rank(3, 0);
  Shape out = c.shape(0);
  int64_t rows = c.has_value(3) ? c.scalar(3) : unknown;
  if (c.has_value(3) && rows < 0) c.fail("output_dim0 must not be negative, got " + std::to_string(rows));
  if (out.has_rank()) out[0] = rows;
  c.output(0, out);
}

// What the loop below reads: rows of the gradient, which of them each update takes, and how large its segment is.
template <class T> struct Scaled {
  const T* rows;
  const int64_t* ids;
  const int64_t* sizes;
};

// output[indices[i]] += grad[segment_ids[i]] / divisor, where the divisor grows with the segment's size.
template <class Divide> void run_sparse_grad(const KernelCall& c) {
  const Shape& shape = c.output_shape();
  Indices indices(c, 1), ids(c, 2);
  check_indices(c, 1, indices, shape[0]);
  check_indices(c, 2, ids, c.shape(0)[0]);
  std::vector<int64_t> sizes(static_cast<size_t>(c.shape(0)[0]));
  for (int64_t i = 0; i < ids.size(); ++i) ++sizes[static_cast<size_t>(ids[i])];
  int64_t row = shape.count(1, shape.rank());
  kernel::visit_type<float_types>(c.dtype(), [&]<class T>(T*) {
    using W = kernel::Wide<T>;
    const T* in = c.input<T>(0);
    T* out = c.output<T>();
    // Half types are summed in float and rounded once.
    std::vector<W> wide(std::is_same_v<T, W> ? 0 : static_cast<size_t>(shape.count()));
    W* total = wide.data();
    if constexpr (std::is_same_v<T, W>) total = out;
    std::fill_n(total, shape.count(), W(0));
    if (row == 0 || shape[0] == 0) return;
    const Scaled<T> scaled{in, ids.data(), sizes.data()};
    UpdateLoop loop = [](const UpdateRange& range, void* y, const void* x) {
      const auto& from = *static_cast<const Scaled<T>*>(x);
      range.for_each([&](int64_t place, int64_t i) {
        W* to = static_cast<W*>(y) + place * range.row;
        const T* row_in = from.rows + from.ids[i] * range.row;
        W scale = Divide::template finish<W>(W(1), from.sizes[from.ids[i]]);
        for (int64_t k = 0; k < range.row; ++k) to[k] += static_cast<W>(row_in[k]) * scale;
      });
    };
    run_updates({indices.data(), static_cast<size_t>(indices.size())}, shape[0], row, loop, total, &scaled);
    if constexpr (!std::is_same_v<T, W>)
      for (int64_t k = 0; k < shape.count(); ++k) out[k] = static_cast<T>(total[k]);
  });
}
// Linear in its first input: the reduction itself, of the rows that come back.
template <Tensor (*Reduce)(const TensorLike&, const TensorLike&, const TensorLike&)>
void grad_of_sparse_grad(GradCall& g) {
  Tensor rows = gather(shape(g.input(0)), 0);
  g.input_grad(0, Reduce(gather(g.output_grad(), g.input(1)), g.input(2), rows));
}

const Op& SparseSegmentSumGrad = define_op({
    .name = "SparseSegmentSumGrad",
    .doc = "The gradient of SparseSegmentSum.",
    .signature = "grad: T, indices: Tidx, segment_ids: Tsegmentids, output_dim0: int32 -> output: T",
    .types = {{"Tidx", index_types}, {"Tsegmentids", index_types}},
    .infer = infer_sparse_grad,
    .kernel = {.run = run_sparse_grad<segment::Sum>, .types = float_types},
    .grad = grad_of_sparse_grad<math::unsorted_segment_sum>,
    .grad_reads = reads::inputs<1, 2>,
});
const Op& SparseSegmentMeanGrad = define_op({
    .name = "SparseSegmentMeanGrad",
    .doc = "The gradient of SparseSegmentMean.",
    .signature = "grad: T, indices: Tidx, segment_ids: Tsegmentids, output_dim0: int32 -> output: T",
    .types = {{"Tidx", index_types}, {"Tsegmentids", index_types}},
    .infer = infer_sparse_grad,
    .kernel = {.run = run_sparse_grad<segment::Mean>, .types = float_types},
    .grad = grad_of_sparse_grad<math::unsorted_segment_mean>,
    .grad_reads = reads::inputs<1, 2>,
});
const Op& SparseSegmentSqrtNGrad = define_op({
    .name = "SparseSegmentSqrtNGrad",
    .doc = "The gradient of SparseSegmentSqrtN.",
    .signature = "grad: T, indices: Tidx, segment_ids: Tsegmentids, output_dim0: int32 -> output: T",
    .types = {{"Tidx", index_types}, {"Tsegmentids", index_types}},
    .infer = infer_sparse_grad,
    .kernel = {.run = run_sparse_grad<segment::SqrtN>, .types = float_types},
    .grad = grad_of_sparse_grad<math::unsorted_segment_sqrt_n>,
    .grad_reads = reads::inputs<1, 2>,
});

void grad_by(GradCall& g, const Op& op) {
  Tensor rows = gather(shape(g.input(0)), 0);
  g.input_grad(0, apply1(op, {g.output_grad(), g.input(1), g.input(2), rows}));
}

const Op& SparseSegmentSum = define_op({
    .name = "SparseSegmentSum",
    .doc = "The sum of the chosen rows of each segment; segment ids are sorted.",
    .signature = "data: T, indices: Tidx, segment_ids: Tsegmentids -> output: T",
    .types = {{"Tidx", index_types}, {"Tsegmentids", index_types}},
    .attrs = attrs_of<SparseSegmentAttrs>(),
    .infer = infer_sparse,
    .kernel = {.run = run_sparse<real_types, segment::Sum>, .types = real_types},
    .grad =
        [](GradCall& g) {
          Tensor rows = gather(shape(g.input(0)), 0);
          g.input_grad(0, math::unsorted_segment_sum(gather(g.output_grad(), g.input(2)), g.input(1), rows));
        },
    .grad_reads = reads::inputs<1, 2>,
});
const Op& SparseSegmentMean = define_op({
    .name = "SparseSegmentMean",
    .doc = "The mean of the chosen rows of each segment; segment ids are sorted.",
    .signature = "data: T, indices: Tidx, segment_ids: Tsegmentids -> output: T",
    .types = {{"Tidx", index_types}, {"Tsegmentids", index_types}},
    .attrs = attrs_of<SparseSegmentAttrs>(),
    .infer = infer_sparse,
    .kernel = {.run = run_sparse<float_types, segment::Mean>, .types = float_types},
    .grad = [](GradCall& g) { grad_by(g, SparseSegmentMeanGrad); },
    .grad_reads = reads::inputs<1, 2>,
});
const Op& SparseSegmentSqrtN = define_op({
    .name = "SparseSegmentSqrtN",
    .doc = "The sum of the chosen rows of each segment, divided by the square root of its size.",
    .signature = "data: T, indices: Tidx, segment_ids: Tsegmentids -> output: T",
    .types = {{"Tidx", index_types}, {"Tsegmentids", index_types}},
    .attrs = attrs_of<SparseSegmentAttrs>(),
    .infer = infer_sparse,
    .kernel = {.run = run_sparse<float_types, segment::SqrtN>, .types = float_types},
    .grad = [](GradCall& g) { grad_by(g, SparseSegmentSqrtNGrad); },
    .grad_reads = reads::inputs<1, 2>,
});

}  // namespace
}  // namespace thalweg

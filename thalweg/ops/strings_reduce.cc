#include <algorithm>

#include "thalweg/ops/apply.h"
#include "thalweg/ops/function.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/ranges.h"
#include "thalweg/ops/shaping.h"
#include "thalweg/ops/strings.h"
#include "thalweg/ops/strings_support.h"

namespace thalweg::strings {
namespace {

struct ReduceJoinAttrs {
  bool keep_dims = false;
  std::string separator = "";
};
struct SegmentJoinAttrs {
  std::string separator = "";
};

// The axes to join, from the front, in the order they are given: the first varies fastest.
template <class Call> std::vector<int> read_axes(const Call& c, int rank) {
  std::vector<int> axes;
  bool seen[Shape::max_rank] = {};
  for (int64_t axis : c.values(1)) {
    if (axis < -rank || axis >= rank)
      c.fail("Invalid reduction dimension " + std::to_string(axis) + " for input with " + std::to_string(rank) +
             " dimension(s)");
    int from_front = static_cast<int>(axis < 0 ? axis + rank : axis);
    if (seen[from_front]) c.fail("Duplicate reduction dimension " + std::to_string(axis));
    seen[from_front] = true;
    axes.push_back(from_front);
  }
  return axes;
}

void infer_reduce_join(InferCall& c) {
  const Shape& in = c.shape(0);
  bool keep = c.attrs<ReduceJoinAttrs>().keep_dims;
  if (!in.has_rank() || !c.has_value(1))
    return c.output(0, in.has_rank() && keep ? Shape::of_rank(in.rank()) : Shape::unknown_rank());
  Shape result = in;
  std::vector<int> axes = read_axes(c, in.rank());
  for (int i = in.rank() - 1; i >= 0; --i) {
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) continue;
    if (keep) result[i] = 1;
    else result.erase(i);
  }
  c.output(0, result);
}

// Steps through the elements of some dimensions, the first of them fastest.
class Odometer {
 public:
  void add(int64_t size, int64_t stride) {
    size_[rank_] = size;
    stride_[rank_++] = stride;
    count_ *= size;
  }
  int64_t count() const { return count_; }
  int64_t offset() const { return offset_; }
  void next() {
    for (int i = 0; i < rank_; ++i) {
      offset_ += stride_[i];
      if (++at_[i] < size_[i]) return;
      offset_ -= at_[i] * stride_[i];
      at_[i] = 0;
    }
  }

 private:
  int rank_ = 0;
  int64_t count_ = 1, offset_ = 0;
  int64_t size_[Shape::max_rank] = {}, stride_[Shape::max_rank] = {}, at_[Shape::max_rank] = {};
};

void run_reduce_join(const KernelCall& c) {
  const Shape& shape = c.shape(0);
  const std::string& separator = c.attrs<ReduceJoinAttrs>().separator;
  const std::string* in = c.input<std::string>(0);
  std::string* out = c.output<std::string>();
  std::vector<int> axes = read_axes(c, shape.rank());
  int64_t strides[Shape::max_rank] = {};
  for (int i = shape.rank() - 1, known = 1; i >= 0; --i, known = 0)
    strides[i] = known ? 1 : strides[i + 1] * shape[i + 1];
  Odometer kept, joined;
  for (int i = shape.rank() - 1; i >= 0; --i)
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) kept.add(shape[i], strides[i]);
  for (int axis : axes) joined.add(shape[axis], strides[axis]);
  for (int64_t i = 0, n = c.output_shape().count(); i < n; ++i, kept.next()) {
    std::string text;
    for (int64_t k = 0; k < joined.count(); ++k, joined.next()) {
      if (k > 0) text += separator;
      text += in[kept.offset() + joined.offset()];
    }
    out[i] = std::move(text);
  }
}

const Op& ReduceJoin = define_op({
    .name = "ReduceJoin",
    .doc = "The strings along some axes joined into one; of several axes the first varies fastest.",
    .signature = "inputs: string, reduction_indices: int32 -> output: string",
    .attrs = attrs_of<ReduceJoinAttrs>(),
    .infer = infer_reduce_join,
    .kernel = {run_reduce_join},
    .traits = text_traits,
});

void infer_segment_join(InferCall& c) {
  const Shape &in = c.shape(0), &ids = c.shape(1);
  if (c.shape(2).has_rank() && c.shape(2).rank() != 0) c.fail("Number of segments must be a scalar");
  int64_t segments = unknown;
  if (c.has_value(2)) {
    segments = c.scalar(2);
    if (segments < 0) c.fail("Number of segments must be non-negative but got " + std::to_string(segments));
  }
  if (ids.has_rank() && ids.rank() == 0) c.fail("Segment_id cannot have rank 0");
  if (!in.has_rank() || !ids.has_rank()) return c.output(0, Shape::unknown_rank());
  if (ids.rank() > in.rank())
    c.fail("segment_ids has more dimensions than inputs: " + ids.brackets() + " vs. " + in.brackets());
  for (int i = 0; i < ids.rank(); ++i)
    if (ids[i] != unknown && in[i] != unknown && ids[i] != in[i])
      c.fail("Segment dimension is " + std::to_string(ids[i]) + " while input dimension is " + std::to_string(in[i]) +
             " in rank " + std::to_string(i));
  Shape result{segments};
  for (int i = ids.rank(); i < in.rank(); ++i) result.push_back(in[i]);
  c.output(0, result);
}

void run_segment_join(const KernelCall& c) {
  const std::string& separator = c.attrs<SegmentJoinAttrs>().separator;
  const std::string* in = c.input<std::string>(0);
  std::string* out = c.output<std::string>();
  std::vector<int64_t> ids = c.values(1);
  int64_t segments = c.output_shape()[0], width = c.shape(0).count(c.shape(1).rank(), c.shape(0).rank());
  for (int64_t id : ids)
    if (id < 0 || id >= segments)
      c.fail("segment_ids are not allowed to exceed num_segments or to have negative values; got " +
             std::to_string(id) + " with num_segments " + std::to_string(segments));
  std::vector<bool> begun(static_cast<size_t>(segments));
  for (size_t row = 0; row < ids.size(); ++row) {
    size_t id = static_cast<size_t>(ids[row]);
    std::string* to = out + ids[row] * width;
    for (int64_t k = 0; k < width; ++k) {
      if (begun[id]) to[k] += separator;
      to[k] += in[static_cast<int64_t>(row) * width + k];
    }
    begun[id] = true;
  }
}

const Op& UnsortedSegmentJoin = define_op({
    .name = "UnsortedSegmentJoin",
    .doc = "The strings of each segment joined into one, in their order.",
    .signature = "inputs: string, segment_ids: Tindices, num_segments: Tnumsegments -> output: string",
    .types = {{"Tindices", index_types}, {"Tnumsegments", index_types}},
    .attrs = attrs_of<SegmentJoinAttrs>(),
    .infer = infer_segment_join,
    .kernel = {run_segment_join},
    .traits = text_traits,
});

}  // namespace

Tensor reduce_join(const TensorLike& inputs, const ReduceJoinOptions& options) {
  ReduceJoinAttrs attrs{options.keepdims, options.separator};
  std::vector<int32_t> axes(options.axis.axes().begin(), options.axis.axes().end());
  if (options.axis.given()) return apply1(ReduceJoin, {inputs, Tensor(axes)}, attrs);
  const Shape& shape = inputs.tensor().shape();
  // The last axis first, so that the strings come in the order they lie in.
  if (!shape.has_rank()) return apply1(ReduceJoin, {inputs, range(rank(inputs) - 1, -1, -1)}, attrs);
  for (int i = shape.rank() - 1; i >= 0; --i) axes.push_back(i);
  return apply1(ReduceJoin, {inputs, Tensor(axes)}, attrs);
}

Tensor unsorted_segment_join(const TensorLike& inputs, const TensorLike& segment_ids, const TensorLike& num_segments,
                             const JoinOptions& options) {
  return apply1(UnsortedSegmentJoin, {inputs, segment_ids, num_segments}, SegmentJoinAttrs{options.separator});
}

namespace {
const FunctionDef* const strings_reduce_functions[] = {
    &define_function<Tensor(const TensorLike&, const strings::ReduceJoinOptions&), reduce_join>({"strings.reduce_join"},
                                                                                                {"inputs"}),
    &define_function<Tensor(const TensorLike&, const TensorLike&, const TensorLike&, const strings::JoinOptions&),
                     unsorted_segment_join>({"strings.unsorted_segment_join"},
                                            {"inputs", "segment_ids", "num_segments"}),
};
}  // namespace

}  // namespace thalweg::strings

#include "thalweg/ops/slice_spec.h"

#include <algorithm>
#include <bit>

namespace thalweg {
namespace {

bool bit(int64_t mask, int i) { return (mask >> i & 1) != 0; }

/// One entry of the slice that speaks of an axis of the input.
struct Entry {
  const int64_t* begin;  // null: known later
  const int64_t* end;
  const int64_t* stride;
  bool from_start, to_end, shrink;
};
constexpr int64_t one = 1;
constexpr Entry whole_axis = {nullptr, nullptr, &one, true, true, false};

// The number of steps from begin to end.
int64_t steps(int64_t begin, int64_t end, int64_t stride) {
  int64_t distance = end - begin;
  if (distance == 0 || (distance < 0) != (stride < 0)) return 0;
  return distance / stride + (distance % stride != 0);
}

// An index as Python means it, kept within what the direction allows.
int64_t canonical(int64_t index, int64_t length, int64_t stride) {
  int64_t forward = index < 0 ? length + index : index;
  return stride > 0 ? std::clamp<int64_t>(forward, 0, length) : std::clamp<int64_t>(forward, -1, length - 1);
}

std::string resolve_axis(const Entry& e, int axis, int64_t length, ResolvedSlice& result) {
  result.begin[axis] = 0;
  result.stride[axis] = e.stride ? *e.stride : 1;
  int64_t& steps_here = result.axes[axis];
  steps_here = e.shrink ? 1 : unknown;
  if (e.stride && *e.stride == 0) return "the stride of dimension " + std::to_string(axis) + " is 0";
  if (e.shrink) {
    if (e.stride && *e.stride < 0)
      return "a single index of dimension " + std::to_string(axis) + " needs a positive stride";
    if (!e.begin || length < 0) return {};
    int64_t index = *e.begin < 0 ? length + *e.begin : *e.begin;
    if (index < 0 || index >= length)
      return "index " + std::to_string(*e.begin) + " is out of bounds for dimension " + std::to_string(axis) +
             " of length " + std::to_string(length);
    result.begin[axis] = index;
    result.stride[axis] = 1;
    return {};
  }
  if (length < 0 || !e.stride) {
    if (e.stride && *e.stride == 1 && !e.from_start && !e.to_end && e.begin && e.end &&
        (*e.begin < 0) == (*e.end < 0) && *e.end <= *e.begin)
      steps_here = 0;  // empty whatever the length
    return {};
  }
  int64_t stride = *e.stride;
  if ((!e.begin && !e.from_start) || (!e.end && !e.to_end)) return {};
  int64_t begin = e.from_start ? (stride > 0 ? 0 : length - 1) : canonical(*e.begin, length, stride);
  int64_t end = e.to_end ? (stride > 0 ? length : -1) : canonical(*e.end, length, stride);
  result.begin[axis] = begin;
  steps_here = steps(begin, end, stride);
  return {};
}

}  // namespace

bool ResolvedSlice::is_whole(const Shape& in) const {
  for (int d = 0; d < in.rank(); ++d)
    if (axes[d] != in[d] || (stride[d] != 1 && in[d] > 1)) return false;
  return true;
}

std::string resolve_slice(const Shape& in, int count, const Integers* begin, const Integers* end,
                          const Integers* strides, const StridedSliceAttrs& masks, ResolvedSlice& result) {
  int taken = 0, ellipses = 0;  // how many axes the entries speak of
  for (int i = 0; i < count; ++i) {
    if (bit(masks.ellipsis_mask, i)) ++ellipses;
    else if (!bit(masks.new_axis_mask, i)) ++taken;
  }
  // Bits beyond the entries count too, as in TensorFlow.
  if (ellipses > 1 || std::popcount(static_cast<uint64_t>(masks.ellipsis_mask)) > 1)
    return "only one ellipsis is allowed";
  if (taken > in.rank())
    return "the slice has " + std::to_string(taken) + " indices, but the input has " + std::to_string(in.rank()) +
           " dimensions";
  result.axes = Shape::of_rank(in.rank());
  int axis = 0;
  auto take_whole = [&](int number) {
    for (; number > 0; --number, ++axis) {
      resolve_axis(whole_axis, axis, in[axis], result);
      result.shape.push_back(result.axes[axis]);
    }
  };
  for (int i = 0; i < count; ++i) {
    if (bit(masks.ellipsis_mask, i)) {
      take_whole(in.rank() - taken);
    } else if (bit(masks.new_axis_mask, i)) {
      result.shape.push_back(1);
    } else {
      Entry entry{begin ? begin->at + i : nullptr, end ? end->at + i : nullptr, strides ? strides->at + i : nullptr,
                  bit(masks.begin_mask, i),        bit(masks.end_mask, i),      bit(masks.shrink_axis_mask, i)};
      if (std::string wrong = resolve_axis(entry, axis, in[axis], result); !wrong.empty()) return wrong;
      if (!entry.shrink) result.shape.push_back(result.axes[axis]);
      ++axis;
    }
  }
  if (!ellipses) take_whole(in.rank() - taken);
  return {};
}

bool infer_slice(const InferCall& c, const Shape& in, int first, ResolvedSlice& result) {
  int64_t count = unknown;
  for (int i = first; i < first + 3; ++i) {
    c.require_rank(i, 1);
    int64_t own = c.shape(i).has_rank() ? c.shape(i)[0] : unknown;
    if (own >= 0 && count >= 0 && own != count) c.fail("begin, end and strides must have the same length");
    count = std::max(count, own);
  }
  if (count > Integers::capacity) c.fail("a slice of " + std::to_string(count) + " entries is too long");
  if (count < 0 || !in.has_rank()) return false;
  Integers values[3];
  for (int k = 0; k < 3; ++k)
    if (c.has_value(first + k)) values[k] = integers(c, first + k);
  auto known = [&](int k) { return c.has_value(first + k) ? &values[k] : nullptr; };
  std::string wrong =
      resolve_slice(in, static_cast<int>(count), known(0), known(1), known(2), c.attrs<StridedSliceAttrs>(), result);
  if (!wrong.empty()) c.fail(wrong);
  return true;
}

void read_slice(const KernelCall& c, const Shape& in, int first, ResolvedSlice& result) {
  Integers begin = integers(c, first), end = integers(c, first + 1), strides = integers(c, first + 2);
  if (begin.count != end.count || begin.count != strides.count)
    c.fail("begin, end and strides must have the same length");
  std::string wrong = resolve_slice(in, begin.count, &begin, &end, &strides, c.attrs<StridedSliceAttrs>(), result);
  if (!wrong.empty()) c.fail(wrong);
}

}  // namespace thalweg

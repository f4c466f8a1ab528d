#include "thalweg/ops/indexed_slices.h"

#include "thalweg/core/error.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/gather.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/segments.h"
#include "thalweg/ops/shaping.h"
#include "thalweg/ops/unique.h"

namespace thalweg {

Tensor to_array(const Tensor& tensor) {
  if (!is_indexed_slices(tensor)) return tensor;
  const IndexedSlices& s = indexed_slices(tensor);
  if (!s.dense_shape.defined())
    throw ValueError("IndexedSlices without dense_shape cannot become a tensor: the number of rows is not known");
  return math::unsorted_segment_sum(s.values, s.indices, gather(s.dense_shape, 0));
}

IndexedSlices without_repeats(const IndexedSlices& s) {
  auto [rows, positions] = unique(s.indices);
  return {math::unsorted_segment_sum(s.values, positions, size(rows)), rows, s.dense_shape};
}

Tensor add_gradients(Tensor&& x, const Tensor& y) {
  if (x.dtype() == DType::variant) return add_n({x, y});
  if (!is_indexed_slices(x) || !is_indexed_slices(y)) return std::move(x) + y;
  const IndexedSlices &a = indexed_slices(x), &b = indexed_slices(y);
  Tensor rows = a.indices, more = b.indices;
  if (rows.dtype() != more.dtype()) {  // one table, gathered with indices of both types
    rows = cast(rows, DType::int64);
    more = cast(more, DType::int64);
  }
  return IndexedSlices{concat(std::vector{a.values, b.values}, 0), concat(std::vector{rows, more}, 0),
                       a.dense_shape.defined() ? a.dense_shape : b.dense_shape};
}

}  // namespace thalweg

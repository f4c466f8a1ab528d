#include "thalweg/ops/indices.h"

#include <algorithm>

#include "thalweg/core/convert.h"
#include "thalweg/core/threads.h"

namespace thalweg {

Indices::Indices(const Tensor& tensor) : size_(tensor.size()) {
  const void* data = tensor.impl()->data;
  if (tensor.dtype() != DType::int64) {
    converted_ = Tensor::empty(DType::int64, {size_});
    convert_elements(tensor.dtype(), data, DType::int64, converted_.impl()->data, size_);
    data = converted_.impl()->data;
  }
  data_ = static_cast<const int64_t*>(data);
}

std::string position_text(const Shape& shape, int64_t flat) {
  std::string text;
  for (int d = shape.rank() - 1; d >= 0; --d) {
    text.insert(0, std::to_string(flat % shape[d]) + (text.empty() ? "" : ","));
    flat /= shape[d];
  }
  return text.empty() ? text : '[' + text + ']';
}

void check_indices(const KernelCall& c, int input, const Indices& indices, int64_t limit) {
  // Negative numbers are large ones here. The loop without a way out is vectorised.
  auto outside = [&](int64_t i) { return static_cast<uint64_t>(indices[i]) >= static_cast<uint64_t>(limit); };
  bool any = false;
  for (int64_t i = 0; i < indices.size(); ++i) any |= outside(i);
  if (!any) return;
  int64_t i = 0;
  while (!outside(i)) ++i;
  c.fail(c.op.args[static_cast<size_t>(input)].name + position_text(c.shape(input), i) + " = " +
         std::to_string(indices[i]) + " is not in [0, " + std::to_string(limit) + ")");
}

RowOffsets row_offsets(const KernelCall& c, int input, const Shape& shape) {
  return row_offsets(c, input, c.shape(input), shape);
}
RowOffsets row_offsets(const KernelCall& c, int input, const Shape& lists, const Shape& shape) {
  int depth = static_cast<int>(lists[-1]);
  int64_t count = lists.count(0, lists.rank() - 1);
  Indices indices(c, input);
  RowOffsets rows;
  rows.row = shape.count(depth, shape.rank());
  rows.storage = Tensor::empty(DType::int64, {count});
  auto* at = rows.storage.mutable_data<int64_t>();
  rows.at = {at, static_cast<size_t>(count)};
  for (int64_t i = 0; i < count; ++i) {
    const int64_t* list = indices.data() + i * depth;
    int64_t offset = 0;
    bool inside = true;
    for (int d = 0; d < depth; ++d) {
      inside &= static_cast<uint64_t>(list[d]) < static_cast<uint64_t>(shape[d]);
      offset = offset * shape[d] + (inside ? list[d] : 0);
    }
    if (!inside) {
      std::string text;
      for (int d = 0; d < depth; ++d) text += (d ? ", " : "") + std::to_string(list[d]);
      Shape outer(lists.dims().first(static_cast<size_t>(lists.rank() - 1)));
      c.fail(c.op.args[static_cast<size_t>(input)].name + position_text(outer, i) + " = [" + text +
             "] does not index into shape " + shape.brackets());
    }
    at[i] = offset;
  }
  return rows;
}

void run_updates(std::span<const int64_t> places, int64_t num_places, int64_t row, UpdateLoop loop, void* out,
                 const void* in) {
  double work = static_cast<double>(places.size()) * static_cast<double>(row);
  int64_t parts = row < 8 || work < 4 * serial_nanoseconds ? 1 : std::min<int64_t>(num_threads(), num_places);
  parallel_chunks(parts, 1, [&](int64_t part, int64_t) {
    int64_t begin = num_places / parts * part, end = part + 1 == parts ? num_places : begin + num_places / parts;
    loop({places, begin, end, row}, out, in);
  });
}

}  // namespace thalweg

// What a strided slice with its masks means for a given shape.
#pragma once
#include <string>

#include "thalweg/core/index.h"
#include "thalweg/ops/integers.h"

namespace thalweg {

/// The masks of a strided slice: bit i speaks of entry i of begin, end and strides.
struct StridedSliceAttrs {
  int64_t begin_mask = 0;        // from the first element, whatever begin says
  int64_t end_mask = 0;          // to the last
  int64_t ellipsis_mask = 0;     // as many whole axes as are needed
  int64_t new_axis_mask = 0;     // a new axis of length 1
  int64_t shrink_axis_mask = 0;  // one element; the axis disappears
};

/// A slice of a tensor, axis by axis, with every index non-negative.
struct ResolvedSlice {
  Shape axes;                      // the length along each axis of the input; -1 where it is unknown
  Shape shape;                     // of the result: new axes added, single elements dropped
  int64_t begin[Shape::max_rank];  // along each axis of the input
  int64_t stride[Shape::max_rank];

  ResolvedSlice() {}  // NOLINT: the arrays are meaningful up to the rank only
  /// Covers the whole tensor, in order.
  bool is_whole(const Shape& in) const;
};

/// Resolves a slice; where begin, end or strides are null (known later), lengths that depend on them are unknown.
/// Returns what is wrong, or nothing.
std::string resolve_slice(const Shape& in, int count, const Integers* begin, const Integers* end,
                          const Integers* strides, const StridedSliceAttrs& masks, ResolvedSlice& result);

/// The slice of a tensor; begin, end and strides are vectors of one dtype.
Tensor strided_slice_by(const Tensor& input, const Tensor& begin, const Tensor& end, const Tensor& strides,
                        const StridedSliceAttrs& masks);

/// What stands between the brackets as a strided slice; begin, end and strides are int64 vectors.
struct IndexedPart {
  Tensor begin, end, strides;
  StridedSliceAttrs masks;
};
/// TypeError for what only reading takes: boolean masks.
IndexedPart part_of(std::span<const Index> indices);

/// Whether a value broadcasts to the result of a slice.
bool broadcasts_to(const ResolvedSlice& slice, const Shape& value);
/// Writes a value that broadcasts to the places of a slice in a tensor of shape `shape`.
void write_slice(DType dtype, const ResolvedSlice& slice, const Shape& value_shape, const void* value,
                 const Shape& shape, void* out);

/// Resolves the slice given by inputs first, first + 1 and first + 2 of a call; false when not even the rank of the
/// result can be told. Fails on bad slices.
bool infer_slice(const InferCall& c, const Shape& in, int first, ResolvedSlice& result);
/// The same in a kernel, where everything is known.
void read_slice(const KernelCall& c, const Shape& in, int first, ResolvedSlice& result);

}  // namespace thalweg

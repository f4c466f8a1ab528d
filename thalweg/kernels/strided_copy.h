// Moving elements between two layouts: transposing, slicing, joining, repeating and padding are all one loop nest.
#pragma once
#include <cstdint>

#include "thalweg/core/dtype.h"
#include "thalweg/core/shape.h"

namespace thalweg::kernels {

/// Copies a block of elements from one strided layout to another. Strides count elements; an input stride of 0
/// repeats, a negative one reverses. Axes are given from the outermost of the output inward; those that lie evenly in
/// both layouts are merged, so that most copies have one or two.
class StridedCopy {
 public:
  static constexpr int max_axes = 2 * Shape::max_rank;

  void axis(int64_t size, int64_t in_stride, int64_t out_stride);
  /// All axes of a block of this shape.
  void axes(const Shape& shape, const int64_t* in_strides, const int64_t* out_strides);
  /// Threads share large blocks. Input and output must not overlap.
  void run(DType dtype, const void* in, void* out) const;

  int rank() const { return rank_; }
  int64_t size(int i) const { return size_[i]; }
  int64_t in_stride(int i) const { return in_stride_[i]; }
  int64_t out_stride(int i) const { return out_stride_[i]; }

 private:
  int rank_ = 0;
  bool empty_ = false;
  int64_t size_[max_axes];
  int64_t in_stride_[max_axes];
  int64_t out_stride_[max_axes];
};

/// The strides of a dense tensor, one per dimension.
void dense_strides(const Shape& shape, int64_t* strides);

/// Writes the same element `count` times.
void fill_elements(DType dtype, const void* value, void* out, int64_t count);
/// Writes zeros, empty strings or null handles over what is there.
void clear_elements(DType dtype, void* out, int64_t count);

/// The address `offset` elements after `data`.
inline const void* element(DType dtype, const void* data, int64_t offset) {
  return static_cast<const char*>(data) + offset * static_cast<int64_t>(size_of(dtype));
}
inline void* element(DType dtype, void* data, int64_t offset) {
  return static_cast<char*>(data) + offset * static_cast<int64_t>(size_of(dtype));
}

}  // namespace thalweg::kernels

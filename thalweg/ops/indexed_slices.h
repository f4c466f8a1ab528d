// What ops do with gradients in the form of slices.
#pragma once
#include "thalweg/core/indexed_slices.h"

namespace thalweg {

/// Slices as the whole array they stand for, rows that are named twice added up; another tensor as it is.
/// ValueError where the number of rows is not known.
THALWEG_API Tensor to_array(const Tensor& tensor);
/// Slices in which every row is named once; their order is that of the first naming.
THALWEG_API IndexedSlices without_repeats(const IndexedSlices& slices);
/// The sum of two gradients of one tensor; slices only where both are. The memory of x is used again if nobody else
/// holds it.
THALWEG_API Tensor add_gradients(Tensor&& x, const Tensor& y);

/// The values of slices, or the array itself: what a norm is taken of.
inline const Tensor& values_of(const Tensor& tensor) {
  return is_indexed_slices(tensor) ? indexed_slices(tensor).values : tensor;
}
/// A function of an array, or of the values of slices, whose rows stay as they are.
template <class F> Tensor map_values(const Tensor& tensor, const F& f) {
  if (!is_indexed_slices(tensor)) return f(tensor);
  const IndexedSlices& s = indexed_slices(tensor);
  return IndexedSlices{f(s.values), s.indices, s.dense_shape};
}

}  // namespace thalweg

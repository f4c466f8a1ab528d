// What ops do with gradients in the form of slices.
#pragma once
#include "thalweg/core/indexed_slices.h"

namespace thalweg {

/// Slices as the whole array they stand for, rows that are named twice added up; another tensor as it is.
/// ValueError where the number of rows is not known.
THALWEG_API Tensor to_array(const Tensor& tensor);
/// Slices in which every row is named once; their order is that of the first naming.
THALWEG_API IndexedSlices without_repeats(const IndexedSlices& slices);
/// The sum of two gradients of one tensor; slices only where both are.
THALWEG_API Tensor add_gradients(const Tensor& x, const Tensor& y);

}  // namespace thalweg

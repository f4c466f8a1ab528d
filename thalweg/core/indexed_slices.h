// IndexedSlices: a tensor of which only some rows are given, the others are zero.
#pragma once
#include "thalweg/core/tensor.h"

namespace thalweg {

/// Rows of a larger tensor: `values[i]` belongs to row `indices[i]`, and rows named twice add up. The gradient of a
/// lookup has this form, so that a large table costs no more than the rows that were read.
/// It converts to a Tensor that keeps the form; every op takes such a tensor, making it whole first.
struct THALWEG_API IndexedSlices {
  Tensor values;
  Tensor indices;
  /// The shape of the whole, as a vector; may be None where it is not known.
  Tensor dense_shape;

  /// The same as a tensor in the form of slices.
  operator Tensor() const;  // NOLINT: a gradient is a tensor, whatever its form
};

/// Whether the tensor has the form of slices.
inline bool is_indexed_slices(const Tensor& tensor) { return tensor.defined() && tensor.impl()->form == Form::slices; }
/// The parts of a tensor in the form of slices; TypeError for another.
THALWEG_API const IndexedSlices& indexed_slices(const Tensor& tensor);

namespace detail {
void destroy_slices(TensorImpl* p);
}  // namespace detail

}  // namespace thalweg

#include "thalweg/core/indexed_slices.h"

#include <new>

#include "thalweg/core/convert.h"
#include "thalweg/core/error.h"

namespace thalweg {
namespace {

static_assert(sizeof(IndexedSlices) <= sizeof(TensorImpl::inline_data));

// What is known of the whole: all of it from dense_shape, else everything but the number of rows.
Shape whole_shape(const IndexedSlices& s) {
  if (s.dense_shape.defined() && !s.dense_shape.is_symbolic()) {
    std::vector<int64_t> sizes(static_cast<size_t>(s.dense_shape.size()));
    convert_elements(s.dense_shape.dtype(), s.dense_shape.impl()->data, DType::int64, sizes.data(),
                     static_cast<int64_t>(sizes.size()));
    Shape shape;
    for (int64_t size : sizes) shape.push_back(size);
    return shape;
  }
  Shape shape = s.values.shape();
  if (shape.has_rank() && shape.rank() > 0) shape[0] = unknown;
  return shape;
}

}  // namespace

IndexedSlices::operator Tensor() const {
  if (!values.defined() || !indices.defined()) throw ValueError("IndexedSlices needs values and indices");
  if (indices.dtype() != DType::int32 && indices.dtype() != DType::int64)
    throw TypeError("IndexedSlices: indices must be int32 or int64, got " + std::string(name_of(indices.dtype())));
  Tensor whole(TensorImpl::make());
  TensorImpl* p = whole.impl();
  p->dtype = values.dtype();
  p->shape = whole_shape(*this);
  p->device = values.impl()->device;
  new (p->inline_data) IndexedSlices(*this);
  p->form = Form::slices;
  return whole;
}

const IndexedSlices& indexed_slices(const Tensor& tensor) {
  if (!is_indexed_slices(tensor)) throw TypeError("this tensor has the form of an array, not of IndexedSlices");
  return *std::launder(reinterpret_cast<const IndexedSlices*>(tensor.impl()->inline_data));
}

namespace detail {
void destroy_slices(TensorImpl* p) { std::launder(reinterpret_cast<IndexedSlices*>(p->inline_data))->~IndexedSlices(); }
}  // namespace detail

}  // namespace thalweg

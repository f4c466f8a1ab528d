// How ops reach the lists that handles lead to, and what they read from their other inputs.
#pragma once
#include <string>

#include "thalweg/core/convert.h"
#include "thalweg/core/tensor_list.h"
#include "thalweg/ops/integers.h"
#include "thalweg/ops/op.h"

namespace thalweg::lists {

struct ElementAttrs {
  DType element_dtype = DType::invalid;
};

/// The list behind one handle of an input.
template <class Call> const TensorListResource& list_behind(const Call& c, const ResourceHandle& handle) {
  auto* list = dynamic_cast<const TensorListResource*>(handle.get());
  if (!list)
    c.fail("the handle leads to no list" + (handle ? " but to " + handle->describe() : std::string(": it is empty")));
  return *list;
}
template <class Call> const TensorListResource& list_input(const Call& c, int input) {
  return list_behind(c, *c.tensor(input).template mutable_data<ResourceHandle>());
}
/// Fails when the elements of a list have another dtype.
template <class Call> void check_dtype(const Call& c, const TensorListResource& list, DType dtype) {
  if (list.element_dtype() != dtype)
    c.fail("Invalid data types; op elements " + std::string(name_of(dtype)) + " but list elements " +
           std::string(name_of(list.element_dtype())));
}
/// The list of an input for infer: null while the handle is not known.
inline const TensorListResource* known_list(const InferCall& c, int input) {
  c.require_rank(input, 0);
  return c.has_value(input) ? &list_input(c, input) : nullptr;
}
inline const TensorListResource* known_list(const InferCall& c, int input, DType dtype) {
  const TensorListResource* list = known_list(c, input);
  if (list) check_dtype(c, *list, dtype);
  return list;
}

/// The shape that a vector means, -1 being unknown, or the scalar -1: any rank.
template <class Call> Shape read_element_shape(const Call& c, int input) {
  Integers dims = integers(c, input);
  const Tensor& t = c.tensor(input);
  if (t.rank() == 0) {
    if (dims[0] != -1) c.fail("element_shape must be a vector or the scalar -1, got " + std::to_string(dims[0]));
    return Shape::unknown_rank();
  }
  Shape shape;
  for (int64_t d : dims) {
    if (d < -1) c.fail("element_shape has the dimension " + std::to_string(d));
    shape.push_back(d);
  }
  return shape;
}
/// The same for infer: as far as it is known.
inline Shape known_element_shape(const InferCall& c, int input) {
  const Shape& s = c.shape(input);
  if (s.has_rank() && s.rank() > 1)
    c.fail("element_shape must be a vector or the scalar -1, got shape " + s.brackets());
  if (c.has_value(input)) return read_element_shape(c, input);
  return s.rank() == 1 ? c.partial_value(input) : Shape::unknown_rank();
}

/// What both say; fails when they disagree.
template <class Call> Shape merged(const Call& c, const Shape& a, const Shape& b) {
  if (!a.is_compatible_with(b)) c.fail("Incompatible shapes during merge: " + a.brackets() + " vs. " + b.brackets());
  return a.merge_with(b);
}
/// Without the first dimension.
inline Shape tail_of(const Shape& shape) {
  if (!shape.has_rank()) return shape;
  return Shape(shape.dims().subspan(1));
}
inline Shape with_first(int64_t dim, const Shape& tail) {
  if (!tail.has_rank()) return tail;
  Shape shape = tail;
  shape.insert(0, dim);
  return shape;
}

/// Zeros, in place of an element that is not set.
template <class Call> Tensor zeros_for(const Call& c, DType dtype, const Shape& shape) {
  if (dtype == DType::variant || dtype == DType::resource)
    c.fail("an element is not set, and there are no zeros of dtype " + std::string(name_of(dtype)));
  Tensor zeros = Tensor::empty(dtype, shape);
  if (dtype != DType::string) std::memset(zeros.mutable_data<void>(), 0, zeros.nbytes());
  return zeros;
}

/// The elements of a tensor from an offset on, as a tensor of this shape.
inline Tensor copy_part(const Tensor& from, int64_t offset, const Shape& shape) {
  Tensor part = Tensor::empty(from.dtype(), shape);
  const auto* first = from.mutable_data<char>() + offset * static_cast<int64_t>(size_of(from.dtype()));
  copy_elements(from.dtype(), first, part.mutable_data<void>(), shape.count());
  return part;
}

/// Output i is a list.
inline void put_list(const KernelCall& c, int output, std::shared_ptr<TensorListResource> list) {
  c.allocate(output, {});
  *c.output<ResourceHandle>(output) = std::move(list);
}

}  // namespace thalweg::lists

// TensorFlow's lists of tensors, by handle: what TensorArray and the gradients of loops are made of. A handle is a
// scalar variant; every op on a list gives another one and leaves the list as it was.
#pragma once
#include <span>

#include "thalweg/core/tensor_list.h"

namespace thalweg {

/// A shape as the ops on lists take it: a vector with -1 for unknown dimensions, or the scalar -1 for an unknown rank.
THALWEG_API Tensor element_shape_tensor(const Shape& shape);

/// A list without elements.
THALWEG_API Tensor empty_tensor_list(const Tensor& element_shape, DType element_dtype);
/// A list of elements that are not set yet.
THALWEG_API Tensor tensor_list_reserve(const Tensor& element_shape, const Tensor& num_elements, DType element_dtype);
/// The list with one more element at its end.
THALWEG_API Tensor tensor_list_push_back(const Tensor& handle, const Tensor& tensor);
struct PoppedList {
  Tensor list, tensor;
};
/// The list without its last element, and that element.
THALWEG_API PoppedList tensor_list_pop_back(const Tensor& handle, const Tensor& element_shape, DType element_dtype);
/// The list with another element at an index; past the end only when `resize` says so.
THALWEG_API Tensor tensor_list_set_item(const Tensor& handle, const Tensor& index, const Tensor& item,
                                        bool resize = false);
/// One element; zeros where it is not set.
THALWEG_API Tensor tensor_list_get_item(const Tensor& handle, const Tensor& index, const Tensor& element_shape,
                                        DType element_dtype);
/// The number of elements, a scalar int32.
THALWEG_API Tensor tensor_list_length(const Tensor& handle);
/// The list with its first elements only, or with more that are not set.
THALWEG_API Tensor tensor_list_resize(const Tensor& handle, const Tensor& size);
/// What every element's shape must fit, as an int32 tensor that the ops on lists take.
THALWEG_API Tensor tensor_list_element_shape(const Tensor& handle);

/// All elements along a new first axis; `num_elements` is how many there must be, -1 for any number.
THALWEG_API Tensor tensor_list_stack(const Tensor& handle, const Tensor& element_shape, DType element_dtype,
                                     int64_t num_elements = -1);
/// The list of a tensor's rows.
THALWEG_API Tensor tensor_list_from_tensor(const Tensor& tensor, const Tensor& element_shape);
/// The elements that the indices name, along a new first axis.
THALWEG_API Tensor tensor_list_gather(const Tensor& handle, const Tensor& indices, const Tensor& element_shape,
                                      DType element_dtype);
/// The list with the rows of a tensor at the indices; it grows where they need it.
THALWEG_API Tensor tensor_list_scatter(const Tensor& handle, const Tensor& tensor, const Tensor& indices);
struct ConcatenatedList {
  Tensor tensor, lengths;
};
/// All elements one after another along their first axis, and how long each is there. `leading_dims`, where it has
/// elements, says that of the elements that are not set.
THALWEG_API ConcatenatedList tensor_list_concat(const Tensor& handle, const Tensor& element_shape,
                                                const Tensor& leading_dims, DType element_dtype);
/// The list of pieces of these lengths along the first axis of a tensor.
THALWEG_API Tensor tensor_list_split(const Tensor& tensor, const Tensor& element_shape, const Tensor& lengths);

}  // namespace thalweg

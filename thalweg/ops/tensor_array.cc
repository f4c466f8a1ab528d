#include "thalweg/ops/tensor_array.h"

#include <algorithm>

#include "thalweg/core/error.h"
#include "thalweg/core/thread_state.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/integers.h"
#include "thalweg/ops/shaping.h"
#include "thalweg/ops/tensor_list.h"

namespace thalweg {
namespace {

bool is_known(const Tensor& t) { return t.impl()->form == Form::array; }
// Indices and sizes as the ops on lists take them.
Tensor as_int32(const TensorLike& values) {
  Tensor indices = index_tensor(values);
  if (indices.dtype() == DType::int32) return indices;
  if (indices.dtype() != DType::int64)
    throw TypeError("TensorArray: indices and sizes are integers, not " + std::string(name_of(indices.dtype())));
  if (is_known(indices))
    for (int64_t i : indices.span<int64_t>())
      if (i != static_cast<int32_t>(i)) throw OutOfRangeError("TensorArray: no index is " + std::to_string(i));
  return cast(indices, DType::int32);
}
bool is_tracing() { return thread_state.tracer != nullptr; }

Shape row_of(const Tensor& value) {
  if (!value.shape().has_rank()) return Shape::unknown_rank();
  if (value.rank() == 0) throw InvalidArgumentError("TensorArray: a scalar has no rows; the value needs a first axis");
  return Shape(value.shape().dims().subspan(1));
}

}  // namespace

TensorArray::TensorArray(DType dtype, const TensorArrayOptions& options)
    : dtype_(dtype), options_(options), element_shape_(options.element_shape) {}

TensorArray::TensorArray(DType dtype, const TensorLike& size, const TensorArrayOptions& options)
    : TensorArray(dtype, options) {
  size_ = as_int32(size);
  flow_ = tensor_list_reserve(element_shape_tensor(element_shape_), size_, dtype);
}

TensorArray TensorArray::from_flow(DType dtype, const Tensor& flow, const TensorArrayOptions& options) {
  if (flow.dtype() != DType::variant)
    throw TypeError("Expected `flow` to be a variant tensor, but received `" + std::string(name_of(flow.dtype())) +
                    "` instead.");
  TensorArray array(dtype, options);
  array.flow_ = flow;
  return array;
}

const TensorListResource* TensorArray::list() const { return is_known(flow_) ? &list_of(flow_) : nullptr; }

void TensorArray::mark_cleared(int64_t i, bool cleared) {
  if (is_cleared(i) == cleared) return;
  auto marks = cleared_ ? std::make_shared<TensorListResource>(*cleared_)
                        : std::make_shared<TensorListResource>(DType::bool_, Shape{});
  if (i >= marks->size()) marks->resize(i + 1);
  marks->set(i, cleared ? Tensor(true) : Tensor());
  cleared_ = std::move(marks);
}

Tensor TensorArray::as_element(const TensorLike& value) const {
  Tensor element = convert_to_tensor(value, {.dtype_hint = dtype_});
  if (element.dtype() != dtype_)
    throw InvalidArgumentError("TensorArray dtype is " + std::string(name_of(dtype_)) +
                               " but Op is trying to write dtype " + std::string(name_of(element.dtype())));
  return element;
}

void TensorArray::fit(const Shape& element) {
  if (!element_shape_.is_compatible_with(element))
    throw ValueError("Incompatible shape for value (" + element.str() + "), expected (" + element_shape_.str() + ")");
  if (options_.infer_shape) element_shape_ = element_shape_.merge_with(element);
}

Tensor TensorArray::size() const {
  if (const TensorListResource* known = list()) return Tensor(static_cast<int32_t>(known->size()));
  return size_.defined() && !options_.dynamic_size ? size_ : tensor_list_length(flow_);
}

Tensor TensorArray::read(const TensorLike& index) {
  Tensor at = as_int32(index);
  const TensorListResource* known = list();
  if (!known || !is_known(at)) return tensor_list_get_item(flow_, at, element_shape_tensor(element_shape_), dtype_);
  int32_t i = at.item<int32_t>();
  if (i < 0) throw OutOfRangeError("Reading from negative indices (index " + std::to_string(i) + ") is not allowed.");
  if (i >= known->size())
    throw OutOfRangeError("Tried to read from index " + std::to_string(i) +
                          " but array size is: " + std::to_string(known->size()));
  if (is_cleared(i))
    throw InvalidArgumentError("Could not read index " + std::to_string(i) +
                               " twice because it was cleared after a previous read (perhaps try setting "
                               "clear_after_read = false?)");
  Tensor element = tensor_list_get_item(flow_, at, element_shape_tensor(element_shape_), dtype_);
  if (options_.clear_after_read && !is_tracing()) {
    if (!zeros_.defined() || !(zeros_.shape() == element.shape())) zeros_ = zeros_like(element);
    flow_ = tensor_list_set_item(flow_, at, zeros_);
    mark_cleared(i, true);
  }
  return element;
}

TensorArray TensorArray::write(const TensorLike& index, const TensorLike& value) const {
  Tensor at = as_int32(index), element = as_element(value);
  TensorArray array = *this;
  if (const TensorListResource* known = list(); known && is_known(at)) {
    int32_t i = at.item<int32_t>();
    if (i < 0) throw OutOfRangeError("Writing to negative indices (index " + std::to_string(i) + ") is not allowed.");
    if (i >= known->size() && !options_.dynamic_size)
      throw OutOfRangeError("Tried to write to index " + std::to_string(i) +
                            " but array is not resizeable and size is: " + std::to_string(known->size()));
    array.mark_cleared(i, false);
  }
  array.fit(element.shape());
  array.flow_ = tensor_list_set_item(flow_, at, element, options_.dynamic_size);
  return array;
}

Tensor TensorArray::stack() const {
  const TensorListResource* known = list();
  if (known && known->size() == 0 && !element_shape_.is_fully_defined()) return zeros({0}, {.dtype = dtype_});
  bool fixed = !known && !options_.dynamic_size && size_.defined() && is_known(size_);
  return tensor_list_stack(flow_, element_shape_tensor(element_shape_), dtype_, fixed ? size_.item<int32_t>() : -1);
}

TensorArray TensorArray::unstack(const TensorLike& value) const {
  Tensor rows = as_element(value);
  TensorArray array = *this;
  array.fit(row_of(rows));
  int64_t count = rows.shape().has_rank() ? rows.shape()[0] : unknown;
  const TensorListResource* known = list();
  if (known && !options_.dynamic_size && count > known->size())
    throw ValueError("Cannot unstack " + std::to_string(count) + " tensors into a TensorArray of static size " +
                     std::to_string(known->size()));
  array.size_ = count >= 0 ? index_scalar(count) : Tensor();
  array.cleared_ = {};
  array.flow_ = tensor_list_from_tensor(rows, element_shape_tensor(array.element_shape_));
  return array;
}

Tensor TensorArray::concat() const {
  Shape element = element_shape_;
  if (element.rank() > 0) element[0] = unknown;
  return tensor_list_concat(flow_, element_shape_tensor(element), Tensor::empty(DType::int64, {0}), dtype_).tensor;
}

Tensor TensorArray::gather(const TensorLike& indices) const {
  return tensor_list_gather(flow_, as_int32(indices), element_shape_tensor(element_shape_), dtype_);
}

TensorArray TensorArray::scatter(const TensorLike& indices, const TensorLike& value) const {
  Tensor at = as_int32(indices), rows = as_element(value);
  TensorArray array = *this;
  array.fit(row_of(rows));
  if (const TensorListResource* known = list(); known && is_known(at))
    for (int32_t i : at.span<int32_t>()) {
      if (i < 0) throw OutOfRangeError("Writing to negative indices (index " + std::to_string(i) + ") is not allowed.");
      if (i >= known->size() && !options_.dynamic_size)
        throw OutOfRangeError("Tried to write to index " + std::to_string(i) +
                              " but array is not resizeable and size is: " + std::to_string(known->size()));
      array.mark_cleared(i, false);
    }
  array.flow_ = tensor_list_scatter(flow_, rows, at);
  return array;
}

TensorArray TensorArray::split(const TensorLike& value, const TensorLike& lengths) const {
  Tensor whole = as_element(value), parts = cast(index_tensor(lengths), DType::int64);
  if (parts.shape().has_rank() && parts.rank() != 1)
    throw InvalidArgumentError("Expected lengths to be a vector, received shape: " + parts.shape().brackets());
  if (whole.rank() == 0) throw InvalidArgumentError("Expected value to be at least a vector, but received shape: []");
  TensorArray array = *this;
  const TensorListResource* known = list();
  int64_t count = parts.shape().has_rank() ? parts.shape()[0] : unknown;
  if (known && count >= 0 && !options_.dynamic_size && count != known->size())
    throw InvalidArgumentError("TensorArray's size is not equal to the size of lengths (" +
                               std::to_string(known->size()) + " vs. " + std::to_string(count) +
                               "), and the TensorArray is not marked as dynamically resizeable.");
  array.cleared_ = {};
  array.size_ = count >= 0 ? index_scalar(count) : Tensor();
  array.flow_ = tensor_list_split(whole, element_shape_tensor(element_shape_), parts);
  return array;
}

TensorArray TensorArray::identity() const {
  TensorArray array = *this;
  array.flow_ = thalweg::identity(flow_);
  return array;
}

void TensorArray::close() {
  flow_ = tensor_list_reserve(element_shape_tensor(element_shape_), Tensor(0), dtype_);
  size_ = Tensor(0);
  zeros_ = {};
}

TensorArray TensorArray::grad(const std::string&) const {
  throw UnimplementedError(
      "TensorArray.grad is not supported: gradient tapes differentiate through arrays without it.");
}

}  // namespace thalweg

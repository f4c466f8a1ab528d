#include "thalweg/ops/integers.h"

#include <algorithm>
#include <cstdint>

#include "thalweg/core/convert.h"

namespace thalweg {

bool read_integers(const TensorImpl& tensor, Integers& values) {
  int64_t count = tensor.shape.count();
  if (count > Integers::capacity) return false;
  values.count = static_cast<int>(count);
  if (tensor.dtype == DType::int32) {
    std::copy_n(static_cast<const int32_t*>(tensor.data), count, values.at);
  } else if (tensor.dtype == DType::int64) {
    std::copy_n(static_cast<const int64_t*>(tensor.data), count, values.at);
  } else {
    convert_elements(tensor.dtype, tensor.data, DType::int64, values.at, count);
  }
  return true;
}

Tensor index_tensor(const TensorLike& values) {
  const Tensor& given = values.tensor();
  TensorImpl* p = given.get();
  if (!p || p->weak == Weak::strong) return given;
  if (p->shape.is_fully_defined() && p->shape.count() == 0) return Tensor::empty(DType::int32, p->shape);
  // A literal belongs to this call alone: that it is weak can be forgotten in place.
  if (p->weak == Weak::bare && (p->dtype == DType::int32 || p->dtype == DType::int64)) {
    p->weak = Weak::strong;
    return given;
  }
  // Real numbers are no sizes: the op refuses them, which says which argument it is. Arrays are cast, as in TensorFlow.
  if (is_floating(p->dtype) && p->weak == Weak::bare) return strengthen(given, natural_dtype(*p));
  if (is_floating(p->dtype)) {
    Tensor made = Tensor::empty(DType::int32, p->shape);
    convert_elements(p->dtype, p->data, DType::int32, made.impl()->data, p->shape.count());
    return made;
  }
  return strengthen(given, p->dtype == DType::int64 ? DType::int64 : DType::int32);
}

Tensor index_list(std::span<const int64_t> values) {
  bool narrow = std::ranges::all_of(values, [](int64_t v) { return v >= INT32_MIN && v <= INT32_MAX; });
  Tensor made = Tensor::empty(narrow ? DType::int32 : DType::int64, {static_cast<int64_t>(values.size())});
  convert_elements(DType::int64, values.data(), made.dtype(), made.mutable_data<void>(),
                   static_cast<int64_t>(values.size()));
  return made;
}

}  // namespace thalweg

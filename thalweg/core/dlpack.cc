#include "thalweg/core/dlpack.h"

#include <cstring>
#include <memory>

#include "thalweg/core/error.h"

namespace thalweg {
namespace {

enum TypeCode : uint8_t {
  code_int = 0,
  code_uint = 1,
  code_float = 2,
  code_bfloat = 4,
  code_complex = 5,
  code_bool = 6
};
constexpr int cpu = 1;

uint8_t code_of(DType t) {
  if (t == DType::bool_) return code_bool;
  if (t == DType::bfloat16) return code_bfloat;
  if (is_complex(t)) return code_complex;
  if (is_floating(t)) return code_float;
  return unsigned_types.has(t) ? code_uint : code_int;
}

DType dtype_from(const DLDataType& type) {
  if (type.lanes == 1)
    for (int i = 1; i < num_dtypes; ++i) {
      auto t = static_cast<DType>(i);
      if (plain_types.has(t) && code_of(t) == type.code && size_of(t) * 8 == type.bits) return t;
    }
  throw TypeError("from_dlpack: no dtype has code " + std::to_string(type.code) + ", " + std::to_string(type.bits) +
                  " bits and " + std::to_string(type.lanes) + " lanes");
}

/// What stands behind a tensor given away.
struct Shared {
  DLManagedTensor managed = {};
  Tensor tensor;
  int64_t shape[Shape::max_rank] = {};
  int64_t strides[Shape::max_rank] = {};
};

bool is_row_major(const DLTensor& t) {
  if (!t.strides) return true;
  int64_t expected = 1;
  for (int i = t.ndim; i-- > 0;) {
    if (t.shape[i] != 1 && t.strides[i] != expected) return false;
    expected *= t.shape[i];
  }
  return true;
}

// Elements in row-major order, each where its strides say.
void gather(const DLTensor& t, const std::byte* in, size_t width, int64_t count, std::byte* out) {
  int64_t index[Shape::max_rank] = {};
  int64_t at = 0;
  for (int64_t n = 0; n < count; ++n) {
    std::memcpy(out + static_cast<size_t>(n) * width, in + at * static_cast<int64_t>(width), width);
    for (int i = t.ndim; i-- > 0;) {
      at += t.strides[i];
      if (++index[i] < t.shape[i]) break;
      at -= t.strides[i] * t.shape[i];
      index[i] = 0;
    }
  }
}

// A byte that is neither 0 nor 1 is no C++ bool; sharing it would be undefined behaviour later.
bool has_stray_bools(DType dtype, const std::byte* data, int64_t count) {
  if (dtype != DType::bool_) return false;
  for (int64_t i = 0; i < count; ++i)
    if (data[i] > std::byte{1}) return true;
  return false;
}

void run_deleter(void* managed) {
  auto* m = static_cast<DLManagedTensor*>(managed);
  if (m->deleter) m->deleter(m);
}

}  // namespace

DLManagedTensor* to_dlpack(const Tensor& tensor) {
  DType dtype = tensor.dtype();
  if (!plain_types.has(dtype)) throw TypeError("to_dlpack: DLPack has no type for " + std::string(name_of(dtype)));
  if (tensor.is_symbolic()) throw TypeError("to_dlpack: a symbolic tensor has no memory yet: it is being traced");
  auto shared = std::make_unique<Shared>();
  shared->tensor = tensor;
  const Shape& shape = tensor.shape();
  int64_t stride = 1;
  for (int i = shape.rank(); i-- > 0;) {
    shared->shape[i] = shape[i];
    shared->strides[i] = stride;
    stride *= shape[i];
  }
  DLTensor& t = shared->managed.dl_tensor;
  t.data = tensor.mutable_data<void>();
  t.device.device_type = static_cast<decltype(t.device.device_type)>(cpu);
  t.ndim = shape.rank();
  t.dtype = {code_of(dtype), static_cast<uint8_t>(size_of(dtype) * 8), 1};
  t.shape = shared->shape;
  t.strides = shared->strides;
  shared->managed.manager_ctx = shared.get();
  shared->managed.deleter = [](DLManagedTensor* self) { delete static_cast<Shared*>(self->manager_ctx); };
  return &shared.release()->managed;
}

Tensor from_dlpack(DLManagedTensor* managed) {
  if (!managed) throw ValueError("from_dlpack: the capsule is empty or was used before");
  const DLTensor& t = managed->dl_tensor;
  if (static_cast<int>(t.device.device_type) != cpu)
    throw InvalidArgumentError("from_dlpack: the memory is on a device of type " +
                               std::to_string(static_cast<int>(t.device.device_type)) +
                               "; only CPU memory can be shared");
  DType dtype = dtype_from(t.dtype);
  if (t.ndim < 0 || t.ndim > Shape::max_rank || (t.ndim > 0 && !t.shape))
    throw InvalidArgumentError("from_dlpack: " + std::to_string(t.ndim) + " dimensions; a tensor has between 0 and " +
                               std::to_string(Shape::max_rank));
  Shape shape(std::span<const int64_t>(t.shape, static_cast<size_t>(t.ndim)));
  int64_t count = shape.num_elements();
  if (count < 0) throw InvalidArgumentError("from_dlpack: " + shape.brackets() + " is no shape of a tensor");
  if (count > 0 && !t.data)
    throw InvalidArgumentError("from_dlpack: there is no memory behind shape " + shape.brackets());
  size_t width = size_of(dtype);
  auto* data = static_cast<std::byte*>(t.data) + t.byte_offset;
  size_t alignment = is_complex(dtype) ? width / 2 : width;
  bool aligned = reinterpret_cast<uintptr_t>(data) % alignment == 0;
  if (count > 0 && aligned && is_row_major(t) && !has_stray_bools(dtype, data, count))
    return Tensor::view(dtype, shape, data, run_deleter, managed);
  Tensor copy = Tensor::empty(dtype, shape);
  auto* out = copy.mutable_data<std::byte>();
  if (count > 0 && t.strides) gather(t, data, width, count, out);
  else if (count > 0) std::memcpy(out, data, static_cast<size_t>(count) * width);
  if (dtype == DType::bool_)
    for (int64_t i = 0; i < count; ++i) out[i] = out[i] == std::byte{0} ? std::byte{0} : std::byte{1};
  run_deleter(managed);
  return copy;
}

}  // namespace thalweg

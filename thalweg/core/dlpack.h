// DLPack: tensors handed to and taken from other libraries without a copy.
#pragma once
#include <cstdint>

#include "thalweg/core/export.h"
#include "thalweg/core/tensor.h"

// The structs of DLPack's public specification, version 0.x: what a Python capsule named "dltensor" points at. Names
// and layout are the specification's, so that a pointer to one may be a pointer to any other library's. A program that
// has DLPack's own header includes it first, and its definitions are used.
#ifndef DLPACK_VERSION
extern "C" {
struct DLDevice {
  int32_t device_type;  // 1 is the CPU
  int32_t device_id;
};
struct DLDataType {
  uint8_t code;  // 0 int, 1 uint, 2 float, 4 bfloat, 5 complex, 6 bool
  uint8_t bits;
  uint16_t lanes;
};
struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; null means row-major without gaps
  uint64_t byte_offset;
};
struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor* self);
};
}
#endif

namespace thalweg {

/// Shares the tensor's memory, which lives until the receiver calls the deleter. The memory is immutable by contract.
/// TypeError for strings and handles, which DLPack has no type for.
THALWEG_API DLManagedTensor* to_dlpack(const Tensor& tensor);

/// Takes over what another library shares: without a copy where it is row-major, aligned CPU memory, else by copying
/// the elements. The deleter is called when the memory is no longer used; when an error is thrown, the caller still
/// owns it.
THALWEG_API Tensor from_dlpack(DLManagedTensor* managed);

}  // namespace thalweg

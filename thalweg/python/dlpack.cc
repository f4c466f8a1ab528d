// DLPack, both ways, without a copy. The structs are those of DLPack's specification, version 0.
#include <array>
#include <memory>

#include "thalweg/core/error.h"
#include "thalweg/python/convert.h"
#include "thalweg/python/tensor_slots.h"

namespace thalweg::python {
namespace {

struct DlDevice {
  int32_t type;  // 1: CPU
  int32_t id;
};
struct DlDataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};
struct DlTensor {
  void* data;
  DlDevice device;
  int32_t ndim;
  DlDataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; null: row-major
  uint64_t byte_offset;
};
struct DlManagedTensor {
  DlTensor tensor;
  void* context;
  void (*deleter)(DlManagedTensor*);
};
enum Code : uint8_t { code_int = 0, code_uint = 1, code_float = 2, code_bfloat = 4, code_complex = 5, code_bool = 6 };

constexpr const char* capsule_name = "dltensor";
constexpr const char* used_name = "used_dltensor";
constexpr int32_t cpu = 1;

DlDataType dl_type(DType dtype) {
  auto bits = static_cast<uint8_t>(size_of(dtype) * 8);
  if (dtype == bool_) return {code_bool, 8, 1};
  if (dtype == bfloat16) return {code_bfloat, bits, 1};
  if (is_floating(dtype)) return {code_float, bits, 1};
  if (is_complex(dtype)) return {code_complex, bits, 1};
  if (signed_types.has(dtype)) return {code_int, bits, 1};
  if (unsigned_types.has(dtype)) return {code_uint, bits, 1};
  throw InvalidArgumentError("a tensor of dtype " + std::string(name_of(dtype)) + " cannot be given to DLPack");
}

DType dtype_of(DlDataType type) {
  for (int i = 1; i < num_dtypes; ++i) {
    auto dtype = static_cast<DType>(i);
    if (!plain_types.has(dtype)) continue;
    DlDataType known = dl_type(dtype);
    if (known.code == type.code && known.bits == type.bits && type.lanes == 1) return dtype;
  }
  throw InvalidArgumentError("DLPack's type (code " + std::to_string(type.code) + ", " + std::to_string(type.bits) + " bits, " +
                             std::to_string(type.lanes) + " lanes) has no dtype here");
}

/// A tensor given away: it lives until the taker calls the deleter.
struct Given {
  DlManagedTensor managed = {};
  Tensor tensor;
  std::array<int64_t, Shape::max_rank> shape = {}, strides = {};
};

void delete_given(DlManagedTensor* managed) { delete static_cast<Given*>(managed->context); }

// A capsule that nobody took still owns its tensor.
void drop_capsule(PyObject* capsule) {
  if (!PyCapsule_IsValid(capsule, capsule_name)) return;
  auto* managed = static_cast<DlManagedTensor*>(PyCapsule_GetPointer(capsule, capsule_name));
  if (managed && managed->deleter) managed->deleter(managed);
}

void release_taken(void* context) {
  auto* managed = static_cast<DlManagedTensor*>(context);
  if (!managed->deleter) return;
  if (!Py_IsInitialized()) return;
  nb::gil_scoped_acquire gil;  // the giver may be a Python library
  managed->deleter(managed);
}

void require_row_major(const DlTensor& t) {
  if (!t.strides) return;
  int64_t expected = 1;
  bool empty = false;
  for (int i = 0; i < t.ndim; ++i) empty |= t.shape[i] == 0;
  for (int i = t.ndim - 1; i >= 0 && !empty; --i) {
    if (t.shape[i] != 1 && t.strides[i] != expected)
      throw InvalidArgumentError("from_dlpack needs row-major memory without gaps; make the array contiguous first");
    expected *= t.shape[i];
  }
}

Tensor take(PyObject* capsule) {
  if (!PyCapsule_IsValid(capsule, capsule_name)) throw InvalidArgumentError("from_dlpack needs a DLPack capsule that was not used before");
  auto* managed = static_cast<DlManagedTensor*>(PyCapsule_GetPointer(capsule, capsule_name));
  const DlTensor& t = managed->tensor;
  if (t.device.type != cpu) throw InvalidArgumentError("from_dlpack takes tensors of the CPU, this one is on device type " + std::to_string(t.device.type));
  if (t.ndim < 0 || t.ndim > Shape::max_rank || (t.ndim && !t.shape)) throw InvalidArgumentError("from_dlpack: a tensor of " + std::to_string(t.ndim) + " dimensions");
  Shape shape;
  for (int i = 0; i < t.ndim; ++i) {
    if (t.shape[i] < 0) throw InvalidArgumentError("from_dlpack: a dimension is negative");
    shape.push_back(t.shape[i]);
  }
  if (shape.num_elements() < 0) throw InvalidArgumentError("from_dlpack: the shape " + shape.brackets() + " is too large");
  require_row_major(t);
  DType dtype = dtype_of(t.dtype);
  checked(PyCapsule_SetName(capsule, used_name));
  return Tensor::view(dtype, shape, static_cast<std::byte*>(t.data) + t.byte_offset, release_taken, managed);
}

}  // namespace

PyObject* to_dlpack(PyObject* self) {
  return guarded([&] {
    const Tensor& tensor = tensor_of(self);
    if (tensor.is_symbolic()) throw TypeError("a symbolic tensor has no memory to share");
    auto given = std::make_unique<Given>();
    DlTensor& t = given->managed.tensor;
    t.dtype = dl_type(tensor.dtype());
    given->tensor = tensor;
    int64_t stride = 1;
    for (int i = tensor.rank() - 1; i >= 0; --i) {
      given->shape[static_cast<size_t>(i)] = tensor.shape()[i];
      given->strides[static_cast<size_t>(i)] = stride;
      stride *= tensor.shape()[i];
    }
    t.data = tensor.impl()->data;
    t.device = {cpu, 0};
    t.ndim = tensor.rank();
    t.shape = given->shape.data();
    t.strides = given->strides.data();
    given->managed.context = given.get();
    given->managed.deleter = delete_given;
    PyObject* capsule = checked(PyCapsule_New(&given->managed, capsule_name, drop_capsule));
    given.release();
    return capsule;
  });
}

void define_dlpack(nb::module_& module) {
  module.def(
      "to_dlpack",
      [](nb::handle x) {
        if (!is_tensor(x.ptr())) throw TypeError("The argument to `to_dlpack` must be a TF tensor, not Python object");
        return owned(to_dlpack(x.ptr()));
      },
      nb::arg("tf_tensor"), "The tensor as a DLPack capsule; the memory is shared, and must not be written.");
  module.def(
      "from_dlpack",
      [](nb::handle source) {
        nb::object capsule = nb::borrow(source);
        if (!PyCapsule_CheckExact(source.ptr()) && nb::hasattr(source, "__dlpack__")) capsule = source.attr("__dlpack__")();
        return nb::steal(wrap(take(capsule.ptr())));
      },
      nb::arg("dlcapsule"), "A tensor on the memory of a DLPack capsule, or of an object that gives one.");
}

}  // namespace thalweg::python

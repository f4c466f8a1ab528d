// DLPack capsules, both ways, over core/dlpack.h.
#include "thalweg/core/dlpack.h"

#include <memory>
#include <tuple>

#include "thalweg/core/error.h"
#include "thalweg/python/convert.h"
#include "thalweg/python/tensor_slots.h"

namespace thalweg::python {
namespace {

constexpr const char* fresh = "dltensor";
constexpr const char* used = "used_dltensor";

// A capsule that nobody took still owns its tensor.
void drop_capsule(PyObject* capsule) {
  if (!PyCapsule_IsValid(capsule, fresh)) return;
  auto* managed = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule, fresh));
  if (managed && managed->deleter) managed->deleter(managed);
}

/// Stands between a giver, which may be a Python library, and our tensor, which may die on any thread.
struct Taken {
  DLManagedTensor managed = {};
  DLManagedTensor* giver = nullptr;
};
void drop_taken(DLManagedTensor* managed) {
  std::unique_ptr<Taken> taken(static_cast<Taken*>(managed->manager_ctx));
  if (!taken->giver->deleter || !Py_IsInitialized()) return;
  nb::gil_scoped_acquire gil;
  taken->giver->deleter(taken->giver);
}

Tensor take(PyObject* capsule) {
  if (!PyCapsule_IsValid(capsule, fresh))
    throw InvalidArgumentError("from_dlpack needs a DLPack capsule that was not used before");
  auto taken = std::make_unique<Taken>();
  taken->giver = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule, fresh));
  taken->managed = {taken->giver->dl_tensor, taken.get(), drop_taken};
  Tensor tensor = from_dlpack(&taken->managed);
  std::ignore = taken.release();  // the tensor owns it
  checked(PyCapsule_SetName(capsule, used));
  return tensor;
}

}  // namespace

PyObject* to_dlpack(PyObject* self) {
  return guarded([&] {
    DLManagedTensor* managed = thalweg::to_dlpack(tensor_of(self));
    PyObject* capsule = PyCapsule_New(managed, fresh, drop_capsule);
    if (!capsule) managed->deleter(managed);
    return checked(capsule);
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
        bool gives = !PyCapsule_CheckExact(source.ptr()) && nb::hasattr(source, "__dlpack__");
        if (gives) capsule = source.attr("__dlpack__")();
        return nb::steal(wrap(take(capsule.ptr())));
      },
      nb::arg("dlcapsule"), "A tensor on the memory of a DLPack capsule, or of an object that gives one.");
}

}  // namespace thalweg::python

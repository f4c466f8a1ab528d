// What resource and variant tensors hold: shared handles on objects with state.
#pragma once
#include <cstddef>
#include <memory>
#include <string>

#include "thalweg/core/dtype.h"

namespace thalweg {

/// An object that ops reach through a handle: a variable, a random generator's state, a table.
class THALWEG_API Resource {
 public:
  virtual ~Resource();
  /// What it is, for printing and errors.
  virtual std::string describe() const = 0;
};
using ResourceHandle = std::shared_ptr<Resource>;
static_assert(sizeof(ResourceHandle) == 16);

/// Makes `count` empty strings or null handles in raw memory.
void construct_objects(DType dtype, void* data, size_t count);
void destroy_objects(DType dtype, void* data, size_t count);

}  // namespace thalweg

#include "thalweg/core/resource.h"

namespace thalweg {

Resource::~Resource() = default;

void construct_objects(DType dtype, void* data, size_t count) {
  if (dtype == DType::string) std::uninitialized_default_construct_n(static_cast<std::string*>(data), count);
  else std::uninitialized_default_construct_n(static_cast<ResourceHandle*>(data), count);
}

void destroy_objects(DType dtype, void* data, size_t count) {
  if (dtype == DType::string) std::destroy_n(static_cast<std::string*>(data), count);
  else std::destroy_n(static_cast<ResourceHandle*>(data), count);
}

}  // namespace thalweg

// Optionals: tensors behind a handle, or none. TensorFlow's conditionals pass what their gradients need in them.
#pragma once
#include <vector>

#include "thalweg/core/resource.h"
#include "thalweg/core/tensor.h"

namespace thalweg {

class OptionalResource : public Resource {
 public:
  OptionalResource(std::vector<Tensor> components, int nesting)
      : components_(std::move(components)), nesting_(nesting) {}
  std::string describe() const override {
    return components_.empty() ? "an empty optional"
                               : "an optional of " + std::to_string(components_.size()) + " tensors";
  }
  const std::vector<Tensor>& components() const { return components_; }
  /// How deep optionals are inside of it.
  int nesting() const { return nesting_; }

 private:
  std::vector<Tensor> components_;
  int nesting_;
};

}  // namespace thalweg

// Variables that are read in another dtype than they are kept in: weights of layers that compute in half precision.
#pragma once
#include "thalweg/core/tensor.h"

namespace thalweg {

/// While one lives, this thread reads variables that take part (`VariableResource::autocast`) in this dtype. They nest;
/// DType::invalid reads all as they are.
class THALWEG_API AutocastScope {
 public:
  explicit AutocastScope(DType dtype);
  ~AutocastScope();
  AutocastScope(const AutocastScope&) = delete;
  AutocastScope& operator=(const AutocastScope&) = delete;

 private:
  DType outer_;
};

/// The value of a variable as programs see it: in the dtype of the scope, where it takes part in one.
THALWEG_API Tensor read_autocast(const Tensor& handle);
/// A part of the value of this variable in the same dtype.
THALWEG_API Tensor autocast(const Tensor& handle, const Tensor& part);

}  // namespace thalweg

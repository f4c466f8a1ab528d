#include "thalweg/ops/autocast.h"

#include <utility>

#include "thalweg/core/variable_resource.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/fixed_variable.h"
#include "thalweg/ops/variable_ops.h"

namespace thalweg {
namespace {
constinit thread_local DType wanted [[gnu::tls_model("initial-exec")]] = DType::invalid;
}  // namespace

AutocastScope::AutocastScope(DType dtype) : outer_(std::exchange(wanted, dtype)) {}
AutocastScope::~AutocastScope() { wanted = outer_; }

Tensor autocast(const Tensor& handle, const Tensor& part) {
  if (wanted == DType::invalid || part.dtype() == wanted || !variable_of(handle).autocast) [[likely]]
    return part;
  return cast(part, wanted);
}
Tensor read_autocast(const Tensor& handle) {
  const std::optional<Tensor> fixed = fixed_value(handle);
  return autocast(handle, fixed ? *fixed : read_variable(handle));
}

}  // namespace thalweg

#include "thalweg/ops/fixed_variable.h"

#include <atomic>

namespace thalweg {
namespace {

class FixedVariable : public VariableResource {
 public:
  explicit FixedVariable(const Tensor& fixed) : VariableResource("fixed", fixed.dtype(), fixed.shape()), value(fixed) {
    trainable = false;
    autocast = true;  // weights of layers are read so
  }
  const Tensor value;
};

// Most programs make none: then no read has to ask.
std::atomic<bool> has_fixed = false;

}  // namespace

Variable fixed_variable(const Tensor& value) {
  has_fixed = true;
  return Variable::from_handle(make_handle(std::make_shared<FixedVariable>(value)));
}

std::optional<Tensor> fixed_value(const Tensor& handle) {
  if (!has_fixed.load(std::memory_order_relaxed)) [[likely]]
    return {};
  const auto* fixed = dynamic_cast<const FixedVariable*>(&variable_of(handle));
  return fixed ? std::optional(fixed->value) : std::nullopt;
}

}  // namespace thalweg

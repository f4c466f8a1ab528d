// The texts of tensors that have no value, from the part of the program that made them.
#pragma once
#include <atomic>

#include "thalweg/core/tensor.h"

namespace thalweg::detail {

/// TensorFlow's text of a symbolic tensor for print, or for a session; empty for tensors of others. Whoever makes such
/// tensors may put its function here.
using SymbolicText = std::string (*)(const Tensor& symbolic, bool for_session);
extern std::atomic<SymbolicText> symbolic_text;

}  // namespace thalweg::detail

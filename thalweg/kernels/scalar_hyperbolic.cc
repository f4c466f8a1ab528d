#include "thalweg/kernels/scalar_hyperbolic.h"

namespace thalweg::kernels::scalar::detail {
const float tanh_limit = 9.02f;
}  // namespace thalweg::kernels::scalar::detail

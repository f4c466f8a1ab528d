// The steps of optimizers: each is one pass over a variable, its slots and the gradient.
#pragma once
#include <cstddef>
#include <cstdint>

#include "thalweg/core/dtype.h"

namespace thalweg::kernels {

/// TensorFlow's update rules, and those of Keras that it has no op for. The arrays they change, then their scalars in
/// order; in brackets what `option` turns on.
enum class Step : uint8_t {
  gradient_descent,         // var; lr
  momentum,                 // var, accum; lr, momentum [Nesterov]
  keras_momentum,           // var, accum; lr, momentum [Nesterov]
  adam,                     // var, m, v; beta1_power, beta2_power, lr, beta1, beta2, epsilon [Nesterov]
  adam_amsgrad,             // var, m, v, vhat; as adam
  adagrad,                  // var, accum; lr, epsilon [accum changes]
  adadelta,                 // var, accum, accum_update; lr, rho, epsilon
  rms_prop,                 // var, ms, mom; lr, rho, momentum, epsilon
  centered_rms_prop,        // var, mg, ms, mom; as rms_prop
  ada_max,                  // var, m, v; beta1_power, lr, beta1, beta2, epsilon
  ftrl,                     // var, accum, linear; lr, l1, l2, l2_shrinkage, lr_power [linear is kept multiplied by lr]
  keras_rms_prop,           // var, ms; lr, rho, epsilon
  keras_centered_rms_prop,  // var, mg, ms; as keras_rms_prop
  keras_adagrad,            // var, accum; lr, epsilon, which is under the root
  keras_nadam,              // var, m, v; lr of m, lr of the gradient, beta1, beta2, 1 - beta2_power, epsilon
  keras_lion,               // var, m; lr, beta1, beta2
};

/// A step with its scalars, ready to run over any number of arrays of one dtype (real or complex numbers).
class OptimizerStep {
 public:
  static constexpr int max_arrays = 4, max_scalars = 6;

  /// `scalars` point at one element of the dtype each. Half types are computed in float.
  OptimizerStep(Step step, bool option, DType dtype, const void* const* scalars, int num_scalars);
  /// Changes `count` elements of the arrays, from element `at` on, by as many of the gradient, from `grad_at` on.
  void run(void* const* arrays, int num_arrays, int64_t at, const void* grad, int64_t grad_at, int64_t count) const;

 private:
  using Loop = void (*)(void* const* arrays, const void* grad, const void* scalars, int64_t count);

  Loop loop_ = nullptr;
  DType dtype_;
  alignas(16) std::byte scalars_[16 * max_scalars] = {};  // complex128 at most; floats where the dtype is a half type
};

}  // namespace thalweg::kernels

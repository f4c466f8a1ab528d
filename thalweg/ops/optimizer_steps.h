// The steps of optimizers: one pass over a variable and its slots. The Keras optimizers call these.
// The arguments are TensorFlow's, in its order; slots have the shape of the variable, all else is scalar except the
// gradient. Everything is checked before anything changes.
#pragma once
#include "thalweg/ops/variable.h"

namespace thalweg::optimizer_steps {

struct NesterovOptions {
  bool use_nesterov = false;  // look ahead: the step that momentum will take counts as taken
};
struct AdagradOptions {
  bool update_slots = true;  // false: accum stays as it is
};
struct FtrlOptions {
  bool multiply_linear_by_lr = false;  // keep linear multiplied by the rate, so that the rate may become zero
};

/// A step of gradient descent: var -= alpha * delta.
THALWEG_API void apply_gradient_descent(const Variable& var, const TensorLike& alpha, const TensorLike& delta);

/// A step with momentum: accum = momentum * accum + grad, var -= lr * accum.
THALWEG_API void apply_momentum(const Variable& var, const Variable& accum, const TensorLike& lr,
                                const TensorLike& grad, const TensorLike& momentum,
                                const NesterovOptions& options = {});

/// A step with momentum as Keras has it: accum = momentum * accum - lr * grad, var += accum.
THALWEG_API void apply_keras_momentum(const Variable& var, const Variable& accum, const TensorLike& lr,
                                      const TensorLike& grad, const TensorLike& momentum,
                                      const NesterovOptions& options = {});

/// A step of Adam: m and v follow the gradient and its square, var goes by m / (sqrt(v) + epsilon).
THALWEG_API void apply_adam(const Variable& var, const Variable& m, const Variable& v, const TensorLike& beta1_power,
                            const TensorLike& beta2_power, const TensorLike& lr, const TensorLike& beta1,
                            const TensorLike& beta2, const TensorLike& epsilon, const TensorLike& grad,
                            const NesterovOptions& options = {});

/// A step of Adam that divides by the root of the largest v so far.
THALWEG_API void apply_adam_with_amsgrad(const Variable& var, const Variable& m, const Variable& v,
                                         const Variable& vhat, const TensorLike& beta1_power,
                                         const TensorLike& beta2_power, const TensorLike& lr, const TensorLike& beta1,
                                         const TensorLike& beta2, const TensorLike& epsilon, const TensorLike& grad);

/// A step of Adagrad: accum += grad^2, var -= lr * grad / (sqrt(accum) + epsilon).
THALWEG_API void apply_adagrad(const Variable& var, const Variable& accum, const TensorLike& lr,
                               const TensorLike& epsilon, const TensorLike& grad, const AdagradOptions& options = {});

/// A step of Adadelta, whose length follows that of the last updates.
THALWEG_API void apply_adadelta(const Variable& var, const Variable& accum, const Variable& accum_update,
                                const TensorLike& lr, const TensorLike& rho, const TensorLike& epsilon,
                                const TensorLike& grad);

/// A step of RMSProp: ms follows the square of the gradient, which is divided by its root.
THALWEG_API void apply_rms_prop(const Variable& var, const Variable& ms, const Variable& mom, const TensorLike& lr,
                                const TensorLike& rho, const TensorLike& momentum, const TensorLike& epsilon,
                                const TensorLike& grad);

/// A step of RMSProp that divides by the root of the gradient's variance.
THALWEG_API void apply_centered_rms_prop(const Variable& var, const Variable& mg, const Variable& ms,
                                         const Variable& mom, const TensorLike& lr, const TensorLike& rho,
                                         const TensorLike& momentum, const TensorLike& epsilon, const TensorLike& grad);

/// A step of Adam with the largest gradient so far, faded by beta2, in place of the root of v.
THALWEG_API void apply_ada_max(const Variable& var, const Variable& m, const Variable& v, const TensorLike& beta1_power,
                               const TensorLike& lr, const TensorLike& beta1, const TensorLike& beta2,
                               const TensorLike& epsilon, const TensorLike& grad);

/// A step of FTRL-proximal with shrinkage.
THALWEG_API void apply_ftrl_v2(const Variable& var, const Variable& accum, const Variable& linear,
                               const TensorLike& grad, const TensorLike& lr, const TensorLike& l1, const TensorLike& l2,
                               const TensorLike& l2_shrinkage, const TensorLike& lr_power,
                               const FtrlOptions& options = {});

/// A step of FTRL-proximal.
THALWEG_API void apply_ftrl(const Variable& var, const Variable& accum, const Variable& linear, const TensorLike& grad,
                            const TensorLike& lr, const TensorLike& l1, const TensorLike& l2,
                            const TensorLike& lr_power, const FtrlOptions& options = {});

// Steps of Keras that TensorFlow has no op for.
/// A step of RMSProp without momentum.
THALWEG_API void apply_keras_rms_prop(const Variable& var, const Variable& ms, const TensorLike& lr,
                                      const TensorLike& rho, const TensorLike& epsilon, const TensorLike& grad);

/// A step of RMSProp without momentum that divides by the root of the gradient's variance.
THALWEG_API void apply_keras_centered_rms_prop(const Variable& var, const Variable& mg, const Variable& ms,
                                               const TensorLike& lr, const TensorLike& rho, const TensorLike& epsilon,
                                               const TensorLike& grad);

/// A step of Adagrad with epsilon under the root: var -= lr * grad / sqrt(accum + epsilon).
THALWEG_API void apply_keras_adagrad(const Variable& var, const Variable& accum, const TensorLike& lr,
                                     const TensorLike& epsilon, const TensorLike& grad);

/// A step of Nadam: var -= (m_lr * m + grad_lr * grad) / (sqrt(v / v_share) + epsilon).
THALWEG_API void apply_keras_nadam(const Variable& var, const Variable& m, const Variable& v, const TensorLike& m_lr,
                                   const TensorLike& grad_lr, const TensorLike& beta1, const TensorLike& beta2,
                                   const TensorLike& v_share, const TensorLike& epsilon, const TensorLike& grad);

/// A step of Lion: var -= lr * sign(beta1 * m + (1 - beta1) * grad), then m follows the gradient by beta2.
THALWEG_API void apply_keras_lion(const Variable& var, const Variable& m, const TensorLike& lr, const TensorLike& beta1,
                                  const TensorLike& beta2, const TensorLike& grad);

// Sparse gradients: grad[i] belongs to row indices[i]. A row that is named twice takes two steps, one after the other.
/// A step of Adagrad of the rows that the indices name.
THALWEG_API void sparse_apply_adagrad(const Variable& var, const Variable& accum, const TensorLike& lr,
                                      const TensorLike& epsilon, const TensorLike& grad, const TensorLike& indices,
                                      const AdagradOptions& options = {});

/// A step with momentum of the rows that the indices name.
THALWEG_API void sparse_apply_momentum(const Variable& var, const Variable& accum, const TensorLike& lr,
                                       const TensorLike& grad, const TensorLike& indices, const TensorLike& momentum,
                                       const NesterovOptions& options = {});

/// A step with momentum, as Keras has it, of the rows that the indices name.
THALWEG_API void sparse_apply_keras_momentum(const Variable& var, const Variable& accum, const TensorLike& lr,
                                             const TensorLike& grad, const TensorLike& indices,
                                             const TensorLike& momentum, const NesterovOptions& options = {});

/// A step of Adadelta of the rows that the indices name.
THALWEG_API void sparse_apply_adadelta(const Variable& var, const Variable& accum, const Variable& accum_update,
                                       const TensorLike& lr, const TensorLike& rho, const TensorLike& epsilon,
                                       const TensorLike& grad, const TensorLike& indices);

/// A step of RMSProp of the rows that the indices name.
THALWEG_API void sparse_apply_rms_prop(const Variable& var, const Variable& ms, const Variable& mom,
                                       const TensorLike& lr, const TensorLike& rho, const TensorLike& momentum,
                                       const TensorLike& epsilon, const TensorLike& grad, const TensorLike& indices);

/// A step of centered RMSProp of the rows that the indices name.
THALWEG_API void sparse_apply_centered_rms_prop(const Variable& var, const Variable& mg, const Variable& ms,
                                                const Variable& mom, const TensorLike& lr, const TensorLike& rho,
                                                const TensorLike& momentum, const TensorLike& epsilon,
                                                const TensorLike& grad, const TensorLike& indices);

/// A step of FTRL-proximal with shrinkage of the rows that the indices name.
THALWEG_API void sparse_apply_ftrl_v2(const Variable& var, const Variable& accum, const Variable& linear,
                                      const TensorLike& grad, const TensorLike& indices, const TensorLike& lr,
                                      const TensorLike& l1, const TensorLike& l2, const TensorLike& l2_shrinkage,
                                      const TensorLike& lr_power, const FtrlOptions& options = {});

/// A step of FTRL-proximal of the rows that the indices name.
THALWEG_API void sparse_apply_ftrl(const Variable& var, const Variable& accum, const Variable& linear,
                                   const TensorLike& grad, const TensorLike& indices, const TensorLike& lr,
                                   const TensorLike& l1, const TensorLike& l2, const TensorLike& lr_power,
                                   const FtrlOptions& options = {});

}  // namespace thalweg::optimizer_steps

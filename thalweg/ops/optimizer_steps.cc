#include "thalweg/ops/optimizer_steps.h"

#include <algorithm>

#include "thalweg/core/threads.h"
#include "thalweg/ops/optimizer_inputs.h"
#include "thalweg/ops/variable_access.h"

namespace thalweg {
namespace {

using kernels::Step;

// Memory is the limit, and threads that work on long stretches fetch fewer lines twice. Whole cache lines each.
int64_t chunk_of(int64_t count) { return std::clamp<int64_t>(count / 16, 8192, 262144) / 64 * 64; }

template <Step step, class Attrs> void run_dense(const KernelCall& c) {
  const StepInputs inputs(c.op);
  const kernels::OptimizerStep rule = make_step(c, inputs, step, option_of(c.attrs<Attrs>()));
  StepVariables variables(c, inputs);
  void* const* arrays = variables.writable();
  const int64_t count = variables.shape().count();
  parallel_chunks(count, chunk_of(count), [&](int64_t begin, int64_t end) {
    rule.run(arrays, inputs.num_variables, begin, c.input(inputs.grad), begin, end - begin);
  });
}

const Op& ResourceApplyGradientDescent = define_op({
    .name = "ResourceApplyGradientDescent",
    .doc = "A step of gradient descent: var -= alpha * delta.",
    .signature = "var: resource, alpha: T, delta: T ->",
    .types = {{"T", differentiable_types}},
    .attrs = attrs_of<StepAttrs>(),
    .infer = infer_step,
    .kernel = {run_dense<Step::gradient_descent, StepAttrs>},
    .traits = changes_variable,
});

const Op& ResourceApplyMomentum = define_op({
    .name = "ResourceApplyMomentum",
    .doc = "A step with momentum: accum = momentum * accum + grad, var -= lr * accum.",
    .signature = "var: resource, accum: resource, lr: T, grad: T, momentum: T ->",
    .types = {{"T", differentiable_types}},
    .attrs = attrs_of<NesterovAttrs>(),
    .infer = infer_step,
    .kernel = {run_dense<Step::momentum, NesterovAttrs>},
    .traits = changes_variable,
});

const Op& ResourceApplyKerasMomentum = define_op({
    .name = "ResourceApplyKerasMomentum",
    .doc = "A step with momentum as Keras has it: accum = momentum * accum - lr * grad, var += accum.",
    .signature = "var: resource, accum: resource, lr: T, grad: T, momentum: T ->",
    .types = {{"T", differentiable_types}},
    .attrs = attrs_of<NesterovAttrs>(),
    .infer = infer_step,
    .kernel = {run_dense<Step::keras_momentum, NesterovAttrs>},
    .traits = changes_variable,
});

const Op& ResourceApplyAdam = define_op({
    .name = "ResourceApplyAdam",
    .doc = "A step of Adam: m and v follow the gradient and its square, var goes by m / (sqrt(v) + epsilon).",
    .signature = "var: resource, m: resource, v: resource, beta1_power: T, beta2_power: T, lr: T, beta1: T, beta2: T, "
                 "epsilon: T, grad: T ->",
    .types = {{"T", differentiable_types}},
    .attrs = attrs_of<NesterovAttrs>(),
    .infer = infer_step,
    .kernel = {run_dense<Step::adam, NesterovAttrs>},
    .traits = changes_variable,
});

const Op& ResourceApplyAdamWithAmsgrad = define_op({
    .name = "ResourceApplyAdamWithAmsgrad",
    .doc = "A step of Adam that divides by the root of the largest v so far.",
    .signature = "var: resource, m: resource, v: resource, vhat: resource, beta1_power: T, beta2_power: T, lr: T, "
                 "beta1: T, beta2: T, epsilon: T, grad: T ->",
    .types = {{"T", float_types}},
    .attrs = attrs_of<StepAttrs>(),
    .infer = infer_step,
    .kernel = {run_dense<Step::adam_amsgrad, StepAttrs>},
    .traits = changes_variable,
});

const Op& ResourceApplyAdagradV2 = define_op({
    .name = "ResourceApplyAdagradV2",
    .doc = "A step of Adagrad: accum += grad^2, var -= lr * grad / (sqrt(accum) + epsilon).",
    .signature = "var: resource, accum: resource, lr: T, epsilon: T, grad: T ->",
    .types = {{"T", differentiable_types}},
    .attrs = attrs_of<AdagradAttrs>(),
    .infer = infer_step,
    .kernel = {run_dense<Step::adagrad, AdagradAttrs>},
    .traits = changes_variable,
});

const Op& ResourceApplyAdadelta = define_op({
    .name = "ResourceApplyAdadelta",
    .doc = "A step of Adadelta, whose length follows that of the last updates.",
    .signature = "var: resource, accum: resource, accum_update: resource, lr: T, rho: T, epsilon: T, grad: T ->",
    .types = {{"T", differentiable_types}},
    .attrs = attrs_of<StepAttrs>(),
    .infer = infer_step,
    .kernel = {run_dense<Step::adadelta, StepAttrs>},
    .traits = changes_variable,
});

const Op& ResourceApplyRMSProp = define_op({
    .name = "ResourceApplyRMSProp",
    .doc = "A step of RMSProp: ms follows the square of the gradient, which is divided by its root.",
    .signature = "var: resource, ms: resource, mom: resource, lr: T, rho: T, momentum: T, epsilon: T, grad: T ->",
    .types = {{"T", differentiable_types}},
    .attrs = attrs_of<StepAttrs>(),
    .infer = infer_step,
    .kernel = {run_dense<Step::rms_prop, StepAttrs>},
    .traits = changes_variable,
});

const Op& ResourceApplyCenteredRMSProp = define_op({
    .name = "ResourceApplyCenteredRMSProp",
    .doc = "A step of RMSProp that divides by the root of the gradient's variance.",
    .signature =
        "var: resource, mg: resource, ms: resource, mom: resource, lr: T, rho: T, momentum: T, epsilon: T, grad: T ->",
    .types = {{"T", differentiable_types}},
    .attrs = attrs_of<StepAttrs>(),
    .infer = infer_step,
    .kernel = {run_dense<Step::centered_rms_prop, StepAttrs>},
    .traits = changes_variable,
});

const Op& ResourceApplyAdaMax = define_op({
    .name = "ResourceApplyAdaMax",
    .doc = "A step of Adam with the largest gradient so far, faded by beta2, in place of the root of v.",
    .signature =
        "var: resource, m: resource, v: resource, beta1_power: T, lr: T, beta1: T, beta2: T, epsilon: T, grad: T ->",
    .types = {{"T", float_types}},
    .attrs = attrs_of<StepAttrs>(),
    .infer = infer_step,
    .kernel = {run_dense<Step::ada_max, StepAttrs>},
    .traits = changes_variable,
});

const Op& ResourceApplyFtrlV2 = define_op({
    .name = "ResourceApplyFtrlV2",
    .doc = "A step of FTRL-proximal with shrinkage.",
    .signature = "var: resource, accum: resource, linear: resource, grad: T, lr: T, l1: T, l2: T, l2_shrinkage: T, "
                 "lr_power: T ->",
    .types = {{"T", float_types}},
    .attrs = attrs_of<FtrlAttrs>(),
    .infer = infer_step,
    .kernel = {run_dense<Step::ftrl, FtrlAttrs>},
    .traits = changes_variable,
});

const Op& ResourceApplyFtrl = define_op({
    .name = "ResourceApplyFtrl",
    .doc = "A step of FTRL-proximal.",
    .signature = "var: resource, accum: resource, linear: resource, grad: T, lr: T, l1: T, l2: T, lr_power: T ->",
    .types = {{"T", float_types}},
    .attrs = attrs_of<FtrlAttrs>(),
    .infer = infer_step,
    .kernel = {run_dense<Step::ftrl, FtrlAttrs>},
    .traits = changes_variable,
});

// Steps of Keras that it composes of many ops; TensorFlow's are different, or want slots that Keras has not.
const Op& KerasRMSProp = define_op({
    .name = "_KerasRMSProp",
    .doc = "A step of RMSProp without momentum.",
    .signature = "var: resource, ms: resource, lr: T, rho: T, epsilon: T, grad: T ->",
    .types = {{"T", float_types}},
    .attrs = attrs_of<StepAttrs>(),
    .infer = infer_step,
    .kernel = {run_dense<Step::keras_rms_prop, StepAttrs>},
    .traits = changes_variable,
});

const Op& KerasCenteredRMSProp = define_op({
    .name = "_KerasCenteredRMSProp",
    .doc = "A step of RMSProp by the gradient's variance, without momentum.",
    .signature = "var: resource, mg: resource, ms: resource, lr: T, rho: T, epsilon: T, grad: T ->",
    .types = {{"T", float_types}},
    .attrs = attrs_of<StepAttrs>(),
    .infer = infer_step,
    .kernel = {run_dense<Step::keras_centered_rms_prop, StepAttrs>},
    .traits = changes_variable,
});

const Op& KerasAdagrad = define_op({
    .name = "_KerasAdagrad",
    .doc = "A step of Adagrad with epsilon under the root.",
    .signature = "var: resource, accum: resource, lr: T, epsilon: T, grad: T ->",
    .types = {{"T", float_types}},
    .attrs = attrs_of<StepAttrs>(),
    .infer = infer_step,
    .kernel = {run_dense<Step::keras_adagrad, StepAttrs>},
    .traits = changes_variable,
});

const Op& KerasNadam = define_op({
    .name = "_KerasNadam",
    .doc = "A step of Adam with Nesterov's momentum.",
    .signature = "var: resource, m: resource, v: resource, m_lr: T, grad_lr: T, beta1: T, beta2: T, v_share: T, "
                 "epsilon: T, grad: T ->",
    .types = {{"T", float_types}},
    .attrs = attrs_of<StepAttrs>(),
    .infer = infer_step,
    .kernel = {run_dense<Step::keras_nadam, StepAttrs>},
    .traits = changes_variable,
});

const Op& KerasLion = define_op({
    .name = "_KerasLion",
    .doc = "A step of Lion: var -= lr * sign(beta1 * m + (1 - beta1) * grad).",
    .signature = "var: resource, m: resource, lr: T, beta1: T, beta2: T, grad: T ->",
    .types = {{"T", float_types}},
    .attrs = attrs_of<StepAttrs>(),
    .infer = infer_step,
    .kernel = {run_dense<Step::keras_lion, StepAttrs>},
    .traits = changes_variable,
});

}  // namespace

namespace optimizer_steps {

void apply_gradient_descent(const Variable& var, const TensorLike& alpha, const TensorLike& delta) {
  apply_step(ResourceApplyGradientDescent, {var.handle(), alpha, delta});
}

void apply_momentum(const Variable& var, const Variable& accum, const TensorLike& lr, const TensorLike& grad,
                    const TensorLike& momentum, const NesterovOptions& options) {
  apply_step(ResourceApplyMomentum, {var.handle(), accum.handle(), lr, grad, momentum},
             NesterovAttrs{.use_nesterov = options.use_nesterov});
}

void apply_keras_momentum(const Variable& var, const Variable& accum, const TensorLike& lr, const TensorLike& grad,
                          const TensorLike& momentum, const NesterovOptions& options) {
  apply_step(ResourceApplyKerasMomentum, {var.handle(), accum.handle(), lr, grad, momentum},
             NesterovAttrs{.use_nesterov = options.use_nesterov});
}

void apply_adam(const Variable& var, const Variable& m, const Variable& v, const TensorLike& beta1_power,
                const TensorLike& beta2_power, const TensorLike& lr, const TensorLike& beta1, const TensorLike& beta2,
                const TensorLike& epsilon, const TensorLike& grad, const NesterovOptions& options) {
  apply_step(ResourceApplyAdam,
             {var.handle(), m.handle(), v.handle(), beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad},
             NesterovAttrs{.use_nesterov = options.use_nesterov});
}

void apply_adam_with_amsgrad(const Variable& var, const Variable& m, const Variable& v, const Variable& vhat,
                             const TensorLike& beta1_power, const TensorLike& beta2_power, const TensorLike& lr,
                             const TensorLike& beta1, const TensorLike& beta2, const TensorLike& epsilon,
                             const TensorLike& grad) {
  apply_step(ResourceApplyAdamWithAmsgrad, {var.handle(), m.handle(), v.handle(), vhat.handle(), beta1_power,
                                            beta2_power, lr, beta1, beta2, epsilon, grad});
}

void apply_adagrad(const Variable& var, const Variable& accum, const TensorLike& lr, const TensorLike& epsilon,
                   const TensorLike& grad, const AdagradOptions& options) {
  apply_step(ResourceApplyAdagradV2, {var.handle(), accum.handle(), lr, epsilon, grad},
             AdagradAttrs{.update_slots = options.update_slots});
}

void apply_adadelta(const Variable& var, const Variable& accum, const Variable& accum_update, const TensorLike& lr,
                    const TensorLike& rho, const TensorLike& epsilon, const TensorLike& grad) {
  apply_step(ResourceApplyAdadelta, {var.handle(), accum.handle(), accum_update.handle(), lr, rho, epsilon, grad});
}

void apply_rms_prop(const Variable& var, const Variable& ms, const Variable& mom, const TensorLike& lr,
                    const TensorLike& rho, const TensorLike& momentum, const TensorLike& epsilon,
                    const TensorLike& grad) {
  apply_step(ResourceApplyRMSProp, {var.handle(), ms.handle(), mom.handle(), lr, rho, momentum, epsilon, grad});
}

void apply_centered_rms_prop(const Variable& var, const Variable& mg, const Variable& ms, const Variable& mom,
                             const TensorLike& lr, const TensorLike& rho, const TensorLike& momentum,
                             const TensorLike& epsilon, const TensorLike& grad) {
  apply_step(ResourceApplyCenteredRMSProp,
             {var.handle(), mg.handle(), ms.handle(), mom.handle(), lr, rho, momentum, epsilon, grad});
}

void apply_ada_max(const Variable& var, const Variable& m, const Variable& v, const TensorLike& beta1_power,
                   const TensorLike& lr, const TensorLike& beta1, const TensorLike& beta2, const TensorLike& epsilon,
                   const TensorLike& grad) {
  apply_step(ResourceApplyAdaMax, {var.handle(), m.handle(), v.handle(), beta1_power, lr, beta1, beta2, epsilon, grad});
}

void apply_ftrl_v2(const Variable& var, const Variable& accum, const Variable& linear, const TensorLike& grad,
                   const TensorLike& lr, const TensorLike& l1, const TensorLike& l2, const TensorLike& l2_shrinkage,
                   const TensorLike& lr_power, const FtrlOptions& options) {
  apply_step(ResourceApplyFtrlV2,
             {var.handle(), accum.handle(), linear.handle(), grad, lr, l1, l2, l2_shrinkage, lr_power},
             FtrlAttrs{.multiply_linear_by_lr = options.multiply_linear_by_lr});
}

void apply_ftrl(const Variable& var, const Variable& accum, const Variable& linear, const TensorLike& grad,
                const TensorLike& lr, const TensorLike& l1, const TensorLike& l2, const TensorLike& lr_power,
                const FtrlOptions& options) {
  apply_step(ResourceApplyFtrl, {var.handle(), accum.handle(), linear.handle(), grad, lr, l1, l2, lr_power},
             FtrlAttrs{.multiply_linear_by_lr = options.multiply_linear_by_lr});
}

void apply_keras_rms_prop(const Variable& var, const Variable& ms, const TensorLike& lr, const TensorLike& rho,
                          const TensorLike& epsilon, const TensorLike& grad) {
  apply_step(KerasRMSProp, {var.handle(), ms.handle(), lr, rho, epsilon, grad});
}

void apply_keras_centered_rms_prop(const Variable& var, const Variable& mg, const Variable& ms, const TensorLike& lr,
                                   const TensorLike& rho, const TensorLike& epsilon, const TensorLike& grad) {
  apply_step(KerasCenteredRMSProp, {var.handle(), mg.handle(), ms.handle(), lr, rho, epsilon, grad});
}

void apply_keras_adagrad(const Variable& var, const Variable& accum, const TensorLike& lr, const TensorLike& epsilon,
                         const TensorLike& grad) {
  apply_step(KerasAdagrad, {var.handle(), accum.handle(), lr, epsilon, grad});
}

void apply_keras_nadam(const Variable& var, const Variable& m, const Variable& v, const TensorLike& m_lr,
                       const TensorLike& grad_lr, const TensorLike& beta1, const TensorLike& beta2,
                       const TensorLike& v_share, const TensorLike& epsilon, const TensorLike& grad) {
  apply_step(KerasNadam, {var.handle(), m.handle(), v.handle(), m_lr, grad_lr, beta1, beta2, v_share, epsilon, grad});
}

void apply_keras_lion(const Variable& var, const Variable& m, const TensorLike& lr, const TensorLike& beta1,
                      const TensorLike& beta2, const TensorLike& grad) {
  apply_step(KerasLion, {var.handle(), m.handle(), lr, beta1, beta2, grad});
}

}  // namespace optimizer_steps

}  // namespace thalweg

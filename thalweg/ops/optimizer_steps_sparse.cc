// Steps of the rows that indices name; every index is checked before a row changes.
#include <algorithm>

#include "thalweg/core/convert.h"
#include "thalweg/core/threads.h"
#include "thalweg/ops/indices.h"
#include "thalweg/ops/optimizer_inputs.h"
#include "thalweg/ops/optimizer_steps.h"
#include "thalweg/ops/variable_access.h"

namespace thalweg {
namespace {

using kernels::Step;

// TensorFlow asks this of the scalars of the sparse step only.
void check_ftrl(const KernelCall& c, const StepInputs& inputs) {
  const bool may_be_zero = c.attrs<FtrlAttrs>().multiply_linear_by_lr;
  for (int k = 0; k < inputs.num_scalars; ++k) {
    const int i = inputs.scalars[k];
    const std::string& name = c.op.args[static_cast<size_t>(i)].name;
    double value = 0;
    convert_elements(c.dtype(i), c.input(i), DType::float64, &value, 1);
    if (name == "lr" && !(value > 0 || (may_be_zero && value == 0)))
      c.fail("lr must be positive (or zero if multiply_linear_by_lr is set), got " + std::to_string(value));
    if (name == "lr_power" && !(value <= 0)) c.fail("lr_power must not be positive, got " + std::to_string(value));
    if (name.starts_with("l1") || name.starts_with("l2"))
      if (!(value >= 0)) c.fail(name + " must not be negative, got " + std::to_string(value));
  }
}

template <Step step, class Attrs> void run_sparse(const KernelCall& c) {
  const StepInputs inputs(c.op);
  if constexpr (step == Step::ftrl) check_ftrl(c, inputs);
  const kernels::OptimizerStep rule = make_step(c, inputs, step, option_of(c.attrs<Attrs>()));
  const Indices indices(c, inputs.indices);
  StepVariables variables(c, inputs);
  const int64_t rows = variables.shape()[0], row = variables.shape().count(1, variables.shape().rank());
  check_indices(c, inputs.indices, indices, rows);
  if (indices.size() == 0 || row == 0) return;
  void* const* arrays = variables.writable();
  // Threads share the rows, not the indices, so that a row's steps come one after the other.
  const double work = static_cast<double>(indices.size()) * static_cast<double>(row) * 2;
  const int64_t parts = row < 8 || work < 4 * serial_nanoseconds ? 1 : std::min<int64_t>(num_threads(), rows);
  parallel_chunks(parts, 1, [&](int64_t part, int64_t) {
    const int64_t begin = rows / parts * part, end = part + 1 == parts ? rows : begin + rows / parts;
    const UpdateRange range{{indices.data(), static_cast<size_t>(indices.size())}, begin, end, row};
    range.for_each([&](int64_t place, int64_t i) {
      rule.run(arrays, inputs.num_variables, place * row, c.input(inputs.grad), i * row, row);
    });
  });
}

const Op& ResourceSparseApplyAdagradV2 = define_op({
    .name = "ResourceSparseApplyAdagradV2",
    .doc = "A step of Adagrad of the rows that the indices name.",
    .signature = "var: resource, accum: resource, lr: T, epsilon: T, grad: T, indices: Tindices ->",
    .types = {{"T", differentiable_types}, {"Tindices", index_types}},
    .attrs = attrs_of<AdagradAttrs>(),
    .infer = infer_step,
    .kernel = {run_sparse<Step::adagrad, AdagradAttrs>},
    .traits = changes_variable,
});

const Op& ResourceSparseApplyMomentum = define_op({
    .name = "ResourceSparseApplyMomentum",
    .doc = "A step with momentum of the rows that the indices name.",
    .signature = "var: resource, accum: resource, lr: T, grad: T, indices: Tindices, momentum: T ->",
    .types = {{"T", differentiable_types}, {"Tindices", index_types}},
    .attrs = attrs_of<NesterovAttrs>(),
    .infer = infer_step,
    .kernel = {run_sparse<Step::momentum, NesterovAttrs>},
    .traits = changes_variable,
});

const Op& ResourceSparseApplyKerasMomentum = define_op({
    .name = "ResourceSparseApplyKerasMomentum",
    .doc = "A step with momentum, as Keras has it, of the rows that the indices name.",
    .signature = "var: resource, accum: resource, lr: T, grad: T, indices: Tindices, momentum: T ->",
    .types = {{"T", differentiable_types}, {"Tindices", index_types}},
    .attrs = attrs_of<NesterovAttrs>(),
    .infer = infer_step,
    .kernel = {run_sparse<Step::keras_momentum, NesterovAttrs>},
    .traits = changes_variable,
});

const Op& ResourceSparseApplyAdadelta = define_op({
    .name = "ResourceSparseApplyAdadelta",
    .doc = "A step of Adadelta of the rows that the indices name.",
    .signature = "var: resource, accum: resource, accum_update: resource, lr: T, rho: T, epsilon: T, grad: T, indices: "
                 "Tindices ->",
    .types = {{"T", differentiable_types}, {"Tindices", index_types}},
    .attrs = attrs_of<StepAttrs>(),
    .infer = infer_step,
    .kernel = {run_sparse<Step::adadelta, StepAttrs>},
    .traits = changes_variable,
});

const Op& ResourceSparseApplyRMSProp = define_op({
    .name = "ResourceSparseApplyRMSProp",
    .doc = "A step of RMSProp of the rows that the indices name.",
    .signature = "var: resource, ms: resource, mom: resource, lr: T, rho: T, momentum: T, epsilon: T, grad: T, "
                 "indices: Tindices ->",
    .types = {{"T", differentiable_types}, {"Tindices", index_types}},
    .attrs = attrs_of<StepAttrs>(),
    .infer = infer_step,
    .kernel = {run_sparse<Step::rms_prop, StepAttrs>},
    .traits = changes_variable,
});

const Op& ResourceSparseApplyCenteredRMSProp = define_op({
    .name = "ResourceSparseApplyCenteredRMSProp",
    .doc = "A step of centered RMSProp of the rows that the indices name.",
    .signature = "var: resource, mg: resource, ms: resource, mom: resource, lr: T, rho: T, momentum: T, epsilon: T, "
                 "grad: T, indices: Tindices ->",
    .types = {{"T", differentiable_types}, {"Tindices", index_types}},
    .attrs = attrs_of<StepAttrs>(),
    .infer = infer_step,
    .kernel = {run_sparse<Step::centered_rms_prop, StepAttrs>},
    .traits = changes_variable,
});

const Op& ResourceSparseApplyFtrlV2 = define_op({
    .name = "ResourceSparseApplyFtrlV2",
    .doc = "A step of FTRL-proximal with shrinkage of the rows that the indices name.",
    .signature = "var: resource, accum: resource, linear: resource, grad: T, indices: Tindices, lr: T, l1: T, l2: T, "
                 "l2_shrinkage: T, lr_power: T ->",
    .types = {{"T", float_types}, {"Tindices", index_types}},
    .attrs = attrs_of<FtrlAttrs>(),
    .infer = infer_step,
    .kernel = {run_sparse<Step::ftrl, FtrlAttrs>},
    .traits = changes_variable,
});

const Op& ResourceSparseApplyFtrl = define_op({
    .name = "ResourceSparseApplyFtrl",
    .doc = "A step of FTRL-proximal of the rows that the indices name.",
    .signature = "var: resource, accum: resource, linear: resource, grad: T, indices: Tindices, lr: T, l1: T, l2: T, "
                 "lr_power: T ->",
    .types = {{"T", float_types}, {"Tindices", index_types}},
    .attrs = attrs_of<FtrlAttrs>(),
    .infer = infer_step,
    .kernel = {run_sparse<Step::ftrl, FtrlAttrs>},
    .traits = changes_variable,
});

}  // namespace

namespace optimizer_steps {

void sparse_apply_adagrad(const Variable& var, const Variable& accum, const TensorLike& lr, const TensorLike& epsilon,
                          const TensorLike& grad, const TensorLike& indices, const AdagradOptions& options) {
  apply_step(ResourceSparseApplyAdagradV2, {var.handle(), accum.handle(), lr, epsilon, grad, indices},
             AdagradAttrs{.update_slots = options.update_slots});
}

void sparse_apply_momentum(const Variable& var, const Variable& accum, const TensorLike& lr, const TensorLike& grad,
                           const TensorLike& indices, const TensorLike& momentum, const NesterovOptions& options) {
  apply_step(ResourceSparseApplyMomentum, {var.handle(), accum.handle(), lr, grad, indices, momentum},
             NesterovAttrs{.use_nesterov = options.use_nesterov});
}

void sparse_apply_keras_momentum(const Variable& var, const Variable& accum, const TensorLike& lr,
                                 const TensorLike& grad, const TensorLike& indices, const TensorLike& momentum,
                                 const NesterovOptions& options) {
  apply_step(ResourceSparseApplyKerasMomentum, {var.handle(), accum.handle(), lr, grad, indices, momentum},
             NesterovAttrs{.use_nesterov = options.use_nesterov});
}

void sparse_apply_adadelta(const Variable& var, const Variable& accum, const Variable& accum_update,
                           const TensorLike& lr, const TensorLike& rho, const TensorLike& epsilon,
                           const TensorLike& grad, const TensorLike& indices) {
  apply_step(ResourceSparseApplyAdadelta,
             {var.handle(), accum.handle(), accum_update.handle(), lr, rho, epsilon, grad, indices});
}

void sparse_apply_rms_prop(const Variable& var, const Variable& ms, const Variable& mom, const TensorLike& lr,
                           const TensorLike& rho, const TensorLike& momentum, const TensorLike& epsilon,
                           const TensorLike& grad, const TensorLike& indices) {
  apply_step(ResourceSparseApplyRMSProp,
             {var.handle(), ms.handle(), mom.handle(), lr, rho, momentum, epsilon, grad, indices});
}

void sparse_apply_centered_rms_prop(const Variable& var, const Variable& mg, const Variable& ms, const Variable& mom,
                                    const TensorLike& lr, const TensorLike& rho, const TensorLike& momentum,
                                    const TensorLike& epsilon, const TensorLike& grad, const TensorLike& indices) {
  apply_step(ResourceSparseApplyCenteredRMSProp,
             {var.handle(), mg.handle(), ms.handle(), mom.handle(), lr, rho, momentum, epsilon, grad, indices});
}

void sparse_apply_ftrl_v2(const Variable& var, const Variable& accum, const Variable& linear, const TensorLike& grad,
                          const TensorLike& indices, const TensorLike& lr, const TensorLike& l1, const TensorLike& l2,
                          const TensorLike& l2_shrinkage, const TensorLike& lr_power, const FtrlOptions& options) {
  apply_step(ResourceSparseApplyFtrlV2,
             {var.handle(), accum.handle(), linear.handle(), grad, indices, lr, l1, l2, l2_shrinkage, lr_power},
             FtrlAttrs{.multiply_linear_by_lr = options.multiply_linear_by_lr});
}

void sparse_apply_ftrl(const Variable& var, const Variable& accum, const Variable& linear, const TensorLike& grad,
                       const TensorLike& indices, const TensorLike& lr, const TensorLike& l1, const TensorLike& l2,
                       const TensorLike& lr_power, const FtrlOptions& options) {
  apply_step(ResourceSparseApplyFtrl,
             {var.handle(), accum.handle(), linear.handle(), grad, indices, lr, l1, l2, lr_power},
             FtrlAttrs{.multiply_linear_by_lr = options.multiply_linear_by_lr});
}

}  // namespace optimizer_steps

}  // namespace thalweg

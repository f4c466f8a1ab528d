#include "thalweg/ops/optimizer_inputs.h"

#include "thalweg/ops/variable_access.h"

namespace thalweg {
namespace {

using kernels::OptimizerStep;

// The variable an input leads to, or the first again where a step has fewer: a variable given twice is locked once.
VariableResource* step_variable(const KernelCall& c, const StepInputs& inputs, int i) {
  return &variable_input(c, i < inputs.num_variables ? i : 0, c.dtype(inputs.grad));
}

const std::string& name_of_input(const Op& op, int i) { return op.args[static_cast<size_t>(i)].name; }

template <class Call> void check_grad(const Call& c, const StepInputs& inputs, const Shape& variable) {
  const Shape& grad = c.shape(inputs.grad);
  if (inputs.indices < 0) {
    if (!grad.is_compatible_with(variable))
      c.fail("var has shape " + variable.brackets() + ", but " + name_of_input(c.op, inputs.grad) + " has " +
             grad.brackets());
    return;
  }
  if (!variable.has_rank()) return;
  if (variable.rank() == 0) c.fail("var must have at least one dimension");
  const Shape& indices = c.shape(inputs.indices);
  Shape expected = (indices.has_rank() ? indices : Shape::of_rank(1)).concatenate(Shape(variable.dims().subspan(1)));
  if (!grad.is_compatible_with(expected))
    c.fail("grad must have shape " + expected.brackets() + " (indices.shape + var.shape[1:]), got " + grad.brackets());
}

}  // namespace

StepInputs::StepInputs(const Op& op) {
  for (int i = 0; i < static_cast<int>(op.args.size()); ++i) {
    const Arg& arg = op.args[static_cast<size_t>(i)];
    if (arg.dtype == DType::resource) ++num_variables;
    else if (arg.name == "grad" || arg.name == "delta") grad = i;
    else if (arg.name == "indices") indices = i;
    else scalars[num_scalars++] = i;
  }
}

void infer_step(InferCall& c) {
  const StepInputs inputs(c.op);
  for (int k = 0; k < inputs.num_scalars; ++k) c.require_rank(inputs.scalars[k], 0);
  if (inputs.indices >= 0) c.require_rank(inputs.indices, 1);
  const VariableResource* first = nullptr;
  for (int i = 0; i < inputs.num_variables; ++i) {
    const VariableResource* variable = known_variable(c, i, c.dtype(inputs.grad));
    if (i == 0) first = variable;
    if (!variable || !first) continue;
    if (!variable->shape().is_compatible_with(first->shape()))
      c.fail("var has shape " + first->shape().brackets() + ", but " + name_of_input(c.op, i) + " has " +
             variable->shape().brackets());
  }
  if (first) check_grad(c, inputs, first->shape());
}

StepVariables::StepVariables(const KernelCall& c, const StepInputs& inputs)
    : lock_({step_variable(c, inputs, 0), step_variable(c, inputs, 1), step_variable(c, inputs, 2),
             step_variable(c, inputs, 3)}),
      shape_(lock_.value(0).shape()),
      count_(inputs.num_variables) {
  for (int i = 1; i < count_; ++i)
    if (!(lock_.value(i).shape() == shape_))
      c.fail("var has shape " + shape_.brackets() + ", but " + name_of_input(c.op, i) + " has " +
             lock_.value(i).shape().brackets());
  check_grad(c, inputs, shape_);
}

void* const* StepVariables::writable() {
  for (int i = 0; i < count_; ++i) arrays_[i] = lock_.writable(i);
  return arrays_;
}

OptimizerStep make_step(const KernelCall& c, const StepInputs& inputs, kernels::Step step, bool option) {
  static constexpr std::byte zero[16] = {};
  const void* scalars[OptimizerStep::max_scalars];
  int count = 0;
  for (int k = 0; k < inputs.num_scalars; ++k) {
    // The first version of FTRL has no shrinkage, which comes before its last scalar.
    if (step == kernels::Step::ftrl && inputs.num_scalars == 4 && k == 3) scalars[count++] = zero;
    scalars[count++] = c.input(inputs.scalars[k]);
  }
  return OptimizerStep(step, option, c.dtype(inputs.grad), scalars, count);
}

}  // namespace thalweg

// What the records of optimizer steps share: which inputs are variables, scalars, the gradient and the indices, and
// the checks that come before anything changes.
#pragma once
#include <initializer_list>

#include "thalweg/kernels/optimizer.h"
#include "thalweg/ops/apply.h"
#include "thalweg/ops/variable.h"

namespace thalweg {

/// The inputs of a step by their part in it; the signature says which is which.
struct StepInputs {
  explicit StepInputs(const Op& op);

  int num_variables = 0;  // the first inputs: the variable and its slots
  int grad = 0;
  int indices = -1;  // sparse steps
  int scalars[kernels::OptimizerStep::max_scalars];
  int num_scalars = 0;
};

/// Shapes and dtypes: slots like the variable, scalars without dimensions, the gradient like the variable, or [n] +
/// variable.shape[1:] where there are n indices.
void infer_step(InferCall& c);

/// The variables of a step, locked, of one shape and ready to be written to.
class StepVariables {
 public:
  /// Fails when one has no value, or the shapes do not go together.
  StepVariables(const KernelCall& c, const StepInputs& inputs);

  const Shape& shape() const { return shape_; }
  /// The memory of each, to be asked for when everything else has been checked.
  void* const* writable();

 private:
  VariableLock lock_;
  Shape shape_;
  int count_;
  void* arrays_[kernels::OptimizerStep::max_arrays] = {};
};

/// The step with the scalars of a call.
kernels::OptimizerStep make_step(const KernelCall& c, const StepInputs& inputs, kernels::Step step, bool option);

/// What most steps take; the records name no other attribute.
struct StepAttrs {
  bool use_locking = false;
};
struct NesterovAttrs {
  bool use_locking = false;
  bool use_nesterov = false;
};
struct AdagradAttrs {
  bool use_locking = false;
  bool update_slots = true;
};
struct FtrlAttrs {
  bool use_locking = false;
  bool multiply_linear_by_lr = false;
};
inline bool option_of(const StepAttrs&) { return false; }
inline bool option_of(const NesterovAttrs& attrs) { return attrs.use_nesterov; }
inline bool option_of(const AdagradAttrs& attrs) { return attrs.update_slots; }
inline bool option_of(const FtrlAttrs& attrs) { return attrs.multiply_linear_by_lr; }

/// A call of a step, which has no results.
inline void apply_step(const Op& op, std::initializer_list<TensorRef> in, AttrsRef attrs = {}) {
  apply(op, in, attrs, {});
}

}  // namespace thalweg

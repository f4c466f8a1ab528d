#include "thalweg/keras/optimizers.h"
#include "thalweg/ops/optimizer_steps.h"

namespace thalweg::keras::optimizers {
namespace {

struct AdadeltaOptimizer {
  AdadeltaOptions options = {};
  std::vector<Variable> accumulated_grads = {}, accumulated_delta_vars = {};

  void build(std::span<const Variable> variables) {
    for (const Variable& v : variables) {
      accumulated_grads.push_back(add_slot(v, "accumulated_grad"));
      accumulated_delta_vars.push_back(add_slot(v, "accumulated_delta_var"));
    }
  }
  void update_step(const Tensor& gradient, const Variable& variable, size_t i) {
    const DType dtype = variable.dtype();
    auto s = once_per_step(dtype, [&] {
      return std::vector{current_optimizer().current_rate(dtype), exact_scalar(options.rho, dtype),
                         exact_scalar(options.epsilon, dtype)};
    });
    optimizer_steps::apply_adadelta(variable, accumulated_grads[i], accumulated_delta_vars[i], s[0], s[1], s[2],
                                    gradient);
  }
};

const bool adadelta_aliases[] = {register_alias("optimizer", "adadelta", "Adadelta"),
                                 register_alias("optimizer", "experimentaladadelta", "Adadelta")};

}  // namespace

Optimizer Adadelta(const AdadeltaOptions& options) { return AdadeltaOptimizer{options}; }

}  // namespace thalweg::keras::optimizers

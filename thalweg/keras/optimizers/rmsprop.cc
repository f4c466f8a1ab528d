#include "thalweg/keras/optimizers.h"
#include "thalweg/ops/optimizer_steps.h"

namespace thalweg::keras::optimizers {
namespace {

struct RMSpropOptimizer {
  RMSpropOptions options = {};
  std::vector<Variable> velocities = {}, momentums = {}, average_gradients = {};

  void build(std::span<const Variable> variables) {
    for (const Variable& v : variables) velocities.push_back(add_slot(v, "velocity"));
    if (options.momentum > 0)
      for (const Variable& v : variables) momentums.push_back(add_slot(v, "momentum"));
    if (options.centered)
      for (const Variable& v : variables) average_gradients.push_back(add_slot(v, "average_gradient"));
  }
  void update_step(const Tensor& gradient, const Variable& variable, size_t i) {
    const DType dtype = variable.dtype();
    auto s = once_per_step(dtype, [&] {
      return std::vector{current_optimizer().current_rate(dtype), exact_scalar(options.rho, dtype),
                         exact_scalar(options.epsilon, dtype), exact_scalar(options.momentum, dtype)};
    });
    using namespace optimizer_steps;
    const bool has_momentum = options.momentum > 0;
    if (options.centered && has_momentum)
      apply_centered_rms_prop(variable, average_gradients[i], velocities[i], momentums[i], s[0], s[1], s[3], s[2],
                              gradient);
    else if (options.centered)
      apply_keras_centered_rms_prop(variable, average_gradients[i], velocities[i], s[0], s[1], s[2], gradient);
    else if (has_momentum) apply_rms_prop(variable, velocities[i], momentums[i], s[0], s[1], s[3], s[2], gradient);
    else apply_keras_rms_prop(variable, velocities[i], s[0], s[1], s[2], gradient);
  }
};

const bool rmsprop_aliases[] = {register_alias("optimizer", "rmsprop", "RMSprop")};

}  // namespace

Optimizer RMSprop(const RMSpropOptions& options) { return RMSpropOptimizer{options}; }

}  // namespace thalweg::keras::optimizers

#include "thalweg/keras/optimizers.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/optimizer_steps.h"

namespace thalweg::keras::optimizers {
namespace {

// Adam and AdamW are one, but for the default of weight_decay.
template <class Options> struct AdamSlots {
  std::vector<Variable> momentums = {}, velocities = {}, velocity_hats = {};

  void build(std::span<const Variable> variables, const Options& options) {
    for (const Variable& variable : variables) {
      momentums.push_back(add_slot(variable, "m"));
      velocities.push_back(add_slot(variable, "v"));
    }
    if (options.amsgrad)
      for (const Variable& variable : variables) velocity_hats.push_back(add_slot(variable, "vhat"));
  }
  void update_step(const Tensor& gradient, const Variable& variable, size_t i, const Options& options) const {
    const DType dtype = variable.dtype();
    auto s = once_per_step(dtype, [&] {
      OptimizerInterface& self = current_optimizer();
      Tensor step = cast(self.iterations.value() + int64_t{1}, dtype);
      return std::vector{pow(option_scalar(options.beta_1, dtype), step),
                         pow(option_scalar(options.beta_2, dtype), step),
                         self.current_rate(dtype),
                         exact_scalar(options.beta_1, dtype),
                         exact_scalar(options.beta_2, dtype),
                         exact_scalar(options.epsilon, dtype)};
    });
    if (options.amsgrad)
      optimizer_steps::apply_adam_with_amsgrad(variable, momentums[i], velocities[i], velocity_hats[i], s[0], s[1],
                                               s[2], s[3], s[4], s[5], gradient);
    else
      optimizer_steps::apply_adam(variable, momentums[i], velocities[i], s[0], s[1], s[2], s[3], s[4], s[5], gradient);
  }
};

struct AdamOptimizer {
  AdamOptions options = {};
  AdamSlots<AdamOptions> slots = {};

  void build(std::span<const Variable> variables) { slots.build(variables, options); }
  void update_step(const Tensor& gradient, const Variable& variable, size_t index) {
    slots.update_step(gradient, variable, index, options);
  }
};

struct AdamWOptimizer {
  AdamWOptions options = {};
  AdamSlots<AdamWOptions> slots = {};

  void check() const {
    if (!options.weight_decay)
      throw ValueError("Missing value of `weight_decay` which is required and must be a float value.");
  }
  void build(std::span<const Variable> variables) { slots.build(variables, options); }
  void update_step(const Tensor& gradient, const Variable& variable, size_t index) {
    slots.update_step(gradient, variable, index, options);
  }
};

const bool adam_aliases[] = {register_alias("optimizer", "adam", "Adam"),
                             register_alias("optimizer", "experimentaladam", "Adam"),
                             register_alias("optimizer", "adamw", "AdamW")};

}  // namespace

Optimizer Adam(const AdamOptions& options) { return AdamOptimizer{options}; }
Optimizer AdamW(const AdamWOptions& options) { return AdamWOptimizer{options}; }

}  // namespace thalweg::keras::optimizers

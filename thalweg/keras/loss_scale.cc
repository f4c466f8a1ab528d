#include "thalweg/keras/loss_scale.h"

#include "thalweg/autodiff/gradient_tape.h"
#include "thalweg/core/error.h"
#include "thalweg/graph/control_flow.h"
#include "thalweg/graph/init_scope.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/indexed_slices.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_rounding.h"
#include "thalweg/ops/reduction.h"

namespace thalweg::keras::mixed_precision {
namespace {

constexpr double default_scale = 32768;
constexpr int64_t default_growth_steps = 2000;
constexpr float multiplier = 2;

struct LossScaler {
  static constexpr const char* class_name = "LossScaleOptimizer";
  static constexpr bool has_whole_config = true;
  Optimizer inner_optimizer = {};
  LossScaleOptions options = {};
  Variable current_loss_scale = {}, good_steps = {};  // where it is dynamic

  void check() {
    if (!inner_optimizer.defined())
      throw TypeError("\"inner_optimizer\" must be an instance of Optimizer, but got: None.");
    if (is_loss_scale_optimizer(inner_optimizer))
      throw TypeError("LossScaleOptimizer cannot wrap another LossScaleOptimizer, but got: " + inner_optimizer.name());
    if (!options.dynamic) {
      if (!options.initial_scale) throw ValueError("\"initial_scale\" must be specified if \"dynamic\" is False");
      if (options.dynamic_growth_steps)
        throw ValueError("\"dynamic_growth_steps\" must be None if \"dynamic\" is False, but got: " +
                         std::to_string(*options.dynamic_growth_steps));
      return;
    }
    if (!options.initial_scale) options.initial_scale = default_scale;
    if (!options.dynamic_growth_steps) options.dynamic_growth_steps = default_growth_steps;
    InitScope outside;
    current_loss_scale = Variable(Tensor(static_cast<float>(options.initial_scale.value_or(default_scale))),
                                  {.trainable = false, .name = "current_loss_scale"});
    good_steps = Variable(Tensor(int64_t{0}), {.trainable = false, .name = "good_steps"});
  }

  Tensor scale() const {
    return options.dynamic ? current_loss_scale.value()
                           : Tensor(static_cast<float>(options.initial_scale.value_or(default_scale)));
  }
  Tensor scaled(const Tensor& loss) const { return loss * cast(scale(), loss.dtype()); }
  std::vector<Tensor> unscaled(std::vector<Tensor> gradients) const {
    const Tensor factor = 1.0f / scale();
    for (Tensor& gradient : gradients)
      if (gradient.defined())
        gradient = map_values(gradient, [&](const Tensor& g) { return g * cast(factor, g.dtype()); });
    return gradients;
  }

  OptimizerInterface& target() const { return *inner_optimizer.get(); }
  std::vector<Tensor> compute_gradients(GradientTape& tape, const Tensor& loss,
                                        const std::vector<Variable>& variables) {
    // The gradient of a scaled loss is the one that begins with the scale.
    Tensor seed = ones_like(loss) * cast(scale(), loss.dtype());
    return unscaled(tape.gradient(loss, variables, {.output_gradients = {seed}}));
  }
  void apply_gradients(std::span<const Tensor> gradients, std::span<const Variable> variables,
                       const std::string& scope) {
    OptimizerInterface& inner = *inner_optimizer.get();
    if (!options.dynamic) return inner.apply_gradients(gradients, variables, scope);
    inner.build_all(variables);
    Tensor is_finite(true);
    for (const Tensor& gradient : gradients)
      if (gradient.defined())
        is_finite = logical_and(is_finite, reduce_all(math::is_finite(thalweg::values_of(gradient))));
    cond(
        is_finite,
        [&] {
          grow();
          inner.apply_gradients(gradients, variables, scope);
        },
        [&] {
          good_steps.assign(Tensor(int64_t{0}));
          current_loss_scale.assign(maximum(current_loss_scale.value() / multiplier, 1.0f));
          inner.iterations.assign_add(int64_t{1});
        });
  }
  void grow() const {
    Tensor steps = good_steps.value() + int64_t{1};
    cond(
        steps >= Tensor(options.dynamic_growth_steps.value_or(default_growth_steps)),
        [&] {
          Tensor larger = current_loss_scale.value() * multiplier;
          cond(math::is_finite(larger), [&] { current_loss_scale.assign(larger); }, [] {});
          good_steps.assign(Tensor(int64_t{0}));
        },
        [&] { good_steps.assign(steps); });
  }
  void update_step(const Tensor& gradient, const Variable& variable, size_t index) {
    inner_optimizer.object().update_step(gradient, variable, index);
  }
};

const LossScaler& scaler_of(const Optimizer& optimizer) {
  const LossScaler* found = optimizer.as<LossScaler>();
  if (!found) throw TypeError(optimizer.class_name() + " is no LossScaleOptimizer");
  return *found;
}

}  // namespace

LossScaleHandle LossScaleOptimizer(const Optimizer& inner_optimizer, const LossScaleOptions& options) {
  return LossScaleHandle(LossScaler{inner_optimizer, options});
}
bool is_loss_scale_optimizer(const Optimizer& optimizer) { return optimizer.as<LossScaler>() != nullptr; }

Tensor LossScaleHandle::loss_scale() const { return scaler_of(*this).scale(); }
Variable LossScaleHandle::dynamic_counter() const { return scaler_of(*this).good_steps; }
const Optimizer& LossScaleHandle::inner_optimizer() const { return scaler_of(*this).inner_optimizer; }
Tensor LossScaleHandle::get_scaled_loss(const Tensor& loss) const { return scaler_of(*this).scaled(loss); }
std::vector<Tensor> LossScaleHandle::get_unscaled_gradients(const std::vector<Tensor>& gradients) const {
  return scaler_of(*this).unscaled(gradients);
}

}  // namespace thalweg::keras::mixed_precision

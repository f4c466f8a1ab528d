// Loss scaling: gradients in float16 that would vanish are computed of a larger loss.
#pragma once
#include "thalweg/keras/optimizer.h"

namespace thalweg::keras::mixed_precision {

struct LossScaleOptions {
  Flag dynamic = true;                               // the scale doubles, or halves where gradients are not finite
  std::optional<double> initial_scale = {};          // 32768; a scale that stays must be given
  std::optional<int64_t> dynamic_growth_steps = {};  // finite steps before it doubles: 2000
};

/// The handle of a LossScaleOptimizer: `optimizer.loss_scale()`.
class THALWEG_API LossScaleHandle : public Optimizer {
 public:
  explicit LossScaleHandle(const Optimizer& optimizer) : Optimizer(optimizer) {}
  /// The scale now.
  Tensor loss_scale() const;
  /// Finite steps since it last changed; not defined where it stays.
  Variable dynamic_counter() const;
  const Optimizer& inner_optimizer() const;
  /// The loss to take gradients of, and the gradients by themselves: for training loops of a program's own. `minimize`
  /// and `fit` do both.
  Tensor get_scaled_loss(const Tensor& loss) const;
  std::vector<Tensor> get_unscaled_gradients(const std::vector<Tensor>& gradients) const;
};
/// Makes the steps of another optimizer with gradients of a scaled loss; steps with gradients that are not finite are
/// left out. Models whose policy is mixed_float16 wrap theirs by themselves.
THALWEG_API LossScaleHandle LossScaleOptimizer(const Optimizer& inner_optimizer, const LossScaleOptions& options = {});
/// Whether it is one.
THALWEG_API bool is_loss_scale_optimizer(const Optimizer& optimizer);

}  // namespace thalweg::keras::mixed_precision

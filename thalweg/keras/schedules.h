// Learning rates that change from step to step; give one as `.learning_rate`. A lambda or a struct from the number of
// the step to the rate does as well: `.learning_rate = [](const Tensor& step) { ... }`.
#pragma once
#include "thalweg/keras/optimizer.h"

namespace thalweg::keras::optimizers::schedules {

struct DecayOptions {
  Flag staircase = false;  // whole multiples of decay_steps only
  std::optional<std::string> name = {};
};
/// initial * decay_rate ^ (step / decay_steps).
THALWEG_API LearningRateSchedule ExponentialDecay(double initial_learning_rate, double decay_steps, double decay_rate,
                                                  const DecayOptions& options = {});
/// initial / (1 + decay_rate * step / decay_steps).
THALWEG_API LearningRateSchedule InverseTimeDecay(double initial_learning_rate, double decay_steps, double decay_rate,
                                                  const DecayOptions& options = {});

struct PolynomialDecayOptions {
  double end_learning_rate = 0.0001, power = 1;
  Flag cycle = false;  // begin anew, more slowly each time, instead of staying at the end
  std::optional<std::string> name = {};
};
/// From the initial rate to the last one in decay_steps steps: (initial - end) * (1 - step / decay_steps) ^ power +
/// end.
THALWEG_API LearningRateSchedule PolynomialDecay(double initial_learning_rate, double decay_steps,
                                                 const PolynomialDecayOptions& options = {});

struct PiecewiseConstantDecayOptions {
  std::optional<std::string> name = {};
};
/// values[0] up to and with step boundaries[0], then values[1] and so on: one value more than boundaries.
THALWEG_API LearningRateSchedule PiecewiseConstantDecay(const std::vector<int64_t>& boundaries,
                                                        const std::vector<double>& values,
                                                        const PiecewiseConstantDecayOptions& options = {});

struct CosineDecayOptions {
  double alpha = 0;  // the share of the rate that is left in the end
  std::optional<std::string> name = {};
  std::optional<double> warmup_target = {};  // rises to this first, in warmup_steps
  double warmup_steps = 0;
};
/// Half a wave of cosine down to alpha in decay_steps steps.
THALWEG_API LearningRateSchedule CosineDecay(double initial_learning_rate, double decay_steps,
                                             const CosineDecayOptions& options = {});

struct CosineDecayRestartsOptions {
  double t_mul = 2, m_mul = 1;  // each period is t_mul times as long as the last and begins with m_mul times its rate
  double alpha = 0;
  std::optional<std::string> name = {};
};
/// Half waves of cosine, one after the other.
THALWEG_API LearningRateSchedule CosineDecayRestarts(double initial_learning_rate, double first_decay_steps,
                                                     const CosineDecayRestartsOptions& options = {});

// The same with an option by position (docs/decisions/0013).
template <As<double> A = double>
LearningRateSchedule PolynomialDecay(double initial_learning_rate, double decay_steps, const A& end_learning_rate,
                                     PolynomialDecayOptions options = {}) {
  return PolynomialDecay(initial_learning_rate, decay_steps,
                         with(options, options.end_learning_rate, end_learning_rate));
}
template <As<double> A = double>
LearningRateSchedule CosineDecay(double initial_learning_rate, double decay_steps, const A& alpha,
                                 CosineDecayOptions options = {}) {
  return CosineDecay(initial_learning_rate, decay_steps, with(options, options.alpha, alpha));
}

}  // namespace thalweg::keras::optimizers::schedules

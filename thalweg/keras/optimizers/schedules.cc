// Keras computes schedules with float32 tensors, whatever the dtype of the step.
#include "thalweg/keras/schedules.h"

#include <numbers>

#include "thalweg/ops/casting.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_elementary.h"
#include "thalweg/ops/math_rounding.h"
#include "thalweg/ops/selection.h"

namespace thalweg::keras::optimizers::schedules {
namespace {

Tensor real(const Tensor& step) { return cast(step, DType::float32); }
Tensor real(double number) { return Tensor(static_cast<float>(number)); }

// How many times decay_steps the step is.
Tensor periods(const Tensor& step, double decay_steps, const DecayOptions& options) {
  Tensor share = real(step) / real(decay_steps);
  return options.staircase ? floor(share) : share;
}

struct ExponentialDecaySchedule {
  double initial_learning_rate = 0, decay_steps = 0, decay_rate = 0;
  DecayOptions options = {};
  Tensor call(const Tensor& step) {
    return real(initial_learning_rate) * pow(real(decay_rate), periods(step, decay_steps, options));
  }
};

struct InverseTimeDecaySchedule {
  double initial_learning_rate = 0, decay_steps = 0, decay_rate = 0;
  DecayOptions options = {};
  Tensor call(const Tensor& step) {
    return real(initial_learning_rate) / (1 + real(decay_rate) * periods(step, decay_steps, options));
  }
};

struct PolynomialDecaySchedule {
  double initial_learning_rate = 0, decay_steps = 0;
  PolynomialDecayOptions options = {};
  Tensor call(const Tensor& step) {
    Tensor at = real(step), length = real(decay_steps), end = real(options.end_learning_rate);
    if (options.cycle) length = length * where(equal(at, 0), real(1), ceil(at / length));
    else at = minimum(at, length);
    return (real(initial_learning_rate) - end) * pow(1 - at / length, real(options.power)) + end;
  }
};

struct PiecewiseConstantDecaySchedule {
  std::vector<int64_t> boundaries = {};
  std::vector<double> values = {};
  PiecewiseConstantDecayOptions options = {};

  void check() const {
    if (boundaries.size() + 1 == values.size()) return;
    throw ValueError("The length of boundaries should be 1 less than the length of values. Received: boundaries=" +
                     to_value(boundaries).json() + " of length " + std::to_string(boundaries.size()) +
                     ", and values=" + to_value(values).json() + " of length " + std::to_string(values.size()) + ".");
  }
  Tensor call(const Tensor& step) {
    Tensor rate = real(values.back());
    for (size_t i = boundaries.size(); i-- > 0;)
      rate = where(less_equal(step, cast(Tensor(boundaries[i]), step.dtype())), real(values[i]), rate);
    return rate;
  }
};

// 1 at share 0, alpha at share 1.
Tensor cosine(const Tensor& share, double alpha, const Tensor& scale = {}) {
  Tensor wave = 1.0 + cos(real(std::numbers::pi) * share);
  wave = scale.defined() ? 0.5 * scale * wave : 0.5 * wave;
  return (1 - alpha) * wave + alpha;
}

struct CosineDecaySchedule {
  double initial_learning_rate = 0, decay_steps = 0;
  CosineDecayOptions options = {};
  Tensor call(const Tensor& step) {
    Tensor at = real(step), length = real(decay_steps);
    if (!options.warmup_target)
      return real(initial_learning_rate) * cosine(minimum(at, length) / length, options.alpha);
    Tensor target = real(*options.warmup_target), warmup = real(options.warmup_steps);
    at = minimum(at, length + warmup);
    Tensor rising = (target - real(initial_learning_rate)) * (at / warmup) + real(initial_learning_rate);
    return where(less(at, warmup), rising, target * cosine((at - warmup) / length, options.alpha));
  }
};

struct CosineDecayRestartsSchedule {
  double initial_learning_rate = 0, first_decay_steps = 0;
  CosineDecayRestartsOptions options = {};
  Tensor call(const Tensor& step) {
    Tensor share = real(step) / real(first_decay_steps), restarts;
    if (options.t_mul == 1) {
      restarts = floor(share);
      share = share - restarts;
    } else {
      // The lengths of the periods are a geometric series.
      Tensor t_mul = real(options.t_mul);
      restarts = floor(log(1.0 - share * (1.0 - t_mul)) / log(t_mul));
      Tensor length = pow(t_mul, restarts);
      share = (share - (1.0 - length) / (1.0 - t_mul)) / length;
    }
    return real(initial_learning_rate) * cosine(share, options.alpha, pow(real(options.m_mul), restarts));
  }
};

}  // namespace

LearningRateSchedule ExponentialDecay(double initial_learning_rate, double decay_steps, double decay_rate,
                                      const DecayOptions& options) {
  return ExponentialDecaySchedule{initial_learning_rate, decay_steps, decay_rate, options};
}
LearningRateSchedule InverseTimeDecay(double initial_learning_rate, double decay_steps, double decay_rate,
                                      const DecayOptions& options) {
  return InverseTimeDecaySchedule{initial_learning_rate, decay_steps, decay_rate, options};
}
LearningRateSchedule PolynomialDecay(double initial_learning_rate, double decay_steps,
                                     const PolynomialDecayOptions& options) {
  return PolynomialDecaySchedule{initial_learning_rate, decay_steps, options};
}
LearningRateSchedule PiecewiseConstantDecay(const std::vector<int64_t>& boundaries, const std::vector<double>& values,
                                            const PiecewiseConstantDecayOptions& options) {
  return PiecewiseConstantDecaySchedule{boundaries, values, options};
}
LearningRateSchedule CosineDecay(double initial_learning_rate, double decay_steps, const CosineDecayOptions& options) {
  return CosineDecaySchedule{initial_learning_rate, decay_steps, options};
}
LearningRateSchedule CosineDecayRestarts(double initial_learning_rate, double first_decay_steps,
                                         const CosineDecayRestartsOptions& options) {
  return CosineDecayRestartsSchedule{initial_learning_rate, first_decay_steps, options};
}

}  // namespace thalweg::keras::optimizers::schedules

#include "thalweg/keras/optimizers.h"
#include "thalweg/ops/optimizer_steps.h"

namespace thalweg::keras::optimizers {
namespace {

struct LionOptimizer {
  LionOptions options = {};
  std::vector<Variable> momentums = {};

  void check() const {
    if (options.beta_1 <= 0 || options.beta_1 > 1)
      throw ValueError("`beta_1`=" + Value(options.beta_1).json() +
                       " must be between ]0, 1]. Otherwise, the optimizer degenerates to SignSGD.");
  }
  void build(std::span<const Variable> variables) {
    for (const Variable& v : variables) momentums.push_back(add_slot(v, "m"));
  }
  void update_step(const Tensor& gradient, const Variable& variable, size_t i) {
    const DType dtype = variable.dtype();
    auto s = once_per_step(dtype, [&] {
      return std::vector{current_optimizer().current_rate(dtype), option_scalar(options.beta_1, dtype),
                         option_scalar(options.beta_2, dtype)};
    });
    optimizer_steps::apply_keras_lion(variable, momentums[i], s[0], s[1], s[2], gradient);
  }
};

const bool lion_aliases[] = {register_alias("optimizer", "lion", "Lion")};

}  // namespace

Optimizer Lion(const LionOptions& options) { return LionOptimizer{options}; }

}  // namespace thalweg::keras::optimizers

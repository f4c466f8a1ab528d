#include "thalweg/keras/optimizers.h"
#include "thalweg/ops/optimizer_steps.h"

namespace thalweg::keras::optimizers {
namespace {

struct SGDOptimizer {
  SGDOptions options = {};
  std::vector<Variable> momentums = {};

  void check() const {
    if (options.momentum < 0 || options.momentum > 1) throw ValueError("`momentum` must be between [0, 1].");
  }
  // Keras keeps the last step in its slots without momentum too.
  void build(std::span<const Variable> variables) {
    for (const Variable& v : variables) momentums.push_back(add_slot(v, "m"));
  }
  void update_step(const Tensor& gradient, const Variable& variable, size_t index) {
    const DType dtype = variable.dtype();
    auto s = once_per_step(dtype, [&] {
      return std::vector{current_optimizer().current_rate(dtype), option_scalar(options.momentum, dtype)};
    });
    optimizer_steps::apply_keras_momentum(variable, momentums[index], s[0], gradient, s[1],
                                          {.use_nesterov = options.nesterov});
  }
};

const bool sgd_aliases[] = {register_alias("optimizer", "sgd", "SGD"),
                            register_alias("optimizer", "experimentalsgd", "SGD")};

}  // namespace

Optimizer SGD(const SGDOptions& options) { return SGDOptimizer{options}; }

}  // namespace thalweg::keras::optimizers

#include "thalweg/keras/optimizers.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/optimizer_steps.h"

namespace thalweg::keras::optimizers {
namespace {

struct NadamOptimizer {
  NadamOptions options = {};
  std::vector<Variable> momentums = {}, velocities = {};
  Variable u_product = {};  // of the momentums of all steps so far

  void build(std::span<const Variable> variables) {
    for (const Variable& v : variables) {
      momentums.push_back(add_slot(v, "m"));
      velocities.push_back(add_slot(v, "v"));
    }
    if (!variables.empty()) u_product = Variable(exact_scalar(1, variables[0].dtype()), {.trainable = false});
  }
  // The momentum of a step: it grows towards beta_1.
  Tensor momentum_at(const Tensor& step, DType dtype) const {
    return option_scalar(options.beta_1, dtype) * (1.0 - 0.5 * pow(option_scalar(0.96, dtype), step));
  }
  void update_step(const Tensor& gradient, const Variable& variable, size_t i) {
    const DType dtype = variable.dtype();
    auto s = once_per_step(dtype, [&] {
      OptimizerInterface& self = current_optimizer();
      Tensor step = cast(self.iterations.value() + int64_t{1}, dtype);
      Tensor u = momentum_at(step, dtype), next_u = momentum_at(step + 1, dtype), rate = self.current_rate(dtype);
      // Once per step, whatever the dtypes of the variables.
      Tensor product = cast(once_per_step(DType::invalid,
                                          [&] {
                                            u_product.assign(u_product.value() * cast(u, u_product.dtype()));
                                            return std::vector{u_product.value()};
                                          })[0],
                            dtype);
      Tensor beta_2 = option_scalar(options.beta_2, dtype);
      return std::vector{next_u / (1 - product * next_u) * rate,
                         (1 - u) / (1 - product) * rate,
                         option_scalar(options.beta_1, dtype),
                         beta_2,
                         1 - pow(beta_2, step),
                         exact_scalar(options.epsilon, dtype)};
    });
    optimizer_steps::apply_keras_nadam(variable, momentums[i], velocities[i], s[0], s[1], s[2], s[3], s[4], s[5],
                                       gradient);
  }
};

const bool aliases[] = {register_alias("optimizer", "nadam", "Nadam")};

}  // namespace

Optimizer Nadam(const NadamOptions& options) { return NadamOptimizer{options}; }

}  // namespace thalweg::keras::optimizers

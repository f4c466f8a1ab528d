#include "thalweg/keras/optimizers.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/optimizer_steps.h"

namespace thalweg::keras::optimizers {
namespace {

struct AdamaxOptimizer {
  AdamaxOptions options = {};
  std::vector<Variable> m = {}, u = {};

  void build(std::span<const Variable> variables) {
    for (const Variable& v : variables) {
      m.push_back(add_slot(v, "m"));
      u.push_back(add_slot(v, "u"));
    }
  }
  void update_step(const Tensor& gradient, const Variable& variable, size_t i) {
    const DType dtype = variable.dtype();
    auto s = once_per_step(dtype, [&] {
      OptimizerInterface& self = current_optimizer();
      Tensor step = cast(self.iterations.value() + int64_t{1}, dtype);
      return std::vector{pow(option_scalar(options.beta_1, dtype), step), self.current_rate(dtype),
                         exact_scalar(options.beta_1, dtype), exact_scalar(options.beta_2, dtype),
                         exact_scalar(options.epsilon, dtype)};
    });
    optimizer_steps::apply_ada_max(variable, m[i], u[i], s[0], s[1], s[2], s[3], s[4], gradient);
  }
};

const bool adamax_aliases[] = {register_alias("optimizer", "adamax", "Adamax")};

}  // namespace

Optimizer Adamax(const AdamaxOptions& options) { return AdamaxOptimizer{options}; }

}  // namespace thalweg::keras::optimizers

#include "thalweg/keras/optimizers.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/optimizer_steps.h"

namespace thalweg::keras::optimizers {
namespace {

struct FtrlOptimizer {
  FtrlOptions options = {};
  std::vector<Variable> accumulators = {}, linears = {};

  void check() const {
    auto refuse = [](const char* name, const char* wanted, double value) {
      throw ValueError("`" + std::string(name) + "` needs to be " + wanted + " or zero. Received: " + name + "=" +
                       Value(value).json() + ".");
    };
    auto positive = [&](const char* name, double value) {
      if (value < 0) refuse(name, "positive", value);
    };
    positive("initial_accumulator_value", options.initial_accumulator_value);
    if (options.learning_rate_power > 0) refuse("learning_rate_power", "negative", options.learning_rate_power);
    positive("l1_regularization_strength", options.l1_regularization_strength);
    positive("l2_regularization_strength", options.l2_regularization_strength);
    positive("l2_shrinkage_regularization_strength", options.l2_shrinkage_regularization_strength);
  }
  void build(std::span<const Variable> variables) {
    for (const Variable& v : variables) {
      // Through float32, as Keras fills it.
      accumulators.push_back(
          add_slot(v, "accumulator", fill(v.shape(), option_scalar(options.initial_accumulator_value, v.dtype()))));
      linears.push_back(add_slot(v, "linear"));
    }
  }
  void update_step(const Tensor& gradient, const Variable& variable, size_t i) {
    const DType dtype = variable.dtype();
    auto s = once_per_step(dtype, [&] {
      Tensor rate = current_optimizer().current_rate(dtype);
      return std::vector{rate, exact_scalar(options.l1_regularization_strength, dtype),
                         options.l2_regularization_strength + options.beta / (2.0 * rate),
                         exact_scalar(options.l2_shrinkage_regularization_strength, dtype),
                         exact_scalar(options.learning_rate_power, dtype)};
    });
    optimizer_steps::apply_ftrl_v2(variable, accumulators[i], linears[i], gradient, s[0], s[1], s[2], s[3], s[4]);
  }
};

const bool ftrl_aliases[] = {register_alias("optimizer", "ftrl", "Ftrl")};

}  // namespace

Optimizer Ftrl(const FtrlOptions& options) { return FtrlOptimizer{options}; }

}  // namespace thalweg::keras::optimizers

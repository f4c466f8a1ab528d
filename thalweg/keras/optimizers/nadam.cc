#include "thalweg/keras/optimizers.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/comparison.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/optimizer_steps.h"
#include "thalweg/ops/selection.h"

namespace thalweg::keras::optimizers {
namespace {

/// How many factors the product of momentums has, in Keras's way of counting: in a number of the program. Eagerly each
/// step adds one factor. A traced step has the numbers of the time of tracing, so each variable adds one in all runs
/// but the one that its number belongs to: the steps of Keras's fit are such steps.
class FactorCount {
 public:
  FactorCount() : next_(1) {}
  /// Functions that make the slots are traced twice by TensorFlow.
  void count_trace(size_t variables) { next_ += static_cast<int64_t>(variables); }
  /// Whether the factor of this step is in the product when variable `index` comes; counts it where it is not.
  Tensor has(const Tensor& iterations, size_t index) {
    if (!iterations.is_symbolic()) {
      const bool is_in = iterations.item<int64_t>() + 2 == next_;
      if (!is_in) ++next_;
      return is_in;
    }
    if (traced_.size() <= index) traced_.resize(index + 1);
    if (traced_[index] == 0) traced_[index] = next_++;
    return equal(iterations + int64_t{2}, traced_[index]);
  }

 private:
  int64_t next_;
  std::vector<int64_t> traced_;  // the numbers of variables in traced steps, from 1 on
};

struct NadamOptimizer {
  NadamOptions options = {};
  std::vector<Variable> momentums = {}, velocities = {};
  Variable u_product = {};  // of the momentums of all steps so far
  FactorCount factors = {};

  void build(std::span<const Variable> variables) {
    for (const Variable& v : variables) {
      momentums.push_back(add_slot(v, "m"));
      velocities.push_back(add_slot(v, "v"));
    }
    if (is_built_by_traced_step()) factors.count_trace(variables.size());
    if (!variables.empty()) u_product = Variable(exact_scalar(1, variables[0].dtype()), {.trainable = false});
  }
  // The momentum of a step: it grows towards beta_1.
  Tensor momentum_at(const Tensor& step, DType dtype) const {
    return option_scalar(options.beta_1, dtype) * (1.0 - 0.5 * pow(option_scalar(0.96, dtype), step));
  }
  /// The product with the momentum of this step in it.
  Tensor multiply_in(const Tensor& u, size_t i) {
    const Tensor before = u_product.value(), factor = cast(u, u_product.dtype());
    const Tensor product = where(factors.has(current_optimizer().iterations.value(), i), before, before * factor);
    u_product.assign(product);
    return product;
  }
  void update_step(const Tensor& gradient, const Variable& variable, size_t i) {
    const DType dtype = variable.dtype();
    auto s = once_per_step(dtype, [&] {
      OptimizerInterface& self = current_optimizer();
      Tensor step = cast(self.iterations.value() + int64_t{1}, dtype);
      Tensor beta_2 = option_scalar(options.beta_2, dtype);
      return std::vector{momentum_at(step, dtype),
                         momentum_at(step + 1, dtype),
                         self.current_rate(dtype),
                         option_scalar(options.beta_1, dtype),
                         beta_2,
                         1 - pow(beta_2, step),
                         exact_scalar(options.epsilon, dtype)};
    });
    const Tensor &u = s[0], &next_u = s[1], &rate = s[2];
    const Tensor product = cast(multiply_in(u, i), dtype);
    optimizer_steps::apply_keras_nadam(variable, momentums[i], velocities[i], next_u / (1 - product * next_u) * rate,
                                       (1 - u) / (1 - product) * rate, s[3], s[4], s[5], s[6], gradient);
  }
};

const bool nadam_aliases[] = {register_alias("optimizer", "nadam", "Nadam")};

}  // namespace

Optimizer Nadam(const NadamOptions& options) { return NadamOptimizer{options}; }

}  // namespace thalweg::keras::optimizers

#include "thalweg/keras/optimizers.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/indexed_slices.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_elementary.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/shaping.h"

namespace thalweg::keras::optimizers {
namespace {

Tensor root_mean_square(const Tensor& x) { return sqrt(reduce_mean(square(x))); }

struct AdafactorOptimizer {
  AdafactorOptions options = {};
  std::vector<Variable> r = {}, c = {}, v = {};  // r and c: of matrices, one for each row and each column

  void build(std::span<const Variable> variables) {
    for (const Variable& variable : variables) {
      const Shape& shape = variable.shape();
      Variable row, column;
      if (shape.rank() >= 2) {
        std::vector<int64_t> rows(shape.dims().begin(), shape.dims().end() - 1), columns = rows;
        columns.back() = shape[-1];
        row = add_slot(variable, "r", zeros(Shape(rows), {.dtype = variable.dtype()}));
        column = add_slot(variable, "c", zeros(Shape(columns), {.dtype = variable.dtype()}));
      }
      r.push_back(row);
      c.push_back(column);
      v.push_back(add_slot(variable, "v"));
    }
  }
  void update_step(const Tensor& slices_or_array, const Variable& variable, size_t i) {
    const DType dtype = variable.dtype();
    auto s = once_per_step(dtype, [&] {
      OptimizerInterface& self = current_optimizer();
      Tensor step = cast(self.iterations.value() + int64_t{1}, dtype), rate = self.current_rate(dtype);
      return std::vector{minimum(rate, rsqrt(step)), 1 - pow(step, exact_scalar(options.beta_2_decay, dtype)),
                         option_scalar(options.epsilon_2, dtype)};
    });
    const Tensor &rho = s[0], &beta_2 = s[1];
    Tensor gradient = to_array(slices_or_array);
    Tensor alpha = maximum(s[2], root_mean_square(variable.value())) * rho;
    Tensor squares = square(gradient) + options.epsilon_1;
    if (variable.shape().rank() >= 2) {
      r[i].assign(beta_2 * r[i].value() + (1 - beta_2) * reduce_mean(squares, {.axis = -1}));
      c[i].assign(beta_2 * c[i].value() + (1 - beta_2) * reduce_mean(squares, {.axis = -2}));
      Tensor rows = r[i].value();
      v[i].assign(expand_dims(rows / reduce_mean(rows, {.axis = -1, .keepdims = true}), -1) *
                  expand_dims(c[i].value(), -2));
    } else {
      v[i].assign(beta_2 * v[i].value() + (1 - beta_2) * squares);
    }
    Tensor update = gradient * rsqrt(v[i].value());
    Tensor excess = maximum(exact_scalar(1, dtype), root_mean_square(update) / options.clip_threshold);
    variable.assign_sub(alpha * (update / excess));
  }
};

const bool adafactor_aliases[] = {register_alias("optimizer", "adafactor", "Adafactor")};

}  // namespace

Optimizer Adafactor(const AdafactorOptions& options) { return AdafactorOptimizer{options}; }

}  // namespace thalweg::keras::optimizers

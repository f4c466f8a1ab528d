#include "thalweg/keras/optimizers.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_elementary.h"
#include "thalweg/ops/optimizer_steps.h"

namespace thalweg::keras::optimizers {
namespace {

struct AdagradOptimizer {
  AdagradOptions options = {};
  std::vector<Variable> accumulators = {};

  void build(std::span<const Variable> variables) {
    for (const Variable& v : variables)
      accumulators.push_back(
          add_slot(v, "accumulator", fill(v.shape(), exact_scalar(options.initial_accumulator_value, v.dtype()))));
  }
  void update_step(const Tensor& gradient, const Variable& variable, size_t i) {
    const DType dtype = variable.dtype();
    Tensor rate = current_optimizer().current_rate(dtype);
    const Variable& accumulator = accumulators[i];
    if (!is_indexed_slices(gradient)) {
      auto s = once_per_step(dtype, [&] { return std::vector{exact_scalar(options.epsilon, dtype)}; });
      optimizer_steps::apply_keras_adagrad(variable, accumulator, rate, s[0], gradient);
      return;
    }
    // Rows without a gradient stay as they are.
    const IndexedSlices& rows = indexed_slices(gradient);
    accumulator.scatter_add({square(rows.values), rows.indices, {}});
    Tensor root = sqrt(accumulator.sparse_read(rows.indices) + options.epsilon);
    variable.scatter_sub({rate * rows.values / root, rows.indices, {}});
  }
};

const bool adagrad_aliases[] = {register_alias("optimizer", "adagrad", "Adagrad"),
                                register_alias("optimizer", "experimentaladagrad", "Adagrad")};

}  // namespace

Optimizer Adagrad(const AdagradOptions& options) { return AdagradOptimizer{options}; }

}  // namespace thalweg::keras::optimizers

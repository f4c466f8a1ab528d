// evaluate, predict, and single batches.
#include "thalweg/core/error.h"
#include "thalweg/keras/training_loop.h"
#include "thalweg/ops/joining.h"

namespace thalweg::keras {

Logs Model::evaluate(const Nest& x, const EvaluateOptions& options) const {
  return is_batches(x) ? evaluate(Batches::of_list(x), options) : evaluate_arrays(x, {}, options);
}
Logs Model::evaluate_arrays(const Nest& x, const Nest& y, const EvaluateOptions& options) const {
  require_compiled(*this);
  const Nest data = with_weights(x, y, options.sample_weight, {});
  const int64_t size = choose_batch_size(options.batch_size, options.steps, data);
  return evaluate(Batches::of_arrays(data, {.batch_size = size}), options);
}
Logs Model::evaluate(const Batches& batches, const EvaluateOptions& options) const {
  require_compiled(*this);
  Model self = *this;
  Listeners listeners(self, options.callbacks, {options.verbose, 1, batches.steps(options.steps)});
  return evaluate_batches(*this, batches, options, listeners);
}

Nest Model::predict_nest(const Nest& x, const PredictOptions& options) const {
  if (is_batches(x)) return predict_nest(Batches::of_list(x), options);
  const Nest data = with_weights(x, {}, {}, {});
  const int64_t size = choose_batch_size(options.batch_size, options.steps, data);
  return predict_nest(Batches::of_arrays(data, {.batch_size = size}), options);
}
Nest Model::predict_nest(const Batches& batches, const PredictOptions& options) const {
  Training& training = training_of(*this);
  Model self = *this;
  const int64_t known = batches.steps(options.steps);
  Listeners listeners(self, options.callbacks, {options.verbose, 1, known});
  Logs logs;
  listeners.tell(&CallbackInterface::on_predict_begin, logs);
  Bar bar(*this, options.verbose, known);
  Steps steps(batches.start(0), options.steps, known, training.options.steps_per_execution);
  Nest structure;
  std::vector<std::vector<Tensor>> parts;
  auto predict_batch = [&](const Nest& data) {
    structure = training.predict(data);
    parts.push_back(structure.flatten());
  };
  while (true) {
    int64_t step = steps.begin();
    if (step < 0) break;
    listeners.tell(&CallbackInterface::on_predict_batch_begin, step, logs);
    if (!steps.run(predict_batch)) break;
    if (!options.callbacks.empty()) training.last_outputs = structure;
    step = steps.done() - 1;
    listeners.tell(&CallbackInterface::on_predict_batch_end, step, logs);
    bar.step(*this, steps.done(), false, [] { return Logs(); });
    InterruptGuard::check();
  }
  if (parts.empty())
    throw ValueError(
        "Unexpected result of `predict_function` (Empty batch_outputs): there was no data. This could be due to issues "
        "in the source of the batches.");
  bar.finish(*this, steps.done(), {}, false);
  listeners.tell(&CallbackInterface::on_predict_end, logs);
  if (parts.size() == 1) return structure;
  std::vector<Tensor> whole;
  for (size_t i = 0; i < parts[0].size(); ++i) {
    std::vector<Tensor> column;
    for (const std::vector<Tensor>& part : parts) column.push_back(part[i]);
    whole.push_back(concat(column, 0));
  }
  return structure.pack(whole);
}

Logs Model::train_on_batch(const Nest& x, const Nest& y, const BatchOptions& options) const {
  Training& training = require_compiled(*this);
  CompiledTrainableState as_compiled(training);
  if (options.reset_metrics) reset_metrics();
  Pass pass(*this, training.train);
  pass.run(with_weights(x, y, options.sample_weight, options.class_weight));
  return pass.logs();
}
Logs Model::test_on_batch(const Nest& x, const Nest& y, const BatchOptions& options) const {
  Training& training = require_compiled(*this);
  if (options.reset_metrics) reset_metrics();
  Pass pass(*this, training.test);
  pass.run(with_weights(x, y, options.sample_weight, {}));
  return pass.logs();
}
Nest Model::predict_on_batch(const Nest& x) const { return training_of(*this).predict(with_weights(x, {}, {}, {})); }

}  // namespace thalweg::keras

// fit: the loop over epochs and batches.
#include <cmath>

#include "thalweg/core/error.h"
#include "thalweg/core/number_text.h"
#include "thalweg/core/output.h"
#include "thalweg/core/warning.h"
#include "thalweg/keras/nan_loss.h"
#include "thalweg/keras/training_loop.h"

namespace thalweg::keras {
namespace {

/// The part of the data behind the cut, for validation.
std::pair<Nest, Nest> split(const Nest& data, double part) {
  const int64_t rows = count_rows(data);
  const auto cut = static_cast<int64_t>(std::floor(static_cast<double>(rows) * (1 - part)));
  if (cut <= 0 || cut >= rows)
    throw ValueError("Training data contains " + std::to_string(rows) +
                     " samples, which is not sufficient to split it "
                     "into a validation and training set as specified by `validation_split=" +
                     real_scalar(DType::float64, part) +
                     "`. Either provide more data, or a different value for the `validation_split` argument.");
  return {slice_rows(data, 0, cut), slice_rows(data, cut, rows)};
}

Batches validation_of(const FitOptions& options) {
  if (options.validation_data.is_none()) return options.validation_batches;
  Nest data = options.validation_data;
  if (data.kind() == Nest::Kind::list) data = Nest::tuple({data.items().begin(), data.items().end()});
  const int64_t given = options.validation_batch_size > 0 ? options.validation_batch_size : options.batch_size;
  return Batches::of_arrays(data, {.batch_size = choose_batch_size(given, options.validation_steps, data)});
}

/// Batches of arrays where the number of steps in an epoch is given: an epoch begins where the one before it ended, and
/// there is as much data as that many epochs through the arrays have.
Batches repeated(const Batches& arrays, int epochs) {
  return Batches([arrays, epochs](int first) -> NextBatch {
    return [=, next = arrays.start(first), pass = 1](Nest& batch) mutable {
      while (!next(batch)) {
        if (++pass > epochs) return false;
        next = arrays.start(first);
      }
      return true;
    };
  });
}

}  // namespace

History Model::fit(const Nest& x, const FitOptions& options) const {
  return is_batches(x) ? fit(Batches::of_list(x), options) : fit_arrays(x, {}, options);
}
History Model::fit_arrays(const Nest& x, const Nest& y, const FitOptions& options) const {
  require_compiled(*this);
  FitOptions rest = options;
  Nest data = with_weights(x, y, options.sample_weight, {});
  count_rows(data);
  if (options.validation_split != 0 && options.validation_data.is_none() && !options.validation_batches.defined())
    std::tie(data, rest.validation_data) = split(data, options.validation_split);
  // Classes have weights in training alone.
  auto [train_x, train_y, weight] = unpack(data);
  data = with_weights(train_x, train_y, weight, options.class_weight);
  rest.class_weight.clear();
  rest.batch_size = choose_batch_size(options.batch_size, options.steps_per_epoch, data);
  Batches batches = Batches::of_arrays(data, {.batch_size = rest.batch_size, .shuffle = options.shuffle});
  if (rest.steps_per_epoch > 0) batches = repeated(batches, rest.epochs - rest.initial_epoch);
  return fit(batches, rest);
}

History Model::fit(const Batches& given, const FitOptions& options) const {
  Training& training = require_compiled(*this);
  Model self = *this;
  const Batches batches = with_class_weights(given, options.class_weight);
  const Batches validation = validation_of(options);
  const int64_t known = batches.steps(options.steps_per_epoch);
  InterruptGuard interruptible;
  CompiledTrainableState as_compiled(training);
  Listeners listeners(self, options.callbacks, {options.verbose, options.epochs, known});
  training.stop = false;
  training.history = {};
  Logs logs;
  listeners.tell(&CallbackInterface::on_train_begin, logs);
  // Batches are begun anew in every epoch, unless an epoch is only a part of them.
  const bool goes_on = options.steps_per_epoch > 0 && batches.known_steps() != options.steps_per_epoch;
  NextBatch next;
  bool ran_out = false, found_nan = false;
  for (int epoch = options.initial_epoch; epoch < options.epochs && !training.stop && !ran_out; ++epoch) {
    reset_metrics();
    logs = {};
    listeners.tell(&CallbackInterface::on_epoch_begin, epoch, logs);
    Bar bar(*this, options.verbose, known);
    if (options.verbose && options.epochs > 1)
      write_output("Epoch " + std::to_string(epoch + 1) + "/" + std::to_string(options.epochs) + "\n");
    Pass pass(*this, training.train);
    if (!next || !goes_on) next = batches.start(epoch);
    Steps steps([&next](Nest& batch) { return next(batch); }, options.steps_per_epoch, known,
                training.options.steps_per_execution);
    while (true) {
      int64_t step = steps.begin();
      if (step < 0) break;
      Logs batch_logs;
      listeners.tell(&CallbackInterface::on_train_batch_begin, step, batch_logs);
      if (!steps.run([&](const Nest& data) { pass.run(data); })) break;
      if (listeners.wants_batch_logs()) batch_logs = pass.logs();
      step = steps.done() - 1;
      listeners.tell(&CallbackInterface::on_train_batch_end, step, batch_logs);
      bar.step(*this, steps.done(), pass.has_own_results(), [&] { return pass.logs(); });
      InterruptGuard::check();
      if (training.stop) break;
    }
    ran_out = steps.ran_out();
    if (ran_out)
      warn(
          "Your input ran out of data; interrupting training. Make sure that your dataset or generator can generate at "
          "least `steps_per_epoch * epochs` batches (in this case, " +
          std::to_string(options.steps_per_epoch * options.epochs) + " batches).");
    if (steps.done() == 0) {
      if (!training.history.epoch.empty()) break;
      throw ValueError(
          "Unexpected result of `train_function` (Empty Logs): there was no data to train on. This could be due to "
          "issues in the source of the batches.");
    }
    logs = pass.logs();
    if (validation.defined() && options.validation_freq.contains(epoch + 1)) {
      EvaluateOptions how;
      how.verbose = 0;
      how.steps = options.validation_steps;
      for (const auto& [key, value] : evaluate_batches(*this, validation, how, listeners))
        logs.set("val_" + key, value);
    }
    // What callbacks add to the logs is shown and remembered.
    listeners.tell(&CallbackInterface::on_epoch_end, epoch, logs);
    bar.finish(*this, steps.done(), logs, pass.has_own_results());
    training.history.add(epoch, logs);
    if (const double* loss = logs.find("loss"); loss && std::isnan(*loss) && !training.stop && !found_nan) {
      found_nan = true;
      warn_of_nan_loss(*this, batches.arrays().is_none() ? steps.last() : batches.arrays(), epoch);
    }
  }
  if (training.options.optimizer.defined() && options.epochs > 0)
    training.options.optimizer.finalize_variable_values(trainable_variables());
  listeners.tell(&CallbackInterface::on_train_end, logs);
  return training.history;
}

}  // namespace thalweg::keras

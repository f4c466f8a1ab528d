// Callbacks that change the learning rate. Both write it into the logs, under the name `lr`.
#include <algorithm>
#include <limits>

#include "thalweg/core/error.h"
#include "thalweg/core/number_text.h"
#include "thalweg/core/output.h"
#include "thalweg/keras/callbacks.h"
#include "thalweg/keras/callbacks/monitor.h"
#include "thalweg/keras/model.h"
#include "thalweg/ops/casting.h"

namespace thalweg::keras::callbacks {
namespace {

double rate_of(const Model& model) { return cast(model.optimizer().learning_rate(), DType::float64).item<double>(); }
void set_rate(const Model& model, double rate) { model.optimizer().set_learning_rate(static_cast<float>(rate)); }
/// As Python prints it.
std::string text(double rate) { return real_scalar(DType::float64, rate); }

struct ReduceLROnPlateauCallback {
  ReduceLROnPlateauOptions options = {};
  struct State {
    int64_t wait = 0, cooldown_counter = 0;
    double best = 0;
  } state = {};

  bool wants_more() const {
    if (options.mode == "min" || options.mode == "max") return options.mode == "max";
    return options.monitor.find("acc") != std::string::npos;
  }
  bool improves(double value) const {
    return wants_more() ? value > state.best + options.min_delta : value < state.best - options.min_delta;
  }

  void on_train_begin() {
    check_mode("Learning rate reduction mode", options.mode);
    state = {};
    state.best = wants_more() ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  }
  void on_epoch_end(Model& model, int epoch, Logs& logs) {
    const double rate = rate_of(model);
    logs.set("lr", rate);
    const double* current = monitored(logs, options.monitor, "Learning rate reduction is conditioned");
    if (!current) return;
    if (state.cooldown_counter > 0) {
      --state.cooldown_counter;
      state.wait = 0;
    }
    if (improves(*current)) {
      state.best = *current;
      state.wait = 0;
    } else if (state.cooldown_counter <= 0 && ++state.wait >= options.patience &&
               rate > static_cast<float>(options.min_lr)) {
      const double reduced = std::max(rate * options.factor, options.min_lr);
      set_rate(model, reduced);
      if (options.verbose > 0)
        write_output("\nEpoch " + std::to_string(epoch + 1) + ": ReduceLROnPlateau reducing learning rate to " +
                     text(reduced) + ".\n");
      state.cooldown_counter = options.cooldown;
      state.wait = 0;
    }
  }
};

struct LearningRateSchedulerCallback {
  LearningRateSchedulerOptions options = {};
  RateFunction schedule = {};

  void on_epoch_begin(Model& model, int epoch) const {
    if (!schedule) throw ValueError("LearningRateScheduler: there is no schedule");
    const double rate = schedule(epoch, rate_of(model));
    set_rate(model, rate);
    if (options.verbose > 0)
      write_output("\nEpoch " + std::to_string(epoch + 1) + ": LearningRateScheduler setting learning rate to " +
                   text(rate) + ".\n");
  }
  void on_epoch_end(Model& model, int, Logs& logs) const { logs.set("lr", rate_of(model)); }
};

}  // namespace

Callback ReduceLROnPlateau(const ReduceLROnPlateauOptions& options) {
  if (options.factor >= 1)
    throw ValueError("ReduceLROnPlateau does not support a factor >= 1.0. Got " + text(options.factor));
  return ReduceLROnPlateauCallback{options};
}
Callback LearningRateScheduler(RateFunction schedule, const LearningRateSchedulerOptions& options) {
  return LearningRateSchedulerCallback{options, std::move(schedule)};
}

}  // namespace thalweg::keras::callbacks

#include <cmath>
#include <limits>

#include "thalweg/core/output.h"
#include "thalweg/keras/callbacks.h"
#include "thalweg/keras/callbacks/monitor.h"
#include "thalweg/keras/model.h"

namespace thalweg::keras::callbacks {
namespace {

struct EarlyStoppingCallback {
  EarlyStoppingOptions options = {};
  struct State {
    int64_t wait = 0;
    int stopped_epoch = 0, best_epoch = 0;
    double best = 0;
  } state = {};
  std::shared_ptr<std::vector<Tensor>> best_weights = {};

  bool wants_more() const {
    const std::string& name = options.monitor;
    if (options.mode == "min" || options.mode == "max") return options.mode == "max";
    return name.ends_with("acc") || name.ends_with("accuracy") || name.ends_with("auc");
  }
  bool improves(double value, double reference) const {
    const double delta = std::abs(options.min_delta);
    return wants_more() ? value - delta > reference : value + delta < reference;
  }

  void on_train_begin() {
    check_mode("EarlyStopping mode", options.mode);
    state = {};
    state.best = wants_more() ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
    best_weights = nullptr;
  }
  void on_epoch_end(Model& model, int epoch, const Logs& logs) {
    const double* current = monitored(logs, options.monitor, "Early stopping conditioned");
    if (!current || epoch < options.start_from_epoch) return;
    auto keep = [&] {
      if (options.restore_best_weights) best_weights = std::make_shared<std::vector<Tensor>>(model.get_weights());
    };
    if (!best_weights) keep();  // of the first epoch, if none is better
    ++state.wait;
    if (improves(*current, state.best)) {
      state.best = *current;
      state.best_epoch = epoch;
      keep();
      if (!options.baseline || improves(*current, *options.baseline)) state.wait = 0;
      return;
    }
    if (state.wait < options.patience || epoch == 0) return;
    state.stopped_epoch = epoch;
    model.stop_training();
    if (!best_weights) return;
    if (options.verbose > 0)
      write_output("Restoring model weights from the end of the best epoch: " + std::to_string(state.best_epoch + 1) +
                   ".\n");
    model.set_weights(*best_weights);
  }
  void on_train_end() const {
    if (state.stopped_epoch > 0 && options.verbose > 0)
      write_output("Epoch " + std::to_string(state.stopped_epoch + 1) + ": early stopping\n");
  }
};

}  // namespace

Callback EarlyStopping(const EarlyStoppingOptions& options) { return EarlyStoppingCallback{options}; }

}  // namespace thalweg::keras::callbacks

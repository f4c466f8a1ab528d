// The callbacks of Keras.
#pragma once
#include <functional>

#include "thalweg/keras/callback.h"

namespace thalweg::keras::callbacks {

struct EarlyStoppingOptions {
  std::string monitor = "val_loss";
  double min_delta = 0;       // less than this is no improvement
  int64_t patience = 0;       // epochs without improvement
  int64_t verbose = 0;        // 1: says when it stops
  std::string mode = "auto";  // min, max, or by the name of what is monitored
  std::optional<double> baseline = {};
  Flag restore_best_weights = false;
  int64_t start_from_epoch = 0;
};
/// Ends training when what it monitors improves no more. Its state: wait, stopped_epoch, best_epoch, best.
THALWEG_API Callback EarlyStopping(const EarlyStoppingOptions& options = {});

struct ReduceLROnPlateauOptions {
  std::string monitor = "val_loss";
  double factor = 0.1;
  int64_t patience = 10;
  int64_t verbose = 0;
  std::string mode = "auto";
  double min_delta = 1e-4;
  int64_t cooldown = 0;  // epochs after a reduction in which nobody waits
  double min_lr = 0;
};
/// Multiplies the learning rate by a factor when what it monitors improves no more. Its state: wait, best,
/// cooldown_counter.
THALWEG_API Callback ReduceLROnPlateau(const ReduceLROnPlateauOptions& options = {});

/// The learning rate of an epoch, which is counted from zero: a function of the epoch, or of epoch and present rate.
class RateFunction {
 public:
  RateFunction() = default;
  template <class F>
    requires(std::is_invocable_r_v<double, F&, int, double> || std::is_invocable_r_v<double, F&, int>)
  RateFunction(F f) {  // NOLINT
    if constexpr (std::is_invocable_r_v<double, F&, int, double>) call_ = std::move(f);
    else call_ = [f = std::move(f)](int epoch, double) mutable { return static_cast<double>(f(epoch)); };
  }
  explicit operator bool() const { return call_ != nullptr; }
  double operator()(int epoch, double rate) const { return call_(epoch, rate); }

 private:
  std::function<double(int, double)> call_;
};
struct LearningRateSchedulerOptions {
  int64_t verbose = 0;
};
/// Sets the learning rate at the beginning of every epoch.
THALWEG_API Callback LearningRateScheduler(RateFunction schedule, const LearningRateSchedulerOptions& options = {});

struct CSVLoggerOptions {
  std::string separator = ",";
  Flag append = false;  // to a file that is there
};
/// Writes a line for each epoch to a file.
THALWEG_API Callback CSVLogger(const std::string& filename, const CSVLoggerOptions& options = {});

/// Ends training when the loss of a batch is no finite number.
THALWEG_API Callback TerminateOnNaN();

struct LambdaCallbackOptions {
  std::function<void(int epoch, const Logs& logs)> on_epoch_begin = {}, on_epoch_end = {};
  std::function<void(int64_t batch, const Logs& logs)> on_batch_begin = {}, on_batch_end = {};
  std::function<void(const Logs& logs)> on_train_begin = {}, on_train_end = {};
};
/// A callback of functions.
THALWEG_API Callback LambdaCallback(const LambdaCallbackOptions& options);

// The same with an option by position (docs/decisions/0013).
template <As<std::string> A = std::string> Callback EarlyStopping(const A& monitor, EarlyStoppingOptions options = {}) {
  return EarlyStopping(with(options, options.monitor, monitor));
}
template <As<std::string> A = std::string>
Callback ReduceLROnPlateau(const A& monitor, ReduceLROnPlateauOptions options = {}) {
  return ReduceLROnPlateau(with(options, options.monitor, monitor));
}
template <As<int64_t> A = int64_t>
Callback LearningRateScheduler(RateFunction schedule, const A& verbose, LearningRateSchedulerOptions options = {}) {
  return LearningRateScheduler(schedule, with(options, options.verbose, verbose));
}
template <As<std::string> A = std::string>
Callback CSVLogger(const std::string& filename, const A& separator, CSVLoggerOptions options = {}) {
  return CSVLogger(filename, with(options, options.separator, separator));
}

}  // namespace thalweg::keras::callbacks

// Callbacks of a few lines.
#include <cmath>

#include "thalweg/core/output.h"
#include "thalweg/keras/callbacks.h"
#include "thalweg/keras/model.h"

namespace thalweg::keras::callbacks {
namespace {

struct TerminateOnNaNCallback {
  void on_train_batch_end(Model& model, int64_t batch, const Logs& logs) const {
    const double* loss = logs.find("loss");
    if (!loss || std::isfinite(*loss)) return;
    write_output("Batch " + std::to_string(batch) + ": Invalid loss, terminating training\n");
    model.stop_training();
  }
};

struct LambdaCallbackCallback {
  LambdaCallbackOptions functions = {};
  bool wants_batch_logs() const { return functions.on_batch_end != nullptr; }
  void on_epoch_begin(int epoch, const Logs& logs) const { call(functions.on_epoch_begin, epoch, logs); }
  void on_epoch_end(int epoch, const Logs& logs) const { call(functions.on_epoch_end, epoch, logs); }
  void on_train_batch_begin(int64_t batch, const Logs& logs) const { call(functions.on_batch_begin, batch, logs); }
  void on_train_batch_end(int64_t batch, const Logs& logs) const { call(functions.on_batch_end, batch, logs); }
  void on_train_begin(const Logs& logs) const { call(functions.on_train_begin, logs); }
  void on_train_end(const Logs& logs) const { call(functions.on_train_end, logs); }
  template <class F, class... A> static void call(const F& f, const A&... arguments) {
    if (f) f(arguments...);
  }
};

}  // namespace

Callback TerminateOnNaN() { return TerminateOnNaNCallback{}; }
Callback LambdaCallback(const LambdaCallbackOptions& options) { return LambdaCallbackCallback{options}; }

}  // namespace thalweg::keras::callbacks

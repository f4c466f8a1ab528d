// What the loops of fit, evaluate and predict have in common.
#pragma once
#include "thalweg/keras/progbar.h"
#include "thalweg/keras/training.h"

namespace thalweg::keras {

constexpr int64_t default_batch_size = 32;

/// The callbacks of a run.
class Listeners {
 public:
  Listeners(Model& model, const std::vector<Callback>& callbacks, const RunParameters& params);
  template <class... A, class... B> void tell(void (CallbackInterface::*hook)(Model&, B...), A&&... arguments) {
    for (const Callback& callback : callbacks_) (callback.object().*hook)(model_, arguments...);
  }
  bool wants_batch_logs() const { return wants_logs_; }

 private:
  Model& model_;
  std::vector<Callback> callbacks_;
  bool wants_logs_ = false;
};

/// Batches that a step runs over, and the numbers that come of it: an epoch of fit, or a whole evaluate.
class Pass {
 public:
  Pass(const Model& model, StepFunction& step) : model_(model), step_(step) {}

  void run(const Nest& data) {
    Nest results = run_step(data);
    own_ = !results.is_none();
    if (own_) results_ = std::move(results);
  }
  /// The numbers so far: those of the model's metrics, or what the last of its own steps returned.
  Logs logs() const;
  bool has_own_results() const { return own_; }

 private:
  Nest run_step(const Nest& data);

  const Model& model_;
  StepFunction& step_;
  Nest results_;
  bool own_ = false;
};

/// The bar of one pass. Numbers are asked for only when it is drawn, unless they must be averaged.
class Bar {
 public:
  Bar(const Model& model, int verbose, int64_t steps);
  template <class F> void step(const Model& model, int64_t done, bool averages, const F& logs) {
    if (verbose_ != 1 || (!averages && !is_due(done))) return;
    draw(model, done, logs(), averages);
  }
  /// With the numbers of the whole pass; `done` counts where the number of steps was not known.
  void finish(const Model& model, int64_t done, const Logs& logs, bool averages);

 private:
  bool is_due(int64_t done);
  void draw(const Model& model, int64_t done, const Logs& logs, bool averages);

  int verbose_;
  int64_t steps_;
  double drawn_ = 0;
  std::optional<utils::Progbar> bar_;
};

/// Goes through batches in groups: as many as `compile` says run between two hooks of callbacks.
class Steps {
 public:
  /// `limit` batches at most where it is positive; `known` in all, or -1.
  Steps(NextBatch next, int64_t limit, int64_t known, int64_t group);

  /// The number of the first batch of the next group; -1 when all have run.
  int64_t begin();
  /// Runs the group; false where data ended in the middle of it.
  template <class F> bool run(const F& step) {
    for (int64_t i = 0; i < size_; ++i) {
      if (i > 0 && !fetch()) return false;
      step(data_);
      ++done_;
    }
    return true;
  }
  int64_t done() const { return done_; }
  /// The batch that ran last.
  const Nest& last() const { return data_; }
  /// Whether data ended before the number of steps that was asked for.
  bool ran_out() const { return ran_out_; }

 private:
  bool fetch();

  NextBatch next_;
  Nest data_;
  int64_t limit_, known_, group_, size_ = 1, done_ = 0;
  bool ran_out_ = false;
};

/// While one lives, layers are trainable or not as they were when the model was compiled.
class CompiledTrainableState {
 public:
  explicit CompiledTrainableState(const Training& training);
  ~CompiledTrainableState();
  CompiledTrainableState(const CompiledTrainableState&) = delete;
  CompiledTrainableState& operator=(const CompiledTrainableState&) = delete;

 private:
  TrainableState before_;
};

/// While one lives, Ctrl-C ends the loop after the batch that runs, in every thread that has one, unless the program
/// handles it itself. The second time it ends the program.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  /// Throws KeyboardInterrupt, or what the language around throws.
  static void check();
};

/// ValueError where the model is not compiled.
Training& require_compiled(const Model& model);
/// What predict needs: what compile made, or made now. Threads may ask at once.
Training& training_of(const Model& model);
/// x, y and sample weights as steps take them; the weights of classes are multiplied in.
Nest with_weights(const Nest& x, const Nest& y, const Nest& sample_weight,
                  const std::map<int64_t, double>& class_weight);
/// The same for each batch.
Batches with_class_weights(const Batches& batches, const std::map<int64_t, double>& class_weight);
/// The size of batches of arrays: what is given, or what makes so many steps, or 32.
int64_t choose_batch_size(int64_t given, int64_t steps, const Nest& data);
/// One pass of evaluate, with its hooks.
Logs evaluate_batches(const Model& model, const Batches& batches, const EvaluateOptions& options, Listeners& listeners);

}  // namespace thalweg::keras

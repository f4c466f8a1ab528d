#include "thalweg/keras/training_loop.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <mutex>

#include "thalweg/core/error.h"
#include "thalweg/core/number_text.h"
#include "thalweg/core/warning.h"
#include "thalweg/graph/run_state.h"
#include "thalweg/keras/call_context.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/gather.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/shaping.h"

namespace thalweg::keras {
namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double number_of(const Tensor& t) { return cast(t.rank() == 0 ? t : reduce_mean(t), DType::float64).item<double>(); }

std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free);  // so that a handler of signals may set it
void note_interrupt(int signal) {
  if (interrupted) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
  interrupted = true;
}

}  // namespace

Listeners::Listeners(Model& model, const std::vector<Callback>& callbacks, const RunParameters& params)
    : model_(model), callbacks_(callbacks) {
  for (const Callback& callback : callbacks_) {
    if (!callback.defined()) throw ValueError("one of the callbacks is empty: it was never made");
    callback.object().set_model(model);
  }
  for (const Callback& callback : callbacks_) {
    callback.object().set_params(params);
    wants_logs_ |= callback.object().wants_batch_logs();
  }
}

Nest Pass::run_step(const Nest& data) {
  try {
    return step_(data);
  } catch (Error& error) {
    // A step that was traced for several shapes lets others in: what they do not fit says more than the op they reach.
    detail::check_inputs(*model_.get(), unpack(data).x);
    model_.object().training->losses.explain(error);
    throw;
  }
}

Logs Pass::logs() const {
  Logs logs;
  auto take = [&](const Nest& results) {
    for (size_t i = 0; i < results.keys().size(); ++i)
      logs.set(results.keys()[i], number_of(results.items()[i].tensor()));
  };
  if (!own_) {
    for (const Metric& metric : model_.metrics()) take(metric.results());
  } else if (results_.is_tensor()) {
    logs.set("loss", number_of(results_.tensor()));
  } else {
    take(results_);
  }
  return logs;
}

Bar::Bar(const Model& model, int verbose, int64_t steps) : verbose_(verbose), steps_(steps) {
  if (verbose == 0) return;
  utils::ProgbarOptions options;
  options.verbose = verbose;
  options.stateful_metrics = model.metrics_names();
  bar_.emplace(steps < 0 ? std::optional<int64_t>() : std::optional(steps), options);
}
bool Bar::is_due(int64_t done) {
  const double time = now();
  if (done > 1 && time - drawn_ < 0.05) return false;
  drawn_ = time;
  return true;
}
namespace {
/// Of numbers that steps return, those with the name of a metric are not averaged, as in Keras; of metrics, none is.
std::vector<std::string> shown_as_they_are(const Model& model, const Logs& logs, bool averages) {
  if (averages) return model.metrics_names();
  std::vector<std::string> names;
  for (const auto& [name, value] : logs) names.push_back(name);
  return names;
}
}  // namespace
void Bar::draw(const Model& model, int64_t done, const Logs& logs, bool averages) {
  if (!bar_) return;
  bar_->add_stateful_metrics(shown_as_they_are(model, logs, averages));
  bar_->update(done, {logs.begin(), logs.end()}, false);
}
void Bar::finish(const Model& model, int64_t done, const Logs& logs, bool averages) {
  if (!bar_) return;
  bar_->add_stateful_metrics(shown_as_they_are(model, logs, averages));
  const int64_t target = steps_ < 0 ? done : steps_;
  bar_->set_target(target);
  bar_->update(target, {logs.begin(), logs.end()}, true);
}

Steps::Steps(NextBatch next, int64_t limit, int64_t known, int64_t group)
    : next_(std::move(next)), limit_(limit), known_(limit > 0 ? limit : known), group_(std::max<int64_t>(group, 1)) {}

bool Steps::fetch() {
  if (next_(data_)) return true;
  ran_out_ = limit_ > 0;
  return false;
}
int64_t Steps::begin() {
  if (limit_ > 0 && done_ >= limit_) return -1;
  if (!fetch()) return -1;
  size_ = known_ >= 0 ? std::clamp<int64_t>(known_ - done_, 1, group_) : group_;
  return done_;
}

CompiledTrainableState::CompiledTrainableState(const Training& training) {
  for (const auto& [layer, trainable] : training.trainable_state) {
    std::shared_ptr<LayerInterface> kept = layer.lock();
    if (!kept || kept->trainable == trainable) continue;
    before_.emplace_back(layer, kept->trainable);
    kept->trainable = trainable;
  }
}
CompiledTrainableState::~CompiledTrainableState() {
  for (const auto& [layer, trainable] : before_)
    if (std::shared_ptr<LayerInterface> kept = layer.lock()) kept->trainable = trainable;
}

namespace {
// Of all threads that train: the first one installs the handler, the last one takes it away.
std::mutex guards_mutex;
int num_guards = 0;
std::optional<struct sigaction> before_guards;
}  // namespace

InterruptGuard::InterruptGuard() {
  const std::lock_guard lock(guards_mutex);
  struct sigaction before = {};
  if (num_guards++ > 0 || sigaction(SIGINT, nullptr, &before) != 0 || before.sa_handler != SIG_DFL) return;
  interrupted = false;
  struct sigaction ours = {};
  ours.sa_handler = note_interrupt;
  ours.sa_flags = SA_RESTART;
  if (sigaction(SIGINT, &ours, nullptr) == 0) before_guards = before;
}
InterruptGuard::~InterruptGuard() {
  const std::lock_guard lock(guards_mutex);
  if (--num_guards > 0 || !before_guards) return;
  sigaction(SIGINT, &*before_guards, nullptr);
  before_guards.reset();
  interrupted = false;
}
void InterruptGuard::check() {
  graph::ask_interrupt_check();
  if (interrupted) throw KeyboardInterrupt();
}

Training& require_compiled(const Model& model) {
  if (!model.is_compiled())
    throw RuntimeError(
        "You must compile your model before training/testing. Use `model.compile(optimizer, loss)`. The model is '" +
        model.name() + "'.");
  return *model.object().training;
}

Training& training_of(const Model& model) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  std::shared_ptr<Training>& training = model.object().training;
  if (!training) training = std::make_shared<Training>(model, CompileOptions());
  return *training;
}

namespace {

/// The weights of classes 0, 1, ... as a vector.
Tensor weight_table(const std::map<int64_t, double>& class_weight) {
  std::vector<float> weights;
  std::string text;
  bool in_order = true;
  for (const auto& [number, weight] : class_weight) {
    in_order &= number == static_cast<int64_t>(weights.size());
    weights.push_back(static_cast<float>(weight));
    text += (text.empty() ? "" : ", ") + std::to_string(number) + ": " + real_scalar(DType::float64, weight);
  }
  if (!in_order)
    throw ValueError(
        "Expected `class_weight` to be a dict with keys from 0 to one less than the number of classes, found {" + text +
        "}");
  return Tensor(weights);
}

Tensor weights_of_classes(const Tensor& y, const Tensor& table) {
  Tensor classes;
  if (y.rank() >= 2 && y.shape()[-1] > 1) classes = argmax(y, {.axis = -1});
  else classes = cast(y.rank() >= 2 ? squeeze(y, {.axis = -1}) : y, DType::int64);
  for (int64_t c : classes.span<int64_t>())
    if (c < 0 || c >= table.size())
      throw InvalidArgumentError("class_weight: a label is " + std::to_string(c) + ", but there are weights for " +
                                 std::to_string(table.size()) + " classes");
  return gather(table, classes);
}

Nest weigh_classes(const Nest& y, const Nest& sample_weight, const Tensor& table) {
  if (!y.is_tensor()) throw ValueError("`class_weight` is only supported for Models with a single output.");
  Tensor weights = weights_of_classes(y.tensor(), table);
  if (sample_weight.is_none()) return Nest(weights);
  Tensor given = sample_weight.tensor();
  while (given.rank() < weights.rank()) given = expand_dims(given, -1);
  return Nest(given * cast(weights, given.dtype()));
}

}  // namespace

Nest with_weights(const Nest& x, const Nest& y, const Nest& sample_weight,
                  const std::map<int64_t, double>& class_weight) {
  Nest weight = sample_weight;
  if (!class_weight.empty()) weight = weigh_classes(y, weight, weight_table(class_weight));
  if (!weight.is_none()) return Nest::tuple({x, y, weight});
  if (!y.is_none()) return Nest::tuple({x, y});
  return x.is_tensor() || x.is_dict() ? x : Nest::tuple({x});  // as Keras gives them to steps
}

Batches with_class_weights(const Batches& batches, const std::map<int64_t, double>& class_weight) {
  if (class_weight.empty()) return batches;
  Tensor table = weight_table(class_weight);
  return Batches(
      [batches, table](int epoch) -> NextBatch {
        return [next = batches.start(epoch), table](Nest& batch) {
          if (!next(batch)) return false;
          auto [x, y, sample_weight] = unpack(batch);
          batch = Nest::tuple({x, y, weigh_classes(y, sample_weight, table)});
          return true;
        };
      },
      batches.known_steps());
}

int64_t choose_batch_size(int64_t given, int64_t steps, const Nest& data) {
  if (given < 0) throw ValueError("`batch_size` must be a positive number. Received: " + std::to_string(given));
  if (given > 0) return given;
  if (steps <= 0) return default_batch_size;
  return std::max<int64_t>((count_rows(data) + steps - 1) / steps, 1);
}

Logs evaluate_batches(const Model& model, const Batches& batches, const EvaluateOptions& options,
                      Listeners& listeners) {
  Training& training = *model.object().training;
  Pass pass(model, training.test);
  const int64_t known = batches.steps(options.steps);
  Logs logs;
  listeners.tell(&CallbackInterface::on_test_begin, logs);
  Bar bar(model, options.verbose, known);
  model.reset_metrics();
  Steps steps(batches.start(0), options.steps, known, training.options.steps_per_execution);
  while (true) {
    int64_t step = steps.begin();
    if (step < 0) break;
    Logs batch_logs;
    listeners.tell(&CallbackInterface::on_test_batch_begin, step, batch_logs);
    if (!steps.run([&](const Nest& data) { pass.run(data); })) break;
    if (listeners.wants_batch_logs()) batch_logs = pass.logs();
    step = steps.done() - 1;
    listeners.tell(&CallbackInterface::on_test_batch_end, step, batch_logs);
    bar.step(model, steps.done(), pass.has_own_results(), [&] { return pass.logs(); });
    InterruptGuard::check();
  }
  if (steps.done() == 0)
    throw ValueError(
        "Unexpected result of `test_function` (Empty Logs): there was no data to evaluate. This could be due to issues "
        "in the source of the batches.");
  logs = pass.logs();
  bar.finish(model, steps.done(), logs, pass.has_own_results());
  listeners.tell(&CallbackInterface::on_test_end, logs);
  return logs;
}

}  // namespace thalweg::keras

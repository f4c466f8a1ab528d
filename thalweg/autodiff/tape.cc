#include "thalweg/autodiff/tape.h"

#include "thalweg/autodiff/backprop.h"
#include "thalweg/core/error.h"
#include "thalweg/core/variable_resource.h"
#include "thalweg/core/warning.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/indexed_slices.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/shaping.h"

namespace thalweg {

StopRecording::StopRecording() : paused_(autodiff::Log::pause_all()) {}
StopRecording::~StopRecording() { autodiff::Log::resume_all(paused_); }

RecordAgain::RecordAgain(const StopRecording& stopped) : paused_(autodiff::Log::pause_all()) {
  autodiff::Log::resume_all(stopped.paused_);
}
RecordAgain::~RecordAgain() {
  autodiff::Log::pause_all();
  autodiff::Log::resume_all(paused_);
}

namespace autodiff {

SeparateTapes::SeparateTapes()
    : before_(Log::exchange_current(nullptr)), recorder_(std::exchange(thread_state.recorder, nullptr)) {}
SeparateTapes::~SeparateTapes() {
  Log::exchange_current(before_);
  thread_state.recorder = recorder_;
}

namespace {

bool is_handle(const Tensor& t) { return t.dtype() == DType::resource; }
DType dtype_of_source(const Tensor& t) { return is_handle(t) ? variable_of(t).dtype() : t.dtype(); }

// Integers and text have no derivatives: the user learns of it, a few times.
bool has_derivatives(const Tensor& t, const char* what, SaySeldom& seldom) {
  DType dtype = dtype_of_source(t);
  if (differentiable_types.has(dtype) || dtype == DType::variant) return true;  // variants: lists of tensors
  seldom.warn("The dtype of the " + std::string(what) + " tensor must be floating (e.g. tf.float32), got tf." +
              std::string(name_of(dtype)));
  return false;
}
SaySeldom about_watched(5), about_targets(5), about_sources(5);

Tensor zeros_for(const Tensor& source) { return zeros_like(is_handle(source) ? variable_of(source).read() : source); }

}  // namespace

Tape::Tape(const TapeOptions& options) : options_(options), log_(&Log::current()), tape_(log_->add_tape()) {}

Tape::~Tape() {
  if (recording_ && log_->is_own_thread()) stop();
  log_->release(tape_, recording_);
}

void Tape::start() {
  if (recording_)
    throw ValueError("Tape is still recording, This can happen if you try to re-enter an already-active tape.");
  if (used_) {  // a tape that has given its gradient begins anew
    log_->forget(tape_);
    used_ = false;
  }
  log_->start(tape_, options_.watch_accessed_variables, options_.persistent);
  recording_ = true;
}

void Tape::stop() {
  if (!recording_) throw ValueError("Tape is not recording.");
  log_->stop(tape_);
  recording_ = false;
}

void Tape::pause() {
  if (!recording_) throw RuntimeError("Trying to stop recording a tape which is not recording.");
  log_->pause(tape_, true);
}
void Tape::resume() { log_->pause(tape_, false); }

void Tape::watch(const Tensor& source) {
  log_->check_thread();
  if (has_derivatives(source, "watched", about_watched)) log_->watch(tape_, source);
}

void Tape::reset() {
  log_->check_thread();
  log_->forget(tape_);
  used_ = false;
}

std::vector<Tensor> Tape::watched_variables() const {
  std::vector<Tensor> handles;
  const WatchList& watched = log_->watched();
  for (uint32_t i = 0; i < watched.size(); ++i)
    if ((watched[i].tapes & Log::bit(tape_)) && is_handle(watched[i].tensor)) handles.push_back(watched[i].tensor);
  return handles;
}

void Tape::begin_use() {
  log_->check_thread();
  if (used_)
    throw RuntimeError("A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)");
  if (options_.persistent) return;
  if (recording_) stop();
  used_ = true;
}
void Tape::end_use() {
  if (!options_.persistent) log_->forget(tape_);
}

std::vector<Tensor> Tape::pass(std::span<const Tensor> targets, std::span<const Tensor> sources,
                               std::span<const Tensor> output_gradients, bool consume) {
  Backprop backprop(*log_, tape_, consume);
  std::vector<const Tensor*> places;  // asked for before the pass, which forgets what it is through with
  places.reserve(sources.size());
  for (const Tensor& source : sources)
    places.push_back(has_derivatives(source, "source", about_sources) ? backprop.add_source(source) : nullptr);
  for (size_t i = 0; i < targets.size(); ++i)
    if (targets[i].defined() && has_derivatives(targets[i], "target", about_targets))
      backprop.add_target(targets[i], i < output_gradients.size() ? output_gradients[i] : Tensor());
  backprop.run();
  std::vector<Tensor> gradients;
  gradients.reserve(sources.size());
  for (const Tensor* place : places) gradients.push_back(place ? *place : Tensor());
  return gradients;
}

std::vector<Tensor> Tape::gradient(std::span<const Tensor> targets, std::span<const Tensor> sources,
                                   std::span<const Tensor> output_gradients, UnconnectedGradients unconnected) {
  if (!output_gradients.empty() && output_gradients.size() != targets.size())
    throw ValueError("output_gradients has " + std::to_string(output_gradients.size()) + " tensors for " +
                     std::to_string(targets.size()) + " targets");
  for (size_t i = 0; i < output_gradients.size(); ++i)
    if (output_gradients[i].defined() && !output_gradients[i].shape().is_compatible_with(targets[i].shape()))
      throw InvalidArgumentError("output_gradients: gradient " + std::to_string(i) + " has shape " +
                                 output_gradients[i].shape().brackets() + ", its target " +
                                 targets[i].shape().brackets());
  begin_use();
  std::vector<Tensor> gradients = pass(targets, sources, output_gradients, !options_.persistent);
  end_use();
  if (unconnected == UnconnectedGradients::zero)
    for (size_t i = 0; i < gradients.size(); ++i)
      if (!gradients[i].defined()) gradients[i] = zeros_for(sources[i]);
  return gradients;
}

std::vector<Tensor> Tape::jacobian(const Tensor& target, std::span<const Tensor> sources,
                                   UnconnectedGradients unconnected) {
  begin_use();
  int64_t count = target.size();
  std::vector<std::vector<Tensor>> rows(sources.size());
  for (int64_t i = 0; i < count; ++i) {
    Tensor chosen = reshape(one_hot(i, count, {.dtype = target.dtype()}), shape(target));
    std::vector<Tensor> gradients = pass({&target, 1}, sources, {&chosen, 1}, false);
    for (size_t k = 0; k < sources.size(); ++k)
      if (gradients[k].defined()) rows[k].push_back(to_array(gradients[k]));
  }
  std::vector<Tensor> jacobians;
  for (size_t k = 0; k < sources.size(); ++k) {
    const Shape source = is_handle(sources[k]) ? variable_of(sources[k]).read().shape() : sources[k].shape();
    Shape whole = target.shape().concatenate(source);
    std::vector<int64_t> dims(whole.dims().begin(), whole.dims().end());
    if (!rows[k].empty()) jacobians.push_back(reshape(stack(rows[k]), dims));
    else if (unconnected == UnconnectedGradients::zero || count == 0)
      jacobians.push_back(zeros(dims, {.dtype = target.dtype()}));
    else jacobians.emplace_back();
  }
  end_use();
  return jacobians;
}

Tensor Tape::batch_jacobian(const Tensor& target, const Tensor& source, UnconnectedGradients unconnected) {
  const Shape from = is_handle(source) ? variable_of(source).read().shape() : source.shape();
  if (target.rank() < 1 || from.rank() < 1 || target.shape()[0] != from[0])
    throw ValueError("Need first dimension of target shape (" + target.shape().str() + ") and source shape (" +
                     from.str() + ") to match.");
  begin_use();
  int64_t batch = from[0], each = target.shape().count(1, target.rank());
  std::vector<int64_t> dims(target.shape().dims().begin(), target.shape().dims().end());
  dims.insert(dims.end(), from.dims().begin() + 1, from.dims().end());
  std::vector<Tensor> columns;
  for (int64_t i = 0; i < each; ++i) {
    Tensor chosen = one_hot(thalweg::fill({batch}, i), each, {.dtype = target.dtype()});
    Tensor gradient = pass({&target, 1}, {&source, 1}, std::vector{reshape(chosen, shape(target))}, false)[0];
    if (gradient.defined()) columns.push_back(to_array(gradient));
  }
  end_use();
  if (!columns.empty()) return reshape(stack(columns, {.axis = 1}), dims);
  if (unconnected == UnconnectedGradients::none && each > 0) return {};
  return zeros(dims, {.dtype = target.dtype()});
}

}  // namespace autodiff
}  // namespace thalweg

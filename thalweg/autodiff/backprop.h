// The way back through a log: from the gradients of results to those of the tensors that made them.
#pragma once
#include <vector>

#include "thalweg/autodiff/log.h"

namespace thalweg::autodiff {

/// The op whose gradient is computed now on this thread, or null: traced nodes remember it.
extern constinit thread_local const Op* gradient_in_progress [[gnu::tls_model("initial-exec")]];
class GradientOf {
 public:
  explicit GradientOf(const Op* op) : before_(gradient_in_progress) { gradient_in_progress = op; }
  ~GradientOf() { gradient_in_progress = before_; }
  GradientOf(const GradientOf&) = delete;
  GradientOf& operator=(const GradientOf&) = delete;

 private:
  const Op* before_;
};

/// One backward pass for one tape.
class Backprop {
 public:
  /// `consume`: entries are freed as soon as the pass is through with them.
  Backprop(Log& log, int tape, bool consume);
  /// A tensor, or the handle of a variable, whose gradient is wanted: where it will lie after the pass, None if no
  /// target depends on it. Null for what the tape does not follow.
  const Tensor* add_source(const Tensor& source);
  /// Where the pass begins. The gradient may be None where the target does not depend on a source.
  void add_target(const Tensor& target, const Tensor& gradient);
  void run();

 private:
  // Where the gradient of a tensor is collected: with the results of entries, or with what is watched.
  Tensor* place_of(const TensorImpl* t);
  bool leads_to_source(const TensorImpl* t) const;
  void find_needed();
  void run_entry(const Entry& e);
  void accumulate(const Entry& e, const Tensor& input, Tensor gradient);

  Log& log_;
  const int tape_;
  const bool consume_;
  const uint32_t start_, end_;
  uint32_t first_slot_ = 0;
  std::vector<Tensor> slots_, leaves_;                // gradients so far
  std::vector<uint8_t> slot_sources_, leaf_sources_;  // whether they are asked for
  std::vector<uint8_t> needed_;                       // entries on a way to a source
};

}  // namespace thalweg::autodiff

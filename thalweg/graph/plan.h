// A plan: a graph made ready to run. Steps in program order, every value in a numbered slot, freed after its last use.
#pragma once
#include <atomic>
#include <mutex>
#include <vector>

#include "thalweg/graph/memory_plan.h"

namespace thalweg::graph {

/// Computes values of a graph from values of its arguments. The graph must outlive it. Any number of threads may run it
/// at once: each run has a frame of its own, and frames are used again.
class THALWEG_API Plan {
 public:
  /// What `results` need, and what has effects.
  Plan(const Graph& graph, const std::vector<Node*>& arguments, const std::vector<Value>& results,
       bool keep_effects = true);
  ~Plan();
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  /// Writes one tensor per result, owned by the caller; on an exception none.
  void run(std::span<const TensorRef> arguments, std::span<TensorImpl*> results) const;

  size_t num_steps() const { return steps_.size(); }
  /// Whether it has loops, branches or calls: steps that may take any time.
  bool calls_functions() const { return calls_functions_; }
  /// The ops that it runs, in their order.
  std::span<const PlanStep> steps() const { return steps_; }
  /// Where values lie.
  const MemoryPlan& memory() const { return memory_; }

 private:
  class Frame;
  class FrameUse;

  void number_values(const Graph& graph, const std::vector<Node*>& arguments, const std::vector<uint8_t>& needed);
  void add_step(const Node& node);
  void place_values();
  void find_direct_steps();
  void find_unread();
  void find_deaths();
  uint32_t slot_of(Value v) const {
    return first_slots_[static_cast<size_t>(v.node->id)] + static_cast<uint32_t>(v.index);
  }
  const Spec& spec(uint32_t slot) const { return specs_[slot - first_computed_]; }
  Place place_of(uint32_t slot) const { return memory_.places[slot - first_computed_]; }
  void run_on_stack(std::span<const TensorRef> arguments, std::span<TensorImpl*> results, bool watched) const;
  void run_in_frame(std::span<const TensorRef> arguments, std::span<TensorImpl*> results, bool watched) const;
  template <bool watched> void run_steps(TensorImpl** slots, Frame* frame) const;
  void make_fresh(const PlanStep& step, std::span<TensorImpl*> out) const;
  void run_step(const PlanStep& step, TensorImpl** slots) const;
  void run_step_watched(const PlanStep& step, TensorImpl** slots) const;
  void let_go(uint32_t slot, TensorImpl** slots, Frame* frame, const PlanStep& step) const;
  void release_until(const PlanStep* step, TensorImpl** slots) const;
  void take_results(TensorImpl** slots, std::span<TensorImpl*> results) const;

  std::vector<PlanStep> steps_;
  std::vector<uint32_t> inputs_, dead_, results_;
  std::vector<Spec> specs_;            // of slots from `first_computed_` on
  std::vector<Tensor> constants_;      // the slots before those, after the arguments
  std::vector<uint32_t> first_slots_;  // by node
  MemoryPlan memory_;
  bool framed_ = false;  // some values lie where they lay in the run before
  bool calls_functions_ = false;
  bool shared_results_ = false;  // some are arguments or constants, or there twice
  uint32_t num_arguments_ = 0, first_computed_ = 0, num_slots_ = 0, most_inputs_ = 0;

  mutable std::atomic<Frame*> spare_{nullptr};  // one that nobody uses, and more of them
  mutable std::mutex mutex_;
  mutable std::vector<Frame*> spares_;
};

}  // namespace thalweg::graph

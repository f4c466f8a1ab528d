// A plan: a graph made ready to run. Steps in program order, every value in a numbered slot, freed after its last use.
#pragma once
#include <vector>

#include "thalweg/graph/graph.h"

namespace thalweg::graph {

/// Computes values of a graph from values of its arguments. The graph must outlive it. Holds no state of a run, so any
/// number of threads may run it at once.
class THALWEG_API Plan {
 public:
  /// What `results` need, and what has effects.
  Plan(const Graph& graph, const std::vector<Node*>& arguments, const std::vector<Value>& results,
       bool keep_effects = true);

  /// Writes one tensor per result, owned by the caller; on an exception none.
  void run(std::span<const TensorRef> arguments, std::span<TensorImpl*> results) const;

  size_t num_steps() const { return steps_.size(); }

 private:
  struct Step {
    const Op* op;
    AttrsRef attrs;
    const Node* node;
    uint32_t first_input, num_inputs;
    uint32_t first_output, num_outputs;
    uint32_t first_dead, num_dead;  // slots that nobody reads afterwards
    uint32_t temporaries;           // inputs among them, one bit each
    bool infer;                     // shapes are known only when it runs
  };
  class Frame;

  void number_values(const Graph& graph, const std::vector<Node*>& arguments, const std::vector<uint8_t>& needed);
  void add_step(const Node& node);
  void find_last_uses();
  uint32_t slot_of(Value v) const {
    return first_slots_[static_cast<size_t>(v.node->id)] + static_cast<uint32_t>(v.index);
  }
  void run_step(const Step& step, TensorImpl** slots, TensorImpl** inputs) const;

  std::vector<Step> steps_;
  std::vector<uint32_t> inputs_, dead_, results_;
  std::vector<Spec> specs_;            // of slots from `first_computed_` on
  std::vector<Tensor> constants_;      // the slots before those, after the arguments
  std::vector<uint32_t> first_slots_;  // by node
  uint32_t num_arguments_ = 0, first_computed_ = 0, num_slots_ = 0, most_inputs_ = 0;
};

}  // namespace thalweg::graph

// Where the values of a plan lie: decided once, from shapes and lifetimes.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "thalweg/graph/graph.h"

namespace thalweg::graph {

/// One op of a plan; values have numbers, in program order.
struct PlanStep {
  const Op* op;
  AttrsRef attrs;
  const Node* node;
  RandomStream* stream = nullptr;  // what its kernel draws from
  uint32_t first_input, num_inputs;
  uint32_t first_output, num_outputs;
  uint32_t first_dead, num_dead;  // values that nobody reads afterwards
  uint32_t temporaries;           // inputs among them, one bit each
  uint32_t unread = 0;            // outputs that nobody reads at all, one bit each
  int32_t overwritten = -1;       // the value in whose memory the result is written
  bool infer;                     // shapes are known only when it runs
  bool direct = false;            // its kernel and nothing else has to run, as long as no input has a buffer
  bool fresh = true;              // some result has a block of its own in every run
};

/// Where a value lies while its function runs.
enum class Place : uint8_t {
  fresh,  // a block and memory of its own: results, strings and handles, and where the shape is not known
  block,  // a block that runs share, its few bytes inside
  loose,  // a block that runs share, with memory of its own or another's: views, and what an op may keep
  arena,  // a block that runs share, at a fixed offset in the run's one piece of memory
};

/// What lies where.
struct MemoryPlan {
  std::vector<Place> places;       // by value, from the first that is computed
  std::vector<size_t> offsets;     // in the arena
  std::vector<uint32_t> ends;      // the last step that reads its memory, perhaps through a view
  size_t arena_bytes = 0;          // of the arena
  size_t bytes_without_reuse = 0;  // the same values, if no two shared memory
};

/// A piece of memory that is needed from one step to another, both included.
struct Lifetime {
  size_t bytes = 0;
  uint32_t first = 0, last = 0;
};
/// Offsets such that pieces that are needed at the same time do not overlap, and the memory that all of them take.
struct Placement {
  std::vector<size_t> offsets;
  size_t bytes = 0;
};
/// Finds them: the largest pieces first, each in the tightest gap; past a few thousand pieces in the order of their
/// first step, since the other way takes time that grows with the square of their number.
THALWEG_API Placement place(std::span<const Lifetime> lifetimes);

/// The steps of a plan as far as memory goes.
struct PlannedSteps {
  std::span<PlanStep> steps;
  std::span<const uint32_t> inputs, results;
  std::span<const Spec> specs;  // by value, from the first that is computed
  uint32_t first_computed = 0;
};
/// Decides where each value lies, and notes in the steps which of them write over an input.
MemoryPlan plan_memory(const PlannedSteps& plan);

}  // namespace thalweg::graph

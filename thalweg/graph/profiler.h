// Counts what plans do on one thread while somebody measures.
#pragma once
#include <chrono>
#include <unordered_map>

#include "thalweg/graph/memory_plan.h"
#include "thalweg/graph/profile.h"

namespace thalweg::graph {

class Profiler {
 public:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin() {
    children_.push_back(0);
    return Clock::now();
  }
  /// The step threw.
  void abandon() { children_.pop_back(); }
  /// Steps that ran inside of it are taken off.
  void end(const PlanStep& step, std::span<const TensorRef> in, std::span<TensorImpl* const> out,
           Clock::time_point started);
  Profile finish(double total) const;

 private:
  std::unordered_map<const Node*, Profile::Row> rows_;
  std::vector<double> children_;  // by depth: what steps inside took
};

}  // namespace thalweg::graph

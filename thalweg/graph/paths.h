// Functions with plain C++ control flow on tensors: what they do between two questions about values is a segment, and
// answers lead from one segment to the next.
#pragma once
#include <atomic>
#include <deque>
#include <mutex>
#include <set>

#include "thalweg/graph/function_body.h"

namespace thalweg::graph {

/// What a function does from one question to the next, or to its end.
struct Segment {
  Segment* parent = nullptr;
  Tensor answer = {};      // of the parent's question, that leads here
  int first = 0, end = 0;  // its nodes
  Value question = {};     // whose value decides how it goes on; no node: it ends here
  std::vector<Value> results = {};
  std::shared_ptr<const void> structure = {};
  std::vector<Value> kept = {};  // its own values that others need, or that could not be computed again
  std::set<Value> needs = {};    // values of earlier segments that this one and those that follow it read

  bool ends() const { return question.node == nullptr; }

  /// Ready to run; made anew when more is known of what follows.
  struct Compiled {
    FunctionAttr body;         // -> the question or the results, then `kept`
    std::vector<Value> reads;  // its arguments
    std::vector<Value> gives;  // what `kept` was
    std::vector<Value> needs;
  };
  std::atomic<const Compiled*> compiled{nullptr};
  const Compiled* latest = nullptr;
  std::atomic<Segment*> first_child{nullptr};
  Segment* next_sibling = nullptr;
};

/// Values of a graph while a path through it runs. What is not there is computed again, which only pure nodes allow.
class PathValues {
 public:
  explicit PathValues(std::span<const TensorRef> arguments) : arguments_(arguments) {}
  Tensor at(Value v);
  void put(Value v, Tensor tensor) { known_.emplace_back(v, std::move(tensor)); }
  void compute(const Node& node);
  /// Lets go of what is not among these (sorted), and could be computed again.
  void keep_only(const std::vector<Value>& needed);

 private:
  const Tensor* find(Value v) const;

  std::span<const TensorRef> arguments_;
  std::vector<std::pair<Value, Tensor>> known_;
};

/// The segments of one trace of a function. Threads share it.
class THALWEG_API Paths {
 public:
  explicit Paths(std::string name) : name_(std::move(name)) {}

  /// Calls the function: runs segments as far as the answers are known, then traces what comes next while it runs.
  Traced run(std::span<const TensorRef> arguments, const TraceBody& body);

  size_t num_segments() const { return num_segments_.load(std::memory_order_relaxed); }
  /// Too many segments: calls run as they are written.
  bool has_overgrown() const { return overgrown_.load(std::memory_order_relaxed); }

 private:
  friend class PathTracer;
  Segment& add_segment(Segment* parent, const Tensor& answer);
  Segment* find(const Segment& from, const Tensor& answer) const;
  const Segment::Compiled& compile(Segment& segment);
  /// Calls the function to trace what follows a new answer, and runs that.
  Traced grow(Segment& last, const Tensor& answer, PathValues values, const TraceBody& body);
  void finish(std::span<Segment* const> fresh);

  std::string name_;
  std::mutex mutex_;  // for everything that grows
  Graph graph_;       // all segments, one after the other; the arguments come first
  std::deque<Segment> segments_;
  std::deque<Segment::Compiled> compiled_;
  std::vector<Segment*> owners_;  // by node
  std::atomic<size_t> num_segments_{0};
  std::atomic<bool> overgrown_{false};
  std::atomic<const void*> growing_{nullptr};  // the thread that traces
};

}  // namespace thalweg::graph

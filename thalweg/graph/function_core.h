// What `function` does without knowing the function's types: when to trace, which trace to run.
#pragma once
#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "thalweg/core/tensor_spec.h"
#include "thalweg/graph/paths.h"

namespace thalweg {

struct FunctionOptions {
  std::vector<TensorSpec> input_signature = {};  // one trace for all tensors that fit it; left out: one for each shape
  bool reduce_retracing = false;                 // shapes that differ from call to call become unknown
  bool jit_compile = false;                      // all fusions, whatever the options of passes say
  bool autograph = true;                         // if and while may ask for values of tensors
  std::string name = "function";
  std::string described_as = {};  // in warnings; left out: the name
};

/// One trace of a function, for arguments of certain dtypes and shapes.
class THALWEG_API ConcreteFunction {
 public:
  explicit ConcreteFunction(FunctionAttr body) : body_(std::move(body)) {}
  const std::string& name() const { return body_->name(); }
  const graph::Graph& graph() const { return body_->graph(); }
  const FunctionAttr& body() const { return body_; }
  /// What it consists of: arguments, results and parameters, ops by count, fused clusters, and the memory of a run.
  std::string summary() const;
  /// The graph in Graphviz's language, with a box for each name scope; `optimized`: as it runs, after the passes.
  std::string to_dot(bool optimized = false) const;
  /// The same as a file, for `dot -Tsvg`.
  void write_dot(const std::string& path, bool optimized = false) const;
  /// Calls it with one tensor per argument of the graph.
  std::vector<Tensor> operator()(const std::vector<Tensor>& arguments) const;

 private:
  FunctionAttr body_;
};

namespace graph {

/// One trace: a graph, or the paths of a function that asks for values of tensors.
struct THALWEG_API Trace {
  std::vector<Spec> arguments;
  std::string rest;
  FunctionAttr body;
  std::shared_ptr<const void> structure;
  std::shared_ptr<Paths> paths;

  bool fits(std::span<const TensorRef> tensors, const std::string& other_rest) const;
};

class THALWEG_API FunctionCore {
 public:
  explicit FunctionCore(FunctionOptions options) : options_(std::move(options)) {}

  /// What `find` has to say.
  struct Found {
    const Trace* trace = nullptr;        // null: to be called as part of the function around it, which knows values
    std::optional<Traced> outcome = {};  // where tracing already had to run the function
  };
  /// The trace for these arguments, made if there is none.
  Found find(std::span<const TensorRef> tensors, const std::string& rest, const TraceBody& body,
             std::span<const std::string> names = {});
  /// The same for arguments without values; TypeError where there is no single graph.
  const Trace& find_graph(std::span<const TensorRef> tensors, const std::string& rest, const TraceBody& body,
                          std::span<const std::string> names = {});
  /// The one that was used last.
  const Trace* latest() const { return latest_.load(std::memory_order_acquire); }

  int tracing_count() const { return tracing_count_.load(std::memory_order_relaxed); }
  const FunctionOptions& options() const { return options_; }
  /// The traces, in the order in which they were made.
  std::vector<const Trace*> traces() const;

 private:
  const Trace* search(std::span<const TensorRef> tensors, const std::string& rest) const;
  std::vector<Spec> specs_for(std::span<const TensorRef> tensors, const std::string& rest) const;
  Found make(std::span<const TensorRef> tensors, const std::string& rest, const TraceBody& body,
             std::span<const std::string> names);
  /// Whether variables were created.
  bool trace(Trace& to, std::span<const TensorRef> tensors, const TraceBody& body, std::span<const std::string> names,
             bool may_create_variables, std::optional<Traced>& outcome);
  void note_call(bool traced);

  FunctionOptions options_;
  mutable std::recursive_mutex mutex_;
  std::deque<Trace> traces_;
  std::atomic<const Trace*> latest_{nullptr};
  std::atomic<int> tracing_count_{0};
  bool tracing_ = false, called_ = false, asks_for_values_ = false;
  int recent_traces_ = 0, recent_calls_ = 0;
  bool warned_ = false;
};

/// One line per trace: `function(float32 (2, 3)) -> float32 (2,)`.
THALWEG_API std::string describe(const FunctionCore& core);

}  // namespace graph

namespace config {
/// Functions run as they are written, op by op: for debugging.
THALWEG_API void run_functions_eagerly(bool eagerly);
THALWEG_API bool functions_run_eagerly();
}  // namespace config

}  // namespace thalweg

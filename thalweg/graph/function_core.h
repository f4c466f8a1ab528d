// What `function` does without knowing the function's types: when to trace, which trace to run.
#pragma once
#include <iosfwd>
#include <memory>
#include <optional>

#include "thalweg/core/tensor_spec.h"
#include "thalweg/graph/traced.h"

namespace thalweg {

namespace graph {
class Graph;
/// The listing of a graph, a line for each node; thalweg/graph/graph.h shows the graph itself.
THALWEG_API std::ostream& operator<<(std::ostream& out, const Graph& graph);
}  // namespace graph

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
  explicit ConcreteFunction(std::shared_ptr<const FunctionBody> body) : body_(std::move(body)) {}
  const std::string& name() const;
  const graph::Graph& graph() const;
  const std::shared_ptr<const FunctionBody>& body() const { return body_; }
  /// What it consists of: arguments, results and parameters, ops by count, fused clusters, and the memory of a run.
  std::string summary() const;
  /// The graph in Graphviz's language, with a box for each name scope; `optimized`: as it runs, after the passes.
  std::string to_dot(bool optimized = false) const;
  /// The same as a file, for `dot -Tsvg`.
  void write_dot(const std::string& path, bool optimized = false) const;
  /// Calls it with one tensor per argument of the graph.
  std::vector<Tensor> operator()(const std::vector<Tensor>& arguments) const;

 private:
  std::shared_ptr<const FunctionBody> body_;
};

namespace graph {

/// ValueError: a Function that was given none.
[[noreturn]] THALWEG_API void refuse_empty_function();

struct Trace;

/// The traces of one function.
class THALWEG_API FunctionCore {
 public:
  explicit FunctionCore(FunctionOptions options);
  ~FunctionCore();
  FunctionCore(const FunctionCore&) = delete;
  FunctionCore& operator=(const FunctionCore&) = delete;

  /// The one result of the graph that ran last, if these arguments fit it and nobody follows the call; else undefined.
  Tensor run_one(std::span<const TensorRef> tensors, const std::string& rest) const;
  /// The results of the graph that ran last, if these arguments fit it.
  std::optional<Traced> run_again(std::span<const TensorRef> tensors, const std::string& rest) const;
  /// Runs the trace for these arguments, made if there is none. Nothing: the function is to be called as it is written,
  /// as a part of the one around it, which knows values.
  std::optional<Traced> run(std::span<const TensorRef> tensors, const std::string& rest, const TraceBody& body);

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
  /// The same for programs.
  ConcreteFunction concrete(std::span<const TensorRef> tensors, const std::string& rest, const TraceBody& body);

  int tracing_count() const;
  const FunctionOptions& options() const { return options_; }
  /// The traces, in the order in which they were made.
  std::vector<const Trace*> traces() const;

 private:
  struct State;

  const Trace* search(std::span<const TensorRef> tensors, const std::string& rest) const;
  Found make(std::span<const TensorRef> tensors, const std::string& rest, const TraceBody& body,
             std::span<const std::string> names);
  /// Whether variables were created.
  bool trace(Trace& to, std::span<const TensorRef> tensors, const TraceBody& body, std::span<const std::string> names,
             bool may_create_variables, std::optional<Traced>& outcome);
  void note_call(bool traced);

  FunctionOptions options_;
  std::unique_ptr<State> state_;
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

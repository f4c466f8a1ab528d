// What tests of passes share: graphs to be rewritten, and their results before and after.
#pragma once
#include <gtest/gtest.h>

#include "thalweg/graph/function_body.h"
#include "thalweg/graph/passes/pass.h"
#include "thalweg/thalweg.h"

namespace thalweg::graph {

inline std::shared_ptr<const FunctionBody> trace(const std::vector<TensorSpec>& specs,
                                                 const std::function<std::vector<Tensor>(std::vector<Tensor>)>& body) {
  GraphTracer tracer(current_tracer());
  {
    Tracing tracing(&tracer);
    std::vector<Tensor> arguments;
    for (const TensorSpec& s : specs) arguments.push_back(tracer.argument(s.dtype, s.shape, "x"));
    for (const Tensor& t : body(arguments)) tracer.graph().results.push_back(tracer.value_of(t));
  }
  return std::make_shared<FunctionBody>("traced", std::move(tracer.graph()));
}

inline std::string after(const Graph& graph, std::initializer_list<const Pass*> passes) {
  Graph made = graph.copy();
  for (const Pass* pass : passes) pass->run(made);
  return made.str();
}

// Also inside clusters.
inline int count(const Graph& graph, const std::string& op) {
  int found = 0;
  for (const Node& n : graph.nodes()) {
    found += n.op->name == op && !n.is_constant();
    if (n.op->name != std::string_view("_FusedElementwise")) continue;
    std::string program = get_attr<std::string>(n, "program");
    for (size_t at = 0; (at = program.find(op + "(", at)) != std::string::npos; ++at) ++found;
  }
  return found;
}

inline std::vector<Tensor> run_plain(const FunctionBody& f, const std::vector<Tensor>& arguments) {
  Plan plan(f.graph(), f.graph().arguments, f.graph().results);
  return run(plan, f.num_results(), std::vector<TensorRef>(arguments.begin(), arguments.end()));
}
inline void expect_same_bits(const FunctionBody& f, const std::vector<Tensor>& arguments) {
  std::vector<Tensor> plain = run_plain(f, arguments);
  std::vector<Tensor> made = run(f.plan(), f.num_results(), std::vector<TensorRef>(arguments.begin(), arguments.end()));
  for (size_t i = 0; i < plain.size(); ++i) EXPECT_TRUE(same_value(plain[i], made[i])) << plain[i] << made[i];
}

}  // namespace thalweg::graph

// Every row traced, written as a GraphDef, read again and run: the bits of the eager call.
#include "thalweg/io/graph_def.h"

#include <gtest/gtest.h>

#include "tests/op_cases/golden.h"
#include "thalweg/core/error.h"
#include "thalweg/core/seed.h"

namespace thalweg::testing {
namespace {

using Tensors = std::vector<Tensor>;

/// A function of the inputs that are no handles, after a way through bytes; then its results for these inputs.
Tensors run_read_again(const Call& call) {
  graph::GraphTracer tracer(nullptr);
  Tensors symbolic, given;
  {
    graph::Tracing tracing(&tracer);
    for (const Tensor& t : call.inputs) {
      const bool is_handle = t.dtype() == DType::resource;
      symbolic.push_back(is_handle ? t : tracer.argument(t.dtype(), t.shape()));
      if (!is_handle) given.push_back(t);
    }
    for (const Tensor& t : run_op(*call.op, symbolic, call.attrs)) tracer.graph().results.push_back(tracer.value_of(t));
  }
  const FunctionBody body("row", std::move(tracer.graph()));
  const io::GraphExport made = io::to_graph_def(body);
  io::ImportOptions options{.inputs = made.arguments, .outputs = made.results};
  for (const auto& [name, handle] : made.captures) {
    options.inputs->push_back(name);
    given.push_back(handle);
  }
  if (made.results.empty()) options.outputs.reset();
  const FunctionAttr again = io::from_graph_def(proto::parse<proto::GraphDef>(proto::serialize(made.graph)), options);
  return graph::run(again->plan(), again->num_results(), std::vector<TensorRef>(given.begin(), given.end()));
}

class GraphDefs : public ::testing::TestWithParam<std::string> {};

TEST_P(GraphDefs, HaveTheBitsOfTheEagerCall) {
  for (const Case* c : cases_of(GetParam(), false)) {
    if (!c->error.empty() || c->shape_only) continue;
    Call eager = make_call(*c), traced = make_call(*c);
    try {
      seed_state().set_global_seed(1);
      const Tensors got = run_read_again(traced);
      seed_state().set_global_seed(1);
      const Tensors expected = run_op(*eager.op, eager.inputs, eager.attrs);
      ASSERT_EQ(got.size(), expected.size()) << c->describe();
      for (size_t i = 0; i < got.size(); ++i) {
        if (expected[i].dtype() == DType::resource || expected[i].dtype() == DType::variant) continue;
        const std::string differs = difference(got[i], expected[i], 0);
        EXPECT_TRUE(differs.empty()) << c->describe() << ": result " << i << ": " << differs;
      }
    } catch (const std::exception& e) {
      if (is_refused_by_graphs_alone(e, eager)) continue;
      ADD_FAILURE() << c->describe() << ": " << e.what();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, GraphDefs, ::testing::ValuesIn(ops_with_cases()));

}  // namespace
}  // namespace thalweg::testing

// Control dependencies: what waits for what, in plans, gradients and files.
#include "thalweg/graph/control_dependencies.h"

#include <gtest/gtest.h>

#include "thalweg/io/graph_def.h"
#include "thalweg/thalweg.h"

namespace thalweg {
namespace {

// Tensors of two elements pass a check that has no effect, others do not.
const Tensor good = {1.0f, 2.0f}, bad = {1.0f, 2.0f, 3.0f};
const FunctionOptions any_length{.input_signature = {TensorSpec({unknown}, float32)}};

Tensor checked_identity(const Tensor& x) {
  Tensor check = ensure_shape(x, Shape{2});
  auto scope = control_dependencies({check});
  return identity(x);
}

TEST(ControlDependencies, MakesWhatIsListedNeeded) {
  auto f = function(checked_identity, any_length);
  EXPECT_EQ(f(good).size(), 2);
  EXPECT_THROW(f(bad), InvalidArgumentError);
  auto without = function(
      [](const Tensor& x) {
        ensure_shape(x, Shape{2});
        return identity(x);
      },
      any_length);
  EXPECT_NO_THROW(without(bad));
}

TEST(ControlDependencies, NothingNeededUnderItNothingRuns) {
  auto f = function(
      [](const Tensor& x) {
        Tensor check = ensure_shape(x, Shape{2});
        auto scope = control_dependencies({check});
        Tensor unused = x * 2.0f;
        return x;
      },
      any_length);
  EXPECT_NO_THROW(f(bad));
}

TEST(ControlDependencies, NestAndEnd) {
  auto f = function([](const Tensor& x, const Tensor& y) {
    Tensor a = ensure_shape(x, Shape{2}), b = ensure_shape(y, Shape{2});
    Tensor both, first, none;
    {
      ControlDependencies outer({a});
      {
        ControlDependencies inner({b});
        both = identity(x);
        ControlDependencies left(nullptr);
        none = identity(x);
      }
      first = identity(x);
    }
    return std::vector<Tensor>{both, first, none, identity(y)};
  });
  const graph::Graph& graph =
      f.get_concrete_function(TensorSpec({unknown}, float32), TensorSpec({unknown}, float32)).graph();
  std::vector<size_t> counts;
  for (const graph::Value& v : graph.results) counts.push_back(v.node->controls.size());
  EXPECT_EQ(counts, (std::vector<size_t>{2, 1, 0, 0}));
}

TEST(ControlDependencies, OfCallsAndBranches) {
  auto check = function([](const Tensor& x) { return ensure_shape(x, Shape{2}) * 2.0f; }, any_length);
  auto f = function(
      [&](const Tensor& x) {
        ControlDependencies scope({check(x)});
        return cond(reduce_sum(x) > 0.0f, [&] { return x * 2.0f; }, [&] { return x; });
      },
      any_length);
  EXPECT_EQ(reduce_sum(f(good)).item<float>(), 6);
  EXPECT_THROW(f(bad), InvalidArgumentError);
}

TEST(ControlDependencies, CallsWaitToo) {
  auto twice = function([](const Tensor& x) { return x * 2.0f; }, any_length);
  auto f = function(
      [&](const Tensor& x) {
        ControlDependencies scope({ensure_shape(x, Shape{2})});
        return twice(x);
      },
      any_length);
  EXPECT_EQ(reduce_sum(f(good)).item<float>(), 6);
  EXPECT_THROW(f(bad), InvalidArgumentError);
}

TEST(ControlDependencies, StayInGradientsAndCalls) {
  auto f = function(checked_identity, any_length);
  Tensor x = bad;
  GradientTape tape;
  tape.watch(x);
  EXPECT_THROW(f(x), InvalidArgumentError);
  auto outer = function([&](const Tensor& v) { return f(v) + 1.0f; }, any_length);
  EXPECT_THROW(outer(bad), InvalidArgumentError);
}

TEST(ControlDependencies, ChangeNothingOutsideOfFunctions) {
  ControlDependencies scope({Tensor(1.0f), Tensor()});
  EXPECT_EQ(identity(2.0f).item<float>(), 2);
}

TEST(ControlDependencies, OnEffectsKeepNoPassFromItsWork) {
  Variable v(0.0f);
  auto f = function([&](const Tensor& x) {
    v.assign_add(x);
    Tensor read = v.value();
    ControlDependencies scope({read});
    return (x * 2.0f) + (x * 2.0f);
  });
  EXPECT_EQ(f(3.0f).item<float>(), 12);
  EXPECT_EQ(v.value().item<float>(), 3);
}

TEST(ControlDependencies, AreWrittenAndRead) {
  auto f = function(checked_identity, any_length);
  io::GraphExport made = io::to_graph_def(*f.get_concrete_function(TensorSpec({unknown}, float32)).body());
  const proto::NodeDef& last = made.graph.node.back();
  EXPECT_EQ(last.op, "Identity");
  ASSERT_EQ(last.input.size(), 2u);
  EXPECT_EQ(last.input[1], "^EnsureShape");
  FunctionAttr again = io::from_graph_def(made.graph, {.inputs = made.arguments, .outputs = made.results});
  EXPECT_EQ(ConcreteFunction(again)(std::vector<Tensor>{good})[0].size(), 2);
  EXPECT_THROW((void)ConcreteFunction(again)(std::vector<Tensor>{bad}), InvalidArgumentError);

  // Through a node that does nothing else, as TensorFlow writes tf.group.
  proto::NodeDef nothing;
  nothing.name = "group";
  nothing.op = "NoOp";
  nothing.input = {"^EnsureShape"};
  made.graph.node.back().input[1] = "^group";
  made.graph.node.insert(made.graph.node.begin(), nothing);
  again = io::from_graph_def(made.graph, {.inputs = made.arguments, .outputs = made.results});
  EXPECT_THROW((void)ConcreteFunction(again)(std::vector<Tensor>{bad}), InvalidArgumentError);
}

}  // namespace
}  // namespace thalweg

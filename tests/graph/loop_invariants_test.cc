// Loops: what no turn changes is computed before them.
#include "tests/graph/pass_testing.h"

namespace thalweg::graph {
namespace {

const Tensor weights = {{0.5f, 0.25f}, {-0.5f, 1.0f}};

std::shared_ptr<const FunctionBody> traced_loop(const Shape& shape) {
  return trace({TensorSpec(shape), TensorSpec(Shape{}, DType::int32)}, [](auto x) {
    Tensor w = exp(x[0]);
    auto [i, y] = while_loop([&](const Tensor& i, const Tensor&) { return i < x[1]; },
                             [&](const Tensor& i, const Tensor& y) {
                               Tensor fixed = tanh(matmul(w, w)) * 0.5f;
                               return std::tuple(i + 1, matmul(y, fixed) + y);
                             },
                             std::tuple(Tensor(0), x[0]));
    return std::vector{y};
  });
}

FunctionAttr body_of(const Graph& graph) {
  for (const Node& n : graph.nodes())
    if (n.op->name == std::string_view("StatelessWhile"))
      return std::get<FunctionAttr>(n.op->attrs->get(n.attrs.get(), n.op->attrs->find("body")));
  return nullptr;
}

TEST(LoopInvariants, GoBeforeTheLoop) {
  auto f = traced_loop({2, 2});
  EXPECT_EQ(count(f->graph(), "Tanh"), 0);
  EXPECT_EQ(count(body_of(f->graph())->graph(), "Tanh"), 1);
  EXPECT_EQ(count(body_of(f->graph())->graph(), "MatMul"), 2);
  Graph made = f->graph().copy();
  loop_invariants.run(made);
  EXPECT_EQ(count(made, "Tanh"), 1) << made.str();
  EXPECT_EQ(count(made, "MatMul"), 1) << made.str();
  FunctionAttr rest = body_of(made);
  EXPECT_EQ(count(rest->graph(), "Tanh"), 0) << rest->graph().str();
  EXPECT_EQ(count(rest->graph(), "MatMul"), 1) << rest->graph().str();
  for (int turns : {0, 1, 5}) expect_same_bits(*f, {weights, Tensor(turns)});
}

TEST(LoopInvariants, StayWhereTheyMayFail) {
  EXPECT_EQ(count(traced_loop({unknown, unknown})->optimized_graph(), "Tanh"), 0);
  auto divides = trace({TensorSpec({2}, DType::int32), TensorSpec(Shape{}, DType::int32)}, [](auto x) {
    auto [i, y] =
        while_loop([&](const Tensor& i, const Tensor&) { return i < x[1]; },
                   [&](const Tensor& i, const Tensor& y) { return std::tuple(i + 1, y + floordiv(x[0], x[0] - x[0])); },
                   std::tuple(Tensor(0), x[0]));
    return std::vector{y};
  });
  EXPECT_EQ(count(divides->optimized_graph(), "FloorDiv"), 0);
  expect_same_bits(*divides, {Tensor({1, 2}), Tensor(0)});
  Tensor numbers({1, 2}), once(1);
  EXPECT_THROW(run(divides->plan(), 1, std::vector<TensorRef>{numbers, once}), InvalidArgumentError);
}

TEST(LoopInvariants, AreNotWhatVariablesHold) {
  Variable v(1.0f);
  auto f = trace({TensorSpec(Shape{})}, [&](auto x) {
    auto [i, y] = while_loop([](const Tensor& i, const Tensor&) { return i < 3; },
                             [&](const Tensor& i, const Tensor& y) {
                               v.assign_add(1.0f);
                               return std::tuple(i + 1, y + exp(v * 0.0f + x[0]) * v);
                             },
                             std::tuple(Tensor(0), x[0]));
    return std::vector{y};
  });
  std::vector<Tensor> argument = {Tensor(0.0f)};
  std::vector<Tensor> results = run(f->plan(), 1, std::vector<TensorRef>(argument.begin(), argument.end()));
  EXPECT_EQ(results[0].item<float>(), 9);
  EXPECT_EQ(v.value().item<float>(), 4);
}

TEST(LoopInvariants, AreSwitchedByName) {
  config::optimizer::set_experimental_options({{"loop_optimization", false}});
  EXPECT_EQ(count(traced_loop({2, 2})->optimized_graph(), "Tanh"), 0);
  config::optimizer::set_experimental_options({{"loop_optimization", true}});
  EXPECT_EQ(count(traced_loop({2, 2})->optimized_graph(), "Tanh"), 1);
}

}  // namespace
}  // namespace thalweg::graph

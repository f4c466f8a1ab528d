// Conditionals and loops in traced functions: values, effects and gradients.
#include "thalweg/graph/control_flow.h"

#include <gtest/gtest.h>

#include "tests/graph/samples.h"
#include "thalweg/thalweg.h"

namespace thalweg {
namespace {

using graph::Traced;
using Tensors = std::span<const Tensor>;

using samples::choose;
using samples::square_often;

TEST(ControlFlow, TakesTheBranchOfTheValue) {
  auto f = function(choose);
  EXPECT_EQ(f(3.0f).item<float>(), 9);
  EXPECT_EQ(f(-3.0f).item<float>(), -4);
  EXPECT_EQ(f.experimental_get_tracing_count(), 1);
  EXPECT_EQ(choose(3.0f).item<float>(), 9);
}

TEST(ControlFlow, HasEffectsOfTheTakenBranchOnly) {
  Variable v(0.0f);
  auto f = function([&](const Tensor& x) {
    graph::cond(
        x > 0.0f, [&](Tensors) { return v.assign_add(x), Traced{}; },
        [&](Tensors) { return v.assign_sub(10.0f), Traced{}; });
    return v.value();
  });
  EXPECT_EQ(f(3.0f).item<float>(), 3);
  EXPECT_EQ(f(-1.0f).item<float>(), -7);
}

TEST(ControlFlow, LoopsAsOftenAsTheConditionHolds) {
  auto f = function(square_often);
  EXPECT_EQ(f(2.0f, 3).item<float>(), 256);
  EXPECT_EQ(f(2.0f, 0).item<float>(), 2);
  EXPECT_EQ(square_often(2.0f, 3).item<float>(), 256);
}

TEST(ControlFlow, GradientsGoThroughBranchesAndLoops) {
  auto f = function([](const Tensor& x) {
    GradientTape tape;
    tape.watch(x);
    Tensor y = choose(x);
    return tape.gradient(y, x);
  });
  EXPECT_EQ(f(3.0f).item<float>(), 6);
  EXPECT_EQ(f(-3.0f).item<float>(), 1);
  auto g = function([](const Tensor& x, const Tensor& n) {
    GradientTape tape;
    tape.watch(x);
    Tensor y = square_often(x, n);
    return tape.gradient(y, x);
  });
  EXPECT_EQ(g(2.0f, 3).item<float>(), 8 * 128);
  EXPECT_EQ(g(2.0f, 0).item<float>(), 1);
}

TEST(ControlFlow, TapesOutsideGoThroughThemToo) {
  auto f = function(square_often);
  Tensor x = 2.0f;
  GradientTape tape;
  tape.watch(x);
  EXPECT_EQ(tape.gradient(f(x, 3), x).item<float>(), 8 * 128);
}

TEST(ControlFlow, LoopsGiveGradientsToVariables) {
  Variable w(1.5f);
  auto f = function([&](const Tensor& x) {
    GradientTape tape;
    Tensor y = graph::while_loop([&](Tensors v) { return Traced{{v[0] < 4}, nullptr}; },
                                 [&](Tensors v) { return Traced{{v[0] + 1, v[1] * w}, nullptr}; }, {Tensor(0), x})[1];
    return tape.gradient(y, w);
  });
  EXPECT_FLOAT_EQ(f(2.0f).item<float>(), 2 * 4 * 1.5f * 1.5f * 1.5f);
}

TEST(ControlFlow, RefusesWhatDoesNotFit) {
  auto dtypes = function([](const Tensor& x) {
    return graph::cond(
        x > 0.0f, [&](Tensors) { return Traced{{x}, nullptr}; },
        [&](Tensors) { return Traced{{Tensor(1)}, nullptr}; })[0];
  });
  EXPECT_THROW(dtypes(1.0f), TypeError);
  auto grows = function([](const Tensor& x) {
    return graph::while_loop([&](Tensors v) { return Traced{{reduce_sum(v[0]) < 10.0f}, nullptr}; },
                             [&](Tensors v) { return Traced{{concat({v[0], v[0]}, 0)}, nullptr}; }, {x})[0];
  });
  EXPECT_THROW(grows(ones({2})), ValueError);
}

TEST(ControlFlow, ReadsNaturally) {
  auto f = function([](const Tensor& x, const Tensor& n) {
    auto [i, sum] = while_loop([&](const Tensor& i, const Tensor&) { return i < n; },
                               [&](const Tensor& i, const Tensor& sum) { return std::tuple(i + 1, sum + x); },
                               std::tuple(Tensor(0), Tensor(0.0f)));
    Tensor kind =
        switch_case(i, [] { return Tensor("none"); }, [] { return Tensor("one"); }, [] { return Tensor("many"); });
    Tensor y = cond(sum > 10.0f, [&] { return sum; }, [&] { return sum * 0.0f; });
    return std::tuple(y, kind);
  });
  auto [y, kind] = f(4.0f, 3);
  EXPECT_EQ(y.item<float>(), 12);
  EXPECT_EQ(kind.item<std::string>(), "many");
  auto [none, few] = f(4.0f, 1);
  EXPECT_EQ(none.item<float>(), 0);
  EXPECT_EQ(few.item<std::string>(), "one");
  EXPECT_EQ(
      while_loop([](const Tensor& x) { return x < 100.0f; }, [](const Tensor& x) { return x * 2.0f; }, Tensor(3.0f))
          .item<float>(),
      192);
}

TEST(ControlFlow, StopsAfterTheMostIterations) {
  auto f = function([](const Tensor& x) {
    return graph::while_loop([](Tensors) { return Traced{{Tensor(true)}, nullptr}; },
                             [](Tensors v) { return Traced{{v[0] * 2.0f}, nullptr}; }, {x}, {}, 5)[0];
  });
  EXPECT_EQ(f(1.0f).item<float>(), 32);
}

}  // namespace
}  // namespace thalweg

// Passes: the graph before and after each of them, and that results keep their bits.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/graph/pass_testing.h"

namespace thalweg::graph {
namespace {

const float infinity = std::numeric_limits<float>::infinity();
const Tensor odd = {{1.5f, -0.0f, 0.0f}, {NAN, infinity, -infinity}};

TEST(Passes, CopyAGraph) {
  auto f = trace({TensorSpec({2, 3})}, [](auto x) { return std::vector{exp(x[0]) + 1.0f}; });
  EXPECT_EQ(f->graph().copy().str(), f->graph().str());
}

TEST(Passes, InlineCalls) {
  auto square_plus = trace({TensorSpec({2, 3})}, [](auto x) { return std::vector{x[0] * x[0] + 2.0f}; });
  auto f = trace({TensorSpec({2, 3})}, [&](auto x) { return call(square_plus, std::vector<TensorRef>{exp(x[0])}); });
  EXPECT_EQ(f->graph().str(),
            "%0 = Placeholder 'x'() {dtype: float32, shape: [2, 3]}: float32 (2, 3)\n"
            "%1 = Exp(%0): float32 (2, 3)\n"
            "%2 = PartitionedCall(%1) {Tin: [float32], Tout: [float32], f: a function}: float32 (2, 3)\n"
            "return %2\n");
  EXPECT_EQ(after(f->graph(), {&inline_calls}),
            "%0 = Placeholder 'x'() {dtype: float32, shape: [2, 3]}: float32 (2, 3)\n"
            "%1 = Exp(%0): float32 (2, 3)\n"
            "%2 = Mul 'PartitionedCall/Mul'(%1, %1): float32 (2, 3)\n"
            "%3 = Const 'PartitionedCall/Const'(): float32 ()\n"
            "%4 = AddV2 'PartitionedCall/AddV2'(%2, %3): float32 (2, 3)\n"
            "return %4\n");
  expect_same_bits(*f, {odd});
}

TEST(Passes, InlinedEffectsKeepTheirOrder) {
  Variable v(1.0f);
  auto twice = trace({}, [&](auto) {
    v.assign(v * 2.0f);
    return std::vector<Tensor>{};
  });
  auto f = trace({TensorSpec(Shape{})}, [&](auto x) {
    v.assign_add(x[0]);
    call(twice, {});
    Tensor middle = v + 0.0f;
    v.assign_add(x[0]);
    call(twice, {});
    return std::vector{middle, v + 0.0f};
  });
  std::vector<Tensor> argument = {Tensor(1.0f)};
  std::vector<Tensor> results = run(f->plan(), 2, std::vector<TensorRef>(argument.begin(), argument.end()));
  EXPECT_EQ(count(f->optimized_graph(), "StatefulPartitionedCall"), 0);
  EXPECT_EQ(results[0].item<float>(), 4);
  EXPECT_EQ(results[1].item<float>(), 10);
  EXPECT_EQ(v.value().item<float>(), 10);
}

TEST(Passes, LeaveCallsThatMustCheckShapes) {
  auto inner = trace({TensorSpec({2})}, [](auto x) { return std::vector{x[0] + x[0]}; });
  auto f = trace({TensorSpec(Shape::of_rank(1))}, [&](auto x) { return call(inner, std::vector<TensorRef>{x[0]}); });
  EXPECT_EQ(count(f->optimized_graph(), "PartitionedCall"), 1);
  Tensor three = {1.0f, 2.0f, 3.0f};
  EXPECT_THROW(run(f->plan(), 1, std::vector<TensorRef>{three}), InvalidArgumentError);
}

TEST(Passes, Prune) {
  Variable v(1.0f);
  auto f = trace({TensorSpec({2}), TensorSpec({2})}, [&](auto x) {
    exp(x[0]);
    v.assign_add(1.0f);
    return std::vector{x[0] * 2.0f};
  });
  std::string listing = after(f->graph(), {&prune});
  EXPECT_EQ(listing.find("Exp"), std::string::npos) << listing;
  EXPECT_NE(listing.find("AssignAddVariableOp"), std::string::npos) << listing;
  EXPECT_NE(listing.find("%1 = Placeholder"), std::string::npos) << listing;
}

TEST(Passes, FoldConstants) {
  auto scale =
      trace({TensorSpec(Shape{}), TensorSpec({2, 3})}, [](auto x) { return std::vector{sqrt(exp(x[0])) * x[1]}; });
  auto f = trace({TensorSpec({2, 3})}, [&](auto x) { return call(scale, std::vector<TensorRef>{Tensor(2.0f), x[0]}); });
  EXPECT_EQ(after(f->graph(), {&inline_calls, &fold_constants, &prune}),
            "%0 = Placeholder 'x'() {dtype: float32, shape: [2, 3]}: float32 (2, 3)\n"
            "%1 = Const 'PartitionedCall/Sqrt'(): float32 ()\n"
            "%2 = Mul 'PartitionedCall/Mul'(%1, %0): float32 (2, 3)\n"
            "return %2\n");
  expect_same_bits(*f, {odd});
}

TEST(Passes, FoldShapesAsFarAsTheyAreKnown) {
  auto f = trace({TensorSpec({unknown, 3})},
                 [](auto x) { return std::vector{x[0] * cast(shape(x[0])[1], DType::float32)}; });
  EXPECT_EQ(count(f->graph(), "Shape"), 1);
  EXPECT_EQ(count(f->optimized_graph(), "Shape"), 0);
  EXPECT_EQ(count(f->optimized_graph(), "Cast"), 0);
  expect_same_bits(*f, {odd});
}

TEST(Passes, FoldNothingThatFailsOrIsRandom) {
  auto divide = trace({TensorSpec(Shape{}, DType::int32), TensorSpec(Shape{}, DType::int32)},
                      [](auto x) { return std::vector{x[0] + floordiv(x[1], x[1])}; });
  auto f = trace({TensorSpec(Shape{}, DType::int32)},
                 [&](auto x) { return call(divide, std::vector<TensorRef>{x[0], Tensor(0)}); });
  Tensor one(1);
  EXPECT_THROW(run(f->plan(), 1, std::vector<TensorRef>{one}), InvalidArgumentError);
  auto noise = trace({}, [&](auto) { return std::vector{random::uniform({4})}; });
  EXPECT_FALSE(same_value(run(noise->plan(), 1, {})[0], run(noise->plan(), 1, {})[0]));
}

TEST(Passes, MergeSubexpressions) {
  auto f = trace({TensorSpec({2, 3}), TensorSpec({2, 3})}, [](auto x) {
    return std::vector{exp(x[0] * x[1]) - exp(x[1] * x[0]), matmul(x[0], x[1], {.transpose_b = true}),
                       matmul(x[0], x[1], {.transpose_a = true})};
  });
  Graph made = f->graph().copy();
  merge_subexpressions.run(made);
  prune.run(made);
  EXPECT_EQ(count(made, "Mul"), 1) << made.str();
  EXPECT_EQ(count(made, "Exp"), 1);
  EXPECT_EQ(count(made, "MatMul"), 2);
  expect_same_bits(*f, {odd, odd + 1.0f});
}

TEST(Passes, KeepEffectsApart) {
  auto f = trace({}, [](auto) { return std::vector{random::uniform({4}) - random::uniform({4})}; });
  EXPECT_EQ(count(f->optimized_graph(), "RandomUniform"), 2);
}

TEST(Passes, SimplifyArithmetic) {
  auto f = trace({TensorSpec({2, 3})}, [](auto x) {
    Tensor y = identity(x[0]) * 1.0f;
    y = -(-(y / 1.0f)) - 0.0f;
    y = transpose(transpose(reshape(y, {2, 3})));
    return std::vector{nn::relu(nn::relu(cast(y, DType::float32)))};
  });
  EXPECT_EQ(after(f->graph(), {&simplify_arithmetic, &prune}),
            "%0 = Placeholder 'x'() {dtype: float32, shape: [2, 3]}: float32 (2, 3)\n"
            "%1 = Relu(%0): float32 (2, 3)\n"
            "return %1\n");
  expect_same_bits(*f, {odd});
}

TEST(Passes, KeepArithmeticThatChangesBits) {
  auto f = trace({TensorSpec({2, 3})}, [](auto x) {
    return std::vector{x[0] + 0.0f, 0.0f - x[0], x[0] * 0.0f, x[0] - x[0], x[0] * Tensor({{{1.0f}}})};
  });
  EXPECT_EQ(count(f->optimized_graph(), "AddV2"), 1);
  EXPECT_EQ(count(f->optimized_graph(), "Sub"), 2);
  EXPECT_EQ(count(f->optimized_graph(), "Mul"), 2);
  expect_same_bits(*f, {odd});
  auto integers = trace({TensorSpec({3}, DType::int32)}, [](auto x) { return std::vector{x[0] + 0}; });
  EXPECT_EQ(count(integers->optimized_graph(), "AddV2"), 0);
}

TEST(Passes, MakeOneTransposeOfTwo) {
  auto f = trace({TensorSpec({2, 3, 4})}, [](auto x) {
    return std::vector{transpose(transpose(x[0], {.perm = {1, 2, 0}}), {.perm = {1, 2, 0}})};
  });
  EXPECT_EQ(count(f->optimized_graph(), "Transpose"), 1);
  expect_same_bits(*f, {reshape(range(24.0f), {2, 3, 4})});
}

TEST(Passes, MergeReads) {
  Variable v(2.0f), other(1.0f);
  auto f = trace({TensorSpec(Shape{})}, [&](auto x) {
    Tensor a = v * x[0] + v;
    other.assign_add(1.0f);
    a = a + v;
    v.assign_add(1.0f);
    return std::vector{a + v, v + 1.0f};
  });
  EXPECT_EQ(count(f->graph(), "ReadVariableOp"), 5);
  Graph made = f->graph().copy();
  merge_reads.run(made);
  prune.run(made);
  EXPECT_EQ(count(made, "ReadVariableOp"), 2) << made.str();
  std::vector<Tensor> argument = {Tensor(3.0f)};
  std::vector<Tensor> results = run(f->plan(), 2, std::vector<TensorRef>(argument.begin(), argument.end()));
  EXPECT_EQ(results[0].item<float>(), 13);
  EXPECT_EQ(results[1].item<float>(), 4);
}

TEST(Passes, FuseElementwise) {
  auto f = trace({TensorSpec({2, 3}), TensorSpec({2, 3})}, [](auto x) {
    Tensor y = tanh(x[0] * 2.0f + x[1]);
    return std::vector{exp(y) - y};
  });
  EXPECT_EQ(after(f->graph(), {&fuse_elementwise, &prune}),
            "%0 = Placeholder 'x'() {dtype: float32, shape: [2, 3]}: float32 (2, 3)\n"
            "%1 = Placeholder 'x_1'() {dtype: float32, shape: [2, 3]}: float32 (2, 3)\n"
            "%2 = Const(): float32 ()\n"
            "%3 = _FusedElementwise 'Sub'(%0, %2, %1) {program: \"t0 = Mul(x0, x1); t0 = AddV2(t0, x2); t0 = Tanh(t0); "
            "t1 = Exp(t0); Sub(t1, t0)\"}: float32 (2, 3)\n"
            "return %3\n");
  expect_same_bits(*f, {odd, odd * 0.5f});
}

TEST(Passes, FusedClustersKeepBitsAtAnySize) {
  for (DType dtype : {DType::float32, DType::float64}) {
    auto f = trace({TensorSpec(Shape::of_rank(1), dtype)}, [&](auto x) {
      Tensor y = sigmoid(x[0] * 1.7 - 0.3);
      return std::vector{nn::leaky_relu(0.5 - y) * y / (1.5 + exp(-x[0]))};
    });
    EXPECT_EQ(count(f->optimized_graph(), "_FusedElementwise"), 1) << f->optimized_graph().str();
    for (int64_t n : {0, 1, 7, 1023, 1024, 1025, 100'003})
      expect_same_bits(*f, {cast(random::stateless_normal({n}, Tensor({1, 2})), dtype)});
  }
}

TEST(Passes, FuseElementwiseOfSeveralTypes) {
  auto f = trace({TensorSpec({2, 3}), TensorSpec({2, 3})}, [](auto x) {
    Tensor positive = x[0] > 0.0f, small = 0.1f * x[0];
    return std::vector{where(positive, x[0], small), cast(x[0] > x[1], DType::float32) * x[1]};
  });
  EXPECT_EQ(after(f->graph(), {&fuse_elementwise, &prune}),
            "%0 = Placeholder 'x'() {dtype: float32, shape: [2, 3]}: float32 (2, 3)\n"
            "%1 = Placeholder 'x_1'() {dtype: float32, shape: [2, 3]}: float32 (2, 3)\n"
            "%2 = Const(): float32 ()\n"
            "%3 = Const 'Const_1'(): float32 ()\n"
            "%4 = _FusedElementwise 'SelectV2'(%0, %2, %3) {program: \"t0 = Greater(x0, x1); t1 = Mul(x2, x0); "
            "SelectV2(t0, x0, t1)\"}: float32 (2, 3)\n"
            "%5 = _FusedElementwise 'Mul_1'(%0, %1) {program: \"t0 = Greater(x0, x1); t1 = Cast(t0); Mul(t1, x1)\"}: "
            "float32 (2, 3)\n"
            "return %4, %5\n");
  expect_same_bits(*f, {odd, odd * 0.5f});
}

TEST(Passes, FusedClustersOfSeveralTypesKeepBitsAtAnySize) {
  const Shape vector = Shape::of_rank(1);
  auto real = trace({TensorSpec(vector), TensorSpec(Shape{})}, [](auto x) {
    Tensor near = logical_and(x[0] > -1.0f, logical_not(x[0] >= x[1]));
    Tensor wide = cast(x[0], DType::float64) * 1.5 + cast(near, DType::float64);
    return std::vector{where(logical_or(near, wide != 0.0), cast(wide, DType::float32), -x[0]),
                       cast(cast(x[0] * 100.0f, DType::int32) + 3, DType::float32) / x[1],
                       where(x[1] > 0.0f, exp(x[0]), x[0] * x[0]), where(tanh(x[0]) > x[1], 2.0f, x[1]),
                       sigmoid(x[0]) < x[1]};
  });
  EXPECT_EQ(count(real->optimized_graph(), "_FusedElementwise"), 5) << real->optimized_graph();
  auto whole = trace({TensorSpec(vector, DType::int64)}, [](auto x) {
    Tensor half = floordiv(x[0], 2);  // it looks at its operands first, so it stays outside
    return std::vector{cast(half * 2 == half + 1, DType::float32) * 0.5f, where(x[0] > 3, x[0] + 1, x[0] * x[0])};
  });
  EXPECT_EQ(count(whole->optimized_graph(), "_FusedElementwise"), 2) << whole->optimized_graph();
  EXPECT_EQ(whole->plan().num_steps(), 3u);
  for (int64_t n : {0, 1, 7, 511, 1024, 1025, 100'003}) {
    Tensor x = random::stateless_normal({n}, Tensor({1, 2}));
    expect_same_bits(*real, {x, Tensor(0.7f)});
    expect_same_bits(*real, {x, Tensor(-0.7f)});
    expect_same_bits(*whole, {cast(x * 5.0f, DType::int64)});
  }
}

TEST(Passes, FuseSelectionsOfEqualShapesOnly) {
  auto f = trace({TensorSpec({2, 3}), TensorSpec({3}), TensorSpec({2})}, [](auto x) {
    const Op& select = *find_op("Select");
    return std::vector{where(x[1] > 0.0f, exp(x[0]), x[1]),                        // rows that are repeated
                       apply1(select, {x[2] > 0.0f, sqrt(x[0]), -x[0]}),           // a condition for each row
                       apply1(select, {x[0] > 0.0f, tanh(x[0]), sigmoid(x[0])})};  // one for each element
  });
  Graph made = f->optimized_graph().copy();
  EXPECT_EQ(count(made, "_FusedElementwise"), 2) << made;
  expect_same_bits(*f, {odd, Tensor({1.0f, -1.0f, 2.0f}), Tensor({-1.0f, 1.0f})});
}

TEST(Passes, FuseRows) {
  for (int64_t columns : {1, 3, 128, 1000, 1025, 3000}) {
    auto f = trace({TensorSpec({unknown, columns}), TensorSpec(Shape{columns})},
                   [](auto x) { return std::vector{nn::relu(x[0] + x[1]) * 0.5f - x[1]}; });
    EXPECT_EQ(count(f->optimized_graph(), "_FusedElementwise"), 1) << f->optimized_graph().str();
    EXPECT_EQ(f->plan().num_steps(), 1u);
    for (int64_t rows : {0, 1, 50})
      expect_same_bits(*f, {random::stateless_normal({rows, columns}, Tensor({1, 2})),
                            random::stateless_normal({columns}, Tensor({3, 4}))});
  }
}

TEST(Passes, FuseOnlyEqualShapesBetweenEffects) {
  auto column = trace({TensorSpec({4, 3}), TensorSpec({4, 1})}, [](auto x) { return std::vector{exp(x[0] + x[1])}; });
  EXPECT_EQ(count(column->optimized_graph(), "_FusedElementwise"), 0);
  auto wide =
      trace({TensorSpec({unknown, unknown}), TensorSpec({3})}, [](auto x) { return std::vector{exp(x[0] + x[1])}; });
  EXPECT_EQ(count(wide->optimized_graph(), "_FusedElementwise"), 0);
  auto open = trace({TensorSpec(Shape::of_rank(1)), TensorSpec(Shape::of_rank(1))},
                    [](auto x) { return std::vector{exp(exp(x[0]) + exp(x[1]))}; });
  EXPECT_EQ(count(open->optimized_graph(), "_FusedElementwise"), 0) << open->optimized_graph().str();
  Tensor one = {1.0f}, two = {0.5f, 0.25f};
  expect_same_bits(*open, {one, two});
  Variable v(std::vector<float>{1.0f, 2.0f});
  auto written = trace({TensorSpec({2})}, [&](auto x) {
    Tensor y = exp(v * x[0]);
    v.assign_add(x[0]);
    return std::vector{sqrt(y + 1.0f), exp(v * x[0])};
  });
  Tensor expected = sqrt(exp(v * two) + 1.0f);
  std::vector<Tensor> results = run(written->plan(), 2, std::vector<TensorRef>{two});
  EXPECT_EQ(count(written->optimized_graph(), "_FusedElementwise"), 3) << written->optimized_graph().str();
  EXPECT_TRUE(same_value(results[0], expected));
  EXPECT_TRUE(same_value(results[1], exp(v * two)));
}

TEST(Passes, AreSwitchedByName) {
  auto make = [] {
    return trace({TensorSpec({2})}, [](auto x) { return std::vector{exp(x[0] * 1.0f) + exp(x[0] * 1.0f)}; });
  };
  config::optimizer::set_experimental_options({{"arithmetic_optimization", false}});
  EXPECT_EQ(count(make()->optimized_graph(), "_FusedElementwise"), 1);
  config::optimizer::set_experimental_options({{"remapping", false}});
  EXPECT_EQ(count(make()->optimized_graph(), "_FusedElementwise"), 0);
  EXPECT_EQ(count(make()->optimized_graph(), "Mul"), 1);
  config::optimizer::set_experimental_options({{"disable_meta_optimizer", true}});
  EXPECT_EQ(count(make()->optimized_graph(), "Mul"), 2);
  EXPECT_EQ(config::optimizer::get_experimental_options().at("disable_meta_optimizer"), true);
  config::optimizer::set_experimental_options({{"arithmetic_optimization", true}, {"disable_meta_optimizer", false}});
  EXPECT_EQ(count(make()->optimized_graph(), "Mul"), 0);
  EXPECT_EQ(count(make()->optimized_graph(), "Exp"), 1);
  config::optimizer::set_experimental_options({{"remapping", true}});
}

}  // namespace
}  // namespace thalweg::graph

// Memory plans: values that live at the same time never share memory, and nobody can tell that others do.
#include "thalweg/graph/memory_plan.h"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

#include "thalweg/graph/function_body.h"
#include "thalweg/ops/apply.h"
#include "thalweg/thalweg.h"

namespace thalweg {
namespace {

using graph::Lifetime;
using graph::Placement;

void expect_disjoint(const std::vector<Lifetime>& pieces, const Placement& placed) {
  for (size_t i = 0; i < pieces.size(); ++i) {
    EXPECT_EQ(placed.offsets[i] % 64, 0u);
    EXPECT_LE(placed.offsets[i] + pieces[i].bytes, placed.bytes);
    for (size_t j = 0; j < i; ++j) {
      bool together = pieces[i].first <= pieces[j].last && pieces[j].first <= pieces[i].last;
      bool overlap = placed.offsets[i] < placed.offsets[j] + pieces[j].bytes &&
                     placed.offsets[j] < placed.offsets[i] + pieces[i].bytes;
      ASSERT_FALSE(together && overlap) << i << " and " << j;
    }
  }
}

TEST(MemoryPlan, PutsNothingWhereSomethingElseStillLies) {
  std::mt19937 random(1);
  for (size_t count : {0, 1, 2, 10, 100, 1000, 5000}) {  // the last is placed in the order of time
    std::vector<Lifetime> pieces;
    size_t total = 0;
    for (size_t i = 0; i < count; ++i) {
      auto first = static_cast<uint32_t>(random() % 1000);
      pieces.push_back({random() % 5000 + 1, first, first + static_cast<uint32_t>(random() % 20)});
      total += pieces.back().bytes;
    }
    Placement placed = graph::place(pieces);
    expect_disjoint(pieces, placed);
    if (count >= 100) {
      EXPECT_LT(placed.bytes, total / 4);
    }
  }
}

TEST(MemoryPlan, ChainsNeedTwoPieces) {
  std::vector<Lifetime> pieces;
  for (uint32_t i = 0; i < 6000; ++i) pieces.push_back({640, i, i + 1});
  EXPECT_EQ(graph::place(pieces).bytes, 2 * 640u);
  pieces.resize(100);
  EXPECT_EQ(graph::place(pieces).bytes, 2 * 640u);
}

const graph::Plan& plan_of(const ConcreteFunction& f) { return f.body()->plan(); }

TEST(MemoryPlan, ReusesMemoryAndWritesOverWhatDies) {
  auto f = function([](const Tensor& x) {
    Tensor h = x;
    for (int i = 0; i < 10; ++i) h = cumsum(h) * 0.5f;
    return reduce_sum(h);
  });
  const graph::Plan& plan = plan_of(f.get_concrete_function(TensorSpec({256})));
  EXPECT_EQ(plan.memory().bytes_without_reuse, 20 * 1024u);
  EXPECT_EQ(plan.memory().arena_bytes, 2 * 1024u);
  EXPECT_EQ(f(ones({256})).item<float>(), [] {
    Tensor h = ones({256});
    for (int i = 0; i < 10; ++i) h = cumsum(h) * 0.5f;
    return reduce_sum(h).item<float>();
  }());
}

// A random program over a few shapes; the same seed makes the same one.
std::vector<Tensor> random_program(unsigned seed, const Tensor& x, const Tensor& y, Variable& v) {
  std::mt19937 random(seed);
  std::vector<Tensor> values = {x, y, x * 0.5f};
  auto pick = [&]() -> const Tensor& {
    return values[values.size() - 1 - random() % std::min<size_t>(values.size(), 6)];
  };
  for (int i = 0; i < 40; ++i) {
    Tensor a = pick(), b = pick();
    switch (random() % 12) {
      case 0:
        values.push_back(a + b);
        break;
      case 1:
        values.push_back(tanh(a) * b);
        break;
      case 2:
        values.push_back(cumsum(a) * 0.125f);
        break;
      case 3:
        values.push_back(reshape(reshape(a, {-1}), {8, 8}));
        break;
      case 4:
        values.push_back(transpose(a) - reduce_mean(b));
        break;
      case 5:
        values.push_back(tanh(matmul(a, b)));
        break;
      case 6:
        values.push_back(identity(a));
        break;
      case 7:
        v.assign(a);
        break;
      case 8:
        values.push_back(v + b);
        break;
      case 9:
        values.push_back(cond(reduce_sum(a) > reduce_sum(b), [&] { return a * 2.0f; }, [&] { return b; }));
        break;
      case 10:
        v.assign_sub(0.5f * a);
        break;
      default:
        values.push_back(reverse(a, {0}));
    }
  }
  std::vector<Tensor> results;
  for (int i = 0; i < 3; ++i) results.push_back(pick());
  results.push_back(v.value());
  return results;
}

std::string text(const std::vector<Tensor>& tensors) {
  std::string all;
  for (const Tensor& t : tensors) all.append(static_cast<const char*>(t.impl()->data), t.nbytes());
  return all;
}

TEST(MemoryPlan, ChangesNoBit) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    Variable eager(ones({8, 8})), traced(ones({8, 8}));
    auto f = function([&](const Tensor& x, const Tensor& y) { return random_program(seed, x, y, traced); });
    std::vector<std::vector<Tensor>> kept;
    std::vector<std::string> expected;
    for (int i = 0; i < 3; ++i) {
      Tensor x = random::stateless_normal({8, 8}, {static_cast<int>(seed), i});
      Tensor y = random::stateless_normal({8, 8}, {static_cast<int>(seed), i + 10});
      expected.push_back(text(random_program(seed, x, y, eager)));
      kept.push_back(f(x, y));
    }
    for (size_t i = 0; i < kept.size(); ++i)
      ASSERT_EQ(text(kept[i]), expected[i]) << "seed " << seed;  // still the same
    ASSERT_EQ(text({eager.value()}), text({traced.value()})) << "seed " << seed;
  }
}

TEST(MemoryPlan, EveryThreadHasItsOwn) {
  Variable unused(ones({8, 8}));
  auto program = [](const Tensor& x) {
    Tensor h = x;
    for (int i = 0; i < 8; ++i) h = tanh(matmul(h, transpose(x))) + reverse(h, {1});
    return reduce_sum(h);
  };
  auto f = function(program);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      Tensor x = random::stateless_normal({8, 8}, {1, t});
      float expected = program(x).item<float>();
      for (int i = 0; i < 300; ++i) wrong += f(x).item<float>() != expected;
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(MemoryPlan, ListsAndVariablesKeepWhatTheyAreGiven) {
  Variable small(zeros({2})), large(zeros({8, 8}));
  auto f = function([&](const Tensor& x) {
    TensorArray array(DType::float32, 3);
    Tensor h = x;
    for (int i = 0; i < 3; ++i) {
      h = cumsum(h);
      array = array.write(i, h);
    }
    large.assign(h * 2.0f);
    small.assign(reduce_sum(h) * Tensor{1.0f, 2.0f});
    Tensor other = cumsum(cumsum(h * 3.0f) - 1.0f);
    return std::tuple(array.stack(), reduce_sum(other));
  });
  Tensor x = ones({8, 8});
  auto [first, sum] = f(x);
  Tensor held_large = large.value(), held_small = small.value();
  std::string before = first.str() + held_large.str() + held_small.str();
  for (int i = 0; i < 5; ++i) f(x * 10.0f);
  EXPECT_EQ(first.str() + held_large.str() + held_small.str(), before);
  EXPECT_EQ(first.str(), stack({cumsum(x), cumsum(cumsum(x)), cumsum(cumsum(cumsum(x)))}).str());
}

// An op that holds on to its input although nothing about it says so.
Tensor kept_by_op;
const Op& TestKeep = define_op({
    .name = "TestKeep",
    .signature = "x: T -> y: T",
    .infer = [](InferCall& c) { c.output(0, c.shape(0)); },
    .kernel = {[](const KernelCall& c) {
                 kept_by_op = c.tensor(0);
                 std::copy_n(c.input<float>(0), c.count(0), c.output<float>(0));
               },
               nullptr, types(DType::float32)},
});

TEST(MemoryPlan, WhatIsHeldUnexpectedlyIsGivenUp) {
  auto f = function([](const Tensor& x) {
    Tensor h = cumsum(x);
    Tensor same = apply1(TestKeep, {h});
    Tensor after = cumsum(tanh(h)) + cumsum(same * 2.0f);  // tanh would write over h
    return reduce_sum(cumsum(cumsum(after) * 0.5f));
  });
  Tensor x = ones({100});
  float expected = [&] {
    Tensor h = cumsum(x);
    return reduce_sum(cumsum(cumsum(cumsum(tanh(h)) + cumsum(h * 2.0f)) * 0.5f)).item<float>();
  }();
  int64_t before = memory_info(0).current;
  std::vector<Tensor> kept;
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(f(x).item<float>(), expected);
    kept.push_back(std::exchange(kept_by_op, Tensor()));
  }
  for (const Tensor& t : kept) EXPECT_EQ(t.str(), cumsum(x).str());
  kept.clear();
  EXPECT_EQ(memory_info(0).current, before);
}

TEST(MemoryPlan, ErrorsInTheMiddleLeaveNothingBehind) {
  auto f = function([](const Tensor& x, const Tensor& i) {
    Tensor h = cumsum(x) * 2.0f;
    Tensor row = gather(cumsum(h), i);
    return reduce_sum(row) + reduce_sum(tanh(h));
  });
  Tensor x = ones({16, 16});
  float expected = f(x, Tensor{1}).item<float>();
  int64_t before = memory_info(0).current;
  for (int i = 0; i < 20; ++i) {
    EXPECT_THROW(f(x, Tensor{99}), InvalidArgumentError);
    EXPECT_EQ(f(x, Tensor{1}).item<float>(), expected);
  }
  EXPECT_EQ(memory_info(0).current, before);
}

}  // namespace
}  // namespace thalweg

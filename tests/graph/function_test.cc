// Traced functions: when they are traced, what they compute, how tapes go through them.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "thalweg/thalweg.h"

namespace thalweg {
namespace {

TEST(Function, TracesOnceForEachKindOfArguments) {
  int traces = 0;
  auto f = function([&](const Tensor& x, const Tensor& y) {
    ++traces;
    return x * y + 1.0;
  });
  EXPECT_EQ(f(2.0f, 3.0f).item<float>(), 7);
  EXPECT_EQ(f(4.0f, 5.0f).item<float>(), 21);
  EXPECT_EQ(traces, 1);
  Tensor row = {1.0f, 2.0f};
  EXPECT_EQ(f(row, row).str(), (row * row + 1.0).str());
  EXPECT_EQ(traces, 2);
  EXPECT_EQ(f.experimental_get_tracing_count(), 2);
  EXPECT_EQ(f(1.0f, 1.0f).item<float>(), 2);
  EXPECT_EQ(traces, 2);
}

TEST(Function, KeysNumbersByValueAndStructuresByShape) {
  auto power = function([](const Tensor& x, int n) {
    Tensor y = x;
    for (int i = 1; i < n; ++i) y = y * x;
    return y;
  });
  EXPECT_EQ(power(2.0f, 3).item<float>(), 8);
  EXPECT_EQ(power(3.0f, 2).item<float>(), 9);
  EXPECT_EQ(power.experimental_get_tracing_count(), 2);
  auto pair = function([](const std::vector<Tensor>& list, const std::map<std::string, Tensor>& named) {
    return std::tuple(list[0] + list[1], named.at("a") * 2.0f);
  });
  auto [sum, twice] = pair({Tensor(1.0f), Tensor(2.0f)}, {{"a", Tensor(3.0f)}});
  EXPECT_EQ(sum.item<float>(), 3);
  EXPECT_EQ(twice.item<float>(), 6);
}

TEST(Function, UsesVariablesAsTheyAreWhenItIsCalled) {
  Variable v(1.0f);
  auto f = function([&](const Tensor& x) {
    v.assign_add(x);
    return v * 2.0f;
  });
  EXPECT_EQ(f(1.0f).item<float>(), 4);
  EXPECT_EQ(f(1.0f).item<float>(), 6);
  v.assign(10.0f);
  EXPECT_EQ(f(1.0f).item<float>(), 22);
}

TEST(Function, IsFollowedByTapes) {
  Variable w({{1.0f, 2.0f}, {3.0f, 4.0f}});
  auto f = function([&](const Tensor& x) { return reduce_sum(square(matmul(x, w))); });
  Tensor x = {{1.0f, -1.0f}};
  auto expected = [&] {
    GradientTape tape({.persistent = true});
    tape.watch(x);
    Tensor y = reduce_sum(square(matmul(x, w)));
    return std::pair(tape.gradient(y, x).str(), tape.gradient(y, w).str());
  }();
  GradientTape tape({.persistent = true});
  tape.watch(x);
  Tensor y = f(x);
  EXPECT_EQ(tape.gradient(y, x).str(), expected.first);
  EXPECT_EQ(tape.gradient(y, w).str(), expected.second);
}

TEST(Function, IsFollowedTwice) {
  auto f = function([](const Tensor& x) { return x * x * x; });
  Variable x(2.0f);
  GradientTape outer;
  GradientTape inner;
  Tensor y = f(x);
  Tensor first = inner.gradient(y, x);
  EXPECT_EQ(first.item<float>(), 12);
  EXPECT_EQ(outer.gradient(first, x).item<float>(), 12);
}

TEST(Function, TrainsInsideItself) {
  Variable w({{0.0f}, {0.0f}});
  auto step = function([&](const Tensor& x, const Tensor& y) {
    GradientTape tape;
    Tensor loss = reduce_mean(square(matmul(x, w) - y));
    w.assign_sub(0.1f * tape.gradient(loss, w));
    return loss;
  });
  Tensor x = {{1.0f, 2.0f}, {3.0f, -1.0f}, {0.5f, 1.0f}};
  Tensor y = matmul(x, Tensor{{2.0f}, {-3.0f}});
  float last = 0;
  for (int i = 0; i < 200; ++i) last = step(x, y).item<float>();
  EXPECT_LT(last, 1e-6f);
  EXPECT_EQ(step.experimental_get_tracing_count(), 1);
}

TEST(Function, TakesUnknownDimensions) {
  auto f = function([](const Tensor& x) { return reshape(x, stack({shape(x)(0), Tensor(-1)})) * 2.0f; },
                    {.input_signature = {TensorSpec({unknown, 2, 3})}});
  EXPECT_EQ(f(ones({4, 2, 3})).shape(), (Shape{4, 6}));
  EXPECT_EQ(f(ones({1, 2, 3})).shape(), (Shape{1, 6}));
  EXPECT_EQ(f.experimental_get_tracing_count(), 1);
  EXPECT_THROW(f(ones({4, 2, 2})), TypeError);
}

TEST(Function, KnowsDimensionsThatSlicesOfShapesHold) {
  std::vector<Shape> traced;
  auto f = function(
      [&](const Tensor& x) {
        const Tensor all = shape(x);
        for (const Tensor& dims :
             {all(Slice{.step = -1}), all(slice_from(1)), all(slice(-2, 3)), all(Slice{.step = 2})})
          traced.push_back(ones(dims).shape());
        return x;
      },
      {.input_signature = {TensorSpec({unknown, 2, 3})}});
  f(ones({4, 2, 3}));
  EXPECT_EQ(traced, (std::vector<Shape>{{3, 2, unknown}, {2, 3}, {2, 3}, {unknown, 3}}));
}

TEST(Function, CallsFunctions) {
  auto twice = function([](const Tensor& x) { return x * 2.0f; });
  auto f = function([&](const Tensor& x) { return twice(twice(x)) + 1.0f; });
  EXPECT_EQ(f(3.0f).item<float>(), 13);
  GradientTape tape;
  Tensor x = 3.0f;
  tape.watch(x);
  EXPECT_EQ(tape.gradient(f(x), x).item<float>(), 4);
}

TEST(Function, DropsWhatNoResultNeeds) {
  auto f = function([](const Tensor& x) {
    gather(x, {5});
    return x * 2.0f;
  });
  EXPECT_EQ(f(Tensor{1.0f, 2.0f}).str(), Tensor({2.0f, 4.0f}).str());
  auto g = function([](const Tensor& x) { return gather(x, {5}); });
  EXPECT_THROW(g(Tensor{1.0f, 2.0f}), InvalidArgumentError);
}

TEST(Function, MakesVariablesInItsFirstCallOnly) {
  auto f = function([](const Tensor& x) {
    Variable v(1.0f);
    return v + x;
  });
  EXPECT_THROW(f(1.0f), ValueError);
  Variable kept;
  auto g = function([&](const Tensor& x) {
    if (!kept.defined()) kept = Variable(random::normal({}));
    return kept.assign_add(x).value();
  });
  float first = g(1.0f).item<float>();
  EXPECT_FLOAT_EQ(g(1.0f).item<float>(), first + 1);
}

TEST(Function, IsCalledByManyThreadsWithNewShapes) {
  Variable v(2.0f);
  auto f = function([&](const Tensor& x) {
    Tensor big = cond(reduce_sum(x) > 0.0f, [&] { return x * v; }, [&] { return x; });
    return reduce_sum(big);
  });
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int i = 1; i <= 40; ++i) {
        int64_t size = (i * 7 + t) % 13 + 1;
        if (f(ones({size})).item<float>() != 2.0f * static_cast<float>(size)) ++wrong;
        GradientTape tape;
        Tensor x = ones({size});
        tape.watch(x);
        if (tape.gradient(f(x), x)(0).item<float>() != 2.0f) ++wrong;
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_EQ(f.experimental_get_tracing_count(), 13);
}

TEST(Function, ReadingASymbolicValueSaysWhatToDo) {
  auto f = function([](const Tensor& x) { return Tensor(x.span<float>()[0]); });
  EXPECT_THROW(f(1.0f), TypeError);
  Function<Tensor(Tensor)> recursive;
  recursive = function([&](Tensor x) { return recursive(x); });
  EXPECT_THROW(recursive(1.0f), RuntimeError);
}

TEST(Function, GivesGradientsOfLookupsAsArrays) {
  Variable table(ones({5, 2}));
  auto gradient = function([&](const Tensor& rows) {
    GradientTape tape;
    Tensor y = reduce_sum(table.sparse_read(rows));
    Tensor slices = tape.gradient(y, table);
    EXPECT_TRUE(is_indexed_slices(slices));
    EXPECT_EQ(slices.shape(), Shape({5, 2}));
    return slices;
  });
  EXPECT_EQ(gradient(Tensor({1, 3, 1})).str(),
            Tensor({{0.f, 0.f}, {2.f, 2.f}, {0.f, 0.f}, {1.f, 1.f}, {0.f, 0.f}}).str());
}

}  // namespace
}  // namespace thalweg

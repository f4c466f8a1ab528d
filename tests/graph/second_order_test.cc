// Derivatives of derivatives through control flow, inside of a traced function: as without tracing.
#include <gtest/gtest.h>

#include <cmath>

#include "thalweg/thalweg.h"

namespace tf = thalweg;
using tf::Tensor;

namespace {

using Scalar = std::function<Tensor(const Tensor&)>;

/// f(x), f'(x) and f''(x), by a tape within a tape.
std::vector<Tensor> derivatives(const Scalar& f, const Tensor& x) {
  tf::GradientTape outer;
  outer.watch(x);
  Tensor y, first;
  {
    tf::GradientTape inner;
    inner.watch(x);
    y = f(x);
    first = inner.gradient(y, x);
  }
  return {y, first, outer.gradient(first, x)};
}

void expect_as_eager(const Scalar& f, std::initializer_list<float> points) {
  auto traced = tf::function([&](const Tensor& x) { return derivatives(f, x); });
  for (float point : points) {
    std::vector<Tensor> expected = derivatives(f, Tensor(point)), found = traced(Tensor(point));
    for (size_t i = 0; i < 3; ++i)
      EXPECT_NEAR(found[i].item<float>(), expected[i].item<float>(), 2e-5f * std::abs(expected[i].item<float>()))
          << "derivative " << i << " at " << point;
  }
}

TEST(SecondOrder, Conditionals) {
  expect_as_eager(
      [](const Tensor& x) {
        return tf::cond(x > 0.0f, [&] { return tf::exp(x) * x * x; }, [&] { return tf::sin(x) * x; });
      },
      {-1.5f, 0.5f, 2.0f});
}

TEST(SecondOrder, Choices) {
  expect_as_eager(
      [](const Tensor& x) {
        return tf::switch_case(
            tf::cast(x, tf::int32), [&] { return x * x * x; }, [&] { return tf::exp(x * x); },
            [&] { return tf::log(x); });
      },
      {0.5f, 1.5f, 2.5f, 7.0f});
}

Tensor power_by_loop(const Tensor& x, int n) {
  auto [i, product] =
      tf::while_loop([&](const Tensor& i, const Tensor&) { return i < n; },
                     [&](const Tensor& i, const Tensor& p) { return std::tuple(i + 1, p * tf::sin(x)); },
                     std::tuple(Tensor(0), Tensor(1.0f)));
  return product;
}

TEST(SecondOrder, Loops) {
  expect_as_eager([](const Tensor& x) { return power_by_loop(x, 4); }, {0.3f, 1.2f, -0.8f});
  expect_as_eager([](const Tensor& x) { return power_by_loop(x, 0) * x * x; }, {0.3f});
  expect_as_eager(
      [](const Tensor& x) {
        return tf::while_loop([](const Tensor& y) { return y < 50.0f; }, [](const Tensor& y) { return y * y + 1.0f; },
                              x) *
               x;
      },
      {1.3f, 2.0f, 60.0f});
}

TEST(SecondOrder, BranchesWithinLoops) {
  expect_as_eager(
      [](const Tensor& x) {
        auto [i, y] = tf::while_loop([](const Tensor& i, const Tensor&) { return i < 5; },
                                     [&](const Tensor& i, const Tensor& y) {
                                       Tensor next = tf::cond(
                                           y > 1.0f, [&] { return tf::sqrt(y) * x; }, [&] { return y * y + x; });
                                       return std::tuple(i + 1, next);
                                     },
                                     std::tuple(Tensor(0), x));
        return y;
      },
      {0.4f, 1.1f, 1.9f});
}

TEST(SecondOrder, LoopsWithinBranchesAndLoops) {
  expect_as_eager(
      [](const Tensor& x) {
        return tf::cond(
            x > 1.0f, [&] { return power_by_loop(x, 3) * x; }, [&] { return tf::exp(power_by_loop(x, 2)); });
      },
      {0.4f, 1.7f});
  expect_as_eager(
      [](const Tensor& x) {
        auto [i, y] = tf::while_loop(
            [](const Tensor& i, const Tensor&) { return i < 3; },
            [&](const Tensor& i, const Tensor& y) { return std::tuple(i + 1, y * power_by_loop(x * y, 2)); },
            std::tuple(Tensor(0), x));
        return y;
      },
      {0.9f, 1.4f});
}

TEST(SecondOrder, CalledFunctions) {
  auto inner = tf::function([](const Tensor& x) {
    return tf::cond(x > 1.0f, [&] { return power_by_loop(x, 3); }, [&] { return x * x * x; });
  });
  expect_as_eager([&](const Tensor& x) { return inner(x) * inner(x * 2.0f); }, {0.3f, 0.8f, 1.6f});
}

TEST(SecondOrder, Variables) {
  tf::Variable w(0.7f);
  auto derivatives_by_w = [&](const Tensor& x) {
    tf::GradientTape outer;
    Tensor first;
    {
      tf::GradientTape inner;
      auto [i, y] = tf::while_loop([](const Tensor& i, const Tensor&) { return i < 3; },
                                   [&](const Tensor& i, const Tensor& y) {
                                     return std::tuple(
                                         i + 1, tf::cond(y > 0.5f, [&] { return y * w; }, [&] { return y + w * w; }));
                                   },
                                   std::tuple(Tensor(0), x));
      first = inner.gradient(y, w);
    }
    return std::tuple(first, outer.gradient(first, w));
  };
  auto traced = tf::function(derivatives_by_w);
  for (float point : {0.1f, 0.9f, 2.0f}) {
    auto [first, second] = derivatives_by_w(Tensor(point));
    auto [traced_first, traced_second] = traced(Tensor(point));
    EXPECT_FLOAT_EQ(traced_first.item<float>(), first.item<float>());
    EXPECT_FLOAT_EQ(traced_second.item<float>(), second.item<float>());
  }
}

TEST(SecondOrder, PersistentTapes) {
  auto traced = tf::function([](const Tensor& x) {
    tf::GradientTape tape({.persistent = true});
    tape.watch(x);
    Tensor y = power_by_loop(x, 3);
    Tensor first = tape.gradient(y, x);
    return tape.gradient(first, x);
  });
  const float x = 0.6f, s = std::sin(x), c = std::cos(x);
  EXPECT_NEAR(traced(Tensor(x)).item<float>(), 6 * s * c * c - 3 * s * s * s, 1e-5f);
}

TEST(SecondOrder, ThirdOrder) {
  auto traced = tf::function([](const Tensor& x) {
    tf::GradientTape third;
    third.watch(x);
    std::vector<Tensor> lower = derivatives([](const Tensor& x) { return power_by_loop(x, 2); }, x);
    return third.gradient(lower[2], x);
  });
  const float x = 0.6f;
  EXPECT_NEAR(traced(Tensor(x)).item<float>(), -4 * std::sin(2 * x), 1e-5f);
}

}  // namespace

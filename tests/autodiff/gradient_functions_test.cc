// Functions of functions: custom gradients, recomputation, grad, forward mode, and gradients by differences.
#include <gtest/gtest.h>

#include <cmath>

#include "thalweg/thalweg.h"

namespace thalweg {
namespace {

Tensor log1pexp(const Tensor& x) { return math::log1p(exp(x)); }

TEST(CustomGradient, StableLog1pExp) {
  auto stable = custom_gradient([](const Tensor& x) {
    Tensor e = exp(x);
    return std::pair(math::log1p(e), [e](const Tensor& dy) { return dy * (1 - 1 / (1 + e)); });
  });
  EXPECT_TRUE(std::isnan(grad(log1pexp)(Tensor(100.0f)).item<float>()));
  EXPECT_EQ(grad(stable)(Tensor(100.0f)).item<float>(), 1.0f);
  EXPECT_NEAR(grad(stable)(Tensor(0.0f)).item<float>(), 0.5f, 1e-6);
  // e depends on x: the second derivative goes through it.
  EXPECT_NEAR(grad(grad(stable))(Tensor(0.0f)).item<float>(), 0.25f, 1e-6);
}

TEST(CustomGradient, SeveralArgumentsAndResults) {
  auto swapped = custom_gradient([](const Tensor& x, const Tensor& y) {
    return std::pair(std::tuple(x + y, x * y),
                     [](const Tensor& da, const Tensor& db) { return std::tuple(da * 100, db * 1000); });
  });
  Tensor x = 2.0f, y = 3.0f;
  GradientTape tape;
  tape.watch(x, y);
  auto [sum, product] = swapped(x, y);
  EXPECT_EQ(sum.item<float>(), 5.0f);
  EXPECT_EQ(product.item<float>(), 6.0f);
  auto [dx, dy] = tape.gradient(sum * 2 + product * 3, x, y);
  EXPECT_EQ(dx.item<float>(), 200.0f);
  EXPECT_EQ(dy.item<float>(), 3000.0f);
}

TEST(CustomGradient, TheWrongNumberOfGradientsIsRefused) {
  auto bad = custom_gradient(
      [](const Tensor& x, const Tensor& y) { return std::pair(x * y, [](const Tensor& dy) { return dy; }); });
  Tensor x = 2.0f, y = 3.0f;
  GradientTape tape;
  tape.watch(x, y);
  EXPECT_THROW((void)tape.gradient(bad(x, y), x), ValueError);
}

TEST(CustomGradient, ClipsOnTheWayBack) {
  auto clip = custom_gradient(
      [](const Tensor& x) { return std::pair(x, [](const Tensor& dy) { return clip_by_norm(dy, 0.5); }); });
  Tensor x = {3.0f, 4.0f};
  GradientTape tape;
  tape.watch(x);
  Tensor g = tape.gradient(reduce_sum(clip(x) * x), x);
  EXPECT_NEAR(g(0).item<float>(), 3 + 0.3, 1e-6);
  EXPECT_NEAR(g(1).item<float>(), 4 + 0.4, 1e-6);
}

TEST(RecomputeGrad, GivesTheSameGradientsAndKeepsLess) {
  Variable w(random::normal({128, 128}, {.stddev = 0.1}));
  Tensor x = random::normal({128, 128});
  auto block = [&](const Tensor& in) {
    Tensor y = in;
    for (int i = 0; i < 6; ++i) y = tanh(matmul(y, w));
    return y;
  };
  auto cheap = recompute_grad(block);
  auto run = [&](auto f, int64_t& kept) {
    const int64_t before = memory_info(0).current;
    GradientTape tape;
    tape.watch(x);
    Tensor y = reduce_sum(f(x));
    kept = memory_info(0).current - before;
    return tape.gradient(y, x, w);
  };
  int64_t all = 0, few = 0;
  auto [dx, dw] = run(block, all);
  auto [rx, rw] = run(cheap, few);
  EXPECT_EQ(std::memcmp(dx.impl()->data, rx.impl()->data, dx.nbytes()), 0);
  EXPECT_EQ(std::memcmp(dw.impl()->data, rw.impl()->data, dw.nbytes()), 0);
  EXPECT_LT(few, all / 3);
}

TEST(Grad, OfAnyOrder) {
  auto cube = [](const Tensor& x) { return x * x * x; };
  EXPECT_EQ(cube(Tensor(3.0f)).item<float>(), 27.0f);
  EXPECT_EQ(grad(cube)(Tensor(3.0f)).item<float>(), 27.0f);
  EXPECT_EQ(grad(grad(cube))(Tensor(3.0f)).item<float>(), 18.0f);
  EXPECT_EQ(grad(grad(grad(cube)))(Tensor(3.0f)).item<float>(), 6.0f);
  EXPECT_FALSE(grad(grad(grad(grad(grad(cube)))))(Tensor(3.0f)).defined());
  EXPECT_EQ(grad(cube)(3.0f).item<float>(), 27.0f);
}

TEST(Grad, OfSeveralArguments) {
  auto f = [](const Tensor& x, const Tensor& y) { return x * x * y; };
  auto [dx, dy] = grad(f)(Tensor(2.0f), Tensor(5.0f));
  EXPECT_EQ(dx.item<float>(), 20.0f);
  EXPECT_EQ(dy.item<float>(), 4.0f);
  auto [value, gradient] = value_and_grad([](const Tensor& x) { return x * x; })(Tensor(4.0f));
  EXPECT_EQ(value.item<float>(), 16.0f);
  EXPECT_EQ(gradient.item<float>(), 8.0f);
  EXPECT_EQ(gradients_function(f)(Tensor(2.0f), Tensor(5.0f)).size(), 2u);
  EXPECT_EQ(value_and_gradients_function(f)(Tensor(2.0f), Tensor(5.0f)).first.item<float>(), 20.0f);
}

// The path that was taken is the one that is differentiated.
TEST(Grad, ThroughControlFlow) {
  auto absolute = [](const Tensor& x) { return x > 0.0f ? x : -x; };
  EXPECT_EQ(grad(absolute)(Tensor(3.0f)).item<float>(), 1.0f);
  EXPECT_EQ(grad(absolute)(Tensor(-3.0f)).item<float>(), -1.0f);
}

TEST(ForwardAccumulator, PushesTangentsForward) {
  Tensor x = {1.0f, 2.0f, 3.0f}, direction = {1.0f, 0.0f, -1.0f};
  ForwardAccumulator accumulator(x, direction);
  Tensor y = x * x * x, z = reduce_sum(sin(x));
  EXPECT_EQ(accumulator.jvp(y).str(), (Tensor{3.0f, 0.0f, -27.0f}).str());
  EXPECT_NEAR(accumulator.jvp(z).item<float>(), std::cos(1.0) - std::cos(3.0), 1e-6);
  EXPECT_EQ(accumulator.jvp(x).str(), direction.str());
  EXPECT_FALSE(accumulator.jvp(Tensor(1.0f)).defined());
  EXPECT_EQ(accumulator.jvp(Tensor(1.0f), UnconnectedGradients::zero).item<float>(), 0.0f);
  EXPECT_THROW(ForwardAccumulator(x, Tensor(1.0f)), ValueError);
}

TEST(ForwardAccumulator, OfAVariable) {
  Variable w({2.0f, 3.0f});
  ForwardAccumulator accumulator(w, Tensor{1.0f, 10.0f});
  Tensor y = w * w;
  EXPECT_EQ(accumulator.jvp(y).str(), (Tensor{4.0f, 60.0f}).str());
}

TEST(ComputeGradient, ShowsBoth) {
  Tensor x = cast(Tensor{0.5f, 1.5f}, float64);
  auto right = test::compute_gradient([](const std::vector<Tensor>& a) { return a[0] * a[0] * a[0]; }, {x});
  EXPECT_LT(test::max_error(right), 1e-5);
  EXPECT_EQ(right.theoretical[0].shape(), (Shape{2, 2}));
  auto wrong =
      custom_gradient([](const Tensor& a) { return std::pair(a * a, [a](const Tensor& dy) { return dy * a; }); });
  EXPECT_GT(test::max_error(test::compute_gradient([&](const std::vector<Tensor>& a) { return wrong(a[0]); }, {x})),
            0.4);
  EXPECT_THROW(test::compute_gradient([](const std::vector<Tensor>& a) { return a[0]; }, {Tensor(1)}), ValueError);
}

}  // namespace
}  // namespace thalweg

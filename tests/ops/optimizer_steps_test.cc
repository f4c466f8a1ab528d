// The functions beside the records; tests/op_cases compares their values with TensorFlow's.
#include "thalweg/ops/optimizer_steps.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "thalweg/core/error.h"
#include "thalweg/core/threads.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/math_elementary.h"
#include "thalweg/ops/ranges.h"

namespace thalweg::optimizer_steps {
namespace {

using Floats = std::vector<float>;
Floats floats(const Tensor& t) {
  auto s = t.span<float>();
  return {s.begin(), s.end()};
}

TEST(OptimizerSteps, TakeLiteralsForScalars) {
  Variable w({1.0f, 2.0f});
  apply_gradient_descent(w, 0.5f, {1.0f, -1.0f});
  EXPECT_EQ(floats(w), (Floats{0.5f, 2.5f}));
  Variable accum({0.0f, 0.0f});
  apply_momentum(w, accum, 0.5f, {1.0f, 1.0f}, 0.5f, {.use_nesterov = true});
  EXPECT_EQ(floats(accum), (Floats{1, 1}));
  EXPECT_EQ(floats(w), (Floats{-0.25f, 1.75f}));
}

TEST(OptimizerSteps, FirstStepOfAdamIsTheRate) {
  Variable w({1.0f, 1.0f, 1.0f}), m(zeros({3})), v(zeros({3}));
  apply_adam(w, m, v, 0.9f, 0.999f, 0.125f, 0.9f, 0.999f, 0.0f, {3.0f, -0.01f, 100.0f});
  Floats after = floats(w);
  EXPECT_NEAR(after[0], 0.875f, 1e-5f);
  EXPECT_NEAR(after[1], 1.125f, 1e-5f);
  EXPECT_NEAR(after[2], 0.875f, 1e-5f);
}

TEST(OptimizerSteps, RowsNamedTwiceTakeTwoSteps) {
  Variable w(zeros({3, 2})), accum(zeros({3, 2}));
  sparse_apply_momentum(w, accum, 1.0f, {{1.0f, 2.0f}, {1.0f, 2.0f}}, {2, 2}, 0.5f);
  EXPECT_EQ(floats(accum), (Floats{0, 0, 0, 0, 1.5f, 3}));
  EXPECT_EQ(floats(w), (Floats{0, 0, 0, 0, -2.5f, -5}));
}

TEST(OptimizerSteps, RefusedStepsChangeNothing) {
  Variable w(ones({3, 2})), accum(ones({3, 2})), other(ones({2}));
  EXPECT_THROW(sparse_apply_adagrad(w, accum, 0.1f, 0.1f, ones({2, 2}), {0, 3}), InvalidArgumentError);
  EXPECT_THROW(apply_adagrad(w, other, 0.1f, 0.1f, ones({3, 2})), InvalidArgumentError);
  EXPECT_THROW(apply_adagrad(w, accum, {0.1f, 0.2f}, 0.1f, ones({3, 2})), InvalidArgumentError);
  EXPECT_THROW(apply_adagrad(w, accum, 0.1f, 0.1f, ones({2})), InvalidArgumentError);
  EXPECT_EQ(floats(w), Floats(6, 1.0f));
  EXPECT_EQ(floats(accum), Floats(6, 1.0f));
}

TEST(OptimizerSteps, ReadsKeepTheirBits) {
  Variable w(ones({1000}));
  Tensor before = w;
  apply_gradient_descent(w, 1.0f, w.value());
  EXPECT_EQ(floats(before), Floats(1000, 1.0f));
  EXPECT_EQ(floats(w), Floats(1000, 0.0f));
}

TEST(OptimizerSteps, AreTheSameOnAnyNumberOfThreads) {
  const int threads = num_threads();
  std::vector<Floats> results;
  for (int count : {1, 3}) {
    set_num_threads(count);
    Tensor grad = sin(range(0.0f, 100003.0f, 1.0f));
    Variable w(zeros({100003})), m(zeros({100003})), v(zeros({100003}));
    for (int step = 0; step < 2; ++step) apply_adam(w, m, v, 0.9f, 0.999f, 0.125f, 0.9f, 0.999f, 1e-3f, grad);
    results.push_back(floats(w));
  }
  set_num_threads(threads);
  EXPECT_EQ(std::memcmp(results[0].data(), results[1].data(), results[0].size() * sizeof(float)), 0);
}

}  // namespace
}  // namespace thalweg::optimizer_steps

// Operators may write over a temporary operand; nothing that anybody can still see may change.
#include <gtest/gtest.h>

#include <span>
#include <utility>
#include <vector>

#include "thalweg/core/allocator.h"
#include "thalweg/thalweg.h"

namespace thalweg {
namespace {

constexpr int64_t large = 4096;

Tensor ramp() { return range(0.0f, static_cast<float>(large)); }
float at(const Tensor& x, int64_t i) { return x.data<float>()[i]; }

TEST(Temporaries, AChainUsesTheMemoryOfItsFirstResult) {
  const Tensor x = ramp();
  const int64_t before = memory_info(0).current;
  reset_peak_memory(0);
  const Tensor y = -((x * 2.0f + 1.0f) * x - x);
  EXPECT_LE(memory_info(0).peak - before, static_cast<int64_t>(sizeof(float)) * large);
  for (int64_t i : {int64_t{0}, int64_t{3}, large - 1}) {
    const float v = static_cast<float>(i);
    EXPECT_EQ(at(x, i), v);
    EXPECT_EQ(at(y, i), -((v * 2.0f + 1.0f) * v - v));
  }
}

TEST(Temporaries, TheSecondOperandLendsToo) {
  const Tensor x = ramp();
  const Tensor y = x - (x + x);
  EXPECT_EQ(at(y, 7), -7.0f);
  EXPECT_EQ(at(x, 7), 7.0f);
}

TEST(Temporaries, AResultLargerThanItsOperandIsFresh) {
  const Tensor row = ramp();
  const Tensor y = (row + 0.0f) * ones({3, 1});
  EXPECT_EQ(y.shape(), (Shape{3, large}));
  EXPECT_EQ(at(y, large + 5), 5.0f);
}

TEST(Temporaries, WhatOthersHoldIsNotWritten) {
  Tensor x = ramp();
  const Tensor same = x;
  const Tensor view = reshape(x, {64, 64});
  const Tensor y = std::move(x) + 1.0f;
  EXPECT_EQ(at(same, 9), 9.0f);
  EXPECT_EQ(at(view, 9), 9.0f);
  EXPECT_EQ(at(y, 9), 10.0f);

  Tensor base = ramp();
  const Tensor part = reshape(base, {64, 64});
  const Tensor z = std::move(base) * 2.0f;  // the memory has two owners
  EXPECT_EQ(at(part, 9), 9.0f);
  EXPECT_EQ(at(z, 9), 18.0f);
}

TEST(Temporaries, AMovedTensorMayBeUsedTwiceInOneExpression) {
  Tensor x = ramp();
  const Tensor y = std::move(x) + x;  // NOLINT(bugprone-use-after-move): what it must survive
  EXPECT_EQ(at(y, 5), 10.0f);
}

TEST(Temporaries, ATensorThatLentItsMemoryIsEmpty) {
  Tensor x = ramp();
  const Tensor y = std::move(x) + 1.0f;
  EXPECT_EQ(x.shape(), (Shape{0}));  // NOLINT(bugprone-use-after-move): what is promised of it
  x = ramp();
  EXPECT_EQ(at(x, 2), 2.0f);
  EXPECT_EQ(at(y, 2), 3.0f);
}

TEST(Temporaries, MemoryOfTheCallerIsNotWritten) {
  std::vector<float> mine(static_cast<size_t>(large), 1.0f);
  const Tensor y = Tensor::view(std::span(mine), {large}) + 1.0f;
  EXPECT_EQ(mine[3], 1.0f);
  EXPECT_EQ(at(y, 3), 2.0f);
}

TEST(Temporaries, AnOpThatFailsLeavesNothingBehind) {
  const Tensor x = ramp();
  EXPECT_THROW((x + 1.0f) + ones({3}), InvalidArgumentError);
  EXPECT_EQ(at(x + 1.0f, 1), 2.0f);
}

}  // namespace
}  // namespace thalweg

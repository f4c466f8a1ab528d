// Division with C++'s literals.
#include "thalweg/ops/division.h"

#include <gtest/gtest.h>

#include "thalweg/core/error.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/variable.h"

namespace thalweg {
namespace {

TEST(Division, IntegersThatMeetRealLiteralsBecomeReal) {
  const Tensor pixels(std::vector<uint8_t>{0, 51, 255}), numbers({1, 2, 3});
  EXPECT_EQ((pixels / 255.0f).dtype(), float32);
  EXPECT_EQ((pixels / 255.0f)(1).item<float>(), 51 / 255.0f);
  EXPECT_EQ((pixels / 255.0)(2).item<float>(), 1.0f);
  EXPECT_EQ((numbers / 2.0f).dtype(), float64);
  EXPECT_EQ((3.0f / numbers)(1).item<double>(), 1.5);
  EXPECT_EQ((Variable(numbers) / 2.0f)(2).item<double>(), 1.5);
  EXPECT_EQ((numbers / 2)(0).item<double>(), 0.5);
}

TEST(Division, TensorsAreNeverPromotedSilently) {
  const Tensor numbers({1, 2, 3}), reals({1.0f, 2.0f, 3.0f});
  EXPECT_THROW(numbers / reals, TypeError);
  EXPECT_THROW(truediv(numbers, 2.5f), TypeError);  // the function is TensorFlow's
}

}  // namespace
}  // namespace thalweg

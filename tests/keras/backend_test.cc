#include "thalweg/keras/backend.h"

#include <gtest/gtest.h>

#include "thalweg/thalweg.h"

namespace thalweg::keras {
namespace {

TEST(Backend, LossesAndConstraintsKeepOffByEpsilon) {
  Tensor truth = {{0.0f, 1.0f}}, predicted = {{0.5f, 1.0f}}, column = {{3.0f}};
  backend::set_epsilon(0.5);
  EXPECT_FLOAT_EQ(losses::mean_absolute_percentage_error(truth, predicted).item<float>(), 50.0f);
  EXPECT_FLOAT_EQ(constraints::UnitNorm()(column).item<float>(), 3.0f / 3.5f);
  backend::set_epsilon(1e-7);
  EXPECT_FLOAT_EQ(constraints::UnitNorm()(column).item<float>(), 1.0f);
}

TEST(Backend, LayersThatNobodyTellsFollowTheLearningPhase) {
  Tensor x = ones({100});
  auto dropout = layers::Dropout(0.9);
  auto keeps_all = [&](const Tensor& y) { return reduce_all(equal(y, x)).item<bool>(); };
  EXPECT_TRUE(keeps_all(dropout(x)));
  backend::set_learning_phase(true);
  EXPECT_FALSE(keeps_all(dropout(x)));
  EXPECT_TRUE(keeps_all(dropout(x, {.training = false})));
  backend::set_learning_phase({});
  EXPECT_TRUE(keeps_all(dropout(x)));
}

}  // namespace
}  // namespace thalweg::keras

// Loss scaling: which steps are made, and how the scale follows.
#include "thalweg/keras/loss_scale.h"

#include <gtest/gtest.h>

#include <limits>

#include "thalweg/core/error.h"
#include "thalweg/keras/layers.h"
#include "thalweg/keras/model.h"
#include "thalweg/keras/optimizers.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/shaping.h"

namespace thalweg::keras {
namespace {

using mixed_precision::LossScaleOptimizer;

TEST(LossScales, GrowAndShrinkWithTheGradients) {
  auto optimizer =
      LossScaleOptimizer(optimizers::SGD({.learning_rate = 1.0}), {.initial_scale = 4.0, .dynamic_growth_steps = 2});
  Variable w(10.0f);
  const float infinite = std::numeric_limits<float>::infinity();
  const float gradients[] = {1, 1, infinite, 1, infinite, infinite, infinite, infinite};
  const float scales[] = {4, 8, 4, 4, 2, 1, 1, 1};  // never below 1
  const float values[] = {9, 8, 8, 7, 7, 7, 7, 7};
  for (int i = 0; i < 8; ++i) {
    optimizer.apply_gradients({{Tensor(gradients[i]), w}});
    EXPECT_EQ(optimizer.loss_scale().item<float>(), scales[i]) << i;
    EXPECT_EQ(w.item<float>(), values[i]) << i;
  }
  EXPECT_EQ(optimizer.iterations().item<int64_t>(), 8);  // steps that were left out count
  EXPECT_EQ(optimizer.dynamic_counter().item<int64_t>(), 0);
}

TEST(LossScales, LeaveGradientsAsTheyAre) {
  for (bool dynamic : {true, false}) {
    auto optimizer =
        LossScaleOptimizer(optimizers::SGD({.learning_rate = 0.5}), {.dynamic = dynamic, .initial_scale = 1024.0});
    Variable w(3.0f);
    optimizer.minimize([&] { return w.value() * w.value(); }, std::vector{w});
    EXPECT_EQ(w.item<float>(), 0.0f);
    EXPECT_EQ(optimizer.get_scaled_loss(Tensor(2.0f)).item<float>(), 2048.0f);
    EXPECT_EQ(optimizer.get_unscaled_gradients({Tensor(2048.0f), Tensor()})[0].item<float>(), 2.0f);
    EXPECT_EQ(optimizer.learning_rate().item<float>(), 0.5f);
    EXPECT_EQ(optimizer.dynamic_counter().defined(), dynamic);
  }
}

TEST(LossScales, RefuseWhatKerasRefuses) {
  EXPECT_THROW(LossScaleOptimizer(LossScaleOptimizer("sgd")), TypeError);
  EXPECT_THROW(LossScaleOptimizer("sgd", {.dynamic = false}), ValueError);
  EXPECT_THROW(LossScaleOptimizer("sgd", {.dynamic = false, .initial_scale = 1.0, .dynamic_growth_steps = 2}),
               ValueError);
}

TEST(LossScales, GoThroughConfigurations) {
  auto made = LossScaleOptimizer("adam", {.initial_scale = 8.0});
  Optimizer copy(std::static_pointer_cast<OptimizerInterface>(
      make_object(OptimizerInterface::kind, "LossScaleOptimizer", made.get_config())));
  EXPECT_TRUE(mixed_precision::is_loss_scale_optimizer(copy));
  EXPECT_EQ(copy.get_config(), made.get_config());
  EXPECT_EQ(made.get_config()["dynamic_growth_steps"], Value(2000));
}

TEST(LossScales, ComeWithModelsThatComputeInFloat16) {
  mixed_precision::set_global_policy("mixed_float16");
  Model model = Sequential({layers::Dense(1, {.kernel_initializer = "ones", .input_shape = {2}})});
  mixed_precision::set_global_policy({});
  model.compile({.optimizer = optimizers::SGD({.learning_rate = 0.01}), .loss = "mse"});
  EXPECT_TRUE(mixed_precision::is_loss_scale_optimizer(model.optimizer()));
  Tensor x = ones({4, 2}), y = zeros({4, 1});
  model.fit(x, y, {.epochs = 3, .verbose = 0});
  // Halving the scale from 32768 where it is needed, steps go towards 0.
  EXPECT_LT(reshape(model.weights()[0].value(), {-1})[0].item<float>(), 1.0f);
}

}  // namespace
}  // namespace thalweg::keras

// Forms of data, losses and metrics in training.
#include <gtest/gtest.h>

#include "thalweg/core/output.h"
#include "thalweg/keras/keras.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_elementary.h"
#include "thalweg/ops/ranges.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/shaping.h"

namespace thalweg::keras {
namespace {

Tensor rows() { return reshape(cast(range(12), DType::float32), {6, 2}) / 10.0f; }
Layer ones(int64_t units, const std::string& name) {
  return layers::Dense(units, {.kernel_initializer = "ones", .name = name});
}

TEST(TrainingForms, LossesOfTheTensorsOfAModel) {
  Tensor x = Input({2});
  Tensor y = ones(1, "y")(x);
  Model model(x, y);
  model.add_loss(reduce_mean(square(y)));
  model.compile({.optimizer = optimizers::SGD({.learning_rate = 0.01})});
  const History history = model.fit(rows(), {}, {.epochs = 2, .verbose = 0, .shuffle = false});
  EXPECT_NEAR(history["loss"][0], 1.67667, 1e-4);
  EXPECT_LT(history["loss"][1], history["loss"][0]);
  EXPECT_THROW(model.add_loss(rows()), ValueError);
}

TEST(TrainingForms, FunctionsAsMetricsOfEachOutput) {
  Tensor x = Input({2});
  Model model(x, Nest::list({ones(1, "a")(x), ones(2, "b")(x)}));
  auto level = [](const Tensor&, const Tensor& y_pred) { return y_pred; };
  model.compile({.optimizer = "sgd", .loss = "mse", .metrics = {Metric("level", level)}});
  Logs logs = model.evaluate(rows(), Nest::list({zeros({6, 1}), zeros({6, 2})}), {.verbose = 0});
  EXPECT_NEAR(logs.at("a_level"), 1.1, 1e-5);
  EXPECT_NEAR(logs.at("b_level"), 1.1, 1e-5);
}

TEST(TrainingForms, OutputsInADictGoByTheirKeys) {
  Tensor x = Input({2});
  Model model(x, Nest::dict({{"p", ones(1, "one")(x)}, {"q", ones(2, "two")(x)}}));
  model.compile({.optimizer = "sgd", .loss = {{"p", "mse"}, {"q", "mae"}}});
  Logs logs = model.evaluate(rows(), Nest::dict({{"p", zeros({6, 1})}, {"q", zeros({6, 2})}}), {.verbose = 0});
  EXPECT_NEAR(logs.at("two_loss"), 1.1, 1e-5);
}

TEST(TrainingForms, StepsGoOnThroughTheArrays) {
  auto steps_of = [](int64_t steps_per_epoch) {
    Model model = Sequential({ones(1, "y")});
    model.compile({.optimizer = "sgd", .loss = "mse"});
    model.fit(rows(), zeros({6, 1}),
              {.batch_size = 2, .epochs = 2, .verbose = 0, .shuffle = false, .steps_per_epoch = steps_per_epoch});
    return model.optimizer().iterations().value().item<int64_t>();
  };
  EXPECT_EQ(steps_of(2), 4);
  EXPECT_EQ(steps_of(3), 6);
  EXPECT_EQ(steps_of(6), 6);  // the first epoch has the data of both
}

std::string heard;

TEST(TrainingForms, WhatIsShownCanBeTakenOver) {
  Model model = Sequential({ones(1, "y")});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  OutputHandler before = set_output_handler([](const std::string& text) { heard += text; });
  model.fit(rows(), zeros({6, 1}), {.verbose = 2});
  set_output_handler(before);
  EXPECT_TRUE(heard.starts_with("1/1 - 0s - loss: ")) << heard;
}

}  // namespace
}  // namespace thalweg::keras

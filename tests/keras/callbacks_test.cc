// Callbacks against Keras: the same logs, epoch by epoch, must lead to the same rates, weights, words and files.
#include "thalweg/keras/callbacks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/keras/cases.h"
#include "tests/keras/model_cases.h"
#include "thalweg/core/error.h"
#include "thalweg/core/warning.h"
#include "thalweg/keras/keras.h"
#include "thalweg/keras/training.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/shaping.h"

namespace thalweg::keras {
namespace {

using testing::KerasCases;
using testing::Printed;

const KerasCases& callbacks_cases() {
  static const KerasCases all("callbacks");
  return all;
}

double number(const Value& value) {
  if (!value.is_text()) return value.number();
  return value.text() == "nan" ? NAN : value.text() == "inf" ? INFINITY : -INFINITY;
}
Logs to_logs(const Value& value) {
  Logs logs;
  for (const auto& [name, item] : value.map()) logs.set(name, number(item));
  return logs;
}
void expect_same(double got, double expected, const std::string& what) {
  if (std::isnan(expected)) EXPECT_TRUE(std::isnan(got)) << what;
  else EXPECT_DOUBLE_EQ(got, expected) << what;
}
void expect_same(const Logs& got, const Value& expected) {
  ASSERT_EQ(got.size(), expected.map().size());
  for (const auto& [name, value] : expected.map()) expect_same(got.at(name), number(value), name);
}

Callback make_callback(const Value& one, const std::string& file) {
  const std::string& name = one["class"].text();
  if (name == "ReduceLROnPlateau") {
    callbacks::ReduceLROnPlateauOptions options;
    rows_of(options).set(&options, one["config"]);
    return callbacks::ReduceLROnPlateau(options);
  }
  if (name == "LearningRateScheduler") {
    const Value table = one["table"];
    const Value verbose = one["config"]["verbose"];
    return callbacks::LearningRateScheduler(
        [table](int epoch) { return table.list().at(static_cast<size_t>(epoch)).number(); },
        {.verbose = verbose.is_none() ? 0 : verbose.integer()});
  }
  Value config = one["config"];
  if (name == "CSVLogger") config.set("filename", file);
  return Callback(std::static_pointer_cast<CallbackInterface>(make_object("callback", name, config)));
}

Model make_trained(double rate) {
  Sequential model({layers::Dense(1, {.use_bias = false, .input_shape = Shape{1}})});
  model.compile({.optimizer = optimizers::SGD({.learning_rate = rate}), .loss = "mse"});
  model.optimizer().build(model.trainable_variables());
  return model;
}
double rate_of(const Model& model) { return cast(model.optimizer().learning_rate(), DType::float64).item<double>(); }

void run(const Value& one, const Value& training, const Callback& callback) {
  Model model = make_trained(one["learning_rate"].number());
  const bool& stopped = model.get()->training->stop;
  CallbackInterface& hooks = *callback.get();
  Logs none;
  hooks.set_model(model);
  hooks.on_train_begin(model, none);
  int epoch = 0;
  for (const Value& expected : training["epochs"].list()) {
    SCOPED_TRACE("epoch " + std::to_string(epoch));
    ASSERT_FALSE(stopped);
    Printed printed;
    Logs logs = to_logs(expected["logs"]);
    hooks.on_epoch_begin(model, epoch, none);
    expect_same(rate_of(model), expected["learning_rate"].number(), "rate");
    hooks.on_train_batch_begin(model, 0, none);
    model.set_weights({fill({1, 1}, static_cast<float>(epoch + 1))});
    hooks.on_train_batch_end(model, 0, logs);
    logs = to_logs(expected["logs"]);
    hooks.on_epoch_end(model, epoch, logs);
    expect_same(rate_of(model), expected["learning_rate_after"].number(), "rate after");
    expect_same(logs, expected["logs_after"]);
    EXPECT_EQ(stopped, expected["stop_training"].boolean());
    EXPECT_EQ(printed.text(), expected["printed"].text());
    ++epoch;
  }
  Printed printed;
  hooks.on_train_end(model, none);
  EXPECT_EQ(printed.text(), training["printed"].text());
  expect_same(reshape(cast(model.get_weights()[0], DType::float64), {-1})[0].item<double>(),
              training["weight"].number(), "weight");
  for (const char* key : {"stopped_epoch", "best_epoch", "best", "wait"})
    if (!training[key].is_none()) expect_same(hooks.state()[key].number(), number(training[key]), key);
}

void run_history(const Value& one) {
  History history;
  for (const Value& training : one["trainings"].list()) {
    history.epoch.clear();
    int epoch = 0;
    for (const Value& expected : training["epochs"].list()) history.add(epoch++, to_logs(expected["logs"]));
    for (const auto& [name, values] : training["history"].map()) {
      std::vector<double> numbers;
      from_value(numbers, values);
      EXPECT_EQ(history.at(name), numbers);
    }
    EXPECT_EQ(to_value(history.epoch), training["epoch"]);
  }
}

class Callbacks : public ::testing::TestWithParam<size_t> {};

TEST_P(Callbacks, AsInKeras) {
  const Value& one = callbacks_cases().cases()[GetParam()];
  SCOPED_TRACE(KerasCases::describe(one));
  WarningHandler before = set_warning_handler([](const char*) {});
  const std::string file =
      (std::filesystem::temp_directory_path() / ("thalweg_log_" + std::to_string(GetParam()) + ".csv")).string();
  std::filesystem::remove(file);
  if (one["before"].is_text()) std::ofstream(file) << one["before"].text();
  if (one["class"].text() == "History") {
    run_history(one);
  } else if (one["error"].is_map()) {
    // A schedule that gives no number is none in C++.
    if (one["class"].text() != "LearningRateScheduler") {
      try {
        make_callback(one, file);
        ADD_FAILURE() << "not refused";
      } catch (const Error& error) {
        EXPECT_EQ(error.what(), one["error"]["message"].text());
      }
    }
  } else {
    Callback callback = make_callback(one, file);
    for (const Value& training : one["trainings"].list()) run(one, training, callback);
    if (one["file"].is_text()) {
      std::ostringstream text;
      text << std::ifstream(file, std::ios::binary).rdbuf();
      std::string expected = one["file"].text();
      for (const char* whole : {";2;", ";3;"})  // logs are real numbers here
        if (size_t at = expected.find(whole); at != std::string::npos) expected.insert(at + 2, ".0");
      EXPECT_EQ(text.str(), expected);
    }
  }
  std::filesystem::remove(file);
  set_warning_handler(before);
}
INSTANTIATE_TEST_SUITE_P(All, Callbacks, ::testing::Range(size_t{0}, callbacks_cases().cases().size()));

/// Writes down which hooks are called.
struct Recorder {
  std::shared_ptr<std::string> said = {};
  void on_train_begin() { *said += "train("; }
  void on_train_end() { *said += ")"; }
  void on_epoch_begin(int epoch) { *said += " epoch" + std::to_string(epoch) + "("; }
  void on_epoch_end(int, const Logs& logs) { *said += logs.contains("val_loss") ? "v)" : ")"; }
  void on_train_batch_begin(int64_t batch) { *said += " " + std::to_string(batch); }
  void on_train_batch_end(int64_t batch) { *said += "-" + std::to_string(batch); }
  void on_test_begin() { *said += " test("; }
  void on_test_end() { *said += ")"; }
  void on_test_batch_begin(int64_t batch) { *said += " " + std::to_string(batch); }
  void on_test_batch_end(int64_t batch) { *said += "-" + std::to_string(batch); }
  void on_predict_begin() { *said += "predict("; }
  void on_predict_end() { *said += ")"; }
  void on_predict_batch_begin(int64_t batch) { *said += " " + std::to_string(batch); }
  void on_predict_batch_end(int64_t batch) { *said += "-" + std::to_string(batch); }
};

TEST(Hooks, InKerassOrder) {
  Sequential model({layers::Dense(1, {.input_shape = Shape{2}})});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  Tensor x = ones({6, 2}), y = ones({6, 1});
  auto said = std::make_shared<std::string>();
  model.fit(x, y,
            {.batch_size = 2,
             .epochs = 2,
             .verbose = 0,
             .callbacks = {Recorder{said}},
             .validation_data = Nest::tuple({x, y}),
             .validation_batch_size = 3,
             .validation_freq = 2});
  EXPECT_EQ(*said, "train( epoch0( 0-0 1-1 2-2) epoch1( 0-0 1-1 2-2 test( 0-0 1-1)v))");
  said->clear();
  model.evaluate(x, y, {.batch_size = 4, .verbose = 0, .callbacks = {Recorder{said}}});
  EXPECT_EQ(*said, " test( 0-0 1-1)");
  said->clear();
  model.predict(x, {.batch_size = 4, .callbacks = {Recorder{said}}});
  EXPECT_EQ(*said, "predict( 0-0 1-1)");
  // Several batches between two hooks, and fewer at the end.
  model.compile({.optimizer = "sgd", .loss = "mse", .steps_per_execution = 2});
  said->clear();
  model.fit(x, y, {.batch_size = 1, .epochs = 1, .verbose = 0, .callbacks = {Recorder{said}}, .steps_per_epoch = 5});
  EXPECT_EQ(*said, "train( epoch0( 0-1 2-3 4-4))");
}

TEST(Hooks, FunctionsAndStopping) {
  Sequential model({layers::Dense(1, {.input_shape = Shape{1}})});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  int batches = 0, epochs = 0;
  Model self = model;
  History history =
      model.fit(ones({4, 1}), ones({4, 1}),
                {.batch_size = 1,
                 .epochs = 5,
                 .verbose = 0,
                 .callbacks = {callbacks::LambdaCallback({.on_epoch_end = [&](int, const Logs&) { ++epochs; },
                                                          .on_batch_end =
                                                              [&](int64_t, const Logs& logs) {
                                                                EXPECT_TRUE(logs.contains("loss"));
                                                                if (++batches == 6) self.stop_training();
                                                              }})}});
  EXPECT_EQ(batches, 6);
  EXPECT_EQ(epochs, 2);
  EXPECT_EQ(history.epoch, (std::vector<int>{0, 1}));
}

TEST(Hooks, WhatCallbacksAddIsRemembered) {
  Sequential model({layers::Dense(1, {.input_shape = Shape{1}})});
  model.compile({.optimizer = optimizers::SGD({.learning_rate = 0.5}), .loss = "mse"});
  Printed printed;
  History history = model.fit(
      ones({4, 1}), ones({4, 1}),
      {.epochs = 2,
       .verbose = 2,
       .callbacks = {callbacks::LearningRateScheduler([](int, double rate) { return rate / 2; }, {.verbose = 1})}});
  EXPECT_EQ(history["lr"], (std::vector<double>{0.25, 0.125}));
  const std::string text = printed.text();
  const size_t said = text.find("\nEpoch 1: LearningRateScheduler setting learning rate to 0.25.\n");
  const size_t began = text.find("Epoch 1/2\n");
  ASSERT_NE(said, std::string::npos) << text;
  EXPECT_LT(said, began);
  EXPECT_NE(text.find(" - lr: 0.2500 - "), std::string::npos) << text;
}

}  // namespace
}  // namespace thalweg::keras

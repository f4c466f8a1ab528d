#include "tests/keras/config_cases.h"
#include "thalweg/keras/optimizers.h"
#include "thalweg/thalweg.h"

namespace thalweg::testing {
namespace {

using keras::LearningRateSchedule;
using keras::Value;

TEST(Schedules, GiveKerasRates) {
  KerasCases family("schedules");
  for (const Value& row : family.cases()) {
    SCOPED_TRACE(KerasCases::describe(row));
    if (!row["error"].is_none()) {
      expect_error(row, [&] { make_from<LearningRateSchedule>(row); });
      continue;
    }
    auto schedule = make_from<LearningRateSchedule>(row);
    expect_config(row, schedule);
    auto traced = function([&](const Tensor& step) { return schedule(step); });
    std::vector<Tensor> eager, graph;
    for (const Value& step : row["steps"].list()) {
      eager.push_back(schedule(Tensor(step.integer())));
      graph.push_back(traced(Tensor(step.integer())));
    }
    EXPECT_EQ(difference(stack(eager), family.tensor(row["values"]), 1e-6), "");
    EXPECT_EQ(difference(stack(graph), stack(eager), 1e-7), "");
  }
}

struct Halving {
  double initial = 1;
  Tensor call(const Tensor& step) { return initial * pow(Tensor(0.5F), cast(step, float32)); }
};

TEST(Schedules, MayBeLambdasAndStructs) {
  Variable w(0.0F);
  auto by_lambda =
      keras::optimizers::SGD({.learning_rate = [](const Tensor& step) { return 1.0F / (1 + cast(step, float32)); }});
  for (int i = 0; i < 3; ++i) by_lambda.apply_gradients({{Tensor(-1.0F), w}});
  EXPECT_FLOAT_EQ(w.item<float>(), 1 + 1 / 2.0F + 1 / 3.0F);
  EXPECT_THROW(by_lambda.get_config(), ValueError);  // a lambda has no name

  Variable v(0.0F);
  auto by_struct = keras::optimizers::SGD({.learning_rate = Halving{.initial = 2}});
  for (int i = 0; i < 3; ++i) by_struct.apply_gradients({{Tensor(-1.0F), v}});
  EXPECT_FLOAT_EQ(v.item<float>(), 3.5F);
  EXPECT_FLOAT_EQ(by_struct.learning_rate().item<float>(), 0.5F);
  EXPECT_EQ(by_struct.get_config()["learning_rate"]["class_name"].text(), "Halving");
  keras::Optimizer again;
  from_value(again, Value::map({{"class_name", "SGD"}, {"config", by_struct.get_config()}}));
  EXPECT_TRUE(again.get_config() == by_struct.get_config());
}

TEST(Schedules, AreWrittenAsFunctions) {
  namespace schedules = keras::optimizers::schedules;
  EXPECT_FLOAT_EQ(schedules::ExponentialDecay(0.1, 10, 0.5)(Tensor(10)).item<float>(), 0.05F);
  EXPECT_FLOAT_EQ(schedules::InverseTimeDecay(0.1, 10, 1, {.staircase = true})(Tensor(15)).item<float>(), 0.05F);
  EXPECT_FLOAT_EQ(schedules::PolynomialDecay(1, 10, {.end_learning_rate = 0})(Tensor(5)).item<float>(), 0.5F);
  EXPECT_FLOAT_EQ(schedules::PiecewiseConstantDecay({5}, {1, 2})(Tensor(6)).item<float>(), 2);
  EXPECT_FLOAT_EQ(schedules::CosineDecay(1, 10)(Tensor(5)).item<float>(), 0.5F);
  EXPECT_FLOAT_EQ(schedules::CosineDecayRestarts(1, 10)(Tensor(10)).item<float>(), 1);
  EXPECT_THROW(schedules::PiecewiseConstantDecay({1, 2}, {1}), ValueError);
}

}  // namespace
}  // namespace thalweg::testing

// Fifty steps of training with each optimizer, against the losses and weights that Keras gives.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/keras/cases.h"
#include "tests/keras/model_cases.h"
#include "thalweg/core/error.h"
#include "thalweg/keras/keras.h"
#include "thalweg/ops/casting.h"

namespace thalweg::keras {
namespace {

using testing::KerasCases;

const KerasCases& curves_cases() {
  static const KerasCases all("curves");
  return all;
}

/// The largest error relative to the largest value, so that weights near zero do not count double.
double relative_error(const Tensor& got, const Tensor& expected) {
  Tensor a = cast(got, DType::float64), b = cast(expected, DType::float64);
  double largest = 0, error = 0;
  for (int64_t i = 0; i < b.size(); ++i) {
    largest = std::max(largest, std::abs(b.data<double>()[i]));
    error = std::max(error, std::abs(a.data<double>()[i] - b.data<double>()[i]));
  }
  return largest == 0 ? error : error / largest;
}

/// Batch i of data that has batches along its first axis.
Nest batch_of(const Nest& data, int64_t i) {
  return data.map([&](const Tensor& t) { return t(i % t.shape()[0]); });
}

class Curves : public ::testing::TestWithParam<size_t> {};

TEST_P(Curves, AsInKeras) {
  const Value& one = curves_cases().cases()[GetParam()];
  SCOPED_TRACE(KerasCases::describe(one));
  const Nest x = curves_cases().nest(one["x"]), y = curves_cases().nest(one["y"]);
  std::vector<Tensor> initial;
  for (const Value& weight : one["weights"].list()) initial.push_back(curves_cases().tensor(weight["value"]));
  double worst = 0;
  int compared = 0;
  for (const Value& curve : one["curves"].list()) {
    backend::clear_session();
    const std::string name = curve["optimizer"]["class_name"].text();
    SCOPED_TRACE(name);
    std::optional<Model> made = testing::make_model(one["model"]);
    ASSERT_TRUE(made) << "a layer of the model is unknown";
    Model model = *made;
    model.set_weights(initial);
    CompileOptions options;
    from_value(options.optimizer, curve["optimizer"]);
    Loss loss;
    from_value(loss, one["loss"]);
    options.loss = loss;
    model.compile(options);
    const Tensor losses = curves_cases().tensor(curve["losses"]);
    for (int64_t i = 0; i < losses.size(); ++i) {
      const double got = model.train_on_batch(batch_of(x, i), batch_of(y, i)).at("loss");
      const double expected = cast(losses, DType::float64)[static_cast<int64_t>(i)].item<double>();
      const double error = std::abs(got - expected) / std::max(std::abs(expected), 1e-6);
      worst = std::max(worst, error);
      ASSERT_LE(error, 1e-4) << "step " << i << ": " << got << ", not " << expected;
    }
    const std::vector<Tensor> after = model.get_weights();
    ASSERT_EQ(after.size(), curve["weights"].list().size());
    for (size_t i = 0; i < after.size(); ++i) {
      const Value& expected = curve["weights"].list()[i];
      const double error =
          relative_error(after[i], curves_cases().tensor(expected.contains("value") ? expected["value"] : expected));
      worst = std::max(worst, error);
      EXPECT_LE(error, 1e-4) << "weight " << i;
    }
    ++compared;
  }
  RecordProperty("largest_error", std::to_string(worst));
  std::printf("%s: %d curves, largest relative error %.2g\n", one["class"].text().c_str(), compared, worst);
}
INSTANTIATE_TEST_SUITE_P(All, Curves, ::testing::Range(size_t{0}, curves_cases().cases().size()));

}  // namespace
}  // namespace thalweg::keras

// Losses against Keras: values, gradients, configurations, errors; then losses that users write.
#include <cmath>

#include "tests/keras/pair_cases.h"
#include "thalweg/core/companion.h"
#include "thalweg/core/warning.h"
#include "thalweg/keras/keras.h"

namespace thalweg::testing {
namespace {

using namespace keras;

const KerasCases& loss_cases() {
  static const KerasCases family("losses");
  return family;
}
Loss made_loss(const std::string& name, const Value& config) {
  return Loss(std::static_pointer_cast<LossInterface>(make_object("loss", name, config)));
}

class LossCase : public ::testing::TestWithParam<CaseNumber> {};

TEST_P(LossCase, IsThatOfKeras) {
  const KerasCases& family = loss_cases();
  const Value& one = family.cases()[GetParam().index];
  SCOPED_TRACE(KerasCases::describe(one));
  const std::string& name = one["class"].text();
  if (!one["error"].is_none() && one["error"]["stage"].text() == "construct") {
    expect_refused(one["error"], [&] { made_loss(name, one["config"]); });
    return;
  }
  const Loss loss = made_loss(name, one["config"]);
  const Tensor y_true = family.tensor(one["y_true"]), y_pred = family.tensor(one["y_pred"]);
  const Tensor weight = family.tensor(one["sample_weight"]), mask = family.tensor(one["mask"]);
  auto compute = [&](const Tensor& labels, const Tensor& given) {
    Tensor predictions = activated(one, given);
    if (mask.defined()) set_companion(predictions, mask);
    return loss(labels, predictions, weight);
  };
  if (!one["error"].is_none()) {
    expect_refused(one["error"], [&] { compute(y_true, y_pred); });
    return;
  }
  EXPECT_EQ(loss.name(), one["name"].text());
  EXPECT_EQ(loss.class_name(), name);
  EXPECT_EQ(loss.get_config(), one["get_config"]);
  EXPECT_EQ(made_loss(name, loss.get_config()).get_config(), loss.get_config());

  GradientTape tape;
  tape.watch(y_pred);
  Tensor value = compute(y_true, y_pred);
  EXPECT_EQ(difference(value, family.tensor(one["value"])), "");
  Tensor gradient = tape.gradient(weighted_sum({value}), y_pred);
  EXPECT_EQ(difference(gradient, family.tensor(one["gradient"])), "");

  EXPECT_EQ(difference(function(compute)(y_true, y_pred), value), "");
}
INSTANTIATE_TEST_SUITE_P(Keras, LossCase, ::testing::ValuesIn(case_numbers(loss_cases())), name_of_case);

const KerasCases& loss_function_cases() {
  static const KerasCases family("loss_functions");
  return family;
}
PairCaller function_named(const std::string& name) {
  using namespace losses;
  static const std::map<std::string, PairCaller> functions = {
      {"mean_squared_error", Caller<mean_squared_error>::call},
      {"mean_absolute_error", Caller<mean_absolute_error>::call},
      {"mean_absolute_percentage_error", Caller<mean_absolute_percentage_error>::call},
      {"mean_squared_logarithmic_error", Caller<mean_squared_logarithmic_error>::call},
      {"binary_crossentropy", Caller<binary_crossentropy>::call},
      {"binary_focal_crossentropy", Caller<binary_focal_crossentropy>::call},
      {"categorical_crossentropy", Caller<categorical_crossentropy>::call},
      {"categorical_focal_crossentropy", Caller<categorical_focal_crossentropy>::call},
      {"sparse_categorical_crossentropy", Caller<sparse_categorical_crossentropy>::call},
      {"categorical_hinge", Caller<categorical_hinge>::call},
      {"hinge", Caller<hinge>::call},
      {"squared_hinge", Caller<squared_hinge>::call},
      {"cosine_similarity", Caller<cosine_similarity>::call},
      {"huber", Caller<huber>::call},
      {"log_cosh", Caller<log_cosh>::call},
      {"kl_divergence", Caller<kl_divergence>::call},
      {"poisson", Caller<poisson>::call},
  };
  return functions.at(name);
}

class LossFunctionCase : public ::testing::TestWithParam<CaseNumber> {};

TEST_P(LossFunctionCase, IsThatOfKeras) {
  const KerasCases& family = loss_function_cases();
  const Value& one = family.cases()[GetParam().index];
  SCOPED_TRACE(KerasCases::describe(one));
  const FunctionCase given(family, one);
  // An alias leads to the function's own name.
  const Loss named(one["class"].text());
  EXPECT_TRUE(named.get()->is_function());
  const PairCaller call = function_named(named.class_name());
  GradientTape tape;
  tape.watch(given.y_pred);
  Tensor value = call(given.y_true, given.y_pred, given.options);
  EXPECT_EQ(difference(value, family.tensor(one["value"])), "");
  Tensor gradient = tape.gradient(weighted_sum({value}), given.y_pred);
  EXPECT_EQ(difference(gradient, family.tensor(one["gradient"])), "");
  if (given.options.map().empty()) {
    EXPECT_EQ(difference(named.get()->call(given.y_true, given.y_pred), family.tensor(one["value"])), "");
  }
}
INSTANTIATE_TEST_SUITE_P(Keras, LossFunctionCase, ::testing::ValuesIn(case_numbers(loss_function_cases())),
                         name_of_case);

TEST(Loss, IsKnownByEveryNameOfKeras) {
  for (const char* name : {"mse", "MSE", "mae", "MAE", "mape", "MAPE", "msle", "MSLE", "bce", "BCE", "kld", "KLD",
                           "logcosh", "huber_loss", "kullback_leibler_divergence", "huber", "log_cosh"})
    EXPECT_TRUE(Loss(name).defined()) << name;
  for (const char* name : {"MeanSquaredError", "Huber", "SparseCategoricalCrossentropy"})
    EXPECT_EQ(Loss(name).class_name(), name);
  EXPECT_EQ(Loss("mse").class_name(), "mean_squared_error");
  try {
    Loss("msq");
    ADD_FAILURE();
  } catch (const ValueError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'mse'"), std::string::npos) << error.what();
  }
}

struct MyHuber {
  double delta = 1.0;
  Tensor call(const Tensor& y_true, const Tensor& y_pred) {
    Tensor error = y_true - y_pred, size = abs(error);
    return where(size <= delta, 0.5f * square(error), delta * size - 0.5f * delta * delta);
  }
};

TEST(Loss, IsAStructWithCall) {
  Tensor y_true = {{0.0f, 1.0f}, {4.0f, 0.0f}}, y_pred = {{0.5f, 1.0f}, {0.0f, 3.0f}};
  Loss loss = MyHuber{.delta = 2};
  // Losses of each element: it reduces nothing itself.
  EXPECT_FLOAT_EQ(loss(y_true, y_pred).item<float>(), (0.125f + 0 + 6 + 4) / 4);
  EXPECT_EQ(loss.class_name(), "MyHuber");
  EXPECT_EQ(loss.get_config().json(), R"({"delta": 2.0})");
  EXPECT_FLOAT_EQ(made_loss("MyHuber", Value::map({{"delta", 2}}))(y_true, y_pred).item<float>(),
                  loss(y_true, y_pred).item<float>());
  Loss built_in = losses::Huber({.delta = 2});
  EXPECT_FLOAT_EQ(built_in(y_true, y_pred).item<float>(), loss(y_true, y_pred).item<float>());
}

struct SummedLoss {
  std::string reduction = "sum";
  std::string name = "summed";
  Tensor call(const Tensor& y_true, const Tensor& y_pred) { return abs(y_true - y_pred); }
};

TEST(Loss, TakesReductionAndNameFromMembers) {
  Loss loss = SummedLoss{};
  EXPECT_EQ(loss.name(), "summed");
  EXPECT_EQ(loss.reduction(), "sum");
  EXPECT_FLOAT_EQ(loss({1.0f, 2.0f}, {0.0f, 0.0f}).item<float>(), 3);
  EXPECT_FLOAT_EQ(loss({1.0f, 2.0f}, {0.0f, 0.0f}, Tensor({1.0f, 10.0f})).item<float>(), 21);
  EXPECT_THROW(Loss(SummedLoss{.reduction = "average"}), ValueError);
}

TEST(Loss, IsALambdaOrAFunction) {
  Loss lambda = [](const Tensor& y_true, const Tensor& y_pred) {
    return reduce_mean(abs(y_true - y_pred), {.axis = -1});
  };
  Tensor y_true = {{0.0f, 1.0f}, {4.0f, 0.0f}}, y_pred = {{0.5f, 1.0f}, {0.0f, 3.0f}};
  EXPECT_FLOAT_EQ(lambda(y_true, y_pred).item<float>(), Loss("mae")(y_true, y_pred).item<float>());
  EXPECT_THROW(object_to_value("loss", lambda.get()), ValueError);
  Loss pointer = losses::mean_absolute_error, with_options = losses::huber;
  EXPECT_EQ(pointer.class_name(), "mean_absolute_error");
  EXPECT_EQ(object_to_value("loss", with_options.get()).text(), "huber");
  EXPECT_FLOAT_EQ(with_options(y_true, y_pred).item<float>(), losses::Huber()(y_true, y_pred).item<float>());
}

TEST(Loss, GivesTheSameGradientsWhenTraced) {
  Tensor labels = {0, 2, 1}, logits = {{0.1f, 0.5f, -1.0f}, {2.0f, 0.0f, 0.3f}, {1.0f, 1.0f, 1.0f}};
  for (bool from_logits : {false, true}) {
    Loss loss = losses::SparseCategoricalCrossentropy({.from_logits = from_logits});
    auto step = [&](const Tensor& x) {
      GradientTape tape;
      tape.watch(x);
      Tensor value = loss(labels, from_logits ? x : nn::softmax(x));
      return tape.gradient(value, x);
    };
    EXPECT_EQ(difference(function(step)(logits), step(logits), 1e-6), "");
  }
}

// Of the op itself the input is known in traced functions alone, as in TensorFlow.
TEST(Loss, LooksThroughTheOpsThatMadeProbabilities) {
  Tensor logits = {{50.0f, -60.0f, 3.0f}}, one_hot_label = {{0.0f, 1.0f, 0.0f}}, label = {1};
  auto softmax_loss = [&](const Tensor& x) { return Loss("sparse_categorical_crossentropy")(label, nn::softmax(x)); };
  EXPECT_FLOAT_EQ(softmax_loss(logits).item<float>(), 16.118095f);
  EXPECT_FLOAT_EQ(function(softmax_loss)(logits).item<float>(), 110);
  auto sigmoid_loss = [&](const Tensor& x) { return Loss("bce")(one_hot_label, sigmoid(x)); };
  EXPECT_NEAR(sigmoid_loss(logits).item<float>(), 11.268924f, 1e-5);
  EXPECT_FLOAT_EQ(function(sigmoid_loss)(logits).item<float>(), 37.68286f);
  // Another op in between hides them, and so does the end of the function that they were made in.
  auto hidden = [&](const Tensor& x) {
    return Loss("categorical_crossentropy")(one_hot_label, identity(nn::softmax(x)));
  };
  EXPECT_FLOAT_EQ(function(hidden)(logits).item<float>(), 16.118095f);
  Tensor outside = function([](const Tensor& x) { return activations::softmax(x); })(logits);
  EXPECT_FLOAT_EQ(Loss("categorical_crossentropy")(one_hot_label, outside).item<float>(), 16.118095f);
}

TEST(Loss, WarnsOfLogitsThatAreNone) {
  static std::string heard;
  heard.clear();
  WarningHandler before = set_warning_handler([](const char* text) { heard += text; });
  Tensor p = activations::softmax(Tensor({{1.0f, 2.0f}}));
  losses::categorical_crossentropy(Tensor({{1.0f, 0.0f}}), p, {.from_logits = true});
  set_warning_handler(before);
  EXPECT_EQ(
      heard,
      "`categorical_crossentropy` received `from_logits=True`, but the `output` argument was produced by a Softmax "
      "activation and thus does not represent logits. Was this intended?");
}

TEST(Loss, TakesBatchesOfUnknownSize) {
  Tensor classes = {0, 2, 1, 2}, one_hot_labels = one_hot(classes, 3);
  Tensor scores = {{0.7f, 0.2f, 0.1f}, {0.1f, 0.3f, 0.6f}, {0.3f, 0.3f, 0.4f}, {0.5f, 0.1f, 0.4f}};
  for (const char* name : {"sparse_categorical_crossentropy", "categorical_crossentropy", "mse", "huber", "hinge",
                           "binary_crossentropy", "kld", "categorical_focal_crossentropy"}) {
    const Loss loss(name);
    const Tensor& labels = name == std::string("sparse_categorical_crossentropy") ? classes : one_hot_labels;
    auto traced = function([&](const Tensor& y_true, const Tensor& y_pred) { return loss(y_true, y_pred); },
                           {.reduce_retracing = true});
    for (int64_t size : {4, 3, 2, 0}) {
      Tensor y_true = labels(slice(0, size)), y_pred = scores(slice(0, size));
      EXPECT_EQ(difference(traced(y_true, y_pred), loss(y_true, y_pred), 1e-6), "") << name << " " << size;
    }
    EXPECT_LE(traced.experimental_get_tracing_count(), 2);
  }
}

TEST(Loss, LeavesOutWhatMasksLeaveOut) {
  Tensor y_true = {{1.0f}, {2.0f}, {3.0f}}, y_pred = {{0.0f}, {0.0f}, {0.0f}};
  set_companion(y_pred, Tensor({true, false, true}));
  EXPECT_FLOAT_EQ(Loss("mse")(y_true, y_pred).item<float>(), 5);
  Loss ignoring = losses::SparseCategoricalCrossentropy({.from_logits = true, .ignore_class = 255});
  Tensor logits = {{1.0f, 2.0f}, {0.0f, 0.0f}};
  EXPECT_NEAR(ignoring(Tensor({255, 1}), logits).item<float>(), std::log(2.0f), 1e-6);
}

}  // namespace
}  // namespace thalweg::testing

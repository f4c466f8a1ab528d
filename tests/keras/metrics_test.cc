// Metrics against Keras: results, variables, configurations, errors; then metrics that users write.
#include "tests/keras/pair_cases.h"
#include "thalweg/keras/keras.h"

namespace thalweg::testing {
namespace {

using namespace keras;

const KerasCases& metric_cases() {
  static const KerasCases family("metrics");
  return family;
}
Metric made_metric(const std::string& name, const Value& config) {
  return Metric(std::static_pointer_cast<MetricInterface>(make_object("metric", name, config)));
}
/// The tensors of an update in the order of update_state, None where one is left out.
std::vector<Tensor> arguments(const KerasCases& family, const Value& update) {
  std::vector<Tensor> tensors;
  for (const char* name : {"values", "y_true", "y_pred", "sample_weight"})
    if (update.contains(name)) tensors.push_back(family.tensor(update[name]));
  tensors.resize(3);
  return tensors;
}
void expect_variables(const KerasCases& family, const Metric& metric, const Value& expected) {
  const std::vector<Variable> variables = metric.variables();
  ASSERT_EQ(variables.size(), expected.list().size());
  for (size_t i = 0; i < variables.size(); ++i) {
    EXPECT_EQ(variables[i].name(), expected.list()[i]["name"].text());
    EXPECT_FALSE(variables[i].trainable());
    EXPECT_EQ(difference(variables[i].value(), family.tensor(expected.list()[i]["value"])), "") << variables[i].name();
  }
}

class MetricCase : public ::testing::TestWithParam<CaseNumber> {};

TEST_P(MetricCase, IsThatOfKeras) {
  backend::clear_session();
  const KerasCases& family = metric_cases();
  const Value& one = family.cases()[GetParam().index];
  SCOPED_TRACE(KerasCases::describe(one));
  const std::string& name = one["class"].text();
  const Value& updates = one["updates"];
  if (!one["error"].is_none()) {
    expect_refused(one["error"], [&] {
      const Metric metric = made_metric(name, one["config"]);
      for (const Value& update : updates.list()) {
        std::vector<Tensor> given = arguments(family, update);
        metric.update_state(given[0], given[1], given[2]);
      }
    });
    return;
  }
  const Metric metric = made_metric(name, one["config"]);
  EXPECT_EQ(metric.name(), one["name"].text());
  EXPECT_EQ(metric.class_name(), name);
  EXPECT_EQ(metric.get_config(), one["get_config"]);
  if (!one["initial_result"].is_none()) {
    EXPECT_EQ(difference(metric.result(), family.tensor(one["initial_result"])), "");
  }
  for (size_t i = 0; i < updates.list().size(); ++i) {
    std::vector<Tensor> given = arguments(family, updates.list()[i]);
    EXPECT_EQ(difference(metric(given[0], activated(one, given[1]), given[2]), family.tensor(one["results"].list()[i])),
              "")
        << i;
  }
  expect_variables(family, metric, one["variables"]);
  metric.reset_state();
  expect_variables(family, metric, one["variables_after_reset"]);
}

TEST_P(MetricCase, IsTheSameWhenTraced) {
  const KerasCases& family = metric_cases();
  const Value& one = family.cases()[GetParam().index];
  SCOPED_TRACE(KerasCases::describe(one));
  if (!one["error"].is_none()) return;
  const Metric first = made_metric(one["class"].text(), one["config"]);
  // Another one, made from what it says of itself.
  const Metric metric = made_metric(one["class"].text(), first.get_config());
  EXPECT_EQ(metric.get_config(), first.get_config());
  auto update = function([&](const std::vector<Tensor>& given) {
    metric.update_state(given[0], given.size() > 1 ? activated(one, given[1]) : Tensor(),
                        given.size() > 2 ? given[2] : Tensor());
    return metric.result();
  });
  for (size_t i = 0; i < one["updates"].list().size(); ++i) {
    std::vector<Tensor> given;
    for (const Tensor& t : arguments(family, one["updates"].list()[i]))
      if (t.defined()) given.push_back(t);
    EXPECT_EQ(difference(update(given), family.tensor(one["results"].list()[i])), "") << i;
  }
  expect_variables(family, metric, one["variables"]);
}
INSTANTIATE_TEST_SUITE_P(Keras, MetricCase, ::testing::ValuesIn(case_numbers(metric_cases())), name_of_case);

const KerasCases& metric_function_cases() {
  static const KerasCases family("metric_functions");
  return family;
}
class MetricFunctionCase : public ::testing::TestWithParam<CaseNumber> {};

TEST_P(MetricFunctionCase, IsThatOfKeras) {
  using namespace metrics;
  static const std::map<std::string, PairCaller> functions = {
      {"binary_accuracy", Caller<binary_accuracy>::call},
      {"categorical_accuracy", Caller<categorical_accuracy>::call},
      {"sparse_categorical_accuracy", Caller<sparse_categorical_accuracy>::call},
      {"top_k_categorical_accuracy", Caller<top_k_categorical_accuracy>::call},
      {"sparse_top_k_categorical_accuracy", Caller<sparse_top_k_categorical_accuracy>::call},
  };
  const KerasCases& family = metric_function_cases();
  const Value& one = family.cases()[GetParam().index];
  SCOPED_TRACE(KerasCases::describe(one));
  const FunctionCase given(family, one);
  Tensor value = functions.at(one["class"].text())(given.y_true, given.y_pred, given.options);
  EXPECT_EQ(difference(value, family.tensor(one["value"])), "");
  if (!given.options.map().empty() || value.size() == 0) return;
  EXPECT_EQ(difference(Metric(one["class"].text())(given.y_true, given.y_pred), reduce_mean(value)), "");
}
INSTANTIATE_TEST_SUITE_P(Keras, MetricFunctionCase, ::testing::ValuesIn(case_numbers(metric_function_cases())),
                         name_of_case);

TEST(Metric, IsKnownByEveryNameOfKeras) {
  for (const char* name : {"mse",
                           "MSE",
                           "mae",
                           "MAE",
                           "mape",
                           "MAPE",
                           "msle",
                           "MSLE",
                           "bce",
                           "BCE",
                           "kld",
                           "logcosh",
                           "log_cosh",
                           "cosine_similarity",
                           "cosine_proximity",
                           "hinge",
                           "poisson",
                           "accuracy",
                           "acc",
                           "ACC",
                           "categorical_hinge",
                           "kullback_leibler_divergence",
                           "sparse_categorical_crossentropy"})
    EXPECT_TRUE(Metric(name).defined()) << name;
  // The metric is the cosine itself, the loss its opposite.
  Tensor x = {{1.0f, 2.0f}};
  EXPECT_FLOAT_EQ(Metric("cosine_similarity")(x, x).item<float>(), 1);
  EXPECT_FLOAT_EQ(Loss("cosine_similarity")(x, x).item<float>(), -1);
  EXPECT_EQ(Metric("AUC").class_name(), "AUC");
}

TEST(Metric, TakesItsNameFromItsClassAndCounts) {
  backend::clear_session();
  EXPECT_EQ(metrics::Precision().name(), "precision");
  EXPECT_EQ(metrics::Precision().name(), "precision_1");
  EXPECT_EQ(metrics::Precision({.name = "mine"}).name(), "mine");
  EXPECT_EQ(metrics::MeanIoU(2).get_config()["name"].text(), "mean_io_u");
  EXPECT_EQ(metrics::Mean().name(), "mean");
  EXPECT_EQ(metrics::Mean().name(), "mean");
}

struct MeanPrediction {
  Variable total = Variable(0.0f), count = Variable(0.0f);
  void update_state(const Tensor&, const Tensor& y_pred) {
    total.assign_add(reduce_mean(y_pred));
    count.assign_add(1.0f);
  }
  Tensor result() { return total / count; }
};

TEST(Metric, IsAStructWithVariables) {
  backend::clear_session();
  Metric metric = MeanPrediction{};
  EXPECT_EQ(metric.name(), "mean_prediction");
  metric.update_state(0.0f, Tensor({1.0f, 3.0f}));
  metric.update_state(0.0f, Tensor({5.0f, 7.0f}));
  EXPECT_FLOAT_EQ(metric.result().item<float>(), 4);
  ASSERT_EQ(metric.variables().size(), 2u);
  EXPECT_EQ(metric.variables()[0].name(), "total:0");
  EXPECT_FALSE(metric.variables()[0].trainable());
  metric.reset_state();
  EXPECT_FLOAT_EQ(metric.variables()[1].item<float>(), 0);
}

struct Extremes {
  Variable low = Variable(0.0f), high = Variable(0.0f);
  void update_state(const Tensor&, const Tensor& y_pred) {
    low.assign(minimum(low, reduce_min(y_pred)));
    high.assign(maximum(high, reduce_max(y_pred)));
  }
  std::map<std::string, Tensor> result() { return {{"low", low}, {"high", high}}; }
};

TEST(Metric, MayGiveSeveralNumbers) {
  Metric metric = Extremes{};
  metric.update_state(0.0f, Tensor({-1.0f, 3.0f}));
  EXPECT_FLOAT_EQ(metric.results().at("low").tensor().item<float>(), -1);
  EXPECT_FLOAT_EQ(metric.results().at("high").tensor().item<float>(), 3);
  EXPECT_THROW(metric.result(), ValueError);
  EXPECT_FLOAT_EQ(metrics::Mean({.name = "m"}).results().at("m").tensor().item<float>(), 0);

  auto model = Sequential({layers::Dense(1, {.kernel_initializer = "ones"})});
  model.compile({.optimizer = "sgd", .loss = "mse", .metrics = {Extremes{}}});
  Logs logs = model.evaluate(Tensor({{1.0f}, {2.0f}}), Tensor({{1.0f}, {2.0f}}), {.verbose = 0});
  EXPECT_FLOAT_EQ(static_cast<float>(logs["high"]), 2);
  EXPECT_EQ(logs.size(), 3u);
}

struct WithinRange {
  double range = 0.1;
  Tensor call(const Tensor& y_true, const Tensor& y_pred) {
    return cast(abs(y_true - y_pred) <= range, DType::float32);
  }
};

TEST(Metric, IsTheMeanOfAStructsCall) {
  Metric metric = WithinRange{.range = 1};
  metric.update_state({0.0f, 1.0f}, Tensor({0.5f, 5.0f}));
  metric.update_state({0.0f, 1.0f}, Tensor({0.5f, 1.0f}));
  EXPECT_FLOAT_EQ(metric.result().item<float>(), 0.75f);
  EXPECT_EQ(metric.get_config().json(), R"({"range": 1.0})");
  EXPECT_EQ(metric.variables()[1].name(), "count:0");
}

TEST(Metric, IsTheMeanOfALambda) {
  Metric metric("bias",
                [](const Tensor& y_true, const Tensor& y_pred) { return reduce_mean(y_pred - y_true, {.axis = -1}); });
  EXPECT_EQ(metric.name(), "bias");
  // Integers come as numbers of the metric's dtype.
  metric.update_state({{1, 2}, {3, 4}}, Tensor({{2.0f, 2.0f}, {3.0f, 7.0f}}), Tensor({1.0f, 3.0f}));
  EXPECT_FLOAT_EQ(metric.result().item<float>(), (0.5f + 3 * 1.5f) / 4);
  metric.reset_state();
  EXPECT_FLOAT_EQ(metric.result().item<float>(), 0);
}

TEST(Metric, WorksInACustomLoop) {
  Metric accuracy = metrics::SparseCategoricalAccuracy(), loss_mean = metrics::Mean({.name = "loss"});
  Loss loss = losses::SparseCategoricalCrossentropy({.from_logits = true});
  Variable w({{0.1f, -0.2f, 0.3f}, {0.2f, 0.1f, -0.1f}});
  auto step = function([&](const Tensor& x, const Tensor& y) {
    Tensor logits = matmul(x, w);
    loss_mean.update_state(loss(y, logits));
    accuracy.update_state(y, logits);
  });
  float expected = 0;
  for (int i = 0; i < 3; ++i) {
    Tensor x = {{1.0f + static_cast<float>(i), 2.0f}, {-1.0f, 0.5f}}, y = {2, 1};
    step(x, y);
    expected += loss(y, matmul(x, w)).item<float>() / 3;
  }
  EXPECT_FLOAT_EQ(loss_mean.result().item<float>(), expected);
  EXPECT_GT(accuracy.result().item<float>(), 0);
  EXPECT_EQ(step.experimental_get_tracing_count(), 1);
}

/// Batches of sizes that differ, in one trace whose batch is unknown.
void expect_same_for_unknown_batch(const std::string& name, const Value& config, const Tensor& y_true,
                                   const Tensor& y_pred) {
  SCOPED_TRACE(name);
  const Metric eager = made_metric(name, config), metric = made_metric(name, config);
  auto update = function(
      [&](const Tensor& labels, const Tensor& predictions, const Tensor& weight) {
        metric.update_state(labels, predictions, weight);
        return metric.result();
      },
      {.reduce_retracing = true});
  Tensor weight = {1.0f, 0.5f, 2.0f, 0.0f};
  for (int64_t size : {4, 3, 2, 1}) {
    auto first = [&](const Tensor& t) { return t(slice(0, size)); };
    Tensor expected = eager(first(y_true), first(y_pred), first(weight));
    EXPECT_EQ(difference(update(first(y_true), first(y_pred), first(weight)), expected, 1e-5), "") << size;
  }
  EXPECT_LE(update.experimental_get_tracing_count(), 2);
}

TEST(Metric, TakesBatchesOfUnknownSize) {
  Tensor classes = {0, 2, 1, 2}, one_hot_labels = one_hot(classes, 3);
  Tensor scores = {{0.7f, 0.2f, 0.1f}, {0.1f, 0.3f, 0.6f}, {0.3f, 0.3f, 0.4f}, {0.5f, 0.1f, 0.4f}};
  Tensor yes = {1.0f, 0.0f, 1.0f, 1.0f}, certainty = {0.9f, 0.4f, 0.3f, 0.6f};
  const Value none = Value::Map();
  for (const char* name : {"SparseCategoricalAccuracy", "SparseCategoricalCrossentropy"})
    expect_same_for_unknown_batch(name, none, classes, scores);
  expect_same_for_unknown_batch("SparseCategoricalCrossentropy", Value::map({{"ignore_class", 2}}), classes, scores);
  expect_same_for_unknown_batch("SparseTopKCategoricalAccuracy", Value::map({{"k", 2}}), classes, scores);
  for (const char* name : {"CategoricalAccuracy", "CategoricalCrossentropy", "MeanSquaredError", "CategoricalHinge",
                           "KLDivergence", "CosineSimilarity", "F1Score", "R2Score"})
    expect_same_for_unknown_batch(name, none, one_hot_labels, scores);
  for (const char* name : {"AUC", "Precision", "Recall", "TruePositives", "BinaryAccuracy", "BinaryIoU", "Hinge"})
    expect_same_for_unknown_batch(name, none, expand_dims(yes, 1), expand_dims(certainty, 1));
  expect_same_for_unknown_batch("AUC", Value::map({{"multi_label", true}, {"num_thresholds", 7}}), one_hot_labels,
                                scores);
  expect_same_for_unknown_batch("Precision", Value::map({{"top_k", 2}, {"class_id", 1}}), one_hot_labels, scores);
  expect_same_for_unknown_batch("OneHotMeanIoU", Value::map({{"num_classes", 3}, {"ignore_class", 1}}), one_hot_labels,
                                scores);
  expect_same_for_unknown_batch("PrecisionAtRecall", Value::map({{"recall", 0.5}}), yes, certainty);
}

TEST(Metric, RefusesOneTensorWhereItComparesTwo) {
  EXPECT_THROW(metrics::MeanSquaredError().update_state(1.0f), ValueError);
  EXPECT_THROW(metrics::MeanTensor().result(), ValueError);
  EXPECT_THROW(metrics::AUC({.num_labels = 3}), ValueError);
}

}  // namespace
}  // namespace thalweg::testing

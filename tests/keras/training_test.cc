// fit, evaluate and predict against Keras, and what is printed on the way.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <regex>
#include <thread>

#include "tests/keras/cases.h"
#include "tests/keras/model_cases.h"
#include "thalweg/autodiff/gradient_tape.h"
#include "thalweg/core/error.h"
#include "thalweg/core/warning.h"
#include "thalweg/keras/keras.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/math_elementary.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/shaping.h"

namespace thalweg::keras {
namespace {

using testing::difference;
using testing::KerasCases;
using testing::Printed;

const KerasCases& training_cases() {
  static const KerasCases all("training");
  return all;
}

template <class T> T object_of(const Value& value) {
  T made;
  from_value(made, value);
  return made;
}
/// One, a list or a dict.
template <class T, class F> OneOrMany<T> one_or_many(const Value& value, const F& read) {
  OneOrMany<T> made;
  if (value.is_none()) return made;
  if (value.is_list()) {
    for (const Value& item : value.list()) made.items.push_back(read(item));
  } else if (value.is_map() && !value.contains("class_name")) {
    for (const auto& [name, item] : value.map()) {
      made.names.push_back(name);
      made.items.push_back(read(item));
    }
  } else {
    made = OneOrMany<T>(read(value));
  }
  return made;
}
MetricChoice metric_of(const Value& value) {
  if (value.is_text()) return MetricChoice(value.text());
  return MetricChoice(Metric(std::static_pointer_cast<MetricInterface>(object_from_value("metric", value))));
}
MetricChoices metrics_of(const Value& value) {
  MetricChoices made;
  if (value.is_none()) return made;
  if (value.is_list()) {
    for (const Value& item : value.list()) {
      if (item.is_list()) made.by_position.push_back(metrics_of(item));
      else made.items.push_back(metric_of(item));
    }
  } else if (value.is_map() && !value.contains("class_name")) {
    for (const auto& [name, item] : value.map()) made.by_name.emplace_back(name, metrics_of(item));
  } else {
    made.items.push_back(metric_of(value));
  }
  return made;
}

CompileOptions compile_options(const Value& value) {
  CompileOptions options;
  options.optimizer = object_of<Optimizer>(value["optimizer"]);
  options.loss = one_or_many<Loss>(value["loss"], object_of<Loss>);
  options.loss_weights = one_or_many<double>(value["loss_weights"], [](const Value& v) { return v.number(); });
  options.metrics = metrics_of(value["metrics"]);
  options.weighted_metrics = metrics_of(value["weighted_metrics"]);
  if (value["run_eagerly"].is_bool()) options.run_eagerly = Flag(value["run_eagerly"].boolean());
  if (value["steps_per_execution"].is_integer()) options.steps_per_execution = value["steps_per_execution"].integer();
  return options;
}

FitOptions fit_options(const Value& value) {
  FitOptions options;
  auto number = [&](const char* name, auto& to) {
    if (value[name].is_number()) to = static_cast<std::remove_reference_t<decltype(to)>>(value[name].number());
  };
  options.verbose = 0;
  options.shuffle = false;
  number("epochs", options.epochs);
  number("batch_size", options.batch_size);
  number("validation_split", options.validation_split);
  number("initial_epoch", options.initial_epoch);
  number("validation_batch_size", options.validation_batch_size);
  if (value["validation_freq"].is_integer())
    options.validation_freq = static_cast<int>(value["validation_freq"].integer());
  if (value["class_weight"].is_map())
    for (const auto& [key, weight] : value["class_weight"].map())
      options.class_weight[std::stoll(key)] = weight.number();
  return options;
}

Nest nest_of(const Value& value) { return value.is_none() ? Nest() : training_cases().nest(value); }

/// Without the place in the program, which differs from build to build.
std::string text_of(const Error& error) {
  return std::regex_replace(error.what(), std::regex(R"( made at [^\n]*)"), "");
}
/// What a call says when it is refused.
template <class F> std::string refusal(const F& call) {
  try {
    call();
  } catch (const Error& error) {
    return std::string(error.type()) + ": " + text_of(error);
  }
  return "nothing was thrown";
}

void expect_error(const Error& error, const std::string& expected) {
  const std::string got = text_of(error);
  if (expected.starts_with("Data cardinality") || expected.starts_with("Training data contains")) {
    EXPECT_EQ(got, expected);
  } else if (expected.find("found shape=") != std::string::npos) {
    // Keras does not know the size of a batch when it looks.
    EXPECT_EQ(std::regex_replace(got, std::regex(R"(found shape=\(\d+)"), "found shape=(None"), expected);
  } else if (expected.starts_with("Received a label value of 3 which is outside the valid range of [0, 3)")) {
    EXPECT_EQ(got,
              "SparseSoftmaxCrossEntropyWithLogits: label 3 at 0 is out of range: it must lie in [0, 3) (inputs: "
              "float32[6, 3], int64[6]) [[node loss_of_output_0/SparseSoftmaxCrossEntropyWithLogits]]\n"
              "  in the loss 'sparse_categorical_crossentropy'");
  } else {
    // Names that are unknown: this engine says which are known.
    EXPECT_TRUE(
        std::regex_search(got, std::regex("^unknown (loss|optimizer|metric) 'no_such_(loss|optimizer|metric)'")))
        << got << "\n"
        << expected;
  }
}

class Training_ : public ::testing::TestWithParam<size_t> {};

TEST_P(Training_, AsInKeras) {
  const Value& one = training_cases().cases()[GetParam()];
  SCOPED_TRACE(KerasCases::describe(one));
  backend::clear_session();
  std::optional<Model> made = testing::make_model(one["model"]);
  ASSERT_TRUE(made) << "a layer of the model is unknown";
  Model model = *made;
  std::vector<Tensor> values;
  for (const Value& weight : one["weights"].list()) values.push_back(training_cases().tensor(weight["value"]));
  if (!values.empty()) model.set_weights(values);
  const Value& data = one["data"];
  const Nest x = nest_of(data["x"]), y = nest_of(data["y"]), weight = nest_of(data["sample_weight"]);
  FitOptions options = fit_options(one["fit"]);
  options.sample_weight = weight;
  if (one["validation"].is_map()) {
    const Value& other = one["validation"];
    std::vector<Nest> parts = {nest_of(other["x"]), nest_of(other["y"])};
    if (!other["sample_weight"].is_none()) parts.push_back(nest_of(other["sample_weight"]));
    options.validation_data = Nest::tuple(parts);
  }
  History history;
  try {
    model.compile(compile_options(one["compile"]));
    history = model.fit(x, y, options);
  } catch (const Error& error) {
    if (one["error"].is_map()) return expect_error(error, one["error"]["message"].text());
    throw;
  }
  ASSERT_TRUE(one["error"].is_none()) << "should be refused: " << one["error"]["message"].text();
  EXPECT_EQ(to_value(history.epoch), one["epoch"]);
  EXPECT_EQ(history.history.size(), one["history"].map().size());
  for (const auto& [name, expected] : one["history"].map()) {
    const std::vector<double>& got = history.at(name);
    ASSERT_EQ(got.size(), expected.list().size()) << name;
    for (size_t i = 0; i < got.size(); ++i) {
      const double number = expected.list()[i].number();
      EXPECT_NEAR(got[i], number, 1e-4 * std::max(1.0, std::abs(number))) << name << " of epoch " << i;
    }
  }
  const std::vector<Tensor> after = model.get_weights();
  ASSERT_EQ(after.size(), one["weights_after"].list().size());
  for (size_t i = 0; i < after.size(); ++i) {
    const Value& expected = one["weights_after"].list()[i];
    EXPECT_EQ(
        difference(after[i], training_cases().tensor(expected.contains("value") ? expected["value"] : expected), 1e-4),
        "")
        << "weight " << i;
  }
  Logs found = model.evaluate(x, y, {.batch_size = options.batch_size, .verbose = 0, .sample_weight = weight});
  EXPECT_EQ(to_value(model.metrics_names()), one["metrics_names"]);
  for (const auto& [name, expected] : one["evaluate_dict"].map())
    EXPECT_NEAR(found.at(name), expected.number(), 1e-4 * std::max(1.0, std::abs(expected.number()))) << name;
  const std::vector<Tensor> outputs = model.predict_nest(x, {.batch_size = options.batch_size}).flatten();
  const Value& predicted = one["predict"];
  const Value::List all = predicted.is_list() ? predicted.list() : Value::List{predicted};
  ASSERT_EQ(outputs.size(), all.size());
  for (size_t i = 0; i < outputs.size(); ++i)
    EXPECT_EQ(difference(outputs[i], training_cases().tensor(all[i]), 1e-4), "") << "output " << i;
}
INSTANTIATE_TEST_SUITE_P(All, Training_, ::testing::Range(size_t{0}, training_cases().cases().size()));

Sequential small_model() {
  Sequential model({layers::Dense(1, {.kernel_initializer = "zeros", .input_shape = Shape{2}})});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  return model;
}
/// Times are not the same twice.
std::string without_times(std::string text) {
  text = std::regex_replace(text, std::regex("\x08"), "");
  text = std::regex_replace(text, std::regex(R"(ETA: \d+s)"), "ETA");
  text = std::regex_replace(text, std::regex(R"( \d+s)"), " T");
  return std::regex_replace(text, std::regex(R"(\d+(s|ms|us)/(step|epoch))"), "T/$2");
}

TEST(Fit, PrintsAsKeras) {
  Tensor x = ones({4, 2}), y = ones({4, 1});
  {
    Sequential model = small_model();
    Printed printed;
    model.fit(x, y, {.batch_size = 4, .epochs = 2, .verbose = 2, .validation_data = Nest::tuple({x, y})});
    EXPECT_EQ(without_times(printed.text()),
              "Epoch 1/2\n1/1 - T - loss: 1.0000 - val_loss: 0.8836 - T/epoch - T/step\n"
              "Epoch 2/2\n1/1 - T - loss: 0.8836 - val_loss: 0.7807 - T/epoch - T/step\n");
  }
  {
    Sequential model = small_model();
    Printed printed;
    model.fit(x, y, {.batch_size = 4, .verbose = 1});
    const std::string text = without_times(printed.text());
    EXPECT_TRUE(text.starts_with("\r1/1 [==============================] - ETA - loss: 1.0000")) << text;
    EXPECT_TRUE(text.ends_with("\r1/1 [==============================] - T T/step - loss: 1.0000\n")) << text;
  }
  {
    Sequential model = small_model();
    Printed printed;
    model.fit(x, y, {.epochs = 2, .verbose = 0});
    EXPECT_EQ(printed.text(), "");
  }
}

TEST(Fit, ValidatesInChosenEpochs) {
  Sequential model = small_model();
  Tensor x = ones({4, 2}), y = ones({4, 1});
  History history =
      model.fit(x, y, {.epochs = 5, .verbose = 0, .validation_data = Nest::tuple({x, y}), .validation_freq = {1, 4}});
  EXPECT_EQ(history["val_loss"].size(), 2u);
  EXPECT_EQ(history["loss"].size(), 5u);
}

TEST(Fit, StepsDecideTheSizeOfBatches) {
  Sequential model = small_model();
  int64_t steps = 0;
  auto count = callbacks::LambdaCallback({.on_batch_end = [&](int64_t, const Logs&) { ++steps; }});
  model.fit(ones({10, 2}), ones({10, 1}), {.verbose = 0, .callbacks = {count}, .steps_per_epoch = 5});
  EXPECT_EQ(steps, 5);
}

TEST(Fit, StopsWhereDataEnds) {
  Sequential model = small_model();
  std::vector<std::pair<Tensor, Tensor>> list(5, {ones({2, 2}), ones({2, 1})});
  static std::string said;
  said.clear();
  WarningHandler before = set_warning_handler([](const char* text) { said += text; });
  History history = model.fit(batches(list), {.epochs = 4, .verbose = 0, .steps_per_epoch = 2});
  set_warning_handler(before);
  EXPECT_EQ(history.epoch.size(), 3u);
  EXPECT_NE(said.find("ran out of data"), std::string::npos);
  EXPECT_THROW(model.fit(batches(std::vector<std::pair<Tensor, Tensor>>()), {.verbose = 0}), ValueError);
}

TEST(Fit, ClassWeightsCountInTraining) {
  Sequential model = small_model();
  Tensor x = ones({4, 2}), y({{0.0f}, {1.0f}, {0.0f}, {1.0f}});
  History history = model.fit(x, y, {.batch_size = 4, .verbose = 0, .class_weight = {{0, 1.0}, {1, 3.0}}});
  EXPECT_NEAR(history["loss"][0], 1.5, 1e-6);
  EXPECT_THROW(model.fit(x, y, {.verbose = 0, .class_weight = {{1, 3.0}}}), ValueError);
  EXPECT_THROW(model.fit(x, y, {.verbose = 0, .class_weight = {{0, 3.0}}}), InvalidArgumentError);
}

/// What fit says of numbers that are not finite, in all.
std::string warning_of_nan(const Model& model, const Tensor& x, const Tensor& y, const FitOptions& options = {}) {
  FitOptions silent = options;
  silent.verbose = 0;
  static std::string heard;
  heard.clear();
  WarningHandler before = set_warning_handler([](const char* text) { heard += text; });
  model.fit(x, y, silent);
  set_warning_handler(before);
  return heard;
}

TEST(Fit, ALossOfNaNNamesItsCause) {
  const Tensor x = ones({4, 2}), y = ones({4, 1});
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::string head = "fit: the loss is nan in epoch 1. ",
                    end = " Training goes on; the callback TerminateOnNaN would end it.";
  Sequential model = small_model();
  EXPECT_EQ(warning_of_nan(model, Tensor({{1.0f, 1.0f}, {1.0f, nan}}), ones({2, 1}), {.batch_size = 1, .epochs = 3}),
            head + "Input 0 of layer \"" + model.name() +
                "\": expected finite numbers, found nan at (1, 1) of float32(2, 2)." + end);
  EXPECT_EQ(model.history().epoch.size(), 3u);
  EXPECT_EQ(warning_of_nan(small_model(), x, y * nan),
            head + "The labels: expected finite numbers, found nan at (0, 0) of float32(4, 1)." + end);
  EXPECT_EQ(warning_of_nan(small_model(), x, y, {.sample_weight = Tensor({1.0f, 1.0f, nan, 1.0f})}),
            head + "The sample weights: expected finite numbers, found nan at (2,) of float32(4,)." + end);
  // Steps that are too large: after an epoch or two the weights are no numbers.
  Sequential diverging = small_model();
  diverging.compile({.optimizer = optimizers::SGD({.learning_rate = 1e30}), .loss = "mse"});
  const std::string text = warning_of_nan(diverging, x * 1e10f, y, {.epochs = 9});
  EXPECT_NE(text.find("of layer \"" + diverging.get_layer(0).name() + "\": expected finite numbers, found "),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("lower the learning rate"), std::string::npos) << text;
  Sequential dividing = small_model();
  dividing.compile({.loss = [](const Tensor&, const Tensor& y_pred) { return 0.0f * y_pred / (0.0f * y_pred); }});
  EXPECT_NE(warning_of_nan(dividing, x, y).find("the inputs, the labels and the weights"), 0u);
}

TEST(Fit, ACallbackEndsTrainingAtNaN) {
  Sequential model = small_model();
  Tensor x = ones({4, 2}) * std::numeric_limits<float>::quiet_NaN();
  Printed printed;
  History history = model.fit(x, ones({4, 1}), {.epochs = 2, .verbose = 0, .callbacks = {callbacks::TerminateOnNaN()}});
  EXPECT_EQ(history.epoch.size(), 1u);
}

TEST(Fit, TrainsWhatWasTrainableWhenItWasCompiled) {
  Sequential model = small_model();
  Tensor x = ones({4, 2}), y = ones({4, 1});
  model.get_layer(0).set_trainable(false);
  Tensor before = model.get_weights()[0];
  model.fit(x, y, {.verbose = 0});  // still as compiled
  EXPECT_NE(difference(model.get_weights()[0], before), "");
  EXPECT_FALSE(model.get_layer(0).trainable());
  model.get_layer(0).set_trainable(true);
  model.compile({.optimizer = "sgd", .loss = "mse"});
  before = model.get_weights()[0];
  model.fit(x, y, {.verbose = 0});
  EXPECT_NE(difference(model.get_weights()[0], before), "");
}

TEST(Fit, InterruptsEndItAndKeepTheHistory) {
  std::signal(SIGINT, SIG_DFL);
  Sequential model = small_model();
  auto interrupt = callbacks::LambdaCallback({.on_epoch_begin = [](int epoch, const Logs&) {
    if (epoch == 2) std::raise(SIGINT);
  }});
  Tensor x = ones({4, 2}), y = ones({4, 1});
  EXPECT_THROW(model.fit(x, y, {.epochs = 5, .verbose = 0, .callbacks = {interrupt}}), KeyboardInterrupt);
  EXPECT_EQ(model.history().epoch, (std::vector<int>{0, 1}));
  EXPECT_EQ(model.fit(x, y, {.epochs = 1, .verbose = 0}).epoch.size(), 1u);
}

TEST(Fit, EndsAfterTheBatchThatAnInterruptFallsInto) {
  std::signal(SIGINT, SIG_DFL);
  Sequential model = small_model();
  int64_t steps = 0;
  bool ended = false;
  auto raise_in_second = [](int64_t batch, const Logs&) {
    if (batch == 1) std::thread([] { kill(getpid(), SIGINT); }).join();
  };
  auto interrupt = callbacks::LambdaCallback({.on_batch_begin = raise_in_second,
                                              .on_batch_end = [&](int64_t, const Logs&) { ++steps; },
                                              .on_train_end = [&](const Logs&) { ended = true; }});
  Tensor x = ones({8, 2}), y = ones({8, 1});
  EXPECT_THROW(model.fit(x, y, {.batch_size = 2, .verbose = 0, .callbacks = {interrupt}}), KeyboardInterrupt);
  EXPECT_EQ(steps, 2);
  EXPECT_FALSE(ended);
  EXPECT_TRUE(model.history().epoch.empty());
  EXPECT_EQ(model.optimizer().iterations().item<int64_t>(), 2);
  struct sigaction now = {};
  sigaction(SIGINT, nullptr, &now);
  EXPECT_EQ(now.sa_handler, SIG_DFL);
}

TEST(Fit, SaysWhatDoesNotFit) {
  backend::clear_session();
  Tensor input = Input({4}), x = ones({6, 4}), score = ones({6, 1}), label = zeros({6}, {.dtype = DType::int64});
  Model model(input, {layers::Dense(1, {.name = "score"})(input),
                      layers::Dense(3, {.activation = "softmax", .name = "label"})(input)});
  auto fit = [&](const Nest& inputs, const Nest& labels) {
    return refusal([&] { model.fit(inputs, labels, {.verbose = 0}); });
  };
  EXPECT_EQ(fit(x, Nest::list({score, label})),
            "RuntimeError: You must compile your model before training/testing. Use `model.compile(optimizer, loss)`. "
            "The model is 'model'.");
  model.compile({.optimizer = "sgd", .loss = {"mse", "sparse_categorical_crossentropy"}});
  EXPECT_EQ(fit(x, Nest::list({score, label - int64_t{1}})),
            "InvalidArgumentError: SparseSoftmaxCrossEntropyWithLogits: label -1 at 0 is out of range: it must lie in "
            "[0, 3) (inputs: float32[6, 3], int64[6]) [[node loss_of_output_1/SparseSoftmaxCrossEntropyWithLogits]]\n"
            "  in the loss 'sparse_categorical_crossentropy' of output 'label'");
  EXPECT_EQ(fit(x, Nest::list({ones({6, 3}), ones({6, 2})})),
            "ValueError: `labels.shape` must equal `logits.shape` except for the last dimension. Received: "
            "labels.shape=(12,) and logits.shape=(6, 3)\n  in the loss 'sparse_categorical_crossentropy' of output "
            "'label': the labels are float32(6, 2), the predictions float32(6, 3)");
  EXPECT_EQ(fit(x, Nest::list({score})), "ValueError: the model has 2 outputs, but y has 1 items: [Tensor]");
  EXPECT_EQ(fit(x, Nest::dict({{"score", score}, {"labl", label}})),
            "ValueError: Found unexpected keys that do not correspond to any Model output: 'labl'. Expected: 'score', "
            "'label'");
  EXPECT_EQ(fit(ones({6, 5}), Nest::list({score, label})),
            "ValueError: Input 0 of layer \"model\" is incompatible with the layer: expected shape=(None, 4), found "
            "shape=(6, 5)");
  EXPECT_EQ(fit(Nest::list({x, x}), Nest::list({score, label})),
            "ValueError: Layer \"model\" expects 1 input(s), but it received 2 input tensors. Inputs received: "
            "[Tensor, Tensor]");
  EXPECT_EQ(fit(x, Nest::list({score, ones({5})})),
            "ValueError: Data cardinality is ambiguous:\n  x sizes: 6\n  y sizes: 6, 5\nMake sure all arrays contain "
            "the same number of samples.");
  EXPECT_EQ(model.fit(x, Nest::list({score, label}), {.verbose = 0}).epoch.size(), 1u);
}

TEST(Fit, LabelsOfAnotherRankAreExpanded) {
  Sequential model = small_model();
  const Tensor x = ones({4, 2}), y({{0.0f}, {1.0f}, {2.0f}, {5.0f}});
  const double loss = model.evaluate(x, y, {.verbose = 0})["loss"];
  EXPECT_NEAR(model.evaluate(x, squeeze(y, {.axis = -1}), {.verbose = 0})["loss"], loss, 1e-6);
  EXPECT_NEAR(
      model.evaluate(slice_rows(Nest(x), 0, 3).tensor(), Tensor({0.0f, 1.0f, 2.0f}), {.verbose = 0})["loss"],
      model.evaluate(slice_rows(Nest(x), 0, 3).tensor(), Tensor({{0.0f}, {1.0f}, {2.0f}}), {.verbose = 0})["loss"],
      1e-6);
}

TEST(Fit, OneTensorOfLabelsServesAllOutputs) {
  Tensor input = Input({2});
  Model model(input, {layers::Dense(1, {.name = "a"})(input), layers::Dense(1, {.name = "b"})(input)});
  model.compile({.optimizer = "sgd", .loss = {"mse", Loss()}});
  EXPECT_EQ(model.fit(ones({4, 2}), ones({4, 1}), {.verbose = 0}).history.size(), 2u);  // loss and a_loss
}

TEST(Fit, SaysWhatIsMissing) {
  Sequential model = small_model();
  EXPECT_EQ(
      refusal([&] { model.fit(ones({4, 2}), Nest(), {.verbose = 0}); }),
      "ValueError: Target data is missing. Your model was compiled with a loss, and therefore expects target data "
      "to be provided in `fit()`: pass y, or batches of (x, y).");
  EXPECT_EQ(model.evaluate(ones({4, 2}), Nest(), {.verbose = 0})["loss"], 0);  // as Keras has it
  model.compile({.optimizer = "sgd"});
  EXPECT_EQ(
      refusal([&] { model.fit(ones({4, 2}), ones({4, 1}), {.verbose = 0}); }),
      "ValueError: No loss found. You may have forgotten to provide a `loss` argument in the `compile()` method, or "
      "to call `add_loss`.");
}

TEST(Fit, RefusesWhatDoesNotFit) {
  Sequential model = small_model();
  try {
    model.fit(ones({4, 3}), ones({4, 1}), {.verbose = 0});
    FAIL();
  } catch (const ValueError& error) {
    EXPECT_NE(std::string(error.what()).find("expected shape=(None, 2), found shape=(4, 3)"), std::string::npos)
        << error.what();
  }
  EXPECT_THROW(model.fit(ones({4, 2}), ones({4, 1}), {.batch_size = -1, .verbose = 0}), ValueError);
  Sequential fresh({layers::Dense(1)});
  EXPECT_THROW(fresh.fit(ones({2, 2}), ones({2, 1})), RuntimeError);
  EXPECT_THROW(fresh.evaluate(ones({2, 2}), ones({2, 1})), RuntimeError);
  EXPECT_EQ(fresh.predict(ones({2, 2})).shape(), (Shape{2, 1}));
}

/// A model with a step of its own, and a metric of its own.
struct OwnStep {
  Layer dense = layers::Dense(1, {.kernel_initializer = "zeros"});
  Metric tracker = metrics::Mean({.name = "own"});
  Tensor call(const Tensor& x) { return dense(x); }
  std::map<std::string, Tensor> train_step(Model& model, const Tensor& x, const Tensor& y) {
    GradientTape tape;
    Tensor loss = reduce_mean(square(model(x, {.training = true}) - y));
    std::vector<Variable> variables = model.trainable_variables();
    model.optimizer().apply_gradients(tape.gradient(loss, variables), variables);
    tracker.update_state(loss);
    return {{"own", tracker.result()}};
  }
};

TEST(Fit, OwnSteps) {
  Model model = OwnStep{};
  model.compile({.optimizer = "sgd"});
  History history = model.fit(ones({4, 2}), ones({4, 1}), {.batch_size = 4, .epochs = 2, .verbose = 0});
  EXPECT_EQ(history.history.size(), 1u);
  EXPECT_NEAR(history["own"][0], 1.0, 1e-6);
  EXPECT_NEAR(history["own"][1], 0.8836, 1e-5);
}

}  // namespace
}  // namespace thalweg::keras

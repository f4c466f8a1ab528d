// Whole models against Keras: configurations, outputs, gradients and summaries.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/keras/cases.h"
#include "tests/keras/model_cases.h"
#include "thalweg/autodiff/gradient_tape.h"
#include "thalweg/core/error.h"
#include "thalweg/keras/keras.h"
#include "thalweg/ops/creation.h"

namespace thalweg::keras {
namespace {

using testing::difference;
using testing::KerasCases;

const KerasCases& models_cases() {
  static const KerasCases all("models");
  return all;
}

SummaryOptions summary_options(const Value& args) {
  SummaryOptions options;
  if (args["line_length"].is_integer()) options.line_length = args["line_length"].integer();
  if (args["positions"].is_list()) from_value(options.positions, args["positions"]);
  if (args["expand_nested"].is_bool()) options.expand_nested = Flag(args["expand_nested"].boolean());
  if (args["show_trainable"].is_bool()) options.show_trainable = Flag(args["show_trainable"].boolean());
  if (args["layer_range"].is_list()) from_value(options.layer_range, args["layer_range"]);
  return options;
}

class Models : public ::testing::TestWithParam<size_t> {};

TEST_P(Models, AsInKeras) {
  const Value& one = models_cases().cases()[GetParam()];
  SCOPED_TRACE(KerasCases::describe(one));
  backend::clear_session();
  std::optional<Model> made = testing::make_model(one["model"]);
  ASSERT_TRUE(made) << "a layer of the model is unknown";
  Model model = *made;
  EXPECT_EQ(testing::differing_key(model.get_config(), one["model"]["config"]), "");

  std::vector<Tensor> values;
  const std::vector<Variable> weights = model.weights();
  ASSERT_EQ(weights.size(), one["weights"].list().size());
  for (size_t i = 0; i < weights.size(); ++i) {
    const Value& expected = one["weights"].list()[i];
    EXPECT_EQ(weights[i].name(), expected["name"].text());
    values.push_back(models_cases().tensor(expected["value"]));
  }
  model.set_weights(values);

  Nest inputs = models_cases().nest(one["inputs"]);
  CallArgs args;
  if (one["args"]["training"].is_bool()) args.training = one["args"]["training"].boolean();
  GradientTape tape;
  std::vector<Tensor> outputs = model.invoke(inputs, args).flatten();
  Tensor sum = testing::weighted_sum(outputs);
  std::vector<Tensor> gradients = tape.gradient(sum, model.trainable_weights());
  ASSERT_EQ(outputs.size(), one["outputs"].list().size());
  for (size_t i = 0; i < outputs.size(); ++i)
    EXPECT_EQ(difference(outputs[i], models_cases().tensor(one["outputs"].list()[i])), "") << "output " << i;
  std::vector<Tensor> losses = model.losses();
  ASSERT_EQ(losses.size(), one["losses"].list().size());
  for (size_t i = 0; i < losses.size(); ++i)
    EXPECT_EQ(difference(losses[i], models_cases().tensor(one["losses"].list()[i])), "") << "loss " << i;
  if (one["gradients"].is_map()) {
    const Value::List& expected = one["gradients"]["weights"].list();
    ASSERT_EQ(gradients.size(), expected.size());
    for (size_t i = 0; i < gradients.size(); ++i)
      EXPECT_EQ(difference(gradients[i], models_cases().tensor(expected[i]), 1e-4), "") << "gradient " << i;
  }

  const std::vector<Layer> layers = model.layers();
  ASSERT_EQ(layers.size(), one["layers"].list().size());
  for (size_t i = 0; i < layers.size(); ++i) {
    const Value& expected = one["layers"].list()[i];
    EXPECT_EQ(layers[i].name(), expected["name"].text());
    EXPECT_EQ(layers[i].class_name(), expected["class"].text());
    EXPECT_EQ(layers[i].count_params(), expected["count_params"].integer());
  }
  EXPECT_EQ(model.count_params(), one["count_params"].integer());
  const FunctionalModel& graph = *graph_of(*model.get());
  EXPECT_EQ(to_value(graph.input_names()), one["input_names"]);
  EXPECT_EQ(to_value(graph.output_names()), one["output_names"]);
  for (const Value& summary : one["summaries"].list())
    EXPECT_EQ(summary_text(model, summary_options(summary["args"])), summary["text"].text());
}
INSTANTIATE_TEST_SUITE_P(All, Models, ::testing::Range(size_t{0}, models_cases().cases().size()));

struct Subclassed {
  Layer first = layers::Dense(3);
  Layer never = layers::Dense(5);
  Tensor call(const Tensor& x) { return first(x); }
};

TEST(Summary, OfSubclassedModels) {
  backend::clear_session();
  Model model = Subclassed{};
  EXPECT_THROW(summary_text(model), ValueError);
  model.build({-1, 4});
  EXPECT_EQ(summary_text(model), R"(Model: "subclassed"
_________________________________________________________________
 Layer (type)                Output Shape              Param #   
=================================================================
 dense (Dense)               multiple                  15        
                                                                 
 dense_1 (Dense)             multiple                  0 (unused)
                                                                 
=================================================================
Total params: 15 (60.00 Byte)
Trainable params: 15 (60.00 Byte)
Non-trainable params: 0 (0.00 Byte)
_________________________________________________________________
)");
  testing::Printed printed;
  model.summary();
  EXPECT_EQ(printed.text(), summary_text(model));
}

TEST(Summary, RefusesWhatHasNoRoom) {
  Sequential model({layers::Dense(3, {.input_shape = Shape{2}})});
  EXPECT_THROW(summary_text(model, {.positions = {0.5, 1.0}}), ValueError);
  EXPECT_THROW(summary_text(model, {.line_length = 3}), ValueError);
  EXPECT_THROW(summary_text(model, {.layer_range = {"nothing", "here"}}), ValueError);
  EXPECT_THROW(summary_text(model, {.layer_range = {"one"}}), ValueError);
}

TEST(PlotModel, WritesTheGraph) {
  backend::clear_session();
  Tensor x = Input({3}, {.name = "x"});
  Sequential inner({layers::Dense(2, {.activation = "relu", .input_shape = Shape{3}})}, {.name = "inner"});
  Model model(x, layers::Dense(1, {.name = "out"})(inner(x)));
  std::string text = utils::model_to_dot(model, {.show_shapes = true, .show_layer_names = true});
  EXPECT_NE(text.find("[label=\"{out|Dense}|{input:|output:}|{{(None, 2)}|{(None, 1)}}\"]"), std::string::npos) << text;
  EXPECT_NE(text.find("layer_0 -> layer_1;"), std::string::npos) << text;
  text = utils::model_to_dot(model, {.expand_nested = true, .show_layer_activations = true});
  EXPECT_NE(text.find("subgraph \"cluster_inner\""), std::string::npos) << text;
  EXPECT_NE(text.find("{Dense|relu}"), std::string::npos) << text;
  const std::string file = (std::filesystem::temp_directory_path() / "thalweg_plot.dot").string();
  EXPECT_EQ(utils::plot_model(model, {.to_file = file}), file);
  EXPECT_GT(std::filesystem::file_size(file), 50u);
  std::filesystem::remove(file);
}

TEST(Models, SayHowSeveralOutputsAreTaken) {
  auto input = Input({2});
  Model two(input, {layers::Dense(1)(input), layers::Dense(2)(input)}, {.name = "two"});
  try {
    two(ones({1, 2}));
    FAIL();
  } catch (const ValueError& error) {
    EXPECT_STREQ(error.what(),
                 "layer 'two' gives [Tensor, Tensor], not one tensor: take it as `auto [a, b] = layer.call<2>(x)`");
  }
  auto [first, second] = two.call<2>(ones({1, 2}));
  EXPECT_EQ(second.shape(), Shape({1, 2}));
}

}  // namespace
}  // namespace thalweg::keras

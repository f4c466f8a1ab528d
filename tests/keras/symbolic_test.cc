// Tensors of models and the layers of functions: Keras's configurations, texts, and what C++ shows of ops.
#include <gtest/gtest.h>

#include "tests/keras/cases.h"
#include "tests/keras/model_cases.h"
#include "thalweg/core/error.h"
#include "thalweg/keras/keras.h"
#include "thalweg/keras/plot_model.h"
#include "thalweg/ops/activation.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/random.h"
#include "thalweg/ops/reduction.h"
#include "thalweg/ops/shaping.h"

namespace thalweg::keras {
namespace {

using testing::difference;
using testing::KerasCases;

const KerasCases& symbolic_cases() {
  static const KerasCases all("symbolic");
  return all;
}
/// Those whose classes the library has; the others are written in Python.
std::vector<size_t> known_cases() {
  std::vector<size_t> known;
  for (size_t i = 0; i < symbolic_cases().cases().size(); ++i)
    if (!symbolic_cases().cases()[i]["has_classes"].boolean()) known.push_back(i);
  return known;
}

class Symbolic : public ::testing::TestWithParam<size_t> {};

TEST_P(Symbolic, ModelsOfKeras) {
  const Value& one = symbolic_cases().cases()[GetParam()];
  SCOPED_TRACE(KerasCases::describe(one));
  backend::clear_session();
  std::optional<Model> made = testing::make_model(one["model"]);
  ASSERT_TRUE(made) << "a layer of the model is unknown";
  EXPECT_EQ(testing::differing_key(made->get_config(), one["model"]["config"]), "");

  std::vector<Tensor> values;
  for (const Value& weight : one["weights"].list()) values.push_back(symbolic_cases().tensor(weight["value"]));
  Nest inputs = symbolic_cases().nest(one["inputs"]);
  if (one["feeds"].is_list()) {
    std::vector<Nest::Entry> named;
    for (size_t i = 0; i < inputs.size(); ++i) named.emplace_back(one["feeds"].list()[i].text(), inputs[i]);
    inputs = Nest::dict(std::move(named));
  }
  for (const Model& model : {*made, models::clone_model(*made)}) {
    model.set_weights(values);
    const std::vector<Tensor> outputs = model.invoke(inputs).flatten();
    ASSERT_EQ(outputs.size(), one["outputs"].list().size());
    for (size_t i = 0; i < outputs.size(); ++i)
      EXPECT_EQ(difference(outputs[i], symbolic_cases().tensor(one["outputs"].list()[i]), 1e-4), "") << "output " << i;
  }
  EXPECT_EQ(summary_text(*made), one["summaries"].list()[0]["text"].text());
  for (const Value& plot : one["plots"].list()) {
    const Value& args = plot["args"];
    auto flag = [&](const char* name) { return Flag(args[name].is_bool() && args[name].boolean()); };
    utils::PlotModelOptions options;
    options.show_shapes = flag("show_shapes");
    options.show_dtype = flag("show_dtype");
    options.expand_nested = flag("expand_nested");
    options.show_layer_activations = flag("show_layer_activations");
    options.show_trainable = flag("show_trainable");
    if (args["rankdir"].is_text()) options.rankdir = args["rankdir"].text();
    if (args["dpi"].is_integer()) options.dpi = args["dpi"].integer();
    EXPECT_EQ(utils::model_to_dot(*made, options), plot["text"].text());
  }
}
INSTANTIATE_TEST_SUITE_P(All, Symbolic, ::testing::ValuesIn(known_cases()));

TEST(KerasTensor, HasTheTextsOfKeras) {
  backend::clear_session();
  Tensor x = Input({4}), y = layers::Dense(32, {.activation = "relu"})(x);
  EXPECT_EQ(functional::tensor_repr(y), "<KerasTensor: shape=(None, 32) dtype=float32 (created by layer 'dense')>");
  EXPECT_EQ(functional::tensor_str(y),
            "KerasTensor(type_spec=TensorSpec(shape=(None, 32), dtype=tf.float32, name=None), name='dense/Relu:0', "
            "description=\"created by layer 'dense'\")");
  EXPECT_EQ(functional::tensor_name(x), "input_1");
  EXPECT_EQ(y.repr(), functional::tensor_repr(y));
  EXPECT_EQ(y.str(), functional::tensor_str(y));
  EXPECT_EQ(functional::tensor_repr(shape(x)),
            "<KerasTensor: shape=(2,) dtype=int32 inferred_value=[None, 4] (created by layer 'tf.compat.v1.shape')>");
}

TEST(OpLayers, AreNamedAfterTheFunctionsTheyStandFor) {
  backend::clear_session();
  Tensor x = Input({4, 6});
  Tensor y = nn::relu(x) * 2.0f + 1.0f;
  Tensor z = reduce_mean(concat({y, x}, 1), {.axis = 1, .keepdims = true});
  Tensor w = reshape(z, stack({shape(z)(0), 6}));
  Model model(x, w);
  std::vector<std::string> names;
  for (const Layer& layer : model.layers()) names.push_back(layer.name());
  const std::vector<std::string> expected = {
      "input_1",   "tf.nn.relu",          "tf.math.multiply",   "tf.__operators__.add",
      "tf.concat", "tf.math.reduce_mean", "tf.compat.v1.shape", "tf.__operators__.getitem",
      "tf.stack",  "tf.reshape"};
  EXPECT_EQ(names, expected);
  EXPECT_EQ(w.shape(), (Shape{unknown, 6}));
  const Tensor given = random::normal({2, 4, 6});
  const Tensor wanted = reshape(reduce_mean(concat({nn::relu(given) * 2.0f + 1.0f, given}, 1), {.axis = 1}), {2, 6});
  EXPECT_EQ(difference(model(given), wanted), "");
  EXPECT_EQ(difference(models::clone_model(model)(given), wanted), "");
}

TEST(OpLayers, RefuseWhatIsNoFunction) {
  EXPECT_THROW(Layer::from_config("TFOpLambda", Value::parse(R"({"function": "math.no_such"})")), ValueError);
  backend::clear_session();
  const Value config = Value::parse(R"({"name": "m", "layers": [
      {"class_name": "InputLayer", "name": "x", "inbound_nodes": [],
       "config": {"batch_input_shape": [null, 3], "dtype": "float32", "name": "x"}},
      {"class_name": "TFOpLambda", "name": "f", "config": {"name": "f", "function": "math.reduce_mean"},
       "inbound_nodes": [["x", 0, 0, {"axes": 1}]]}],
      "input_layers": [["x", 0, 0]], "output_layers": [["f", 0, 0]]})");
  EXPECT_THROW(Model::from_config(config), TypeError);
}

}  // namespace
}  // namespace thalweg::keras

#include "thalweg/keras/activations.h"

#include "tests/keras/config_cases.h"
#include "thalweg/thalweg.h"

namespace thalweg::testing {
namespace {

using keras::Activation;
using keras::Value;
namespace activations = keras::activations;

Tensor activate(const Value& row, const Tensor& x) {
  const std::string& name = row["class"].text();
  const Value& args = row["args"];
  if (args.map().empty()) return Activation(name)(x);
  if (name == "relu") {
    activations::ReluOptions options;
    if (args.contains("alpha")) options.alpha = args["alpha"].number();
    if (args.contains("max_value")) options.max_value = args["max_value"].number();
    if (args.contains("threshold")) options.threshold = args["threshold"].number();
    return activations::relu(x, options);
  }
  if (name == "elu") return activations::elu(x, {.alpha = args["alpha"].number()});
  if (name == "gelu") return activations::gelu(x, {.approximate = args["approximate"].boolean()});
  if (name == "softmax") return activations::softmax(x, {.axis = args["axis"].integer()});
  throw std::runtime_error("arguments of " + name);
}

TEST(Activations, GiveKerasValuesAndGradients) {
  KerasCases family("activations");
  for (const Value& row : family.cases()) {
    SCOPED_TRACE(KerasCases::describe(row) + row["args"].json());
    const Tensor x = family.tensor(row["x"]);
    if (!row["error"].is_none()) {
      expect_error(row, [&] { activate(row, x); });
      continue;
    }
    GradientTape tape;
    tape.watch(x);
    const Tensor value = activate(row, x);
    EXPECT_EQ(difference(value, family.tensor(row["value"])), "") << x;
    EXPECT_EQ(difference(tape.gradient(weighted_sum({value}), x), family.tensor(row["gradient"])), "") << x;
    auto traced = function([&](const Tensor& given) { return activate(row, given); });
    EXPECT_EQ(difference(traced(x), value, 1e-6), "");
  }
}

TEST(Activations, AreNamesFunctionsOrLambdas) {
  const Tensor x = {{-1.0F, 7.0F}};
  EXPECT_FLOAT_EQ(Activation("relu6")(x)[0][1].item<float>(), 6);
  EXPECT_FLOAT_EQ(Activation("leaky_relu")(x)[0][0].item<float>(), -0.2F);
  EXPECT_EQ(difference(Activation("silu")(x), Activation("swish")(x), 0), "");
  EXPECT_EQ(difference(exp(Activation("log_softmax")(x)), Activation("softmax")(x), 1e-6), "");
  // A function with options has their defaults; its name is what configurations hold.
  Activation function = activations::gelu;
  EXPECT_EQ(difference(function(x), nn::gelu(x), 0), "");
  EXPECT_EQ(keras::to_value(function).text(), "gelu");
  EXPECT_FLOAT_EQ(Activation(nn::leaky_relu)(x)[0][0].item<float>(), -0.2F);
  Activation doubled = [](const Tensor& given) { return given * 2; };
  EXPECT_FLOAT_EQ(doubled(x)[0][1].item<float>(), 14);
  EXPECT_THROW(keras::to_value(doubled), ValueError);
  try {
    Activation wrong("rleu");
    ADD_FAILURE();
  } catch (const ValueError& error) {
    EXPECT_NE(
        std::string(error.what()).find("Unknown activation function 'rleu' cannot be deserialized. Did you mean "),
        std::string::npos);
  }
  const Tensor cube = reshape(cast(range(8), float32), {2, 2, 2});
  EXPECT_FLOAT_EQ(reduce_sum(activations::softmax(cube, {.axis = {1, 2}})).item<float>(), 2);
}

}  // namespace
}  // namespace thalweg::testing

// Graphs of layers: several inputs and outputs, shared layers, residuals, models inside of models, ops.
#include <gtest/gtest.h>

#include "tests/keras/cases.h"
#include "thalweg/core/error.h"
#include "thalweg/keras/keras.h"
#include "thalweg/ops/activation.h"
#include "thalweg/ops/casting.h"
#include "thalweg/ops/creation.h"
#include "thalweg/ops/joining.h"
#include "thalweg/ops/math.h"
#include "thalweg/ops/matmul.h"
#include "thalweg/ops/reduction.h"

namespace thalweg::keras {
namespace {

using testing::difference;

class Functional : public ::testing::Test {
 protected:
  void SetUp() override { backend::clear_session(); }
};

std::vector<std::string> names_of(const std::vector<Layer>& layers) {
  std::vector<std::string> names;
  for (const Layer& layer : layers) names.push_back(layer.name());
  return names;
}
std::vector<std::string> names_of(const std::vector<Variable>& variables) {
  std::vector<std::string> names;
  for (const Variable& v : variables) names.push_back(v.name());
  return names;
}
using Names = std::vector<std::string>;

/// A model after its configuration, with the same weights.
Model rebuilt(const Model& model) {
  Model copy = Model::from_config(Value::parse(model.get_config().json()));
  copy.set_weights(model.get_weights());
  return copy;
}

TEST_F(Functional, TwoInputsAndOutputsWithASharedLayerAndAResidual) {
  Tensor title = Input({4}, {.name = "title"}), body = Input({4}, {.name = "body"});
  Layer shared = layers::Dense(8, {.activation = "relu", .name = "shared"});
  Tensor h = concat({shared(title), shared(body)}, -1);
  h = layers::Dense(16, {.name = "mix"})(h) + h;
  Tensor priority = layers::Dense(1, {.name = "priority"})(h);
  Tensor department = layers::Dense(3, {.name = "department"})(h);
  Model model({title, body}, {priority, department});
  EXPECT_EQ(model.weights().size(), 8u);
  Tensor x = ones({2, 4}), z = zeros({2, 4});
  auto [p, d] = model.call<2>({x, z});
  EXPECT_EQ(p.shape(), (Shape{2, 1}));
  EXPECT_EQ(d.shape(), (Shape{2, 3}));
  // By hand.
  Tensor s = concat({shared(x), shared(z)}, -1);
  Tensor mixed = model.get_layer("mix")(s) + s;
  EXPECT_EQ(difference(p, model.get_layer("priority")(mixed)), "");
  EXPECT_EQ(difference(d, model.get_layer("department")(mixed)), "");
  // By name, whatever the order.
  auto [p2, d2] = model.call<2>({{"body", z}, {"title", x}});
  EXPECT_EQ(difference(p2, p), "");

  Model copy = rebuilt(model);
  auto [p3, d3] = copy.call<2>({x, z});
  EXPECT_EQ(difference(p3, p), "");
  EXPECT_EQ(difference(d3, d), "");
  EXPECT_EQ(copy.get_config(), model.get_config());
}

TEST_F(Functional, DictsOfInputsAndOutputs) {
  Tensor a = Input({3}, {.name = "first"}), b = Input({2}, {.name = "second"});
  Tensor sum = layers::Dense(2, {.name = "d"})(a) + b;
  Model model(Nest({{"b", b}, {"a", a}}), Nest({{"sum", sum}, {"a", a}}));
  auto out = model.call<std::map<std::string, Tensor>>({{"a", ones({1, 3})}, {"b", ones({1, 2})}, {"more", ones({5})}});
  EXPECT_EQ(out.at("a").shape(), (Shape{1, 3}));
  EXPECT_EQ(out.at("sum").shape(), (Shape{1, 2}));
  EXPECT_THROW(model.invoke(Nest({{"a", ones({1, 3})}})), Error);
  Model copy = rebuilt(model);
  EXPECT_EQ(copy.get_config(), model.get_config());
  auto again = copy.call<std::map<std::string, Tensor>>({{"a", ones({1, 3})}, {"b", ones({1, 2})}});
  EXPECT_EQ(difference(again.at("sum"), out.at("sum")), "");
}

TEST_F(Functional, InputsConform) {
  Tensor x = Input({1}, {.name = "x"});
  Model model(x, layers::Dense(2)(x));
  EXPECT_EQ(model(ones({5})).shape(), (Shape{5, 2}));  // (batch,) stands for (batch, 1)
  EXPECT_EQ(model(cast(ones({5, 1}), DType::int32)).dtype(), DType::float32);
  Tensor flat = Input({}, {.name = "flat"});
  Model squeezed(flat, flat * 2.0f);
  EXPECT_EQ(squeezed(ones({5, 1})).shape(), (Shape{5}));
  Tensor ids = Input({2}, {.name = "ids", .dtype = DType::int32});
  Model integers(ids, ids + 1);
  EXPECT_EQ(integers(ones({3, 2})).dtype(), DType::int32);
  try {
    Tensor wide = Input({4});
    Model(wide, layers::Dense(2)(wide))(ones({2, 3}));
    FAIL();
  } catch (const ValueError& error) {
    EXPECT_NE(std::string(error.what()).find("expected shape=(None, 4), found shape=(2, 3)"), std::string::npos)
        << error.what();
  }
}

TEST_F(Functional, ModelsInsideOfModels) {
  Tensor x = Input({4}, {.name = "x"});
  Tensor d1 = layers::Dense(3, {.name = "d1"})(x), d2 = layers::Dense(3, {.name = "d2"})(d1);
  Model tower(x, Nest({d1 + d2, d2}), {.name = "tower"});
  Tensor left = Input({4}, {.name = "left"}), right = Input({4}, {.name = "right"});
  auto l = tower.call<2>(left);
  auto r = tower.call<2>(right);
  Sequential head({layers::Dense(2), layers::Dense(2)}, {.name = "head"});
  Model model({left, right}, head(concat({l[0], r[1]}, 1)));
  Tensor a = ones({2, 4}), b = zeros({2, 4});
  Tensor y = model({a, b});
  EXPECT_EQ(model.weights().size(), 8u);
  EXPECT_EQ(difference(y, head(concat({tower.call<2>(a)[0], tower.call<2>(b)[1]}, 1))), "");
  Model copy = rebuilt(model);
  EXPECT_EQ(difference(copy({a, b}), y), "");
  EXPECT_EQ(copy.get_config(), model.get_config());
  Model clone = models::clone_model(model);
  EXPECT_EQ(names_of(clone.layers()), names_of(model.layers()));
  EXPECT_NE(difference(clone({a, b}), y), "");
}

TEST_F(Functional, ALayerThatIsCalledOnItself) {
  Tensor x = Input({3}, {.name = "x"});
  Layer a = layers::Dense(3, {.name = "a"}), b = layers::Dense(3, {.name = "b"});
  Model model(x, a(b(a(b(x)))));
  EXPECT_EQ(model.weights().size(), 4u);
  Model copy = rebuilt(model);
  Tensor v = ones({1, 3});
  EXPECT_EQ(difference(copy(v), a(b(a(b(v))))), "");
}

TEST_F(Functional, OpsOnSymbolicTensors) {
  Tensor x = Input({3}, {.name = "x"});
  Tensor y = reduce_sum(nn::relu(x * 2.0f - 1.0f), {.axis = 1, .keepdims = true}) + Tensor({{1.0f}});
  Model model(x, y);
  Tensor v({{1.0f, 2.0f, -3.0f}});
  EXPECT_EQ(difference(model(v), Tensor({{5.0f}})), "");
  Model copy = rebuilt(model);
  EXPECT_EQ(difference(copy(v), Tensor({{5.0f}})), "");
}

TEST_F(Functional, InputsAndOutputsOfLayers) {
  Tensor x = Input({3}, {.name = "x"});
  Layer dense = layers::Dense(2, {.name = "dense"});
  EXPECT_THROW(dense.output(), ValueError);
  Tensor y = dense(x);
  Model model(x, y);
  EXPECT_EQ(dense.input_shape(), (Shape{-1, 3}));
  EXPECT_EQ(dense.output_shape(), (Shape{-1, 2}));
  EXPECT_EQ(model.input_shape(), (Shape{-1, 3}));
  EXPECT_EQ(model.output_shape(), (Shape{-1, 2}));
  Model features(model.input(), model.get_layer("dense").output());
  EXPECT_EQ(difference(features(ones({1, 3})), model(ones({1, 3}))), "");
  Tensor z = dense(Input({3}));
  EXPECT_THROW(dense.output(), ValueError);
  EXPECT_EQ(dense.output_shape(), (Shape{-1, 2}));
}

TEST_F(Functional, WhatIsNoGraphIsRefused) {
  Tensor x = Input({3}), other = Input({3});
  EXPECT_THROW(Model(x, layers::Dense(2)(other)), ValueError);
  EXPECT_THROW(Model(ones({1, 3}), layers::Dense(2)(x)), ValueError);
  EXPECT_THROW(Model(x, Nest(ones({1, 2}))), ValueError);
  Tensor a = layers::Dense(2, {.name = "same"})(x);
  EXPECT_THROW(Model(x, layers::Dense(2, {.name = "same"})(a)), ValueError);
  EXPECT_THROW(Model::from_config(Value::parse(R"({"name": "m", "layers": [{"class_name": "Dense", "name": "d",
      "config": {"units": 1}, "inbound_nodes": [[["gone", 0, 0, {}]]]}], "input_layers": [], "output_layers": []})")),
               ValueError);
  Model model(x, a);
  EXPECT_THROW(model.get_layer("gone"), ValueError);
  EXPECT_THROW(model.get_layer(7), ValueError);
}

TEST_F(Functional, SequentialGrowsAndShrinks) {
  Sequential model;
  model.add(layers::Dense(4));
  model.add(layers::Dense(2));
  EXPECT_FALSE(model.built());
  EXPECT_TRUE(model.weights().empty());
  EXPECT_EQ(model(ones({3, 5})).shape(), (Shape{3, 2}));
  EXPECT_EQ(names_of(model.weights()), (Names{"dense/kernel:0", "dense/bias:0", "dense_1/kernel:0", "dense_1/bias:0"}));
  model.pop();
  EXPECT_EQ(model(ones({3, 5})).shape(), (Shape{3, 4}));
  model.add(layers::Dense(7));
  EXPECT_EQ(model(ones({3, 5})).shape(), (Shape{3, 7}));
  Sequential known({layers::Dense(4, {.input_shape = Shape{3}}), layers::Dense(2)});
  EXPECT_TRUE(known.built());
  EXPECT_EQ(known.output_shape(), (Shape{-1, 2}));
  EXPECT_THROW(known(ones({2, 4})), ValueError);
  Model copy = rebuilt(known);
  EXPECT_EQ(copy.get_config(), known.get_config());
  EXPECT_EQ(difference(copy(ones({2, 3})), known(ones({2, 3}))), "");
  known.pop();
  known.pop();
  EXPECT_THROW(known.pop(), TypeError);
}

struct Counting {
  int64_t units = 2;
  Layer first = layers::Dense(units);
  Metric mean = metrics::Mean();
  Layer second = layers::Dense(1);
  Variable scale = Variable(1.0f, {.name = "scale"});
  Tensor call(const Tensor& x) {
    mean.update_state(reduce_mean(x));
    return second(first(x)) * scale;
  }
};
struct Around {
  Metric mean = metrics::Mean();
  Layer dense = layers::Dense(1);
  Tensor call(const Tensor& x) { return dense(x); }
};

TEST_F(Functional, WeightsOfModelsHoldThoseOfMetrics) {
  Model model = Counting{};
  model(ones({2, 3}));
  EXPECT_EQ(names_of(model.weights()), (Names{"counting/dense/kernel:0", "counting/dense/bias:0", "total:0", "count:0",
                                              "counting/dense_1/kernel:0", "counting/dense_1/bias:0", "scale:0"}));
  EXPECT_EQ(names_of(model.non_trainable_weights()), (Names{"total:0", "count:0"}));
  EXPECT_EQ(names_of(model.layers()), (Names{"dense", "dense_1"}));
  Layer layer = Around{};
  layer(ones({2, 3}));
  EXPECT_EQ(layer.weights().size(), 2u);
}

TEST_F(Functional, TrainableIsSwitchedAtAnyTime) {
  Sequential model({layers::Dense(2, {.input_shape = Shape{2}}), layers::Dense(1)});
  EXPECT_EQ(model.trainable_weights().size(), 4u);
  model.get_layer(0).set_trainable(false);
  EXPECT_EQ(model.trainable_weights().size(), 2u);
  EXPECT_EQ(model.non_trainable_weights().size(), 2u);
  model.set_trainable(false);
  EXPECT_TRUE(model.trainable_weights().empty());
  model.set_trainable(true);
  EXPECT_EQ(model.trainable_weights().size(), 4u);
}

}  // namespace
}  // namespace thalweg::keras

// What a new user writes first.
#include <gtest/gtest.h>

#include "thalweg/thalweg.h"

namespace thalweg::keras {
namespace {

template <class F> std::string message_of(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}
// Whatever a handle is asked, it says that it is empty.
template <class F> void expect_undefined(const F& f) {
  const std::string message = message_of(f);
  EXPECT_TRUE(message.find("is undefined (None)") != std::string::npos || message.find("is empty") != std::string::npos)
      << message;
}

TEST(Surface, LambdaOfSeveralTensors) {
  const Tensor a = {{1.0f, 2.0f}}, b = {{3.0f, 5.0f}}, c = {{1.0f, 1.0f}};
  const Layer difference = layers::Lambda([](const Tensor& x, const Tensor& y) { return x - y; });
  EXPECT_EQ(difference({b, a}).str(), (b - a).str());
  const Layer sum = layers::Lambda([](const Tensor& x, const Tensor& y, const Tensor& z) { return x + y + z; });
  EXPECT_EQ(sum({a, b, c}).str(), (a + b + c).str());
  EXPECT_EQ(layers::Lambda([](const Tensor& x) { return 2 * x; })(a).str(), (2 * a).str());
  auto left = Input({2}), right = Input({2});
  const Model model({left, right}, difference({left, right}));
  EXPECT_EQ(model({b, a}).str(), (b - a).str());
}

TEST(Surface, InputTakesTheNameOfADtype) {
  EXPECT_EQ(Input({5}, {.dtype = "int32"}).dtype(), int32);
  EXPECT_EQ(Input({5}, {.dtype = int64}).dtype(), int64);
  EXPECT_EQ(Input({5}).dtype(), float32);
  EXPECT_NE(message_of([] { Input({5}, {.dtype = "int33"}); }).find("'int33' is no dtype"), std::string::npos);
}

struct Descent {
  double learning_rate = 0.5;
  void update_step(const Tensor& gradient, Variable& variable) { variable.assign_sub(learning_rate * gradient); }
};
TEST(Surface, OptimizersMayTakeVariables) {
  const Optimizer descent = Descent{};
  Variable w(1.0f);
  descent.apply_gradients({Tensor(1.0f)}, {w});
  EXPECT_EQ(w.item<float>(), 0.5f);
}

struct Autoencoder {
  Layer dense = layers::Dense(2, {.kernel_initializer = "zeros"});
  Tensor call(const Tensor& x) { return dense(x); }
  Nest train_step(Model& model, const Tensor& x) {
    GradientTape tape;
    Tensor loss = reduce_mean(square(x - model(x)));
    auto variables = model.trainable_variables();
    model.optimizer().apply_gradients(tape.gradient(loss, variables), variables);
    return Nest({{"loss", loss}});
  }
};
TEST(Surface, FitWithoutLabels) {
  const Tensor x = {{1.0f, 2.0f}, {3.0f, 4.0f}};
  Model model = Autoencoder{};
  model.compile({.optimizer = "sgd"});
  EXPECT_NEAR(model.fit(x, {.verbose = 0}).at("loss")[0], 7.5, 1e-5);
  EXPECT_LT(model.fit(x, {.epochs = 20, .verbose = 0}).at("loss").back(), 7.0);
  EXPECT_EQ(model.fit(x, {}, {.epochs = 2, .verbose = 0}).at("loss").size(), 2u);

  auto plain = Sequential({layers::Dense(1)});
  plain.compile({.optimizer = "sgd", .loss = "mse"});
  EXPECT_THROW(plain.fit(x, {.verbose = 0}), ValueError);  // labels are missing
}

TEST(Surface, PairsAreBatches) {
  const std::vector<std::pair<Tensor, Tensor>> pairs = {{ones({2, 3}), ones({2, 1})}, {zeros({2, 3}), ones({2, 1})}};
  auto model = Sequential({layers::Dense(1, {.kernel_initializer = "zeros"})});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  EXPECT_FLOAT_EQ(static_cast<float>(model.evaluate(pairs, {.verbose = 0}).at("loss")), 1.0f);
  EXPECT_EQ(model.fit(pairs, {.epochs = 2, .verbose = 0}).at("loss").size(), 2u);
  EXPECT_EQ(model.optimizer().iterations().item<int64_t>(), 4);
  EXPECT_FLOAT_EQ(static_cast<float>(model.evaluate(batches(pairs), {.verbose = 0}).at("loss")),
                  static_cast<float>(model.evaluate(pairs, {.verbose = 0}).at("loss")));
  EXPECT_EQ(model.predict(pairs).shape(), (Shape{4, 1}));
}

TEST(Surface, WeightsByName) {
  auto dense = layers::Dense(2, {.name = "first"});
  EXPECT_NE(message_of([&] { dense.weight("kernel"); }).find("not built yet"), std::string::npos);
  auto model = Sequential({dense, layers::Dense(1, {.name = "second"})});
  model.build({unknown, 3});
  EXPECT_EQ(dense.weight("kernel").shape(), (Shape{3, 2}));
  EXPECT_EQ(model.weight("second/kernel").shape(), (Shape{2, 1}));
  EXPECT_TRUE(is_same(model.weight("first/bias"), dense.weight("bias")));
  EXPECT_NE(message_of([&] { model.weight("kernel"); }).find("more than one weight 'kernel'"), std::string::npos);
  EXPECT_NE(message_of([&] { model.weight("kernle"); }).find("first/kernel, first/bias"), std::string::npos);
}

TEST(Surface, EmptyHandlesSaySo) {
  const Tensor x = {{1.0f}};
  const Layer layer;
  expect_undefined([&] { layer(x); });
  expect_undefined([&] { layer.weights(); });
  expect_undefined([&] { layer.trainable_weights(); });
  expect_undefined([&] { layer.get_weights(); });
  expect_undefined([&] { layer.build({1, 1}); });
  expect_undefined([&] { layer.name(); });
  expect_undefined([&] { layer.get_config(); });
  expect_undefined([&] { layer.losses(); });
  expect_undefined([&] { layer.layers(); });
  expect_undefined([&] { layer.set_trainable(false); });
  expect_undefined([&] { layer.reset_states(); });
  expect_undefined([&] { layer.count_params(); });
  expect_undefined([&] { layer.compute_output_shape({1, 1}); });
  expect_undefined([&] { layer.input(); });
  expect_undefined([&] { Sequential({Layer()}); });
  const Model model;
  expect_undefined([&] { model.summary(); });
  expect_undefined([&] { model.compile({.loss = "mse"}); });
  expect_undefined([&] { model.fit(x, x); });
  expect_undefined([&] { model.evaluate(x, x); });
  expect_undefined([&] { model.predict(x); });
  expect_undefined([&] { model.train_on_batch(x, x); });
  expect_undefined([&] { model.optimizer(); });
  expect_undefined([&] { model.metrics(); });
  expect_undefined([&] { model.stop_training(); });
  expect_undefined([&] { model.history(); });
  expect_undefined([&] { model.get_layer(0); });
  expect_undefined([&] { model.inputs(); });
  expect_undefined([&] { models::clone_model(model); });
  const Optimizer optimizer;
  expect_undefined([&] { optimizer.apply_gradients({x}, {Variable(x)}); });
  expect_undefined([&] { optimizer.iterations(); });
  expect_undefined([&] { optimizer.learning_rate(); });
  expect_undefined([&] { optimizer.variables(); });
  expect_undefined([&] { optimizer.set_learning_rate(0.1); });
  expect_undefined([&] { optimizer.build({}); });
  const Loss loss;
  expect_undefined([&] { loss(x, x); });
  expect_undefined([&] { loss.reduction(); });
  const Metric metric;
  expect_undefined([&] { metric.update_state(x); });
  expect_undefined([&] { metric.result(); });
  expect_undefined([&] { metric.reset_state(); });
  expect_undefined([&] { metric.variables(); });
  expect_undefined([&] { Initializer()(Shape{1}, float32); });
  expect_undefined([&] { Regularizer()(x); });
  expect_undefined([&] { Callback().get_config(); });
  auto fitted = Sequential({layers::Dense(1)});
  fitted.compile({.optimizer = "sgd", .loss = "mse"});
  expect_undefined([&] { fitted.fit(x, x, {.verbose = 0, .callbacks = {Callback()}}); });
  EXPECT_EQ(layer.as<Descent>(), nullptr);
}

TEST(Surface, UndefinedTensorsSaySo) {
  const Tensor x = {{1.0f}}, none;
  expect_undefined([&] { losses::MeanSquaredError()(x, none); });
  expect_undefined([&] { losses::mean_squared_error(none, x); });
  expect_undefined([&] { metrics::Mean()(none); });
  expect_undefined([&] { metrics::MeanSquaredError()(none, x); });
  expect_undefined([&] { Function<Tensor(Tensor)>()(x); });
  EXPECT_NE(message_of([&] { layers::Dense(1)(none); }), "no error");
}

TEST(Surface, FloatxMakesEverythingFloat64) {
  struct Restored {
    ~Restored() { backend::set_floatx(float32); }
  } restored;
  backend::set_floatx("float64");
  EXPECT_EQ(Tensor(0.1).dtype(), float64);
  EXPECT_EQ(Variable(0.1).dtype(), float64);
  EXPECT_EQ(Input({2}).dtype(), float64);
  auto dense = layers::Dense(1);
  EXPECT_EQ(dense(Tensor({{0.1, 0.2}})).dtype(), float64);
  EXPECT_EQ(dense.weight("kernel").dtype(), float64);
  EXPECT_EQ((Tensor(2.0f) * 0.5).dtype(), float32);  // a literal still takes the dtype of the tensor it meets
  EXPECT_EQ((Tensor(0.1) + 1).dtype(), float64);
  backend::set_floatx(float32);
  EXPECT_EQ(Tensor(0.1).dtype(), float32);
  EXPECT_EQ(layers::Dense(1).dtype(), float32);
  EXPECT_THROW(backend::set_floatx("int32"), ValueError);
}

}  // namespace
}  // namespace thalweg::keras

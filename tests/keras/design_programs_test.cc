// The programs by which the library is introduced compile as they are written, and do what they say.
#include <gtest/gtest.h>
#include <thalweg/thalweg.h>

#include <sstream>

namespace tf = thalweg;
namespace keras = tf::keras;
namespace layers = keras::layers;
using tf::Shape, tf::Tensor, tf::Variable;

namespace {

TEST(DesignPrograms, DigitsAreRead) {
  auto mnist = keras::datasets::mnist::load_data();
  for (auto* samples : {&mnist.train, &mnist.test}) {  // a few will do
    samples->x = samples->x(tf::slice(0, 1024));
    samples->y = samples->y(tf::slice(0, 1024));
  }
  auto model = keras::Sequential({
      layers::Flatten({.input_shape = {28, 28}}),
      layers::Dense(128, "relu"),
      layers::Dropout(0.2),
      layers::Dense(10, "softmax"),
  });
  model.compile({.optimizer = "adam", .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
  testing::internal::CaptureStdout();
  model.fit(mnist.train.x / 255.0f, mnist.train.y, {.epochs = 5});
  model.evaluate(mnist.test.x / 255.0f, mnist.test.y);
  const std::string shown = testing::internal::GetCapturedStdout();
  EXPECT_NE(shown.find("Epoch 5/5\n"), std::string::npos);
  EXPECT_NE(shown.find("32/32 [==============================]"), std::string::npos);
  EXPECT_GT(model.evaluate(mnist.train.x / 255.0f, mnist.train.y, {.verbose = 0})["accuracy"], 0.8);
}

TEST(DesignPrograms, ATapeGivesTheGradientOfASquare) {
  std::ostringstream out;
  tf::Variable w({{1.0f}});
  tf::GradientTape tape;
  auto loss = w * w;
  out << tape.gradient(loss, w) << "\n";
  EXPECT_EQ(out.str(), "tf.Tensor([[2.]], shape=(1, 1), dtype=float32)\n");
}

struct MyModel {
  int num_classes = 10;
  keras::Layer hidden = layers::Dense(32, "relu");
  keras::Layer head = layers::Dense(num_classes);
  Tensor call(const Tensor& x, const keras::CallArgs& args) { return head(hidden(x), args); }
};

struct Linear {
  int64_t units = 32;
  keras::Regularizer regularizer = {};
  Variable kernel = {}, bias = {};
  void build(const Shape& input) {
    kernel = keras::add_weight({input[-1], units}, {.initializer = "glorot_uniform", .regularizer = regularizer});
    bias = keras::add_weight({units}, {.initializer = "zeros"});
  }
  Tensor call(const Tensor& x) { return matmul(x, kernel) + bias; }
};

TEST(DesignPrograms, StructsAreModelsAndLayers) {
  keras::Model model = MyModel{.num_classes = 10};
  EXPECT_EQ(model(tf::ones({2, 3})).shape(), Shape({2, 10}));
  EXPECT_EQ(model.weights().size(), 4u);
  keras::Layer layer = Linear{.units = 4, .regularizer = keras::regularizers::L2(0.1)};
  EXPECT_EQ(layer(tf::ones({2, 3})).shape(), Shape({2, 4}));
  EXPECT_EQ(layer.losses().size(), 1u);
  EXPECT_EQ(layer.get_config()["units"].integer(), 4);
}

TEST(DesignPrograms, DatasetsGoThroughATracedStep) {
  keras::Model model = MyModel{.num_classes = 3};
  auto optimizer = keras::optimizers::SGD(0.1);
  auto loss_object = keras::losses::SparseCategoricalCrossentropy({.from_logits = true});
  auto train_step = tf::function([&](const Tensor& x, const Tensor& y) {
    tf::GradientTape tape;
    auto loss = loss_object(y, model(x, {.training = true}));
    optimizer.apply_gradients(tape.gradient(loss, model.trainable_variables()), model.trainable_variables());
    return loss;
  });
  const Tensor images = tf::random::normal({320, 4}, {.seed = 1}), labels = tf::range(320) % 3;
  auto dataset = tf::data::from_tensor_slices(images, labels).shuffle(1000).batch(32).prefetch();
  const auto first = loss_object(labels, model(images)).item<float>();
  for (int epoch = 0; epoch < 20; ++epoch)
    for (auto [x, y] : dataset.take(400)) train_step(x, y);  // element types known to the compiler
  EXPECT_LT(loss_object(labels, model(images)).item<float>(), first);
  EXPECT_EQ(train_step.experimental_get_tracing_count(), 1);
  model.compile({.optimizer = "sgd", .loss = loss_object});
  EXPECT_EQ(model.fit(dataset, {.epochs = 2, .verbose = 0}).epoch.size(), 2u);
}

TEST(DesignPrograms, TensorsWithoutValuesMakeAModel) {
  auto inputs = keras::Input({32});
  auto x = layers::Dense(64, "relu")(inputs);
  auto model = keras::Model(inputs, layers::Dense(10, "softmax")(x));
  EXPECT_EQ(model(tf::ones({5, 32})).shape(), Shape({5, 10}));
  EXPECT_EQ(model.count_params(), 33 * 64 + 65 * 10);
}

}  // namespace

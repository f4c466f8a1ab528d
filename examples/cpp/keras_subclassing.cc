// A layer and a model as plain structs: their members are configuration, weights and layers; nothing is registered.
#include <thalweg/thalweg.h>

#include <cstdio>

namespace tf = thalweg;
namespace keras = tf::keras;
namespace layers = keras::layers;
using tf::Shape, tf::Tensor, tf::Variable;

struct Linear {
  int64_t units = 32;
  keras::Initializer initializer = "glorot_uniform";
  keras::Regularizer regularizer = {};
  Variable kernel = {}, bias = {};

  void build(const Shape& input_shape) {
    kernel = keras::add_weight({input_shape[-1], units}, {.initializer = initializer, .regularizer = regularizer});
    bias = keras::add_weight({units}, {.initializer = "zeros"});
  }

  Tensor call(const Tensor& x) { return matmul(x, kernel) + bias; }
};

struct Residual {
  int64_t units = 8;
  keras::Layer first = layers::Dense(units, "relu");
  keras::Layer second = Linear{.units = units};
  keras::Layer dropout = layers::Dropout(0.5);

  Tensor call(const Tensor& x, const keras::CallArgs& args) { return x + dropout(second(first(x)), args); }
};

struct Classifier {
  int num_classes = 10;
  keras::Layer stem = layers::Dense(8);
  std::vector<keras::Layer> blocks = {Residual{}, Residual{}};
  keras::Layer head = layers::Dense(num_classes, "softmax");

  Tensor call(const Tensor& inputs, const keras::CallArgs& args) {
    Tensor x = stem(inputs);
    for (auto& block : blocks) x = block(x, args);
    return head(x);
  }
};

void show(const std::vector<Variable>& weights) {
  for (auto& weight : weights) std::printf("%s %s\n", weight.name().c_str(), weight.shape().str().c_str());
}

int main() {
  keras::utils::set_random_seed(1);
  auto layer = keras::layer(Linear{.units = 3, .regularizer = keras::regularizers::L2(0.1)}, {.name = "linear"});
  Tensor row = layer(tf::ones({2, 4}))[0];
  show(layer.weights());
  std::printf("the first row: %.4f %.4f %.4f, the penalty: %.4f\n", row[0].item<double>(), row[1].item<double>(),
              row[2].item<double>(), layer.losses()[0].item<double>());
  auto copy = keras::Layer::from_config("Linear", layer.get_config());
  Shape shape = copy(tf::ones({2, 4})).shape();
  std::printf("a copy: %s, penalties: %zu\n", shape.str().c_str(), copy.losses().size());

  auto model = keras::model(Classifier{.num_classes = 3}, {.name = "classifier"});
  auto x = tf::random::normal({90, 6}, {.seed = 1});
  auto y = tf::argmax(x(tf::all, tf::slice(0, 3)), {.axis = 1});
  model.compile({.optimizer = "adam", .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
  auto losses = model.fit(x, y, {.epochs = 20, .verbose = 0, .shuffle = false})["loss"];
  show(model.weights());
  std::printf("the loss falls: %s\n", losses.back() < losses.front() ? "True" : "False");

  model->stem.set_trainable(false);
  std::printf("%zu of %zu stay trainable\n", model.trainable_weights().size(), model.weights().size());
}

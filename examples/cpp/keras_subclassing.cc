// A layer and a model as plain structs: members are configuration, weights and layers; nothing is registered.
#include <thalweg/thalweg.h>

#include <iostream>

namespace tf = thalweg;
namespace keras = tf::keras;
namespace layers = keras::layers;
using tf::Shape, tf::Tensor, tf::Variable;

struct Linear {
  int64_t units = 32;
  keras::Initializer initializer = "glorot_uniform";
  keras::Regularizer regularizer = {};
  Variable kernel = {}, bias = {};

  void build(const Shape& input) {
    kernel = keras::add_weight({input[-1], units}, {.initializer = initializer, .regularizer = regularizer});
    bias = keras::add_weight({units}, {.initializer = "zeros"});
  }
  Tensor call(const Tensor& x) { return matmul(x, kernel) + bias; }
};

struct Residual {
  int64_t units = 8;
  keras::Layer first = layers::Dense(units, {.activation = "relu"});
  keras::Layer second = Linear{.units = units};
  keras::Layer dropout = layers::Dropout(0.5);

  Tensor call(const Tensor& x, const keras::CallArgs& args) { return x + dropout(second(first(x)), args); }
};

struct Classifier {
  int num_classes = 10;
  keras::Layer stem = layers::Dense(8);
  std::vector<keras::Layer> blocks = {Residual{}, Residual{}};
  keras::Layer head = layers::Dense(num_classes, {.activation = "softmax"});

  Tensor call(const Tensor& inputs, const keras::CallArgs& args) {
    Tensor x = stem(inputs);
    for (auto& block : blocks) x = block(x, args);
    return head(x);
  }
};

int main() {
  keras::utils::set_random_seed(1);
  keras::Layer layer =
      keras::layer(Linear{.units = 3, .regularizer = keras::regularizers::L2(0.1)}, {.name = "linear"});
  layer(tf::ones({2, 4}));
  for (auto& weight : layer.weights()) std::cout << weight.name() << " " << weight.shape() << "\n";
  std::cout << "losses: " << layer.losses().size() << "\n" << layer.get_config() << "\n";
  auto copy = keras::Layer::from_config("Linear", layer.get_config());
  std::cout << "a copy: " << copy.name() << ", " << copy(tf::ones({2, 4})).shape() << "\n";

  auto net = keras::model(Classifier{.num_classes = 3}, {.name = "classifier"});
  auto x = tf::random::normal({90, 6}, {.seed = 1});
  auto y = tf::argmax(x(tf::all, tf::slice(0, 3)), {.axis = 1});
  net.compile({.optimizer = "adam", .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
  auto history = net.fit(x, y, {.epochs = 20, .verbose = 0});
  std::cout << "the loss falls: " << std::boolalpha << (history["loss"].back() < history["loss"].front()) << "\n";
  for (auto& weight : net.weights()) std::cout << weight.name() << " " << weight.shape() << "\n";

  net->stem.set_trainable(false);
  std::cout << net.trainable_weights().size() << " of " << net.weights().size() << " stay trainable\n";
}

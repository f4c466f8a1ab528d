// Layers one after the other: rings around the origin, told apart by a small classifier.
#include <thalweg/thalweg.h>

#include <cstdio>

namespace tf = thalweg;
namespace keras = tf::keras;
namespace layers = keras::layers;

int main() {
  keras::utils::set_random_seed(1);
  auto x = tf::random::normal({600, 2}, {.seed = 2});
  auto radius = tf::norm(x, {.axis = 1});
  auto y = tf::cast(radius > 0.8f, tf::int32) + tf::cast(radius > 1.5f, tf::int32);  // the centre, a ring, all around

  auto model = keras::Sequential({}, {.name = "rings"});
  model.add(layers::Dense(32, "relu", {.input_shape = {2}}));
  model.add(layers::Dense(32, tf::sin, {.bias_initializer = keras::initializers::Constant(0.1)}));
  model.add(layers::Dense(3, "softmax", {.kernel_regularizer = keras::regularizers::L2(0.001)}));
  model.summary();

  model.compile(
      {.optimizer = keras::optimizers::Adam(0.01), .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
  auto history =
      model.fit(x, y, {.batch_size = 50, .epochs = 10, .verbose = 0, .validation_split = 0.2, .shuffle = false});
  for (const char* name : {"loss", "accuracy", "val_loss", "val_accuracy"}) {
    auto& numbers = history[name];
    std::printf("%s: %.3f in the first epoch, %.3f in the last\n", name, numbers.front(), numbers.back());
  }

  tf::Tensor test_x = {{0.1f, 0.2f}, {-0.9f, 0.7f}, {1.5f, 2.0f}};
  auto probabilities = model.predict(test_x);
  for (int i = 0; i < 3; ++i) {
    auto ring = tf::argmax(probabilities[i]).item<int64_t>();
    std::printf("(%.1f, %.1f) is in ring %d: %.2f\n", test_x(i, 0).item<double>(), test_x(i, 1).item<double>(),
                static_cast<int>(ring), probabilities(i, ring).item<double>());
  }
  auto results = model.evaluate(test_x, tf::Tensor{0, 1, 2}, {.verbose = 0});
  std::printf("all three right: %s\n", results["accuracy"] == 1 ? "True" : "False");
}

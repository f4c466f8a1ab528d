// The first program of every guide: a network that reads handwritten digits, trained on the data that comes with the
// library.
#include <thalweg/thalweg.h>

#include <iostream>

namespace tf = thalweg;
namespace keras = tf::keras;
namespace layers = keras::layers;

// A digit as text: two characters for each pixel, darker where there is more ink.
void draw(const tf::Tensor& image) {
  static constexpr std::string_view ink = " .:-=+*#%@";
  for (int row = 2; row < 26; ++row) {
    std::string line = "  ";
    for (int column = 0; column < 28; ++column) {
      const auto shade = static_cast<size_t>(image(row, column).item<float>() * 9.99f);
      line.append(2, ink[shade]);
    }
    std::cout << line << "\n";
  }
}

int main() {
  keras::utils::set_random_seed(7);
  auto mnist = keras::datasets::mnist::load_data();
  auto train_x = tf::cast(mnist.train.x, tf::float32) / 255.0f;
  auto test_x = tf::cast(mnist.test.x, tf::float32) / 255.0f;

  auto model = keras::Sequential({
      layers::Flatten({.input_shape = {28, 28}}),
      layers::Dense(128, {.activation = "relu"}),
      layers::Dropout(0.2),
      layers::Dense(10, {.activation = "softmax"}),
  });
  model.summary();
  model.compile({.optimizer = "adam", .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
  model.fit(train_x, mnist.train.y, {.epochs = 5});

  auto result = model.evaluate(test_x, mnist.test.y);
  std::cout << "\nTest accuracy: " << 100 * result.at("accuracy") << " %\n";

  auto probabilities = model.predict(test_x(tf::slice(0, 3)));
  for (int i = 0; i < 3; ++i) {
    auto digit = tf::argmax(probabilities[i]).item<int64_t>();
    std::cout << "\nThis is a " << mnist.test.y[i].item<int>() << "; the model says " << digit << " ("
              << 100 * probabilities(i, digit).item<float>() << " %):\n";
    draw(test_x[i]);
  }
}

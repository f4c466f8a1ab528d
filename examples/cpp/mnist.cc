// The first program of every guide: a network that reads handwritten digits; the data come with the library.
//   mnist [epochs]
#include <thalweg/thalweg.h>

#include <cstdio>
#include <cstdlib>

namespace tf = thalweg;
namespace keras = tf::keras;
namespace layers = keras::layers;

// A digit as text: two characters for each pixel, darker where there is more ink.
void draw(const tf::Tensor& image) {
  const char* ink = " .:-=+*#%@";
  for (const tf::Tensor& row : image(tf::slice(2, 26))) {
    std::string line = "  ";
    for (float shade : row.span<float>()) line.append(2, ink[static_cast<int>(shade * 9.99f)]);
    line.erase(line.find_last_not_of(' ') + 1);
    std::printf("%s\n", line.c_str());
  }
}

int main(int argc, char** argv) {
  const int epochs = argc > 1 ? std::atoi(argv[1]) : 5;
  keras::utils::set_random_seed(7);
  auto mnist = keras::datasets::mnist::load_data();
  auto train_x = mnist.train.x / 255.0f, test_x = mnist.test.x / 255.0f;

  auto model = keras::Sequential({
      layers::Flatten({.input_shape = {28, 28}}),
      layers::Dense(128, "relu"),
      layers::Dropout(0.2),
      layers::Dense(10, "softmax"),
  });
  model.summary();
  model.compile({.optimizer = "adam", .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
  model.fit(train_x, mnist.train.y, {.epochs = epochs});

  auto accuracy = model.evaluate(test_x, mnist.test.y)["accuracy"];
  std::printf("\nTest accuracy: %.2f %%\n", 100 * accuracy);

  auto probabilities = model.predict(test_x(tf::slice(0, 3)));
  for (int i = 0; i < 3; ++i) {
    auto digit = tf::argmax(probabilities[i]).item<int>();
    std::printf("\nThis is a %d; the model says %d (%.1f %%):\n", mnist.test.y[i].item<int>(), digit,
                100 * probabilities(i, digit).item<double>());
    draw(test_x[i]);
  }
}

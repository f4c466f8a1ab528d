// Training without fit: a convolutional network reads digits; a loss, metrics, a traced step, a loop.
//   keras_training_loop [steps]
#include <thalweg/thalweg.h>

#include <cstdio>
#include <cstdlib>

namespace tf = thalweg;
namespace keras = tf::keras;
namespace layers = keras::layers;
using tf::Tensor;

constexpr int64_t batch_size = 32;

std::pair<Tensor, Tensor> batch(const keras::datasets::Samples& samples, int64_t step) {
  const int64_t first = step * batch_size % samples.x.shape()[0];
  auto rows = tf::slice(first, first + batch_size);
  return {samples.x(rows) / 255.0f, tf::cast(samples.y(rows), tf::int64)};
}

int main(int argc, char** argv) {
  const int64_t steps = argc > 1 ? std::atoi(argv[1]) : 20;
  keras::utils::set_random_seed(1);
  auto mnist = keras::datasets::mnist::load_data();

  auto model = keras::Sequential({
      layers::Reshape({28, 28, 1}, {.input_shape = {28, 28}}),
      layers::Conv2D(32, 5, {.padding = "same", .activation = "relu"}),
      layers::MaxPooling2D(2, {.strides = 2, .padding = "same"}),
      layers::Conv2D(64, 5, {.padding = "same", .activation = "relu"}),
      layers::MaxPooling2D(2, {.strides = 2, .padding = "same"}),
      layers::Flatten(),
      layers::Dense(1024, "relu"),
      layers::Dropout(0.4),
      layers::Dense(10),
  });
  auto optimizer = keras::optimizers::Adam(0.001);
  auto loss_object = keras::losses::SparseCategoricalCrossentropy({.from_logits = true});
  auto mean_loss = keras::metrics::Mean("loss");
  auto accuracy = keras::metrics::SparseCategoricalAccuracy();

  auto train_step = tf::function([=](const Tensor& x, const Tensor& y) {
    tf::GradientTape tape;
    auto logits = model(x, {.training = true});
    auto loss = loss_object(y, logits);
    auto variables = model.trainable_variables();
    optimizer.apply_gradients(tape.gradient(loss, variables), variables);
    mean_loss.update_state(loss);
    accuracy.update_state(y, logits);
  });

  for (int64_t step = 1; step <= steps; ++step) {
    auto [x, y] = batch(mnist.train, step - 1);
    train_step(x, y);
    if (step % 10 == 0) {
      std::printf("step %d: loss %.3f, accuracy %.3f\n", static_cast<int>(step), mean_loss.result().item<double>(),
                  accuracy.result().item<double>());
      mean_loss.reset_state();
      accuracy.reset_state();
    }
  }

  for (int64_t step = 0; step < 10; ++step) {
    auto [x, y] = batch(mnist.test, step);
    accuracy.update_state(y, model(x, {.training = false}));
  }
  std::printf("of digits it has not seen: accuracy %.3f\n", accuracy.result().item<double>());
}

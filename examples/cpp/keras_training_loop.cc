// Training without fit: a convolutional network, a loss and metrics as objects, a traced step, a loop.
#include <thalweg/thalweg.h>

#include <iostream>

namespace tf = thalweg;
namespace keras = tf::keras;
namespace layers = keras::layers;
using tf::Tensor;

int main() {
  keras::utils::set_random_seed(1);
  auto mnist = keras::datasets::mnist::load_data();
  auto images = tf::expand_dims(tf::cast(mnist.train.x(tf::slice(0, 2048)), tf::float32) / 255.0f, -1);
  auto labels = tf::cast(mnist.train.y(tf::slice(0, 2048)), tf::int64);

  auto model = keras::Sequential({
      layers::Conv2D(16, {3, 3}, {.activation = "relu", .input_shape = {28, 28, 1}}),
      layers::MaxPooling2D(),
      layers::Conv2D(16, {3, 3}, {.activation = "relu"}),
      layers::MaxPooling2D(),
      layers::Flatten(),
      layers::Dense(10),
  });
  auto optimizer = keras::optimizers::Adam({.learning_rate = 0.003});
  auto loss_object = keras::losses::SparseCategoricalCrossentropy({.from_logits = true});
  auto mean_loss = keras::metrics::Mean({.name = "loss"});
  auto accuracy = keras::metrics::SparseCategoricalAccuracy();

  auto train_step = tf::function([=](const Tensor& x, const Tensor& y) {
    tf::GradientTape tape;
    auto logits = model(x, {.training = true});
    auto loss = loss_object(y, logits);
    auto variables = model.trainable_variables();
    optimizer.apply_gradients(tape.gradient(loss, variables), variables);
    mean_loss.update_state(loss);
    accuracy.update_state(y, logits);
    return loss;
  });

  float first = 0;
  for (int epoch = 0; epoch < 4; ++epoch) {
    mean_loss.reset_state();
    accuracy.reset_state();
    for (int64_t i = 0; i < 2048; i += 64) train_step(images(tf::slice(i, i + 64)), labels(tf::slice(i, i + 64)));
    if (epoch == 0) first = mean_loss.result().item<float>();
  }
  std::cout << "steps made: " << optimizer.iterations().item<int64_t>() << "\n";
  std::cout << "traces: " << train_step.experimental_get_tracing_count() << "\n";
  std::cout << std::boolalpha << "the loss fell by half: " << (mean_loss.result().item<float>() < first / 2) << "\n";
  std::cout << "most digits are read: " << (accuracy.result().item<float>() > 0.9f) << "\n";
}

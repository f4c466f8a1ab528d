// A loss, a metric, a callback and a training step of one's own: structs, or functions.
#include <thalweg/thalweg.h>

#include <cstdio>

namespace tf = thalweg;
namespace keras = tf::keras;
namespace layers = keras::layers;
using tf::Tensor, tf::Variable;

struct Quantile {
  double quantile = 0.5;

  Tensor call(const Tensor& y_true, const Tensor& y_pred) {
    Tensor error = y_true - y_pred;
    return tf::reduce_mean(tf::maximum(quantile * error, (quantile - 1) * error), {.axis = -1});
  }
};

struct Coverage {  // the share of values below the prediction
  Variable below = Variable(0.0f), count = Variable(0.0f);

  void update_state(const Tensor& y_true, const Tensor& y_pred) {
    below.assign_add(tf::reduce_sum(tf::cast(y_true < y_pred, tf::float32)));
    count.assign_add(tf::cast(tf::size(y_true), tf::float32));
  }

  Tensor result() { return below / count; }
};

Tensor bias(const Tensor& y_true, const Tensor& y_pred) {  // a function is a metric too: its mean counts
  return y_pred - y_true;
}

struct StopAt {
  double loss = 0.1;

  void on_epoch_end(keras::Model& model, int epoch, const keras::Logs& logs) {
    if (logs["loss"] < loss) {
      std::printf("good enough after %d epochs\n", epoch + 1);
      model.stop_training();
    }
  }
};

struct Doubled {  // a model that counts its loss twice
  keras::Layer dense = layers::Dense(1);

  Tensor call(const Tensor& x) { return dense(x); }

  tf::Nest train_step(keras::Model& model, const Tensor& x, const Tensor& y) {
    tf::GradientTape tape;
    Tensor loss = 2.0f * tf::reduce_mean(tf::square(model(x, {.training = true}) - y));
    auto variables = model.trainable_variables();
    model.optimizer().apply_gradients(tape.gradient(loss, variables), variables);
    return {{"loss", loss}};
  }
};

int main() {
  keras::utils::set_random_seed(1);
  auto x = tf::random::normal({256, 2}, {.seed = 1});
  auto y = tf::reduce_sum(x, 1, {.keepdims = true}) + tf::random::uniform({256, 1}, {.seed = 2});

  auto model = keras::Sequential({layers::Dense(1)});
  model.compile({.optimizer = keras::optimizers::Adam(0.05),
                 .loss = Quantile{.quantile = 0.9},
                 .metrics = {Coverage{}, keras::Metric("bias", bias)}});
  auto history = model.fit(x, y, {.epochs = 100, .verbose = 0, .callbacks = {StopAt{.loss = 0.06}}, .shuffle = false});
  std::printf("below the prediction: %.3f of the values, which it exceeds by %.3f\n", history["coverage"].back(),
              history["bias"].back());

  keras::Model doubled = Doubled{};
  doubled.compile({.optimizer = "sgd"});
  auto losses = doubled.fit(x, y, {.epochs = 5, .verbose = 0, .shuffle = false})["loss"];
  std::printf("twice the loss: %.3f in the first epoch, %.3f in the last\n", losses.front(), losses.back());
}

"""A loss, a metric, a callback and a training step of one's own: classes, or functions."""

import thalweg as tf

keras = tf.keras
layers = keras.layers


class Quantile(keras.losses.Loss):
    def __init__(self, quantile=0.5):
        super().__init__()
        self.quantile = quantile

    def call(self, y_true, y_pred):
        error = y_true - y_pred
        return tf.reduce_mean(tf.maximum(self.quantile * error, (self.quantile - 1) * error), axis=-1)


class Coverage(keras.metrics.Metric):  # the share of values below the prediction
    def __init__(self):
        super().__init__(name="coverage")
        self.below = self.add_weight(name="below", initializer="zeros")
        self.count = self.add_weight(name="count", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        self.below.assign_add(tf.reduce_sum(tf.cast(y_true < y_pred, tf.float32)))
        self.count.assign_add(tf.cast(tf.size(y_true), tf.float32))

    def result(self):
        return self.below / self.count


def bias(y_true, y_pred):  # a function is a metric too: its mean counts
    return y_pred - y_true


class StopAt(keras.callbacks.Callback):
    def __init__(self, loss=0.1):
        super().__init__()
        self.loss = loss

    def on_epoch_end(self, epoch, logs=None):
        if logs["loss"] < self.loss:
            print(f"good enough after {epoch + 1} epochs")
            self.model.stop_training = True


class Doubled(keras.Model):  # a model that counts its loss twice
    def __init__(self):
        super().__init__()
        self.dense = layers.Dense(1)

    def call(self, x):
        return self.dense(x)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = 2.0 * tf.reduce_mean(tf.square(self(x, training=True) - y))
        variables = self.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return {"loss": loss}


keras.utils.set_random_seed(1)
x = tf.random.normal([256, 2], seed=1)
y = tf.reduce_sum(x, axis=1, keepdims=True) + tf.random.uniform([256, 1], seed=2)

model = keras.Sequential([layers.Dense(1)])
model.compile(optimizer=keras.optimizers.Adam(learning_rate=0.05), loss=Quantile(quantile=0.9),
              metrics=[Coverage(), bias])
history = model.fit(x, y, epochs=100, verbose=0, callbacks=[StopAt(loss=0.06)], shuffle=False)
print(f"below the prediction: {history.history['coverage'][-1]:.3f} of the values, which it exceeds by"
      f" {history.history['bias'][-1]:.3f}")

doubled = Doubled()
doubled.compile(optimizer="sgd")
losses = doubled.fit(x, y, epochs=5, verbose=0, shuffle=False).history["loss"]
print(f"twice the loss: {losses[0]:.3f} in the first epoch, {losses[-1]:.3f} in the last")

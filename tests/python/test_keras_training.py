"""compile, fit, evaluate, predict, and what takes part in them."""

import numpy as np
import pytest

import thalweg as tf
from thalweg import keras
from thalweg.keras import layers

X = np.sin(np.arange(60.0)).reshape(20, 3).astype(np.float32)
Y = X.sum(axis=1, keepdims=True)


def linear(**compiled):
    model = keras.Sequential([layers.Dense(1, kernel_initializer="zeros", input_shape=(3,))])
    model.compile(**{"optimizer": keras.optimizers.SGD(0.1), "loss": "mse", **compiled})
    return model


def test_fit_gives_a_history():
    model = linear(metrics=["mae"])
    history = model.fit(X, Y, epochs=3, batch_size=5, verbose=0, shuffle=False)
    assert list(history.history) == ["loss", "mae"] and history.epoch == [0, 1, 2]
    assert history.history["loss"][2] < history.history["loss"][0]
    assert model.optimizer.iterations.numpy() == 12
    assert model.history is history


def test_validation():
    model = linear()
    assert list(model.fit(X, Y, verbose=0, validation_split=0.25).history) == ["loss", "val_loss"]
    assert "val_loss" in model.fit(X, Y, verbose=0, validation_data=(X[:4], Y[:4])).history
    with pytest.raises(ValueError, match="not sufficient to split it"):
        model.fit(X[:1], Y[:1], verbose=0, validation_split=0.5)


def test_evaluate_and_predict():
    model = linear(metrics=["mae"])
    loss, mae = model.evaluate(X, Y, verbose=0)
    assert model.evaluate(X, Y, verbose=0, return_dict=True) == {"loss": loss, "mae": mae}
    assert loss == pytest.approx(float(np.mean(Y ** 2)), rel=1e-5)
    predicted = model.predict(X, batch_size=7, verbose=0)
    assert isinstance(predicted, np.ndarray) and predicted.shape == (20, 1)


def test_generators_and_sequences():
    class Batches(keras.utils.Sequence):
        def __len__(self):
            return 4

        def __getitem__(self, i):
            return X[5 * i:5 * i + 5], Y[5 * i:5 * i + 5]

    model = linear()
    model.fit(Batches(), epochs=2, verbose=0)
    assert model.optimizer.iterations.numpy() == 8

    def batches():
        while True:
            yield X[:5], Y[:5]

    model.fit(batches(), steps_per_epoch=3, epochs=2, verbose=0)
    assert model.optimizer.iterations.numpy() == 14


def test_a_step_of_ones_own():
    class Counted(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = layers.Dense(1)
            self.tracker = keras.metrics.Mean(name="loss")

        def call(self, x):
            return self.dense(x)

        def train_step(self, data):
            x, y = data
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(self(x, training=True) - y))
            gradients = tape.gradient(loss, self.trainable_variables)
            self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
            self.tracker.update_state(loss)
            return {"loss": self.tracker.result(), "twice": 2 * loss}

        @property
        def metrics(self):
            return [self.tracker]

    model = Counted()
    model.compile(optimizer=keras.optimizers.SGD(0.1))
    history = model.fit(X, Y, epochs=2, verbose=0)
    assert list(history.history) == ["loss", "twice"]


def test_losses_and_metrics_of_ones_own():
    class Cubed(keras.losses.Loss):
        def call(self, y_true, y_pred):
            return tf.reduce_mean(tf.abs(y_true - y_pred) ** 3, axis=-1)

    class Largest(keras.metrics.Metric):
        def __init__(self, name="largest", **kwargs):
            super().__init__(name=name, **kwargs)
            self.value = self.add_weight(name="value", initializer="zeros")

        def update_state(self, y_true, y_pred, sample_weight=None):
            self.value.assign(tf.maximum(self.value, tf.reduce_max(y_pred)))

        def result(self):
            return self.value

    def bias(y_true, y_pred):
        return y_pred - y_true

    model = linear(loss=Cubed(), metrics=[Largest(), bias])
    history = model.fit(X, Y, verbose=0, batch_size=20)
    assert list(history.history) == ["loss", "largest", "bias"]
    assert history.history["loss"][0] == pytest.approx(float(np.mean(np.abs(Y) ** 3)), rel=1e-5)
    assert Cubed()(Y, np.zeros_like(Y)).numpy() == pytest.approx(float(np.mean(np.abs(Y) ** 3)), rel=1e-5)
    metric = Largest()
    metric.update_state(Y, Y)
    assert float(metric.result()) == pytest.approx(float(Y.max()))
    metric.reset_state()
    assert float(metric.result()) == 0.0


def test_callbacks():
    seen = []

    class Watch(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            seen.append((epoch, sorted(logs)))
            if epoch == 1:
                self.model.stop_training = True

    history = linear().fit(X, Y, epochs=5, verbose=0, callbacks=[Watch()])
    assert seen == [(0, ["loss"]), (1, ["loss"])] and history.epoch == [0, 1]


def test_several_outputs_by_name():
    inputs = keras.Input((3,))
    model = keras.Model(inputs, [layers.Dense(1, name="a")(inputs), layers.Dense(2, name="b")(inputs)])
    model.compile(optimizer="sgd", loss={"a": "mse", "b": "mae"}, loss_weights={"a": 2.0},
                  metrics={"b": ["mse"]})
    history = model.fit(X, {"a": Y, "b": X[:, :2]}, verbose=0)
    assert list(history.history) == ["loss", "a_loss", "b_loss", "b_mse"]
    with pytest.raises(ValueError, match="the model has no output 'c'; it has 'a', 'b'"):
        model.compile(optimizer="sgd", loss={"c": "mse"})
        model.fit(X, {"a": Y, "b": X[:, :2]}, verbose=0)


def test_weights_of_examples_and_classes():
    model = linear()
    weighted = model.evaluate(X, Y, sample_weight=np.r_[np.ones(10), np.zeros(10)].astype(np.float32), verbose=0)
    assert weighted == pytest.approx(float(np.sum(Y[:10] ** 2) / 20), rel=1e-5)
    classes = (Y > 0).astype(np.int64)[:, 0]
    model.fit(X, classes, class_weight={0: 0.0, 1: 0.0}, verbose=0)
    assert model.layers[0].get_weights()[0].tolist() == [[0.0], [0.0], [0.0]]


def test_what_cannot_be_trained():
    model = keras.Sequential([layers.Dense(1)])
    with pytest.raises((RuntimeError, ValueError), match="must compile your model before training/testing"):
        model.fit(X, Y, verbose=0)
    with pytest.raises(ValueError, match="unknown optimizer 'adma'; did you mean 'adam'"):
        model.compile(optimizer="adma")
    model.compile(loss="mse")
    with pytest.raises(ValueError, match="Data cardinality is ambiguous"):
        model.fit(X, Y[:3], verbose=0)


def test_the_step_is_traced_once_for_each_size():
    traces = []

    class Traced(layers.Layer):
        def call(self, x):
            traces.append(x.shape)
            return x

    model = keras.Sequential([Traced(), layers.Dense(1)])
    model.compile(optimizer="sgd", loss="mse")
    model.fit(X, Y, batch_size=8, epochs=1, verbose=0)
    before = len(traces)
    model.fit(X, Y, batch_size=8, epochs=3, verbose=0)
    assert len(traces) == before

"""Models that train in their own way."""

import numpy as np
import pytest
from keras_samples import X, Y

import thalweg as tf
from thalweg import keras
from thalweg.keras import layers


class Summing(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = layers.Dense(1, kernel_initializer="ones")

    def call(self, x):
        return self.dense(x)


def fit(model, *data, **options):
    return model.fit(*data, verbose=0, shuffle=False, **options).history


def test_a_loss_that_adds_to_that_of_compile():
    class Penalised(Summing):
        def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None):
            return super().compute_loss(x, y, y_pred, sample_weight) + 10.0 * tf.reduce_mean(tf.square(y_pred))

    model = Penalised()
    model.compile(keras.optimizers.SGD(0.01), "mse")
    fit(model, X, Y)
    np.testing.assert_allclose(model.dense.get_weights()[0].ravel(), [0.8849, 0.8093, 0.909], atol=1e-4)


def test_a_loss_of_ones_own():
    class Own(Summing):
        def __init__(self):
            super().__init__()
            self.mean = keras.metrics.Mean(name="loss")

        def compute_loss(self, x, y, y_pred, sample_weight):
            loss = tf.reduce_mean(tf.square(y_pred - y))
            self.mean.update_state(loss)
            return loss

        @property
        def metrics(self):
            return [self.mean]

    model = Own()
    model.compile(keras.optimizers.SGD(0.01))
    np.testing.assert_allclose(fit(model, X, Y + 1, epochs=2)["loss"], [1.0, 0.9603], atol=1e-4)
    assert model.evaluate(X, Y, verbose=0) == pytest.approx(0.001584, abs=1e-5)


def test_metrics_of_ones_own():
    class Measured(Summing):
        def compute_metrics(self, x, y, y_pred, sample_weight):
            results = super().compute_metrics(x, y, y_pred, sample_weight)
            results["level"] = tf.reduce_mean(y_pred)
            return results

    model = Measured()
    model.compile("sgd", "mse", metrics=["mae"])
    assert sorted(fit(model, X, Y)) == ["level", "loss", "mae"]
    assert sorted(model.evaluate(X, Y, verbose=0, return_dict=True)) == ["level", "loss", "mae"]


def test_metrics_of_several_numbers(capsys):
    class Extremes(keras.metrics.Metric):
        def __init__(self, name="extremes", **kwargs):
            super().__init__(name=name, **kwargs)
            self.low = self.add_weight("low", initializer="zeros")
            self.high = self.add_weight("high", initializer="zeros")

        def update_state(self, y_true, y_pred, sample_weight=None):
            self.low.assign(tf.minimum(self.low, tf.reduce_min(y_pred)))
            self.high.assign(tf.maximum(self.high, tf.reduce_max(y_pred)))

        def result(self):
            return {"low": self.low, "high": self.high}

    model = keras.Sequential([layers.Dense(1, kernel_initializer="ones", input_shape=(1,))])
    model.compile(keras.optimizers.SGD(0.0), "mse", metrics=[Extremes(), "mae"])
    x = np.array([[-1.0], [2.0], [4.0]], "float32")
    history = model.fit(x, x, validation_data=(x + 1, x), batch_size=1, shuffle=False, verbose=1).history
    assert list(history) == ["loss", "low", "high", "mae", "val_loss", "val_low", "val_high", "val_mae"]
    assert history["high"] == [4.0] and history["val_high"] == [5.0] and history["low"] == [-1.0]
    assert "low: -1.0000 - high: 4.0000" in capsys.readouterr().out
    assert model.evaluate(x, x, verbose=0) == [0.0, -1.0, 4.0, 0.0]
    assert sorted(model.get_metrics_result()) == ["high", "loss", "low", "mae"]
    assert model.train_on_batch(x, x, return_dict=True)["high"] == 4.0


def test_functions_of_an_iterator():
    model = Summing()
    model.compile(keras.optimizers.SGD(0.01), "mse")
    batches = tf.data.Dataset.from_tensor_slices((X, Y + 1)).batch(5)
    train, test = model.make_train_function(), model.make_test_function()
    assert train is model.make_train_function() is model.train_function and model.predict_function is None
    iterator = iter(batches)
    first = float(train(iterator)["loss"])
    assert first == pytest.approx(1.0) and float(train(iterator)["loss"]) < first
    assert "loss" in test(iterator) and model.make_predict_function()(iter([X])).shape == (20, 1)
    assert int(model.optimizer.iterations) == 2
    model.compile("sgd", "mse")
    assert model.train_function is None


def test_a_class_that_makes_its_functions():
    calls = []

    class Watched(Summing):
        def make_train_function(self, force=False):
            train = super().make_train_function(force)

            def function(iterator):
                logs = train(iterator)
                calls.append(float(logs["loss"]))  # a number: this is not traced
                return logs

            return function

    model = Watched()
    model.compile(keras.optimizers.SGD(0.01), "mse", metrics=["mae"])
    history = fit(model, X, Y + 1, batch_size=5, validation_data=(X, Y))
    assert len(calls) == 4 and history["loss"][0] == pytest.approx(calls[-1]) and "val_mae" in history
    model.train_on_batch(X, Y)
    assert len(calls) == 5


def test_inputs_alone_come_as_they_are():
    seen = []

    class Coding(Summing):
        def train_step(self, data):
            seen.append(tf.is_tensor(data))
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(self(data, training=True)))
            self.optimizer.minimize(loss, self.trainable_variables, tape=tape)
            return {"loss": loss}

        def predict_step(self, data):
            seen.append(tf.is_tensor(data))
            return super().predict_step(data)

    model = Coding()
    model.compile("sgd")
    fit(model, X)
    fit(model, (X[:5] for _ in range(4)))
    fit(model, tf.data.Dataset.from_tensor_slices(X).batch(5))
    model.predict(X, verbose=0)
    assert seen and all(seen)


def test_the_losses_and_metrics_of_compile_in_a_step():
    class Stepping(Summing):
        def train_step(self, data):
            x, y, sample_weight = keras.utils.unpack_x_y_sample_weight(data)
            with tf.GradientTape() as tape:
                y_pred = self(x, training=True)
                loss = self.compiled_loss(y, y_pred, sample_weight, regularization_losses=self.losses)
            self.optimizer.minimize(loss, self.trainable_variables, tape=tape)
            self.compiled_metrics.update_state(y, y_pred, sample_weight)
            return {metric.name: metric.result() for metric in self.metrics}

    model = Stepping()
    model.compile(keras.optimizers.SGD(0.01), "mse", weighted_metrics=["mae"])
    history = fit(model, X, Y + 1, sample_weight=np.arange(20.0))
    assert history["loss"][0] == pytest.approx(9.5) and history["mae"][0] == pytest.approx(1.0)


def test_a_class_over_a_graph_of_layers():
    class Doubled(keras.Model):
        def train_step(self, data):
            return {**super().train_step(data), "two": tf.constant(2.0)}

    x = keras.Input((3,), name="x")
    model = Doubled(x, layers.Dense(1, name="y")(x))
    model.compile("sgd", {"y": "mse"})
    assert list(fit(model, {"x": X}, {"y": Y})) == ["loss", "two"]
    assert model.output_names == ["y"] and model.inputs[0].shape == (None, 3)


def test_running_op_by_op():
    seen = []

    class Watched(Summing):
        def call(self, x):
            seen.append(tf.executing_eagerly())
            return super().call(x)

    model = Watched()
    model.compile("sgd", "mse", run_eagerly=True)
    fit(model, X, Y)
    assert model.run_eagerly and all(seen)
    model.run_eagerly = False
    seen.clear()
    fit(model, X, Y)
    assert not any(seen)


def test_metrics_that_a_class_names_begin_anew_with_every_epoch():
    mean = keras.metrics.Mean(name="loss")  # no attribute of the model

    class Named(Summing):
        def train_step(self, data):
            x, y = data
            with tf.GradientTape() as tape:
                loss = keras.losses.mean_squared_error(y, self(x, training=True))
            variables = self.trainable_variables
            self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
            mean.update_state(loss)
            return {"loss": mean.result()}

        @property
        def metrics(self):
            return [mean]

    model = Named()
    model.compile("adam")
    np.testing.assert_allclose(fit(model, X, Y + 1, epochs=3)["loss"], [1.0, 0.9978, 0.9956], atol=1e-4)

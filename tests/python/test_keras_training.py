"""compile, fit, evaluate, predict, and what takes part in them."""

import random
import re
import subprocess
import sys

import numpy as np
import pytest
from keras_samples import X, Y, linear

import thalweg as tf
from thalweg import keras
from thalweg.keras import layers


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


INTERRUPTED = """
import os, signal, threading
import numpy as np
from thalweg import keras

signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell may have told its jobs to ignore

class Interrupt(keras.callbacks.Callback):
    def on_train_batch_begin(self, batch, logs=None):
        if self.model.optimizer.iterations.numpy() == 3:
            os.kill(os.getpid(), signal.SIGINT)

x, y = np.ones((8, 2), np.float32), np.ones((8, 1), np.float32)
model = keras.Sequential([keras.layers.Dense(1, input_shape=(2,))])
model.compile("sgd", "mse")
for callbacks in [Interrupt()], []:
    if not callbacks:
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        model.fit(x, y, batch_size=4, epochs=10**9, verbose=0, callbacks=callbacks)
    except KeyboardInterrupt:
        epochs = len(model.history.epoch)
        assert epochs == len(model.history.history["loss"])
        print(epochs == 1 if callbacks else epochs > 1)
print(model.fit(x, y, verbose=0).epoch)
"""


def test_an_interrupt_ends_training_and_keeps_the_history():
    ran = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, check=False, timeout=100)
    assert (ran.stdout, ran.stderr) == ("True\nTrue\n[0]\n", "")


REPEATED = """
import random, sys
import numpy as np
import thalweg as tf
tf.config.threading.set_intra_op_parallelism_threads(int(sys.argv[1]))
from thalweg import keras
keras.utils.set_random_seed(5)
model = keras.Sequential([keras.layers.Dense(64, activation="relu", input_shape=(400,)), keras.layers.Dropout(0.4),
                          keras.layers.Dense(3, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy")
x, y = np.random.rand(600, 400).astype(np.float32), np.random.randint(3, size=600)
history = model.fit(x, y, epochs=2, verbose=0).history["loss"]
print(random.random(), history, [weight.tobytes().hex() for weight in model.get_weights()])
"""


def test_the_same_seed_gives_the_same_training():
    ran = [subprocess.run([sys.executable, "-c", REPEATED, threads], capture_output=True, text=True, check=True).stdout
           for threads in ("1", "2", "2")]
    assert ran[0] == ran[1] == ran[2]


def test_seeds_give_the_weights_of_keras():
    keras.utils.set_random_seed(7)
    model = keras.Sequential([layers.Dense(3, input_shape=(2,))])
    kernel = [[-0.40001481771469116, 0.5036206245422363, 0.9944791793823242],
              [-0.3734724521636963, -0.24597936868667603, 0.036820173263549805]]
    assert model.get_weights()[0].tolist() == kernel
    assert (random.random(), np.random.rand()) == (0.32383276483316237, 0.07630828937395717)
    with pytest.raises(ValueError, match="Expected `seed` argument to be an integer. Received: seed=1.5"):
        keras.utils.set_random_seed(1.5)


def refusal(call):
    with pytest.raises((ValueError, RuntimeError, tf.errors.InvalidArgumentError)) as refused:
        call()
    return re.sub(" made at [^\n]*", "", str(refused.value))


def test_what_does_not_fit_is_said():
    keras.backend.clear_session()
    inputs = keras.Input((4,))
    model = keras.Model(inputs, [layers.Dense(1, name="score")(inputs),
                                 layers.Dense(3, name="label", activation="softmax")(inputs)])
    x, score, label = np.ones((6, 4)), np.ones((6, 1)), np.zeros(6, np.int64)

    def fit(x, y):
        return refusal(lambda: model.fit(x, y, verbose=0))

    assert fit(x, [score, label]) == ("You must compile your model before training/testing. Use `model.compile("
                                      "optimizer, loss)`. The model is 'model'.")
    model.compile("sgd", ["mse", "sparse_categorical_crossentropy"])
    assert fit(x, [score, label + 3]) == (
        "SparseSoftmaxCrossEntropyWithLogits: label 3 at 0 is out of range: it must lie in [0, 3) (inputs: float32[6, 3], "
        "int64[6]) [[node loss_of_output_1/SparseSoftmaxCrossEntropyWithLogits]]\n  in the loss "
        "'sparse_categorical_crossentropy' of output 'label'")
    assert fit(x, [score, np.ones((6, 2))]) == (
        "`labels.shape` must equal `logits.shape` except for the last dimension. Received: labels.shape=(12,) and "
        "logits.shape=(6, 3)\n  in the loss 'sparse_categorical_crossentropy' of output 'label': the labels are "
        "float32(6, 2), the predictions float32(6, 3)")
    assert fit(np.ones((6, 5)), [score, label]) == (
        'Input 0 of layer "model" is incompatible with the layer: expected shape=(None, 4), found shape=(6, 5)')
    assert fit(x, [score]) == "the model has 2 outputs, but y has 1 items: [Tensor]"
    assert fit(x, [score, label[:5]]) == ("Data cardinality is ambiguous:\n  x sizes: 6\n  y sizes: 6, 5\nMake sure all "
                                          "arrays contain the same number of samples.")


def test_a_nan_is_told_once_unless_a_callback_ends_training(capfd, caplog):
    model = linear()
    x = X.copy()
    x[1, 0] = np.nan
    model.fit(x, Y, epochs=2, verbose=0)
    said = caplog.text
    assert (f'fit: the loss is nan in epoch 1. Input 0 of layer "{model.name}": expected finite numbers, found nan at (1, 0) of '
            f"float32{x.shape}.") in said and said.count("the loss is nan") == 1
    assert np.isnan(model.history.history["loss"]).tolist() == [True, True]
    assert len(linear().fit(x, Y, epochs=2, verbose=0, callbacks=[keras.callbacks.TerminateOnNaN()]).epoch) == 1
    assert "Batch 0: Invalid loss, terminating training" in capfd.readouterr().out


def test_metrics_that_change_one_of_the_engine():
    class Rooted(keras.metrics.Mean):
        def update_state(self, y_true, y_pred, sample_weight=None):
            super().update_state(tf.abs(y_true - y_pred), sample_weight=sample_weight)

        def result(self):
            return tf.sqrt(super().result())

    model = linear(metrics=[Rooted(name="rooted"), keras.metrics.MeanMetricWrapper(keras.metrics.mae, name="mine")])
    logs = model.evaluate(X, Y, verbose=0, return_dict=True)
    assert logs["rooted"] == pytest.approx(float(np.sqrt(np.mean(np.abs(Y)))), rel=1e-5)
    assert logs["mine"] == pytest.approx(float(np.mean(np.abs(Y))), rel=1e-5)


def test_mean_metric_wrapper():
    metric = keras.metrics.MeanMetricWrapper(keras.metrics.binary_accuracy, "share", threshold=0.7)
    metric.update_state([[1.0], [0.0], [1.0]], [[0.8], [0.3], [0.6]])
    assert float(metric.result()) == pytest.approx(2 / 3)
    metric.update_state([[1.0]], [[0.8]], sample_weight=[3.0])
    assert float(metric.result()) == pytest.approx(5 / 6)
    assert isinstance(metric, keras.metrics.Mean) and [v.name for v in metric.variables] == ["total:0", "count:0"]
    again = keras.metrics.MeanMetricWrapper.from_config(metric.get_config())
    assert again.get_config() == metric.get_config() == {
        "name": "share", "dtype": "float32", "fn": keras.metrics.binary_accuracy, "threshold": 0.7}
    metric.reset_state()
    assert float(metric.result()) == 0.0


def test_logits_behind_probabilities():
    logits, label = tf.constant([[50.0, -60.0, 3.0]]), tf.constant([1])
    loss = keras.losses.SparseCategoricalCrossentropy()
    assert float(loss(label, keras.activations.softmax(logits))) == 110.0
    assert float(loss(label, layers.Softmax()(logits))) == 110.0
    assert float(loss(label, tf.nn.softmax(logits))) == pytest.approx(16.118095)
    assert float(tf.function(lambda x: loss(label, tf.nn.softmax(x)))(logits)) == 110.0


def test_batches_between_hooks():
    seen = []
    model = linear()
    assert model.steps_per_execution == 1
    model.compile("sgd", "mse", steps_per_execution=2)
    hook = keras.callbacks.LambdaCallback(on_train_batch_end=lambda batch, logs: seen.append(batch))
    model.fit(X, Y, batch_size=4, verbose=0, callbacks=[hook])
    assert model.steps_per_execution == 2 and seen == [1, 3, 4]


def test_a_seed_gives_the_order_of_keras():
    seen = []

    class Watching(keras.Model):
        def call(self, x):
            return x

        def train_step(self, data):
            x = data[0] if isinstance(data, tuple) else data
            tf.py_function(lambda rows: seen.extend(int(row) for row in rows.numpy().ravel()), [x], [])
            return {}

    keras.utils.set_random_seed(3)
    model = Watching()
    model.compile()
    model.fit(np.arange(10.0).reshape(10, 1), epochs=2, batch_size=5, verbose=0)
    assert seen == [1, 2, 4, 6, 7, 0, 5, 3, 8, 9] + [1, 5, 7, 6, 3, 0, 2, 4, 9, 8]


def test_labels_of_another_rank():
    model = linear(optimizer=keras.optimizers.SGD(0.0))
    losses = [model.evaluate(X[:n], y[:n], verbose=0) for n in (20, 7) for y in (Y, Y[:, 0])]
    assert losses[1] == pytest.approx(losses[0]) and losses[3] == pytest.approx(losses[2])
    chain = keras.Sequential([layers.Dense(2)])
    assert [chain.predict(np.ones(shape), verbose=0).shape for shape in ((5, 4), (7, 4), (1, 5, 4))] == [
        (5, 2), (7, 2), (1, 5, 2)]


def test_predictions_are_ones_own():
    predicted = linear().predict(X, verbose=0)
    predicted += 1
    assert predicted[0, 0] == 1 and linear().predict_on_batch(X).flags.writeable


def test_labels_for_some_outputs():
    x = keras.Input((3,))
    a, b = layers.Dense(1, name="a")(x), layers.Dense(1, name="b")(x)
    model = keras.Model(x, [a, b])
    model.compile("sgd", ["mse", None])
    assert list(model.fit(X, Y, verbose=0).history) == ["loss", "a_loss"]  # one y for all
    both = keras.Model(x, {"a": a, "b": b})
    both.compile("sgd", "mse")
    assert both.fit(X, {"a": Y}, verbose=0).history["b_loss"] == [0]


def test_without_labels():
    model = linear(metrics=["mae"])
    assert model.evaluate(X, verbose=0) == [0, 0]
    with pytest.raises(ValueError, match="Target data is missing"):
        model.fit(X, verbose=0)
    with pytest.raises(ValueError, match="No loss found"):
        linear(loss=None).fit(X, Y, verbose=0)


def test_updates_are_made_in_fit_unless_a_layer_is_frozen():
    class Counting(layers.Layer):
        def build(self, shape):
            self.count = self.add_weight(name="count", shape=(), initializer="zeros", trainable=False)

        def call(self, x):
            self.add_update(lambda: self.count.assign_add(1.0))
            return x

    counting = Counting()
    model = keras.Sequential([counting, layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(X, Y, batch_size=5, verbose=0)
    assert counting.count.numpy() == 4
    counting.trainable = False
    model.compile("sgd", "mse")
    model.fit(X, Y, batch_size=5, verbose=0)
    assert counting.count.numpy() == 4


def test_metrics_without_results():
    class Empty(keras.metrics.Metric):
        def update_state(self, y_true, y_pred, sample_weight=None):
            pass

        def result(self):
            return None

    with pytest.raises(RuntimeError, match="For metric empty, got result None"):
        linear(metrics=[Empty()]).fit(X, Y, verbose=0)
    with pytest.raises(RuntimeError, match="The output of a metric function can only be a single Tensor"):
        linear(metrics=[lambda a, b: None]).fit(X, Y, verbose=0)


def test_class_weights_are_numbers():
    with pytest.raises(ValueError, match="Expected `class_weight` to be a dict with keys from 0"):
        linear().fit(X, Y, class_weight={"a": {0: 1.0}}, verbose=0)


def test_fit_calls_what_an_optimizer_writes():
    class Halving(keras.optimizers.SGD):
        def apply_gradients(self, grads_and_vars, *args, **kwargs):
            return super().apply_gradients([(g * 0.5, v) for g, v in grads_and_vars], *args, **kwargs)

    halved, slow = linear(optimizer=Halving(0.1)), linear(optimizer=keras.optimizers.SGD(0.05))
    for model in (halved, slow):
        model.fit(X, Y, shuffle=False, verbose=0)
    np.testing.assert_allclose(halved.get_weights()[0], slow.get_weights()[0], rtol=1e-6)


def test_variables_without_gradients_are_named(caplog):
    class Half(keras.Model):
        def __init__(self):
            super().__init__()
            self.used, self.unused = layers.Dense(1), layers.Dense(1, name="unused")
            self.unused.build((None, 3))

        def call(self, x):
            return self.used(x)

    model = Half()
    model.compile("sgd", "mse")
    model.fit(X, Y, epochs=3, batch_size=5, verbose=0)
    assert caplog.text.count("Gradients do not exist for variables ['kernel:0', 'bias:0']") == 1


def test_steps_get_real_numbers_in_the_dtype_of_keras():
    seen = []

    class Mine(keras.Model):
        def train_step(self, data):
            x, y = data
            seen.append((x.dtype, y.dtype))
            return {"loss": tf.reduce_mean(x) * 0.0 + 1.0}

    model = Mine()
    model.compile()
    model.fit(X.astype("float64"), np.arange(20), verbose=0)
    model.fit(((X.astype("float16"), np.arange(20.0)) for _ in range(2)), verbose=0)
    assert seen[0] == (tf.float32, tf.int64) and seen[-1] == (tf.float32, tf.float32)


def test_metrics_begin_anew_whatever_they_counted_before():
    model, metric = linear(metrics=[]), keras.metrics.MeanAbsoluteError(name="error")
    metric.update_state([100.0], [0.0])
    model.compile("sgd", "mse", metrics=[metric])
    assert model.metrics_names == []  # before the first batch
    assert model.evaluate(X, Y, verbose=0)[1] < 10 and model.metrics_names == ["loss", "error"]
    with pytest.raises(ValueError, match="Found duplicated metrics object"):
        model.compile("sgd", "mse", metrics=[metric], weighted_metrics=[metric])


def test_compiling_without_a_loss_leaves_an_empty_one():
    model = linear()
    model.compile("sgd")
    assert model.loss == {}

"""The forms of data, losses and metrics that fit and compile take."""

import numpy as np
import pytest
from keras_samples import X, Y, linear

import thalweg as tf
from thalweg import keras
from thalweg.keras import layers

QUIET = {"verbose": 0, "shuffle": False}


def two(**compiled):
    x = keras.Input((3,))
    model = keras.Model(x, [layers.Dense(1, name="a", kernel_initializer="zeros")(x),
                            layers.Dense(2, name="b", kernel_initializer="ones")(x)])
    model.compile(**{"optimizer": keras.optimizers.SGD(0.1), "loss": "mse", **compiled})
    return model


def losses(model, *data, **options):
    return [round(loss, 3) for loss in model.fit(*data, **QUIET, **options).history["loss"]]


class Rows(keras.utils.Sequence):
    def __init__(self):
        self.ended = 0

    def __len__(self):
        return 4

    def __getitem__(self, i):
        return X[5 * i:5 * i + 5], Y[5 * i:5 * i + 5]

    def on_epoch_end(self):
        self.ended += 1


def test_each_epoch_of_a_sequence_begins_with_its_first_batch():
    rows = Rows()
    assert losses(linear(), rows, epochs=2, steps_per_epoch=2) == [1.039, 0.64] and rows.ended == 2
    assert losses(linear(), rows, epochs=2) == [1.467, 0.383] and rows.ended == 4


def test_steps_go_on_through_the_arrays():
    assert losses(linear(), X, Y, epochs=2, steps_per_epoch=3, batch_size=5) == [1.258, 0.912]
    # The first epoch has the data of both.
    assert losses(linear(), X, Y, epochs=2, steps_per_epoch=8, batch_size=5) == [0.925]


def test_what_batches_have_in_themselves():
    def generate():
        while True:
            yield X[:5], Y[:5]

    dataset = tf.data.Dataset.from_tensor_slices((X, Y)).batch(5)
    model = linear()
    for x, name in ((generate(), "python generator"), (Rows(), "`keras.utils.Sequence`"), (dataset, "dataset")):
        with pytest.raises(ValueError, match=f"`y` argument is not supported when using {name} as input."):
            model.fit(x, Y)
        with pytest.raises(ValueError, match="`sample_weight` argument is not supported"):
            model.fit(x, sample_weight=Y)
        with pytest.raises(ValueError, match="`validation_split` is only supported for Tensors or NumPy arrays"):
            model.fit(x, validation_split=0.5)
    with pytest.raises(ValueError, match="Failed to find data adapter that can handle input: <class 'NoneType'>"):
        model.fit(None, Y)
    with pytest.raises(TypeError, match=r"Invalid keyword arguments: \['foo'\]"):
        model.evaluate(X, Y, foo=1)


def test_losses_and_metrics_by_the_name_of_the_output():
    model = linear(loss={"only": "mse"}, metrics={"only": ["mae"]})
    assert model.output_names == ["only"] and model.input_names == ["only_input"]
    assert list(model.fit(X, Y, **QUIET).history) == ["loss", "mae"]


def test_outputs_in_a_dict_go_by_their_keys():
    x = keras.Input((3,))
    model = keras.Model(x, {"p": layers.Dense(1, name="sum", kernel_initializer="ones")(x), "q": x})
    model.compile("sgd", {"p": "mse", "q": "mae"}, metrics={"p": "mae"})
    history = model.fit(X, {"p": Y, "q": X}, **QUIET).history
    assert list(history)[:2] == ["loss", "sum_loss"] and history["loss"][0] < 1e-10


def test_metrics_of_ones_own_for_each_output():
    class Total(keras.metrics.Metric):
        def __init__(self, name="total", **kwargs):
            super().__init__(name=name, **kwargs)
            self.value = self.add_weight(name="value", initializer="zeros")

        def update_state(self, y_true, y_pred, sample_weight=None):
            self.value.assign_add(tf.reduce_sum(y_true))

        def result(self):
            return self.value

    def bias(y_true, y_pred):
        return y_pred - y_true

    history = two(metrics=[Total(), bias]).fit(X, [Y, X[:, :2]], **QUIET).history
    assert list(history)[3:] == ["a_total", "a_bias", "b_total", "b_bias"]
    assert history["a_total"][0] == pytest.approx(Y.sum(), rel=1e-5)
    assert history["b_total"][0] == pytest.approx(X[:, :2].sum(), rel=1e-5)
    assert history["a_bias"][0] == pytest.approx(-Y.mean(), rel=1e-5)


def test_a_loss_can_be_a_metric():
    history = linear(metrics=[keras.losses.MeanAbsoluteError()]).fit(X, Y, **QUIET).history
    assert history["mean_absolute_error"][0] == pytest.approx(np.abs(Y).mean(), rel=1e-5)


def test_an_output_without_a_weight_counts_once():
    data = X, [Y, X[:, :2]]
    assert losses(two(loss=["mse", "mae"], loss_weights=[1, None]), *data) == losses(two(loss=["mse", "mae"]), *data)


def test_losses_and_metrics_of_the_tensors_of_a_model():
    x = keras.Input((3,))
    y = layers.Dense(1, kernel_initializer="ones")(x)
    model = keras.Model(x, y)
    model.add_loss(tf.reduce_mean(y ** 2))
    model.add_metric(tf.reduce_mean(y), name="level")
    model.compile(keras.optimizers.SGD(0.1))
    history = model.fit(X, epochs=3, **QUIET).history
    np.testing.assert_allclose(history["loss"], [1.984, 1.445, 1.054], atol=1e-3)
    assert history["level"][0] == pytest.approx(Y.mean(), rel=1e-5)
    assert model.evaluate(X, verbose=0)[0] == pytest.approx(0.7694, abs=1e-4)


def test_what_a_compiled_model_shows():
    model = keras.Sequential([layers.Dense(1, input_shape=(3,))])
    assert (model.compiled_loss, model.compiled_metrics, model.history) == (None, None, None)
    model.compile("sgd", "mse", metrics=["mae"], run_eagerly=1, sample_weight_mode=None)
    assert model.run_eagerly is True
    model.run_eagerly = False
    assert model.run_eagerly is False
    model.fit(X, Y, verbose=0)
    assert [metric.name for metric in model.compiled_loss.metrics] == ["loss"]
    assert [metric.name for metric in model.compiled_metrics.metrics] == ["mae"]
    assert sorted(model.get_metrics_result()) == ["loss", "mae"]


def test_names_of_old_programs():
    model = linear()
    with pytest.warns(UserWarning, match="`Model.fit_generator` is deprecated"):
        assert model.fit_generator(Rows(), epochs=2, verbose=0).epoch == [0, 1]
    with pytest.warns(UserWarning, match="Please use `Model.evaluate`, which supports generators"):
        assert model.evaluate_generator(Rows()) == pytest.approx(model.evaluate(X, Y, verbose=0), rel=1e-5)
    with pytest.warns(UserWarning, match="predict_generator"):
        assert model.predict_generator(Rows()).shape == (20, 1)


def test_numbers_of_steps_and_examples():
    def generate():
        while True:
            yield X[:5], Y[:5]

    model = linear()
    model.fit(generate(), steps_per_epoch=2.5, verbose=0)
    assert model.optimizer.iterations.numpy() == 3
    assert model.predict(generate(), steps=np.float64(1.5), verbose=0).shape == (10, 1)
    with pytest.raises(TypeError, match="`batch_size` must be a whole number. Got: 5.0"):
        model.fit(X, Y, batch_size=5.0)
    for run in (model.fit, model.evaluate):
        with pytest.raises(ValueError, match="Expected input data to be non-empty."):
            run(X[:0], Y[:0])
    with pytest.raises(ValueError, match="Expected input data to be non-empty."):
        model.predict(X[:0])

"""The optimizers of older programs, against what Keras gives for them."""

import json
import pathlib

import numpy as np
import pytest

import thalweg as tf
from thalweg.keras import layers
from thalweg.keras.optimizers import legacy

GOLDEN = pathlib.Path(__file__).parent.parent / "golden" / "keras" / "legacy_optimizers.npz"
with np.load(GOLDEN) as _arrays:
    CASES = json.loads(_arrays["manifest"].tobytes())["cases"]
    DATA = _arrays["data"].tobytes()


def array(reference):
    start = reference["offset"]
    return np.frombuffer(DATA[start:start + reference["bytes"]], reference["dtype"]).reshape(reference["shape"])


def gradient(reference):
    if reference is None or "indices" not in reference:
        return None if reference is None else tf.constant(array(reference))
    return tf.IndexedSlices(tf.constant(array(reference["values"])), tf.constant(array(reference["indices"])),
                            tf.constant(reference["dense_shape"]))


def rounded(config):
    """Numbers with the digits that a float32 has."""
    if isinstance(config, dict):
        return {key: rounded(value) for key, value in config.items()}
    return float(f"{config:.6g}") if isinstance(config, float) else config


def made(case):
    return getattr(legacy, case["class"]).from_config(case["config"])


@pytest.mark.parametrize("traced", [False, True], ids=["eager", "traced"])
@pytest.mark.parametrize("case", [case for case in CASES if case["error"] is None],
                         ids=lambda case: f"{case['class']}-{case['row']}")
def test_steps(case, traced):
    optimizer = made(case)
    variables = [tf.Variable(array(one["value"]), name=one["name"][:-2]) for one in case["variables"]]

    def apply(gradients):
        optimizer.apply_gradients(zip(gradients, variables))

    step = tf.function(apply) if traced else apply
    for references, after in zip(case["gradients"], case["after"]):
        step([gradient(reference) for reference in references])
        for variable, expected in zip(variables, after):
            np.testing.assert_allclose(variable.numpy(), array(expected), 2e-6, 2e-6)
    assert optimizer.iterations.numpy() == case["iterations"]
    assert rounded(optimizer.get_config()) == rounded(case["get_config"])
    if "schedule_decay" not in case["config"]:  # which Keras forgets, too
        assert type(optimizer).from_config(optimizer.get_config()).get_config() == optimizer.get_config()
    for weight, expected in zip(optimizer.weights, case["state"], strict=True):
        np.testing.assert_allclose(weight.numpy(), array(expected["value"]), 2e-6, 2e-6, err_msg=expected["name"])
    assert [weight.name for weight in optimizer.weights[1:]] == [one["name"] for one in case["state"][1:]]


@pytest.mark.parametrize("case", [case for case in CASES if case["error"] is not None],
                         ids=lambda case: f"{case['class']}-{case['row']}")
def test_what_is_refused(case):
    with pytest.raises(ValueError) as refused:
        made(case)
    assert str(refused.value) == case["error"]["message"]


def test_fit():
    model = tf.keras.Sequential([layers.Dense(1, kernel_initializer="zeros", input_shape=(3,))])
    model.compile(legacy.SGD(lr=0.1, decay=0.5, momentum=0.5), "mse")
    x = np.sin(np.arange(60.0)).reshape(20, 3).astype(np.float32)
    losses = model.fit(x, x.sum(axis=1, keepdims=True), epochs=3, verbose=0, shuffle=False).history["loss"]
    assert losses[2] < losses[0]
    assert model.optimizer.lr.numpy() == np.float32(0.1)


class Sums(legacy.Optimizer):
    """Follows the sum of all gradients."""

    def __init__(self, learning_rate=0.1, name="Sums", **kwargs):
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))

    def _create_slots(self, var_list):
        for variable in var_list:
            self.add_slot(variable, "m")

    def _resource_apply_dense(self, grad, var, apply_state=None):
        total = self.get_slot(var, "m")
        total.assign_add(grad)
        return var.assign_sub(self._get_hyper("learning_rate", var.dtype) * total)

    def get_config(self):
        return {**super().get_config(), "learning_rate": self._serialize_hyperparameter("learning_rate")}


def test_optimizers_of_older_programs():
    optimizer, variable = Sums(0.5), tf.Variable([1.0, 2.0], name="w")
    for _ in range(2):
        optimizer.apply_gradients([(tf.constant([0.5, -1.0]), variable)])
    np.testing.assert_allclose(variable, [0.25, 3.5])
    assert [w.name for w in optimizer.weights] == ["Sums/iter:0", "Sums/w/m:0"]
    assert optimizer.get_config() == {"name": "Sums", "learning_rate": 0.5}
    assert float(Sums(lr=0.25).lr) == 0.25
    assert legacy.SGD().iterations.name == "SGD/iter:0"


def test_modules_tell_them_from_those_of_today():
    optimizer = legacy.Adam(0.1, decay=0.5, clipnorm=1.0)
    whole = tf.keras.optimizers.serialize(optimizer)
    assert whole["module"] == "keras.optimizers.legacy"
    again = tf.keras.optimizers.deserialize(whole)
    assert type(again) is legacy.Adam and again.get_config() == optimizer.get_config() and again.clipnorm == 1.0
    assert type(tf.keras.optimizers.get("adam", use_legacy_optimizer=True)) is legacy.Adam


def step(optimizer, variable, gradient):
    optimizer.apply_gradients([(tf.constant(gradient), variable)])
    return variable.numpy().tolist()


def test_arguments_may_be_variables_and_functions():
    rate, v = tf.Variable(3.0), tf.Variable([1.0, 2.0])
    optimizer = legacy.SGD(rate)
    assert step(optimizer, v, [5.0, 5.0]) == [-14, -13]
    rate.assign_sub(1.0)
    assert optimizer.learning_rate.numpy() == 2 and step(optimizer, v, [5.0, 5.0]) == [-24, -23]
    doubles = legacy.SGD(tf.Variable(0.1, dtype=tf.float64), momentum=tf.Variable(0.9, dtype=tf.float64))
    np.testing.assert_allclose(step(doubles, tf.Variable([1.0, 2.0]), [5.0, 5.0]), [0.5, 1.5])
    functions = legacy.RMSprop(learning_rate=lambda: 2.0, rho=lambda: 0.9)
    assert step(functions, tf.Variable(1.0), 0.1) == pytest.approx(-5.324534)
    assert legacy.Adadelta(epsilon=None).epsilon == 1e-7


def test_variables_may_come_later():
    optimizer, v, w = legacy.SGD(0.1, momentum=0.9), tf.Variable(1.0), tf.Variable(2.0)
    assert step(optimizer, v, 1.0) == pytest.approx(0.9) and step(optimizer, w, 1.0) == pytest.approx(1.9)
    assert len(optimizer.weights) == 3


def test_clipping_to_nothing():
    assert step(legacy.RMSprop(0.1, clipvalue=0.0), tf.Variable(1.0), 2.0) == 1
    model = tf.keras.Sequential([layers.Dense(1, kernel_initializer="ones", input_shape=(2,))])
    model.compile(legacy.SGD(0.1, clipvalue=0.0), "mse")
    model.fit(np.ones((4, 2)), np.zeros((4, 1)), verbose=0)
    assert model.get_weights()[0].tolist() == [[1], [1]]


def test_what_scales_the_loss_shows_the_arguments():
    assert tf.keras.mixed_precision.LossScaleOptimizer(legacy.Adam()).beta_1 == pytest.approx(0.9)
    with pytest.raises(AttributeError):
        tf.keras.mixed_precision.LossScaleOptimizer(tf.keras.optimizers.Adam()).beta_1

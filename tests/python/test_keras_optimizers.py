"""Optimizers in programs: their options, classes of one's own, and those that wrap others."""

import copy
import inspect
import pickle

import numpy as np
import pytest

import thalweg as tf
from thalweg import keras


def test_a_scaled_loss_gives_the_same_steps_and_leaves_out_those_that_are_not_finite():
    optimizer = keras.mixed_precision.LossScaleOptimizer(keras.optimizers.SGD(0.5), initial_scale=4,
                                                         dynamic_growth_steps=2)
    w = tf.Variable(4.0)
    for expected, scale in ((3.0, 4.0), (2.0, 8.0)):
        optimizer.minimize(lambda: 2.0 * w, [w])
        assert (w.numpy(), optimizer.loss_scale.numpy()) == (expected, scale)
    with tf.GradientTape() as tape:
        loss = tf.square(w)
    optimizer.minimize(loss, [w], tape=tape)
    assert w.numpy() == 0.0 and optimizer.dynamic_counter.numpy() == 1
    step = tf.function(lambda g: optimizer.apply_gradients([(g, w)]))
    step(tf.constant(np.inf))
    assert w.numpy() == 0.0 and optimizer.loss_scale.numpy() == 4.0
    step(tf.constant(1.0))
    assert w.numpy() == -0.5 and optimizer.iterations.numpy() == 5
    optimizer.learning_rate = 0.25
    assert optimizer.inner_optimizer.learning_rate.numpy() == 0.25


def test_a_loss_scale_goes_through_its_configuration():
    optimizer = keras.mixed_precision.LossScaleOptimizer(keras.optimizers.Adam(), dynamic=False, initial_scale=16)
    config = optimizer.get_config()
    assert config["inner_optimizer"]["class_name"] == "Adam"
    assert (config["dynamic"], config["initial_scale"], config["dynamic_growth_steps"]) == (False, 16.0, None)
    copy = keras.mixed_precision.LossScaleOptimizer.from_config(config)
    assert copy.loss_scale.numpy() == 16.0 and isinstance(copy.inner_optimizer, keras.optimizers.Adam)
    assert copy.get_unscaled_gradients([tf.constant(8.0), None])[0].numpy() == 0.5
    with pytest.raises(TypeError, match="must be an instance of Optimizer"):
        keras.mixed_precision.LossScaleOptimizer("adam")
    with pytest.raises(ValueError, match="must be specified if"):
        keras.mixed_precision.LossScaleOptimizer(keras.optimizers.SGD(), dynamic=False)


def test_models_in_float16_scale_their_losses():
    keras.mixed_precision.set_global_policy("mixed_float16")
    try:
        keras.utils.set_random_seed(1)
        model = keras.Sequential([keras.layers.Dense(4, activation="relu", input_shape=(3,)), keras.layers.Dense(1)])
    finally:
        keras.mixed_precision.set_global_policy("float32")
    model.compile(keras.optimizers.Adam(0.05), "mse")
    assert isinstance(model.optimizer, keras.mixed_precision.LossScaleOptimizer)
    x = np.random.RandomState(0).normal(size=(64, 3)).astype("float32")
    history = model.fit(x, x.sum(axis=1, keepdims=True), epochs=15, verbose=0).history["loss"]
    assert np.isfinite(history[-1]) and history[-1] < 0.5 * history[0]


def _pair():
    return (tf.Variable([[0.0, 0.1], [0.2, 0.3]], name="w"), tf.Variable([1.0, 2.0], name="b"))


_GRADIENTS = (tf.constant([[-1.0, -0.5], [0.5, 1.0]]), tf.constant([0.5, -0.25]))


def test_excluded_from_weight_decay():
    by_name, by_variable = (keras.optimizers.SGD(0.1, weight_decay=0.1) for _ in range(2))
    for optimizer, decayed in ((by_name, 0), (by_variable, 1)):
        variables = _pair()
        if optimizer is by_name:
            optimizer.exclude_from_weight_decay(var_names=["^b"])
        else:
            optimizer.exclude_from_weight_decay(var_list=[variables[0]])
        before = [v.numpy() for v in variables]
        optimizer.apply_gradients(zip(_GRADIENTS, variables))
        for i, (start, variable, gradient) in enumerate(zip(before, variables, _GRADIENTS)):
            share = 0.99 if i == decayed else 1.0
            np.testing.assert_allclose(variable, share * start - 0.1 * gradient, rtol=1e-6)
    with pytest.raises(ValueError, match="before the optimizer is built"):
        by_name.exclude_from_weight_decay(var_names=["w"])


def test_schedules_set_the_variable_of_the_rate():
    variable = tf.Variable([1.0, 2.0])
    optimizer = keras.optimizers.SGD(keras.optimizers.schedules.ExponentialDecay(0.1, 1, 0.5))
    assert optimizer.learning_rate.name == "current_learning_rate:0" and float(optimizer.lr) == pytest.approx(0.1)
    for _ in range(2):
        optimizer.apply_gradients([(_GRADIENTS[1], variable)])
    assert float(optimizer.learning_rate) == pytest.approx(0.05)
    with pytest.raises(TypeError, match="not settable"):
        optimizer.learning_rate = 0.1
    assert float(keras.optimizers.SGD(lambda: 0.25).learning_rate) == 0.25


def test_minimize():
    v, optimizer = tf.Variable([1.0, 2.0]), keras.optimizers.SGD(0.1)
    assert optimizer.minimize(lambda: tf.reduce_sum(v * v), [v]) is None
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(v * v)
    optimizer.minimize(loss, [v], tape=tape)
    np.testing.assert_allclose(v, [0.64, 1.28])
    with pytest.raises(ValueError, match="`tape` is required"):
        optimizer.minimize(loss, [v])


def test_iterations_can_be_another_variable():
    optimizer, steps = keras.optimizers.Adam(), tf.Variable(5, dtype=tf.int64)
    optimizer.iterations = steps
    optimizer.apply_gradients(zip(_GRADIENTS, _pair()))
    assert int(steps) == 6
    with pytest.raises(RuntimeError, match="Cannot set `iterations`"):
        optimizer.iterations = steps


def test_names_of_slots():
    optimizer = keras.optimizers.SGD()
    optimizer.apply_gradients(zip(_GRADIENTS, _pair()), name="step")
    assert [v.name for v in optimizer.variables] == ["iteration:0", "step/m/w:0", "step/m/b:0"]
    optimizer.set_weights([np.int64(7), *(np.ones(v.shape) for v in optimizer.variables[1:])])
    assert int(optimizer.iterations) == 7
    with pytest.raises(ValueError, match="not yet been built"):
        keras.optimizers.SGD().set_weights([np.int64(7)])


class Heavy(keras.optimizers.Optimizer):
    def __init__(self, learning_rate=0.1, momentum=0.9, name="Heavy", **kwargs):
        super().__init__(name=name, **kwargs)
        self._learning_rate = self._build_learning_rate(learning_rate)
        self.momentum = momentum

    def build(self, var_list):
        super().build(var_list)
        if getattr(self, "_built", False):
            return
        self.momentums = [self.add_variable_from_reference(model_variable=v, variable_name="m") for v in var_list]
        self._built = True

    def update_step(self, gradient, variable):
        m = self.momentums[self._index_dict[self._var_key(variable)]]
        m.assign(self.momentum * m + gradient)
        variable.assign_sub(tf.cast(self.learning_rate, variable.dtype) * m)

    def get_config(self):
        rate = self._serialize_hyperparameter(self._learning_rate)
        return {**super().get_config(), "learning_rate": rate, "momentum": self.momentum}


def test_optimizers_as_guides_write_them():
    optimizer, (w, b) = Heavy(0.5), _pair()
    for _ in range(2):
        optimizer.apply_gradients(zip(_GRADIENTS, (w, b)))
    np.testing.assert_allclose(b, [1 - 0.5 * (0.5 + 0.95), 2 + 0.5 * (0.25 + 0.475)], rtol=1e-6)
    assert [v.name for v in optimizer.variables] == ["iteration:0", "Heavy/m/w:0", "Heavy/m/b:0"]
    assert Heavy.from_config(optimizer.get_config()).get_config() == optimizer.get_config()
    again = keras.optimizers.deserialize(keras.optimizers.serialize(optimizer), custom_objects={"Heavy": Heavy})
    assert float(again.learning_rate) == 0.5
    built = Heavy(keras.optimizers.schedules.InverseTimeDecay(1.0, 1, 1.0))
    built.build([w, b])
    assert len(built.momentums) == 2 and built.get_config()["learning_rate"]["class_name"] == "InverseTimeDecay"


def test_optimizers_that_change_those_of_keras():
    class Doubled(keras.optimizers.SGD):
        def update_step(self, gradient, variable):
            super().update_step(2 * gradient, variable)

    variables, plain = _pair(), _pair()
    optimizer = Doubled(0.1, momentum=0.5, weight_decay=0.1)
    for _ in range(3):
        optimizer.apply_gradients(zip(_GRADIENTS, variables))
    expected = keras.optimizers.SGD(0.1, momentum=0.5, weight_decay=0.1)
    for _ in range(3):
        expected.apply_gradients(zip([2 * g for g in _GRADIENTS], plain))
    for ours, theirs in zip(variables, plain):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)
    assert int(optimizer.iterations) == 3 and optimizer.get_config() == expected.get_config()
    optimizer.learning_rate = 0.25
    assert optimizer.get_config()["learning_rate"] == 0.25
    model = keras.Sequential([keras.layers.Dense(1, kernel_initializer="zeros", use_bias=False)])
    model.compile(Doubled(0.5), "mse")
    model.fit(np.ones((1, 1)), np.ones((1, 1)), verbose=0)
    np.testing.assert_allclose(model.get_weights()[0], [[2.0]])


def test_signatures():
    parameters = inspect.signature(keras.optimizers.Adam).parameters
    assert [parameters[name].default for name in ("learning_rate", "beta_2", "epsilon")] == [0.001, 0.999, 1e-7]


def test_options_can_be_set():
    optimizer, v = keras.optimizers.SGD(0.1), tf.Variable([1.0, 1.0])
    optimizer.momentum, optimizer.clipnorm, optimizer.weight_decay = 0.5, 0.5, 0.1
    assert optimizer.get_config()["momentum"] == 0.5 and optimizer.clipnorm == 0.5
    for _ in range(2):
        optimizer.apply_gradients([(tf.constant([3.0, 4.0]), v)])
    np.testing.assert_allclose(v, [0.99 * (0.99 - 0.03) - 0.045, 0.99 * (0.99 - 0.04) - 0.06], rtol=1e-5)
    heavy, w = Heavy(0.1), tf.Variable([1.0, 1.0])
    heavy.clipnorm = 0.5
    heavy.apply_gradients([(tf.constant([3.0, 4.0]), w)])
    np.testing.assert_allclose(w, [0.97, 0.96])
    assert heavy.get_config()["clipnorm"] == 0.5
    older, u = keras.optimizers.legacy.Adam(0.1), tf.Variable(1.0)
    older.beta_1, older.lr = 0.5, 0.2
    for gradient in (1.0, -1.0):
        older.apply_gradients([(tf.constant(gradient), u)])
    assert float(u) == pytest.approx(0.866667, rel=1e-5)


def test_variables_of_ones_own():
    optimizer = keras.optimizers.Adam()
    assert optimizer.add_variable_from_reference(tf.Variable([1.0, 2.0], name="v"), "m").name == "m/v:0"
    optimizer.iterations = tf.Variable(5, dtype=tf.int64)
    optimizer.build([tf.Variable(1.0)])
    with pytest.raises(RuntimeError, match="attempting to set `iterations` to 2"):
        optimizer.iterations = 2


def test_gradients_broadcast_to_their_variables():
    v = tf.Variable([[1.0]])
    keras.optimizers.Adam(0.1).apply_gradients([(tf.constant([1.0]), v)])
    np.testing.assert_allclose(v, [[0.9]], rtol=1e-5)


@pytest.mark.parametrize("make", [keras.optimizers.Adam, keras.optimizers.legacy.Adam])
def test_copies_go_on_where_the_optimizer_stands(make):
    first, v = make(0.1), tf.Variable(1.0)
    first.apply_gradients([(tf.constant(1.0), v)])
    second, start = copy.deepcopy(first), v.numpy()
    ends = []
    for optimizer in (first, second):
        v.assign(start)
        optimizer.apply_gradients([(tf.constant(0.5), v)])
        ends.append(v.numpy())
    assert ends[0] == ends[1] and second.iterations.numpy() == 2
    with pytest.raises(TypeError, match="cannot pickle Adam alone"):
        pickle.dumps(first)
    assert pickle.loads(pickle.dumps(make(0.3))).learning_rate.numpy() == np.float32(0.3)


def test_constraints_of_variables_hold_after_steps():
    v = tf.Variable([3.0, 4.0], constraint=lambda x: tf.clip_by_value(x, 0.0, 1.0))
    keras.optimizers.SGD(0.1).apply_gradients([(tf.constant([1.0, 1.0]), v)])
    assert v.numpy().tolist() == [1, 1]


def test_variables_that_were_not_built_are_refused():
    optimizer = keras.optimizers.Adam()
    optimizer.build([tf.Variable(1.0)])
    with pytest.raises(KeyError, match="cannot recognize variable"):
        optimizer.apply_gradients([(tf.constant(1.0), tf.Variable(2.0))])

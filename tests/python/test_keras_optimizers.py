"""Optimizers that wrap others."""

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

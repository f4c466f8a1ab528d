"""Policies: layers that compute in halves and keep their weights whole."""

import numpy as np
import pytest
from keras_samples import Linear

import thalweg as tf
from thalweg import keras
from thalweg.keras import layers


@pytest.fixture
def policy():
    """Sets global policies, and float32 again in the end."""
    yield keras.mixed_precision.set_global_policy
    keras.mixed_precision.set_global_policy("float32")


@pytest.mark.parametrize("half", ["float16", "bfloat16"])
def test_mixed_policies_compute_in_halves_and_keep_weights_whole(half, policy):
    policy(f"mixed_{half}")
    assert keras.mixed_precision.global_policy().name == f"mixed_{half}"
    layer = layers.Dense(2, kernel_initializer="ones")
    x = tf.constant([[1.0, 2.0], [0.5, -1.0]])
    with tf.GradientTape() as tape:
        y = layer(x)
        loss = tf.reduce_sum(tf.cast(y, tf.float32))
    assert y.dtype == half and layer.kernel.dtype == "float32"
    assert (layer.compute_dtype, layer.variable_dtype, layer.dtype) == (half, "float32", "float32")
    assert layer.dtype_policy == keras.mixed_precision.Policy(f"mixed_{half}")
    gradient = tape.gradient(loss, layer.kernel)
    assert gradient.dtype == "float32"
    np.testing.assert_allclose(gradient, [[1.5, 1.5], [1.0, 1.0]])
    copy = layers.Dense.from_config(layer.get_config())
    assert copy.dtype_policy == layer.dtype_policy
    assert layers.Dense(2, dtype="float32")(x).dtype == "float32"


def test_layers_of_python_read_their_weights_in_the_dtype_they_compute_in():
    seen = []

    class Reads(Linear):
        def call(self, inputs):
            seen.append((inputs.dtype, tf.convert_to_tensor(self.w).dtype, (self.w + 0).dtype, self.w.dtype))
            return super().call(inputs)

    layer = Reads(dtype=keras.mixed_precision.Policy("mixed_float16"))
    for call in (layer, tf.function(layer)):
        assert call(tf.ones([1, 2])).dtype == tf.float16
        assert seen.pop() == (tf.float16, tf.float16, tf.float16, tf.float32)
    assert tf.convert_to_tensor(layer.w).dtype == tf.float32
    assert layer.get_config()["dtype"]["config"] == {"name": "mixed_float16"}


def test_models_train_under_a_mixed_policy(policy):
    policy("mixed_bfloat16")
    keras.utils.set_random_seed(1)
    model = keras.Sequential([layers.Dense(8, activation="tanh", input_shape=(3,)), layers.BatchNormalization(),
                              layers.Dropout(0.1), layers.Dense(1, dtype="float32")])
    x = np.random.RandomState(0).normal(size=(64, 3)).astype("float32")
    y = x.sum(axis=1, keepdims=True)
    model.compile("adam", "mse")
    history = model.fit(x, y, epochs=20, verbose=0).history["loss"]
    assert history[-1] < history[0]
    assert all(w.dtype == tf.float32 for w in model.weights)
    assert model.predict(x, verbose=0).dtype == np.float32


@pytest.mark.parametrize("made, shape", [
    (lambda: layers.LSTM(2, return_sequences=True), (2, 3, 4)), (lambda: layers.GRU(2), (2, 3, 4)),
    (lambda: layers.Bidirectional(layers.SimpleRNN(2)), (2, 3, 4)), (lambda: layers.Conv2D(2, 2), (2, 4, 4, 3)),
    (lambda: layers.SeparableConv1D(2, 2), (2, 4, 3)), (lambda: layers.Conv2DTranspose(2, 2), (2, 4, 4, 3)),
    (lambda: layers.GroupNormalization(1), (2, 4)), (lambda: layers.PReLU(), (2, 4)),
    (lambda: layers.EinsumDense("ab,bc->ac", 3, bias_axes="c"), (2, 4)),
    (lambda: layers.LocallyConnected1D(2, 2, implementation=1), (2, 4, 3)),
    (lambda: layers.TimeDistributed(layers.Dense(2)), (2, 3, 4)), (lambda: layers.Rescaling(0.5), (2, 4)),
])
def test_layers_give_halves_under_a_mixed_policy(made, shape, policy):
    x = np.random.RandomState(0).normal(size=shape).astype("float32")
    keras.utils.set_random_seed(1)
    whole = made()
    expected = whole(x)
    policy("mixed_float16")
    layer = made()
    layer(x)
    layer.set_weights(whole.get_weights())
    for call in (layer, tf.function(layer)):
        y = call(x)
        assert y.dtype == tf.float16
        np.testing.assert_allclose(tf.cast(y, tf.float32), expected, atol=0.02)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.cast(layer(x), tf.float32))
    assert [g.dtype for g in tape.gradient(loss, layer.trainable_weights)] == [tf.float32] * len(layer.trainable_weights)


def test_wrong_policies_are_refused():
    with pytest.raises(ValueError, match="Cannot convert value mixed_int8 to a mixed precision Policy"):
        layers.Dense(2, dtype="mixed_int8")
    with pytest.raises(ValueError, match="can only be used to set the global policy to floating-point policies"):
        keras.mixed_precision.set_global_policy("int32")
    with pytest.raises(TypeError, match="'name' must be a string"):
        keras.mixed_precision.Policy(tf.float16)

"""tf.keras.backend: numbers of Keras 2.15."""

import numpy as np
import pytest

import thalweg as tf

K = tf.keras.backend
X = tf.constant(np.arange(12.0).reshape(3, 4) - 5, tf.float32)
Y = tf.constant(np.linspace(0.1, 0.9, 12).reshape(3, 4), tf.float32)
Z = tf.constant(np.arange(24.0).reshape(2, 3, 4), tf.float32)
BOOLS = tf.constant([[True, False], [True, True]])


@pytest.fixture(autouse=True)
def settings():
    yield
    K.set_epsilon(1e-7)
    K.set_floatx("float32")
    K.set_image_data_format("channels_last")
    K.clear_session()


@pytest.mark.parametrize("result, expected", [
    (lambda: K.mean(BOOLS, axis=1), [0.5, 1.0]),
    (lambda: K.sqrt(tf.constant([-1.0, 4.0])), [0.0, 2.0]),
    (lambda: K.clip(tf.constant([-2.0, 0.5, 3.0]), 2, -1), [2.0, 2.0, 2.0]),
    (lambda: K.clip(tf.constant([-2.0, 0.5, 3.0]), None, 1), [-2.0, 0.5, 1.0]),
    (lambda: K.var(X, axis=1), [1.25, 1.25, 1.25]),
    (lambda: K.any(X, axis=0), [True, True, True, True]),
    (lambda: K.argmax(X), [3, 3, 3]),
    (lambda: K.dot(Z, tf.ones((5, 4, 2)))[1, 2, 3], [86.0, 86.0]),
    (lambda: K.batch_dot(X, Y, axes=1), [[-2.56364], [1.36364], [14.6]]),
    (lambda: K.batch_dot(Z, Z, axes=(1, 1))[1, 0], [800.0, 848.0, 896.0, 944.0]),
    (lambda: K.batch_dot(tf.ones((2, 3, 4, 5)), tf.ones((2, 5, 6)))[0, 0, 0], [5.0] * 6),
    (lambda: K.repeat_elements(tf.constant([1.0, 2.0]), 2, 0), [1.0, 1.0, 2.0, 2.0]),
    (lambda: K.one_hot([0, 2], 3), [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]),
    (lambda: K.binary_crossentropy(tf.constant([1.0, 0.0]), tf.constant([0.25, 0.5])), [1.38629, 0.69315]),
    (lambda: K.relu(tf.constant([-1.0, 0.5, 5.0]), alpha=0.1, max_value=3.0, threshold=1.0), [-0.2, -0.05, 3.0]),
    (lambda: K.switch(X > 5, X, Y)[2], [0.68182, 0.75455, 0.82727, 6.0]),
    (lambda: K.in_train_phase(tf.constant(1.0), tf.constant(2.0), training=True), 1.0),
    (lambda: K.conv1d(Z, tf.ones((2, 4, 1)), padding="causal")[0, :, 0], [6.0, 28.0, 60.0]),
    (lambda: K.bias_add(Z, tf.range(3.0), data_format="channels_first")[0, :, 0], [0.0, 5.0, 10.0]),
    (lambda: K.pool2d(tf.reshape(Z, (2, 3, 4, 1)), (2, 2), (2, 2), "same", pool_mode="avg")[0, :, :, 0],
     [[2.5, 4.5], [8.5, 10.5]]),
    (lambda: K.random_normal((2,), seed=1).shape, [2]),
    (lambda: K.cast_to_floatx([1, 2]), [1.0, 2.0]),
])
def test_functions(result, expected):
    np.testing.assert_allclose(np.asarray(result()), expected, atol=1e-5)


def test_variables():
    v = K.variable([1.0, 2.0], name="v")
    K.set_value(v, [3, 4])
    K.update_add(v, [1.0, 1.0])
    K.moving_average_update(v, [0.0, 0.0], 0.5)
    np.testing.assert_allclose(K.get_value(v), [2.0, 2.5])
    assert K.dtype(v) == "float32" and K.int_shape(v) == (2,) and K.ndim(v) == 1
    assert isinstance(K.zeros((2,)), tf.Variable)


def test_on_tensors_of_models():
    x = tf.keras.Input((3,))
    model = tf.keras.Model(x, K.sum(K.square(x), axis=-1))
    np.testing.assert_allclose(model(np.full((2, 3), 2.0, "float32")), [12.0, 12.0])
    double = K.function([x], [x * 2.0])
    np.testing.assert_allclose(double([np.ones((1, 3), "float32")]), [np.full((1, 3), 2.0)])


def test_rnn():
    mask = tf.constant([[True, False, True], [False, True, True]])

    def step(x, states):
        return x + states[0], [x + states[0]]

    last, outputs, (state,) = K.rnn(step, Z, [tf.zeros((2, 4))], mask=mask)
    np.testing.assert_allclose(outputs[:, :, 0], [[0.0, 0.0, 8.0], [0.0, 16.0, 36.0]])
    np.testing.assert_allclose(last, state)
    backwards = K.rnn(step, Z, [tf.zeros((2, 4))], go_backwards=True)[1]
    np.testing.assert_allclose(backwards[0, :, 0], [8.0, 12.0, 12.0])


def test_epsilon_is_that_of_losses_and_constraints():
    K.set_epsilon(1e-2)
    assert K.epsilon() == 1e-2
    np.testing.assert_allclose(tf.keras.losses.mape([[0.0, 1.0]], [[0.0, 2.0]]), [50.0])
    unit = tf.keras.constraints.UnitNorm()(tf.constant([[1.0, 2.0]]))
    np.testing.assert_allclose(unit, [[0.9901, 0.99502]], atol=1e-5)
    np.testing.assert_allclose(tf.keras.losses.kld([[0.0, 1.0]], [[0.0, 1.0]]), [0.0], atol=1e-6)


def test_floatx_is_the_dtype_of_new_things():
    K.set_floatx("float64")
    assert tf.keras.layers.Dense(1)(np.ones((1, 2))).dtype == tf.float64
    assert tf.keras.metrics.Mean()([1.0, 2.0]).dtype == tf.float64
    assert tf.keras.initializers.Ones()((1,)).dtype == tf.float64
    assert tf.keras.Input((2,)).dtype == K.variable(1.0).dtype == tf.float64
    with pytest.raises(ValueError, match="Unknown `floatx`"):
        K.set_floatx("int32")


def test_image_data_format_is_that_of_new_layers():
    K.set_image_data_format("channels_first")
    assert tf.keras.layers.Conv2D(1, 2).get_config()["data_format"] == "channels_first"
    assert tf.keras.layers.GlobalAveragePooling2D()(tf.ones((1, 2, 3, 4))).shape == (1, 2)
    assert tf.keras.layers.Conv2D(1, 2, data_format="channels_last").get_config()["data_format"] == "channels_last"


def test_learning_phase_tells_layers_that_nobody_tells():
    layer, x = tf.keras.layers.BatchNormalization(), tf.constant([[1.0], [3.0]])
    K.set_learning_phase(1)
    np.testing.assert_allclose(layer(x), [[-0.9995], [0.9995]], atol=1e-4)
    np.testing.assert_allclose(tf.keras.layers.Dropout(0.9)(x, training=False), x)
    with K.learning_phase_scope(0):
        np.testing.assert_allclose(tf.keras.layers.Dropout(0.9)(x), x)
    assert K.learning_phase() == 1


def test_steps_over_a_length_that_is_known_when_it_runs():
    @tf.function(input_signature=[tf.TensorSpec((None, None, 2)), tf.TensorSpec((None, None))])
    def run(x, mask):
        def step(inputs, states):
            total = inputs + states[0]
            return total, [total]

        last, outputs, states = K.rnn(step, x, [tf.zeros_like(x[:, 0])], mask=mask)
        return last, outputs, states[0]

    last, outputs, state = run(tf.ones([1, 3, 2]), tf.constant([[1.0, 0.0, 1.0]]))
    np.testing.assert_array_equal(outputs[0, :, 0], [1.0, 1.0, 2.0])
    np.testing.assert_array_equal(last, [[2.0, 2.0]])
    np.testing.assert_array_equal(state, [[2.0, 2.0]])
    with pytest.raises(ValueError, match="Unrolling requires a fixed number of timesteps"):
        tf.function(lambda x: K.rnn(lambda i, s: (i, s), x, [], unroll=True)).get_concrete_function(
            tf.TensorSpec((None, None, 2)))


def test_names_that_older_programs_use():
    assert K.local_conv1d(tf.ones([1, 5, 2]), tf.ones([3, 6, 4]), (3,), (1,)).shape == (1, 3, 4)
    kernel = tf.ones([4, 4, 3])
    assert K.local_conv2d(tf.ones([2, 3, 3, 1]), kernel, (2, 2), (1, 1), (2, 2)).shape == (2, 2, 2, 3)
    first = K.local_conv2d(tf.ones([2, 1, 3, 3]), kernel, (2, 2), (1, 1), (2, 2), "channels_first")
    assert first.shape == (2, 3, 2, 2)
    assert not K.is_sparse(X) and K.to_dense(X) is X
    with pytest.raises(RuntimeError, match="tf.gradients is not supported when eager execution is enabled"):
        K.gradients(X, [X])
    with pytest.raises(ValueError, match="Expected a symbolic tensor instance"):
        K.is_keras_tensor(np.ones(2))

"""Functions as layers."""

import numpy as np
import pytest

import thalweg as tf
from thalweg import keras
from thalweg.keras import layers

X = tf.constant([[0.0, 1.0, 2.0]])


def triple(x):
    return x * 3


def test_it_calls_the_function_with_its_arguments():
    np.testing.assert_array_equal(layers.Lambda(lambda x, a, b=2: x * a + b, arguments={"a": 3})(X), [[2.0, 5.0, 8.0]])
    np.testing.assert_array_equal(layers.Lambda(tf.abs)(-X), X)
    first, second = layers.Lambda(lambda x: [x, x + 1])(keras.Input((3,)))
    assert first.shape == second.shape == (None, 3)


def test_training_and_masks_reach_the_function():
    twice_in_training = layers.Lambda(lambda x, training=None: 2 * x if training else x)
    np.testing.assert_array_equal(twice_in_training(X, training=True), 2 * X)
    np.testing.assert_array_equal(twice_in_training(X), X)
    embedded = layers.Embedding(4, 2, mask_zero=True)(np.array([[0, 1]]))
    assert layers.Lambda(lambda x, mask=None: mask)(embedded).numpy().tolist() == [[False, True]]
    assert layers.Lambda(triple, mask=lambda inputs, mask: mask).compute_mask(X, X) is X


@pytest.mark.parametrize("stated, expected", [
    (None, (None, 3)), ((5,), (None, 5)), (lambda shape: (shape[0], 7), (None, 7))])
def test_output_shapes(stated, expected):
    assert layers.Lambda(triple, output_shape=stated).compute_output_shape((None, 3)) == expected


@pytest.mark.parametrize("function", [triple, tf.square, lambda x: x * 3])
def test_configurations_hold_the_function(function):
    layer = layers.Lambda(function, name="mine", arguments={})
    again = layers.Lambda.from_config(layer.get_config())
    assert again.name == "mine"
    np.testing.assert_array_equal(again(X), layer(X))


def test_models_with_functions_can_be_cloned():
    factor = 5.0
    model = keras.Sequential([layers.Lambda(lambda x: factor * x, input_shape=(3,))])
    np.testing.assert_array_equal(keras.models.clone_model(model)(X), 5 * X)
    assert layers.Lambda(lambda x, y: x).get_config()["function_type"] == "lambda"


def test_lambdas_make_no_variables():
    with pytest.raises(ValueError, match="Variables were created within a Lambda layer"):
        layers.Lambda(lambda x: x * tf.Variable(1.0))(tf.ones([1, 1]))
    v = tf.Variable(2.0)
    layer = layers.Lambda(lambda x: x * v)
    assert float(layer(3.0)) == 6.0 and layer.weights == []


def test_shapes_of_several_results():
    layer = layers.Lambda(lambda x: [x, x], output_shape=[(10,), (10,)])
    assert layer.compute_output_shape((5, 10)) == [(5, 10), (5, 10)]

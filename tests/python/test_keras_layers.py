"""Layers and models that Python writes, and those of the engine, on one engine."""

import numpy as np
import pytest

import thalweg as tf
from thalweg import keras
from thalweg.keras import layers


class Linear(layers.Layer):
    def __init__(self, units=3, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, input_shape):
        self.w = self.add_weight(name="w", shape=(input_shape[-1], self.units), initializer="ones")
        self.b = self.add_weight(name="b", shape=(self.units,), initializer="zeros", trainable=False)

    def call(self, inputs):
        return tf.matmul(inputs, self.w) + self.b

    def get_config(self):
        return {**super().get_config(), "units": self.units}


def test_a_layer_of_python_builds_itself_once():
    layer = Linear(2, name="mine")
    assert not layer.built
    y = layer(tf.ones([2, 4]))
    assert layer.built and y.shape == (2, 2)
    assert [w.name for w in layer.weights] == ["mine/w:0", "mine/b:0"]
    assert [w.name for w in layer.trainable_weights] == ["mine/w:0"]
    np.testing.assert_array_equal(y, np.full([2, 2], 4.0))


def test_configuration_goes_round():
    layer = Linear(2, name="mine")
    config = layer.get_config()
    assert config == {"name": "mine", "trainable": True, "dtype": "float32", "units": 2}
    assert Linear.from_config(config).units == 2


def test_layers_of_the_engine_show_options_and_weights():
    layer = layers.Dense(4, activation="relu", name="d")
    layer(tf.ones([1, 3]))
    assert layer.units == 4 and layer.kernel.shape == (3, 4) and layer.bias.name == "d/bias:0"
    assert layer.get_config()["kernel_initializer"]["class_name"] == "GlorotUniform"
    with pytest.raises(AttributeError, match="'Dense' object has no attribute 'filters'"):
        layer.filters


def test_a_class_may_come_from_one_of_the_engine():
    class Scaled(layers.Dense):
        def call(self, inputs):
            return 2.0 * super().call(inputs)

    layer = Scaled(2, kernel_initializer="ones")
    np.testing.assert_array_equal(layer(tf.ones([1, 3])), [[6.0, 6.0]])
    assert [w.shape.as_list() for w in layer.weights] == [[3, 2], [2]]
    assert layer.name == "scaled"


def test_training_reaches_the_layers_inside():
    class Block(layers.Layer):
        def __init__(self):
            super().__init__()
            self.seen = []
            self.inner = Seen(self.seen)

        def call(self, x):
            return self.inner(x)

    class Seen(layers.Layer):
        def __init__(self, to):
            super().__init__()
            self._to = to

        def call(self, x, training=None):
            self._to.append(training)
            return x

    block = Block()
    block(tf.ones([1]), training=True)
    block(tf.ones([1]))
    assert block.seen == [True, None]


def test_other_arguments_travel():
    class Weighted(layers.Layer):
        def call(self, x, other, scale=1.0):
            return x + scale * other

    layer = Weighted()
    np.testing.assert_array_equal(layer(tf.ones([2]), tf.ones([2]), scale=3.0), [4.0, 4.0])
    a, b = keras.Input((2,)), keras.Input((2,))
    model = keras.Model([a, b], layer(a, b, scale=2.0))
    np.testing.assert_array_equal(model([tf.ones([1, 2]), tf.ones([1, 2])]), [[3.0, 3.0]])


def test_subclassed_models_find_their_layers():
    class Net(keras.Model):
        def __init__(self):
            super().__init__()
            self.first = layers.Dense(4)
            self.rest = [layers.Dense(3), {"last": layers.Dense(2)}]

        def call(self, x):
            return self.rest[1]["last"](self.rest[0](self.first(x)))

    net = Net()
    assert net(tf.ones([2, 5])).shape == (2, 2)
    assert len(net.weights) == 6 and len(net.layers) == 3
    assert net.weights[0].name == "net/" + net.first.name + "/kernel:0"
    net.first.trainable = False
    assert len(net.trainable_weights) == 4


def test_losses_of_regularizers_and_of_calls():
    class Penalised(layers.Layer):
        def call(self, x):
            self.add_loss(tf.reduce_sum(x))
            return x

    model = keras.Sequential([layers.Dense(1, kernel_initializer="ones", kernel_regularizer="l2"), Penalised()])
    model(tf.ones([1, 2]))
    assert sorted(round(float(loss), 4) for loss in model.losses) == [0.02, 2.0]


def test_functional_models_and_ops():
    inputs = keras.Input((3,), name="x")
    hidden = layers.Dense(3, kernel_initializer="ones", name="h")(inputs)
    model = keras.Model(inputs, tf.nn.relu(hidden - 4.0) + inputs)
    np.testing.assert_array_equal(model(tf.fill([1, 3], 2.0)), [[4.0, 4.0, 4.0]])
    assert model.input_shape == (None, 3) and model.get_layer("h").units == 3
    with pytest.raises(ValueError, match="No such layer: k. Existing layers are"):
        model.get_layer("k")


def test_masks_follow_tensors():
    masked = layers.Masking()(np.array([[[1.0], [0.0]]], np.float32))
    out = layers.LSTM(2)(masked)
    alone = layers.Masking(mask_value=5.0)(np.array([[[1.0]]], np.float32))
    assert out.shape == (1, 2) and alone.shape == (1, 1, 1)


def test_weights_in_and_out():
    layer = layers.Dense(2)
    layer.build((None, 3))
    with pytest.raises(ValueError, match="with a weight list of length 1, but the layer was expecting 2 weights"):
        layer.set_weights([np.ones([3, 2])])
    with pytest.raises(ValueError, match="not compatible with provided weight shape"):
        layer.set_weights([np.ones([2, 2]), np.ones(2)])
    layer.set_weights([np.ones([3, 2]), np.ones(2)])
    np.testing.assert_array_equal(layer(np.ones([1, 3])), [[4.0, 4.0]])
    assert layer.count_params() == 8


def test_inputs_that_do_not_fit():
    layer = layers.Dense(2, name="d")
    layer(tf.ones([1, 3]))
    with pytest.raises(ValueError, match='Input 0 of layer "d" is incompatible with the layer: expected axis -1 of input '
                                         "shape to have value 3, but received input with shape"):
        layer(tf.ones([1, 4]))
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'units'"):
        layers.Dense()
    with pytest.raises(TypeError, match="Keyword argument not understood"):
        layers.Dense(2, unit=3)


def test_a_model_without_super_init_says_so():
    class Broken(keras.Model):
        def __init__(self):
            pass

        def call(self, x):
            return x

    with pytest.raises(RuntimeError, match="forgot to call `super"):
        Broken()(tf.ones([1]))

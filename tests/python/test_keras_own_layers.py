"""Layers and models that programs write."""

import copy
import pickle

import numpy as np
import pytest
from keras_samples import Linear

import thalweg as tf
from thalweg import keras
from thalweg.keras import layers


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
    assert net.weights[0].name == f"{net.name}/{net.first.name}/kernel:0"
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


def test_a_layer_may_say_that_it_passes_masks_on():
    class Passing(layers.Layer):
        def __init__(self):
            super().__init__()
            self.supports_masking = True

        def call(self, x):
            return x + 1.0

    assert Passing().supports_masking and not Linear().supports_masking
    chain = keras.Sequential([layers.Masking(), Passing()])
    np.testing.assert_array_equal(chain.compute_mask(tf.constant([[[0.0], [1.0]]]), None), [[False, True]])


def test_a_model_without_super_init_says_so():
    class Broken(keras.Model):
        def __init__(self):
            pass

        def call(self, x):
            return x

    with pytest.raises(RuntimeError, match="forgot to call `super"):
        Broken()(tf.ones([1]))


def test_penalties_of_outputs():
    class Passing(layers.Layer):
        def call(self, x):
            return x

    x = tf.constant([[1.0, 2.0]])
    for layer in (Passing(activity_regularizer="l2"), layers.Layer(activity_regularizer="l2")):
        layer(x)
        assert [round(float(loss), 4) for loss in layer.losses] == [0.05]

    class Scaled(layers.Dense):
        pass

    scaled = Scaled(2, kernel_initializer="ones", activity_regularizer="l1")
    scaled(x)
    assert [round(float(loss), 4) for loss in scaled.losses] == [0.06]


def test_losses_belong_to_the_last_call():
    class Penalised(layers.Layer):
        def call(self, x):
            self.add_loss(tf.reduce_sum(x))
            return x

    layer = Penalised()
    for _ in range(2):
        layer(tf.ones([2]))
        assert [float(loss) for loss in layer.losses] == [2.0]
    weight = tf.Variable(1.0)
    layer.add_loss(lambda: 3 * weight)
    weight.assign(2.0)
    assert [float(loss) for loss in layer.losses] == [2.0, 6.0]


def test_what_add_weight_takes():
    layer = layers.Layer(name="l")
    assert layer.add_weight("a", (2,), initializer=keras.initializers.Ones).numpy().tolist() == [1.0, 1.0]
    assert layer.add_weight("b", initializer="zeros", dtype="int32", trainable=False).dtype == tf.int32
    with pytest.raises(TypeError, match="Unknown keyword argument:', 'color'"):
        layer.add_weight("c", (2,), color=1)
    assert [w.name for w in layer.weights] == ["a:0", "b:0"]


def test_arguments_are_the_configuration_where_none_is_written():
    class Power(layers.Layer):
        def __init__(self, exponent, base=1.0):
            super().__init__()
            self.exponent, self.base = exponent, base

        def call(self, x):
            return self.base * x**self.exponent

    layer = Power(2, base=3.0)
    assert layer.get_config() == {"exponent": 2, "base": 3.0}

    class Named(Power):
        def __init__(self, exponent, **kwargs):
            layers.Layer.__init__(self, **kwargs)

    assert Named(2, name="n").get_config() == {"name": "n", "trainable": True, "dtype": "float32", "exponent": 2}
    model = keras.Sequential([keras.Input((1,)), layer])
    np.testing.assert_array_equal(keras.models.clone_model(model)(tf.fill([1, 1], 2.0)), [[12.0]])
    with keras.utils.custom_object_scope({"Power": Power}):
        again = keras.Sequential.from_config(model.get_config())
    np.testing.assert_array_equal(again(tf.fill([1, 1], 2.0)), [[12.0]])


def test_layers_and_modules_hold_each_other():
    module = tf.Module()
    module.layer = layers.Dense(2)
    module.layer(tf.ones([1, 3]))
    assert [v.name for v in module.trainable_variables] == [w.name for w in module.layer.weights]
    assert module.submodules == (module.layer,)
    inner = tf.Module()
    inner.scale = tf.Variable(1.0)
    layer = layers.Layer()
    layer.inner = inner
    assert len(layer.weights) == 1


def test_the_first_argument_may_have_any_name():
    class Named(layers.Layer):
        def call(self, image, scale=1.0):
            return image * scale

    assert float(Named()(image=tf.constant(2.0), scale=3.0)) == 6.0
    with pytest.raises(ValueError, match="The first argument to `Layer.call` must always be passed."):
        Named()()


def test_weights_come_in_the_order_in_which_they_were_made():
    class Mixed(layers.Layer):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(1.0)
            self.b = self.add_weight(initializer="zeros")
            self.c = tf.Variable(2.0)

        def call(self, x):
            return x * self.w + self.b

    layer = Mixed()
    assert layer.weights == [layer.w, layer.b, layer.c]
    del layer.c
    assert len(layer.weights) == 2
    layer.w = tf.Variable(3.0)  # in the place of the one before
    assert layer.weights == [layer.w, layer.b]
    del layer.b
    assert layer.weights == [layer.w]


def test_layers_that_are_given_are_held_once():
    class Around(layers.Layer):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def call(self, x):
            return self.inner(x)

    class Forgetful(layers.Layer):
        def __init__(self, inner):
            super().__init__()

    dense = layers.Dense(2)
    around = Around(dense)
    around(tf.ones([1, 3]))
    assert around.submodules == (dense,) and len(around.weights) == 2 and not Forgetful(dense).weights
    assert len(list(around._flatten_layers())) == 2


def test_what_call_must_be_given():
    class Doubling(layers.Layer):
        def call(self, x, training, mask):
            return x * (2.0 if training else 1.0) + (0.0 if mask is None else tf.cast(mask, x.dtype))

    class Around(layers.Layer):
        def __init__(self):
            super().__init__()
            self.inner = Doubling()

        def call(self, x, training=None):
            return self.inner(x, training, None) + self.inner(x, training, tf.constant([True, False])) + self.inner(x)

    x = tf.ones([2])
    assert Doubling()(x).numpy().tolist() == [1.0, 1.0] and Doubling()(x, True).numpy().tolist() == [2.0, 2.0]
    assert Around()(x).numpy().tolist() == [4.0, 3.0] and Around()(x, True).numpy().tolist() == [7.0, 6.0]
    inputs = keras.Input((2,))
    assert keras.Model(inputs, Doubling()(inputs)).predict(tf.ones([1, 2]), verbose=0).sum() == 2.0
    with pytest.raises(TypeError, match="multiple values for argument 'training'"):
        Doubling()(x, True, training=True)


def test_models_that_are_built_by_hand_name_no_scope():
    class Small(keras.Model):
        def __init__(self):
            super().__init__()
            self.first = layers.Dense(1, name="first")

        def call(self, x):
            return self.first(x)

    built, called = Small(), Small()
    built.build((None, 2))
    called(tf.ones([1, 2]))
    assert [w.name for w in built.weights] == ["first/kernel:0", "first/bias:0"]
    assert [w.name for w in called.weights] == [f"{called.name}/first/kernel:0", f"{called.name}/first/bias:0"]


def test_metrics_that_have_counted_are_shown_once():
    class Counting(layers.Layer):
        def __init__(self):
            super().__init__()
            self.mean = keras.metrics.Mean(name="level")

        def call(self, x):
            self.add_metric(self.mean(x), name="another")
            self.add_metric(keras.metrics.Mean(name="peak")(tf.reduce_max(x)))
            self.add_metric(tf.reduce_sum(x), name="sum")
            return x

    layer = Counting()
    layer(tf.constant([1.0, 3.0]))
    assert [(m.name, float(m.result())) for m in layer.metrics] == [("level", 2.0), ("peak", 3.0), ("sum", 4.0)]


def test_classes_among_attributes_are_no_parts():
    layer = layers.Layer()
    layer.kind = layers.Dense
    assert layer.variables == []


def test_unnamed_weights_stand_in_the_scope_of_their_layer():
    class Unnamed(layers.Layer):
        def build(self, shape):
            self.w = self.add_weight(shape=(1,))

        def call(self, x):
            return x * self.w

    layer = Unnamed(name="u")
    layer(tf.ones([1, 1]))
    assert layer.w.name == "u/Variable:0"


def test_build_may_trace_calls_of_its_layer():
    class Traced(layers.Layer):
        def build(self, shape):
            super().build(shape)
            function = tf.function(lambda x: self(x))
            self.shape_out = function.get_concrete_function(tf.TensorSpec(shape)).structured_outputs.shape

        def call(self, x):
            return x * 2.0

    layer = Traced()
    layer(tf.ones([1, 2]))
    assert layer.shape_out == (1, 2)


def test_dynamic_layers_run_eagerly_in_models():
    class Dynamic(layers.Layer):
        def __init__(self):
            super().__init__(dynamic=True)

        def call(self, x):
            return tf.convert_to_tensor(x.numpy() * 2.0)

        def compute_output_shape(self, shape):
            return shape

    inputs = keras.Input((3,))
    model = keras.Model(inputs, Dynamic()(inputs))
    assert model.dynamic and not layers.Dense(1).dynamic
    np.testing.assert_array_equal(model.predict(np.ones([2, 3], np.float32), verbose=0), np.full([2, 3], 2.0))


class Scaled(layers.Layer):
    """With a layer, a weight that is an attribute, and one that is none."""

    def __init__(self, factor):
        super().__init__()
        self.factor, self.inner = factor, layers.Dense(2)
        self.add_weight(name="hidden", shape=(), initializer="ones", trainable=False)
        self.shown = self.add_weight(name="shown", shape=(), initializer="ones")

    def call(self, x):
        return self.inner(x) * self.factor * self.shown


@pytest.mark.parametrize("way", [copy.deepcopy, lambda layer: pickle.loads(pickle.dumps(layer))])
def test_layers_of_programs_can_be_copied(way):
    layer = Scaled(3.0)
    layer(tf.ones([1, 2]))
    other = way(layer)
    assert other.name == layer.name and other.factor == 3.0 and other.inner is not layer.inner
    assert other.built and len(other.weights) == len(layer.weights) == 4
    for mine, theirs in zip(layer.get_weights(), other.get_weights()):
        np.testing.assert_array_equal(mine, theirs)
    layer.shown.assign(5.0)
    assert float(other.shown) == 1.0


def test_weights_of_a_class_that_comes_from_a_layer_are_in_the_order_they_were_made():
    class Scaled(keras.layers.Dense):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self.scale = tf.Variable(2.0, name="scale")

        def build(self, input_shape):
            self.first = self.add_weight("first", ())
            super().build(input_shape)
            self.last = self.add_weight("last", ())

    layer = Scaled(3)
    layer.build((None, 2))
    assert [weight.name for weight in layer.weights] == ["scale:0", "first:0", "kernel:0", "bias:0", "last:0"]

"""Layers and models that Python writes, and those of the engine, on one engine."""

import inspect

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


def test_masks_can_be_asked_for():
    x = np.array([[[1.0, 2.0], [0.0, 0.0], [3.0, 0.0]]], np.float32)
    mask = [[True, False, True]]
    np.testing.assert_array_equal(layers.Masking().compute_mask(x), mask)
    assert layers.Dense(2).supports_masking and not layers.Conv1D(2, 1).supports_masking
    inputs = keras.Input((3, 2))
    masked = layers.Masking()(inputs)
    model = keras.Model(inputs, [layers.LSTM(2, return_sequences=True)(masked), layers.GlobalMaxPooling1D()(masked)])
    first, second = model.compute_mask(tf.constant(x), None)
    np.testing.assert_array_equal(first, mask)
    assert second is None
    chain = keras.Sequential([layers.Masking(), layers.Dense(2)])
    np.testing.assert_array_equal(chain.compute_mask(tf.constant(x), None), mask)
    plain = keras.Model(inputs, layers.SimpleRNN(1, return_sequences=True)(inputs))
    np.testing.assert_array_equal(plain.compute_mask(tf.constant(x), tf.constant(mask)), mask)


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


def test_what_graphs_refuse_is_a_value_error():
    with pytest.raises(ValueError, match="Negative dimension size caused by subtracting 3 from 2"):
        layers.MaxPooling1D(3)(keras.Input((2, 1)))
    assert layers.MaxPooling1D(3)(tf.ones([1, 2, 1])).shape == (1, 0, 1)
    image = keras.Input((3, 2, 1))
    with pytest.raises(ValueError, match="ExpandDims"):
        layers.MultiHeadAttention(1, 1)(image, image, use_causal_mask=True)


def test_images_of_unknown_size_are_resized():
    x = np.arange(24, dtype=np.float32).reshape(1, 3, 4, 2)
    inputs = keras.Input((None, None, 2))
    for layer in (layers.Resizing(2, 5), layers.Resizing(2, 5, interpolation="nearest"), layers.Resizing(2, 5, crop_to_aspect_ratio=True),
                  layers.CenterCrop(2, 2), layers.CenterCrop(5, 2), layers.UpSampling2D((2, 3), interpolation="bilinear")):
        model = keras.Model(inputs, layer(inputs))
        np.testing.assert_array_equal(model(x), layer(x))
        traced = tf.function(model, input_signature=[tf.TensorSpec([None, None, None, 2])])
        np.testing.assert_allclose(traced(x), layer(x), rtol=1e-6)
    assert keras.Model(inputs, layers.CenterCrop(2, 5)(inputs)).output_shape == (None, 2, 5, 2)
    with pytest.raises(ValueError, match="images have height, width and channels"):
        layers.CenterCrop(2, 2)(keras.Input((3,)))


def test_what_time_distributed_says_of_the_layer_inside():
    images = keras.Input((4, 3, 4, 3))
    kept = {}
    for layer in (layers.Conv2D(2, 2), layers.ConvLSTM1D(2, 2), layers.Activation("relu"), layers.GlobalMaxPooling2D(), layers.UnitNormalization(),
                  layers.GroupNormalization(3), layers.EinsumDense("abcd,de->abce", (None, None, 2))):
        around = layers.TimeDistributed(layer)
        around(images)
        kept[type(layer).__name__] = "build_config" in around.get_config()["layer"]
    assert [name for name, keeps in kept.items() if keeps] == ["Activation", "GroupNormalization", "EinsumDense"]


def test_a_sequential_model_may_be_an_input_alone():
    model = keras.Sequential([keras.Input((3,))])
    assert model.count_params() == 0 and model.output_shape == (None, 3)
    np.testing.assert_array_equal(model(np.ones([1, 3], np.float32)), np.ones([1, 3]))
    model.add(layers.Dense(2))
    assert model.output_shape == (None, 2)
    model.pop()
    assert model.output_shape == (None, 3)


def test_states_of_stacked_cells_are_grouped_by_cells():
    rnn = layers.RNN([layers.LSTMCell(2), layers.GRUCell(3)], return_state=True)
    output, (h, c), state = rnn(tf.ones([1, 4, 1]))
    assert output.shape == (1, 3) and h.shape == c.shape == (1, 2) and state.shape == (1, 3)


def test_states_have_the_batch_of_the_sequence():
    output = layers.GRU(2)(keras.Input((3, 4), batch_size=5), initial_state=[keras.Input((2,))])
    assert output.shape == (5, 2)


def test_value_and_key_may_come_in_any_order():
    attention = layers.MultiHeadAttention(2, 3)
    query, value, key = tf.ones([1, 2, 3]), tf.random.normal([1, 4, 3]), tf.random.normal([1, 4, 3])
    np.testing.assert_array_equal(attention(query, key=key, value=value), attention(query, value, key))


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


def test_categories_are_encoded():
    encode = layers.CategoryEncoding(num_tokens=3, output_mode="count")
    np.testing.assert_allclose(encode([[0, 1, 1]], count_weights=[[0.5, 1.0, 2.0]]), [[0.5, 3.0, 0.0]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Input values must be in the range 0 <= values < num_tokens"):
        tf.function(encode)(tf.constant([[3]]))
    with pytest.raises(ValueError, match="SparseTensor, which this library does not have"):
        layers.CategoryEncoding(num_tokens=3, sparse=True)
    assert layers.CategoryEncoding(num_tokens=3)(keras.Input(4, dtype="int64")).shape == (None, 3)


def test_texts_are_hashed():
    assert layers.Hashing(num_bins=3)([["A"], ["B"]]).numpy().tolist() == [[1], [0]]
    assert layers.Hashing(num_bins=3, salt=(133, 137)).get_config()["salt"] == [133, 137]
    assert layers.Hashing(num_bins=3, mask_value="")([[""]]).numpy().tolist() == [[0]]
    crossed = layers.HashedCrossing(num_bins=5)((tf.constant(["A", "B"]), tf.constant([101, 102])))
    assert crossed.numpy().tolist() == [1, 1]
    with pytest.raises(ValueError, match="The `salt` argument for `Hashing` can only be a tuple of size 2 integers"):
        layers.Hashing(num_bins=3, salt=(1, 2, 3))


def test_bins_are_learnt_from_data():
    layer = layers.Discretization(num_bins=5, epsilon=0.1)
    data = np.random.RandomState(0).normal(size=(1000, 2)).astype("float32")
    layer.adapt(data)
    assert layer.summary.shape.as_list() == [2, None]
    # What Keras 2.15 finds in the same data.
    np.testing.assert_allclose(layer.bin_boundaries, [-0.49230912, 0.00946794, 0.38469738, 0.93683082], rtol=1e-5)
    np.testing.assert_allclose(layer.summary[:, 0], [-0.92743027, 187.5], rtol=1e-6)
    finer = layers.Discretization(num_bins=4)
    finer.adapt(data)
    np.testing.assert_allclose(finer.bin_boundaries, [-0.61919105, 0.03116393, 0.67750806], rtol=1e-5)
    counts = np.bincount(finer(data).numpy().ravel())
    assert len(counts) == 4 and counts.min() > 400
    with pytest.raises(ValueError, match="Cannot adapt a Discretization layer that has been initialized"):
        layers.Discretization(bin_boundaries=[0.0]).adapt(data)


def test_normalization_adapts():
    layer = layers.Normalization()
    layer.adapt(np.array([[1.0], [2.0], [3.0]], "float32"))
    np.testing.assert_allclose(layer([[2.0], [3.0]]), [[0.0], [1.2247449]], rtol=1e-6)


def test_an_input_layer_takes_shape_or_batch_shape():
    assert layers.InputLayer(input_shape=(None, 4), batch_size=3, name="image").get_config() == {
        "batch_input_shape": (3, None, 4), "dtype": "float32", "sparse": False, "ragged": False, "name": "image"}
    with pytest.raises(ValueError, match="Only provide the input_shape OR batch_input_shape"):
        layers.InputLayer(input_shape=(3,), batch_input_shape=(2, 3))
    model = keras.Sequential([layers.InputLayer(input_shape=(3,)), layers.Dense(2)])
    assert model.output_shape == (None, 2)


def test_cells_give_the_states_to_begin_with():
    x = tf.ones([2, 3])
    assert layers.GRUCell(4).get_initial_state(batch_size=2, dtype=tf.float64).dtype == tf.float64
    assert [s.shape for s in layers.LSTMCell(4).get_initial_state(x)] == [(2, 4), (2, 4)]
    stacked = layers.StackedRNNCells([layers.SimpleRNNCell(4), layers.LSTMCell(5)])
    assert [s.shape for s in tf.nest.flatten(stacked.get_initial_state(x))] == [(2, 4), (2, 5), (2, 5)]
    cell = layers.SimpleRNNCell(4)
    output, states = cell(x, cell.get_initial_state(x))
    assert output.shape == tf.nest.flatten(states)[0].shape == (2, 4)
    with pytest.raises(ValueError, match="batch_size"):
        cell.get_initial_state()


def test_options_are_objects_and_can_be_set():
    layer = layers.Dense(2, activation="relu", kernel_initializer="ones", use_bias=False, kernel_constraint="non_neg")
    assert layer.activation.__name__ == "relu" and layers.Dense(2).activation.__name__ == "linear"
    assert isinstance(layer.kernel_initializer, keras.initializers.Ones) and layer.kernel_regularizer is None
    assert isinstance(layer.kernel_constraint, keras.constraints.NonNeg)
    x = -tf.ones([1, 3])
    np.testing.assert_array_equal(layer(x), [[0.0, 0.0]])
    assert layer.bias is None
    layer.activation = keras.activations.linear
    np.testing.assert_array_equal(layer(x), [[-3.0, -3.0]])
    dropout = layers.Dropout(0.5)
    dropout.rate = 0.0
    np.testing.assert_array_equal(dropout(x, training=True), x)
    with pytest.raises(ValueError, match="expected a value between 0 and 1"):
        dropout.rate = 2.0
    own = layers.Dense(2, activation=lambda x: 2 * x)
    assert own.units == 2 and own.activation(3) == 6
    assert layers.Conv2D(2, 3).kernel_size == (3, 3) and layers.Conv2D(2, 3).rank == 2
    assert layers.Bidirectional(layers.LSTM(2)).layer.units == 2


def test_arguments_have_keras_places():
    assert layers.SpatialDropout2D(0.5, "channels_first").data_format == "channels_first"
    assert layers.Bidirectional(layers.LSTM(2), "sum", None, layers.GRU(2, go_backwards=True)).merge_mode == "sum"
    assert str(inspect.signature(layers.Dropout)) == "(rate, noise_shape=None, seed=None, **kwargs)"
    shown = inspect.signature(layers.Dense).parameters
    assert shown["kernel_initializer"].default == "glorot_uniform" and shown["activation"].default is None
    with pytest.raises(TypeError, match="positional arguments"):
        layers.Flatten(None, (3,))


def test_weights_to_begin_with():
    table = np.arange(8.0).reshape(4, 2)
    model = keras.Sequential([layers.Embedding(4, 2, weights=[table], input_length=1), layers.Flatten()])
    np.testing.assert_array_equal(model(np.array([[3]])), [[6.0, 7.0]])
    layer = Linear(2, weights=[np.full([3, 2], 2.0), np.zeros(2)])
    np.testing.assert_array_equal(layer(tf.ones([1, 3])), [[6.0, 6.0]])


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


def test_tensors_show_their_masks():
    masked = layers.Masking()(tf.constant([[[0.0], [2.0]]]))
    assert masked._keras_mask.numpy().tolist() == [[False, True]]
    assert tf.ones([1])._keras_mask is None
    with pytest.raises(TypeError, match="does not support masking, but was passed an input_mask"):
        Linear().compute_mask(masked, masked._keras_mask)


def test_the_first_argument_may_have_any_name():
    class Named(layers.Layer):
        def call(self, image, scale=1.0):
            return image * scale

    assert float(Named()(image=tf.constant(2.0), scale=3.0)) == 6.0
    with pytest.raises(ValueError, match="The first argument to `Layer.call` must always be passed."):
        Named()()


def test_arguments_that_only_keras_has():
    image = tf.ones([1, 2, 2, 2, 1])
    assert layers.Conv3DTranspose(2, 2, 1, "valid", None, None, (1, 1, 1), "relu")(image).shape == (1, 3, 3, 3, 2)
    with pytest.raises(ValueError, match="has no dilation_rate but"):
        layers.Conv3DTranspose(2, 2, dilation_rate=2)
    with pytest.raises(ValueError, match="has no sparse but False"):
        layers.Embedding(4, 2, sparse=True)
    assert layers.InputLayer(None, None, None, tf.ones([2, 3])).get_config()["batch_input_shape"] == (2, 3)
    assert layers.experimental.preprocessing.Rescaling is layers.Rescaling


def test_serialized_layers():
    layer = layers.Dense(2, name="d")
    assert list(layers.serialize(layer, use_legacy_format=True)) == ["class_name", "config"]
    assert layers.serialize(layer)["registered_name"] is None
    assert layers.deserialize(layers.serialize(layer)).get_config() == layer.get_config()


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
    layer.w = tf.Variable(3.0)
    assert layer.weights == [layer.b, layer.w]


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

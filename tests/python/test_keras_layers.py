"""Layers that the engine has: their options, weights, masks and arguments."""

import copy
import inspect
import pickle

import numpy as np
import pytest
from keras_samples import Linear

import thalweg as tf
from thalweg import keras
from thalweg.keras import layers


def test_layers_of_the_engine_show_options_and_weights():
    layer = layers.Dense(4, activation="relu", name="d")
    layer(tf.ones([1, 3]))
    assert layer.units == 4 and layer.kernel.shape == (3, 4) and layer.bias.name == "d/bias:0"
    assert layer.get_config()["kernel_initializer"]["class_name"] == "GlorotUniform"
    with pytest.raises(AttributeError, match="'Dense' object has no attribute 'filters'"):
        layer.filters


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


def test_what_graphs_refuse_is_a_value_error():
    with pytest.raises(ValueError, match="Negative dimension size caused by subtracting 3 from 2"):
        layers.MaxPooling1D(3)(keras.Input((2, 1)))
    assert layers.MaxPooling1D(3)(tf.ones([1, 2, 1])).shape == (1, 0, 1)
    image = keras.Input((3, 2, 1))
    with pytest.raises(ValueError, match="ExpandDims"):
        layers.MultiHeadAttention(1, 1)(image, image, use_causal_mask=True)


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


def test_an_input_layer_takes_shape_or_batch_shape():
    assert layers.InputLayer(input_shape=(None, 4), batch_size=3, name="image").get_config() == {
        "batch_input_shape": (3, None, 4), "dtype": "float32", "sparse": False, "ragged": False, "name": "image"}
    with pytest.raises(ValueError, match="Only provide the input_shape OR batch_input_shape"):
        layers.InputLayer(input_shape=(3,), batch_input_shape=(2, 3))
    model = keras.Sequential([layers.InputLayer(input_shape=(3,)), layers.Dense(2)])
    assert model.output_shape == (None, 2)


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


def test_tensors_show_their_masks():
    masked = layers.Masking()(tf.constant([[[0.0], [2.0]]]))
    assert masked._keras_mask.numpy().tolist() == [[False, True]]
    assert tf.ones([1])._keras_mask is None
    with pytest.raises(TypeError, match="does not support masking, but was passed an input_mask"):
        Linear().compute_mask(masked, masked._keras_mask)


def test_arguments_that_only_keras_has():
    image = tf.ones([1, 2, 2, 2, 1])
    assert layers.Conv3DTranspose(2, 2, 1, "valid", None, None, (1, 1, 1), "relu")(image).shape == (1, 3, 3, 3, 2)
    dilated = layers.Conv3DTranspose(2, 2, dilation_rate=2)
    assert dilated(image).shape == (1, 3, 3, 3, 2) and dilated.dilation_rate == (2, 2, 2)
    assert "dilation_rate" not in dilated.get_config()
    with pytest.raises(ValueError, match="has no sparse but False"):
        layers.Embedding(4, 2, sparse=True)
    assert layers.InputLayer(None, None, None, tf.ones([2, 3])).get_config()["batch_input_shape"] == (2, 3)
    assert layers.experimental.preprocessing.Rescaling is layers.Rescaling
    first = layers.InputLayer(input_shape=(3,))
    assert first.output.shape == (None, 3)
    assert keras.Model(first.output, layers.Dense(2)(first.output)).output_shape == (None, 2)


def test_serialized_layers():
    layer = layers.Dense(2, name="d")
    assert list(layers.serialize(layer, use_legacy_format=True)) == ["class_name", "config"]
    assert layers.serialize(layer)["registered_name"] is None
    assert layers.deserialize(layers.serialize(layer)).get_config() == layer.get_config()


def test_seeded_noise_counts_its_draws():
    tf.random.set_seed(None)
    layer = tf.keras.layers.GaussianNoise(1.0, seed=3)
    drawn = [layer(tf.zeros(3), training=True).numpy() for _ in range(3)]
    wanted = [[1.0616621, -0.8785783, 0.11187216], [0.29629603, -0.03141323, -0.05471061],
              [-1.1780828, -0.7099414, -1.748158]]  # TensorFlow's
    np.testing.assert_allclose(drawn, wanted, rtol=1e-4)


def kernels_of_attention(**options):
    layer = layers.MultiHeadAttention(2, 8, **options)
    layer(tf.ones([1, 4, 8]), tf.ones([1, 4, 8]))
    return layer.get_weights()[0], layer.get_weights()[2]


def test_initializers_are_shared_as_in_keras():
    first, second = kernels_of_attention()
    assert not np.array_equal(first, second)
    first, second = kernels_of_attention(kernel_initializer=keras.initializers.HeNormal())
    assert not np.array_equal(first, second)
    first, second = kernels_of_attention(kernel_initializer=keras.initializers.HeNormal(seed=1))
    np.testing.assert_array_equal(first, second)
    layer = layers.Layer()
    assert not np.array_equal(layer.add_weight("a", (2, 3)), layer.add_weight("b", (2, 3)))
    shared = keras.initializers.GlorotUniform()
    with pytest.warns(UserWarning, match="unseeded"):
        one, other = (layers.Dense(3, kernel_initializer=shared) for _ in range(2))
        one.build((None, 2))
        other.build((None, 2))
    np.testing.assert_array_equal(one.kernel, other.kernel)


def test_batches_in_groups():
    x = tf.constant(np.arange(24.0).reshape(4, 3, 2) ** 1.5, tf.float32)
    grouped = layers.BatchNormalization(virtual_batch_size=2, momentum=0.9)
    y = grouped(x, training=True)
    assert grouped.gamma.shape == (1, 1, 1, 2) and "virtual_batch_size" in grouped.get_config()
    # Rows 0 and 2 are one group, rows 1 and 3 the other.
    for rows in ([0, 2], [1, 3]):
        alone = layers.BatchNormalization()(tf.gather(x, rows), training=True)
        np.testing.assert_allclose(tf.gather(y, rows), alone, rtol=1e-5, atol=1e-5)
    with pytest.raises(tf.errors.InvalidArgumentError):
        layers.BatchNormalization(virtual_batch_size=3)(x, training=True)


def test_adjusted_batches():
    def adjust(shape):
        return tf.fill([shape[0], 1], 2.0), tf.fill([shape[0], 1], 0.5)

    layer = layers.BatchNormalization(adjustment=adjust, epsilon=0.0)
    x = tf.constant([[1.0], [3.0]])
    np.testing.assert_allclose(layer(x, training=True), [[-1.5], [2.5]], rtol=1e-6)
    assert "adjustment" not in layer.get_config()


def test_fused_is_decided_when_it_is_built():
    layer = layers.BatchNormalization()
    assert layer.fused is None
    layer.build((None, 2, 2, 3))
    assert layer.fused is True and layers.BatchNormalization(renorm=True).fused is False


def test_weights_can_be_replaced():
    dense = layers.Dense(1)
    dense.build((8, 2))
    dense.kernel = tf.Variable(tf.zeros([2, 1]))
    assert dense.trainable_variables[0] is dense.kernel
    np.testing.assert_array_equal(dense(tf.ones([1, 2])), [[0.0]])
    v = tf.Variable([[1.0], [2.0]])
    with tf.GradientTape() as tape:
        dense.kernel = v * 2.0
        y = dense(tf.ones([1, 2]))
    np.testing.assert_array_equal(tape.gradient(y, v), [[2.0], [2.0]])
    assert len(dense.weights) == 1 and float(y) == 6.0
    table = layers.Embedding(2, 1)
    table.build(None)
    table.embeddings = tf.constant([[5.0], [6.0]])
    np.testing.assert_array_equal(table(tf.constant([1])), [[6.0]])
    bare = layers.AdditiveAttention(use_scale=True)
    bare.build([(1, 1, 1), (1, 3, 1)])
    bare.scale = 0.5
    assert bare.scale == 0.5 and bare.weights == []


def test_weights_that_a_layer_does_without_are_none():
    for layer, name in ((layers.EinsumDense("ab,bc->ac", 3), "bias"), (layers.Dense(1, use_bias=False), "bias")):
        assert not hasattr(layer, name)
        layer.build((None, 4))
        assert getattr(layer, name) is None
    assert not hasattr(layers.Attention(), "scale")


def test_layers_as_activations():
    dense = layers.Dense(2, activation=layers.PReLU(alpha_initializer="ones"))
    assert dense(tf.ones([1, 2])).shape == (1, 2) and len(dense.weights) == 3
    assert isinstance(dense.activation, layers.PReLU)


def test_constraints_of_weights():
    dense = layers.Dense(2, kernel_constraint="max_norm", bias_constraint=tf.nn.relu)
    dense.build((None, 3))
    assert type(dense.kernel.constraint).__name__ == "MaxNorm" and dense.bias.constraint is tf.nn.relu
    assert tf.Variable(1.0).constraint is None


def test_arguments_by_position():
    x, mask = tf.constant([[[1.0], [3.0], [100.0]]]), tf.constant([[True, True, False]])
    np.testing.assert_array_equal(layers.GlobalAveragePooling1D()(x, mask), [[2.0]])
    attention = layers.MultiHeadAttention(2, 2)
    assert attention(tf.ones([1, 3, 4]), tf.ones([1, 5, 4]), None, None, False, True).shape == (1, 3, 4)
    assert attention.compute_output_shape((None, 3, 4), (None, 5, 4), (None, 5, 4)) == (None, 3, 4)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'value'"):
        layers.MultiHeadAttention(2, 2)(tf.ones([1, 3, 4]))
    with pytest.raises(TypeError, match="positional arguments"):
        layers.Dropout(0.5)(x, True, 3)
    with pytest.raises(TypeError, match="Expected `name` argument to be a string, but got: 1"):
        layers.Dense(1, name=1)
    assert layers.Dense("3").units == layers.Dense(3.0).units == 3


def test_lengths_of_embeddings():
    assert layers.Embedding(4, 2, input_length=[None, 2])(tf.ones([2, 3, 2], tf.int32)).shape == (2, 3, 2, 2)
    assert layers.Embedding(4, 2, input_length=3).compute_output_shape((None, None)) == (None, 3, 2)
    assert layers.Embedding(4, 2, input_length=3).get_config()["input_length"] == 3
    with pytest.raises(ValueError, match='"input_length" is 3, but received input has shape'):
        layers.Embedding(4, 2, input_length=3).compute_output_shape((None, 4))


def test_what_wrappers_take():
    for wrapper in (layers.TimeDistributed, layers.Bidirectional, layers.SpectralNormalization):
        with pytest.raises(ValueError):
            wrapper(3)


def test_layers_of_the_engine_can_be_copied():
    dense = layers.Dense(2, name="q")
    dense.build((None, 2))
    for other in (copy.deepcopy(dense), pickle.loads(pickle.dumps(dense))):
        assert other.name == "q" and other.kernel is not dense.kernel
        np.testing.assert_array_equal(other.kernel, dense.kernel)
    assert copy.copy(dense).kernel is dense.kernel
    store = {}
    dense.save_own_variables(store)
    other = layers.Dense(2)
    other.build((None, 2))
    other.load_own_variables(store)
    np.testing.assert_array_equal(other.kernel, dense.kernel)


def test_models_are_stateful_where_a_layer_is():
    model = keras.Sequential([layers.LSTM(2, stateful=True, batch_input_shape=(1, 3, 2)), layers.Dense(1)])
    assert model.stateful and keras.Sequential([model]).stateful
    assert keras.Model(model.inputs, model.outputs).stateful
    assert not keras.Sequential([layers.LSTM(2)]).stateful


def test_recurrent_layers_say_what_states_they_begin_with():
    shapes = [spec.shape for spec in layers.LSTM(3).state_spec]
    assert shapes == [(None, 3), (None, 3)]
    assert [spec.shape for spec in layers.RNN([layers.GRUCell(2), layers.LSTMCell(4)]).state_spec] == [
        (None, 2), (None, 4), (None, 4)]

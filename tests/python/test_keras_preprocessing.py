"""Layers that prepare data: images, categories, texts and numbers."""

import numpy as np
import pytest

import thalweg as tf
from thalweg import keras
from thalweg.keras import layers


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


def test_moments_broadcast_with_inputs():
    x = np.arange(12.0, dtype="float32").reshape([2, 2, 3])
    layer = layers.Normalization(axis=-1)
    layer.adapt(x)
    assert layer.mean.shape == layer.variance.shape == (1, 1, 3) and layer.adapt_mean.shape == (3,)
    np.testing.assert_allclose((x - layer.mean) / np.sqrt(layer.variance), layer(x), rtol=1e-6)
    fixed = layers.Normalization(mean=3.0, variance=2.0)
    fixed.build((None, 2))
    np.testing.assert_array_equal(fixed.mean, [[3.0, 3.0]])


def test_layers_learn_from_datasets():
    rows = np.arange(8.0, dtype="float32").reshape(4, 2)
    whole, parted, by_hand = (layers.Normalization(axis=-1) for _ in range(3))
    whole.adapt(rows)
    parted.adapt(tf.data.Dataset.from_tensor_slices(rows).batch(2))
    by_hand.build((None, 2))
    by_hand.reset_state()
    by_hand.update_state(rows[:2])
    by_hand.update_state(rows[2:])
    by_hand.finalize_state()
    for layer in (parted, by_hand):
        np.testing.assert_allclose(layer(tf.zeros([1, 2])), whole(tf.zeros([1, 2])))
    bins = layers.Discretization(num_bins=2)
    bins.adapt(tf.data.Dataset.from_tensor_slices(rows.ravel()).batch(4))
    np.testing.assert_array_equal(bins(tf.constant([0.0, 7.0])), [0, 1])

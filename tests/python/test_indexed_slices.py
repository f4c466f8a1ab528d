"""tf.IndexedSlices: texts and values are those of TensorFlow 2.15."""

import pickle

import pytest

import thalweg as tf


@pytest.fixture
def slices():
    return tf.IndexedSlices(tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([0, 2]), tf.constant([3, 2]))


def test_parts_and_text(slices):
    assert slices.shape == [3, 2] and slices.dtype is tf.float32 and slices.device.endswith("CPU:0")
    assert str(slices) == ("IndexedSlices(indices=tf.Tensor([0 2], shape=(2,), dtype=int32), values=tf.Tensor(\n[[1. 2.]\n"
                           " [3. 4.]], shape=(2, 2), dtype=float32), dense_shape=tf.Tensor([3 2], shape=(2,), "
                           "dtype=int32))")
    assert str(tf.IndexedSlices([1.0], [0])) == "IndexedSlices(indices=[0], values=[1.0])"
    assert "IndexedSlices object at 0x" in repr(slices) and tf.is_tensor(slices) and not isinstance(slices, tf.Tensor)
    assert tf.IndexedSlices(slices.values, slices.indices).shape == tf.TensorShape(None)
    assert (-slices).values.numpy().tolist() == [[-1, -2], [-3, -4]]
    with pytest.raises(AttributeError):
        slices.name


def test_becomes_a_tensor(slices):
    whole = [[1, 2], [0, 0], [3, 4]]
    assert tf.convert_to_tensor(slices).numpy().tolist() == whole
    assert (tf.constant(2.0) * slices).numpy().tolist() == [[2, 4], [0, 0], [6, 8]]
    assert (slices * tf.constant(2.0)).numpy().tolist() == [[2, 4], [0, 0], [6, 8]]
    assert float(tf.reduce_sum(slices)) == 10 and tf.add_n([slices, tf.zeros([3, 2])]).numpy().tolist() == whole
    twice = tf.IndexedSlices(tf.ones([2, 2]), tf.constant([1, 1]), tf.constant([3, 2]))
    assert tf.convert_to_tensor(twice).numpy().tolist() == [[0, 0], [2, 2], [0, 0]]
    with pytest.raises(TypeError):
        slices * 2.0
    with pytest.raises(ValueError):
        tf.convert_to_tensor(slices, dtype=tf.int32)
    with pytest.raises(ValueError, match="Tensor conversion requested for IndexedSlices for argument `value` without "
                                         "dense_shape: "):
        tf.convert_to_tensor(tf.IndexedSlices(slices.values, slices.indices))


def test_functions_that_keep_the_form(slices):
    assert tf.clip_by_norm(slices, 1.0).values.numpy().tolist() == [
        [pytest.approx(0.18257418), pytest.approx(0.36514837)], [pytest.approx(0.5477225), pytest.approx(0.73029673)]]
    assert tf.clip_by_value(slices, 0.0, 2.0).values.numpy().tolist() == [[1, 2], [2, 2]]
    assert tf.math.scalar_mul(2.0, slices).values.numpy().tolist() == [[2, 4], [6, 8]]
    (clipped, other, nothing), norm = tf.clip_by_global_norm([slices, tf.ones([2]), None], 5.656854)
    assert isinstance(clipped, tf.IndexedSlices) and nothing is None and other.shape == [2]
    assert float(norm) == pytest.approx(5.656854) and float(tf.linalg.global_norm([slices, tf.ones([2])])) == float(norm)


def test_gradients_of_lookups():
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with tf.GradientTape(persistent=True) as tape:
        y = tf.reduce_sum(tf.gather(table, [0, 2, 0]) ** 2)
        z = y + tf.reduce_sum(table)
    g = tape.gradient(y, table)
    assert isinstance(g, tf.IndexedSlices) and g.indices.numpy().tolist() == [0, 2, 0]
    assert g.dense_shape.dtype is tf.int32 and g.dense_shape.numpy().tolist() == [3, 2]
    assert g.values.numpy().tolist() == [[2, 4], [10, 12], [2, 4]]
    assert tf.convert_to_tensor(g).numpy().tolist() == [[4, 8], [0, 0], [10, 12]]
    assert tape.gradient(z, table).numpy().tolist() == [[5, 9], [1, 1], [11, 13]]
    assert isinstance(tape.gradient([y, y], table), tf.IndexedSlices)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.nn.embedding_lookup(table, [1]))
    table.assign_sub(tape.gradient(y, table))
    assert table.numpy().tolist() == [[1, 2], [2, 3], [5, 6]]


def test_second_order():
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.reduce_sum(tf.gather(table, [0, 2, 0]) ** 2)
        h = tf.reduce_sum(tf.convert_to_tensor(inner.gradient(y, table)))
    assert tf.convert_to_tensor(outer.gradient(h, table)).numpy().tolist() == [[4, 4], [0, 0], [2, 2]]


def test_custom_gradients_see_slices_and_may_return_them():
    table, seen = tf.Variable([[1.0, 2.0], [3.0, 4.0]]), []

    @tf.custom_gradient
    def through(x):
        def backward(upstream):
            seen.append(upstream)
            return tf.IndexedSlices(upstream.values * 2.0, upstream.indices, upstream.dense_shape)

        return tf.identity(x), backward

    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.gather(through(table), [1]))
    g = tape.gradient(y, table)
    assert isinstance(seen[0], tf.IndexedSlices) and isinstance(g, tf.IndexedSlices)
    assert tf.convert_to_tensor(g).numpy().tolist() == [[0, 0], [2, 2]]


def test_spec(slices):
    assert repr(slices._type_spec) == (
        "IndexedSlicesSpec(TensorShape([3, 2]), tf.float32, tf.int32, tf.int32, TensorShape([2]))")
    spec = tf.IndexedSlicesSpec(shape=[None, 2])
    assert repr(spec) == "IndexedSlicesSpec(TensorShape([None, 2]), tf.float32, tf.int64, None, TensorShape([None]))"
    assert spec == tf.IndexedSlicesSpec(shape=[None, 2]) and spec != slices._type_spec
    assert slices._type_spec.is_compatible_with(slices) and pickle.loads(pickle.dumps(spec)) == spec
    assert hash(spec) == hash(tf.IndexedSlicesSpec(shape=[None, 2]))


def test_functions_give_them():
    table = tf.Variable(tf.ones([5, 2]))
    rows = tf.constant([[1, 3], [1, 0]])

    @tf.function
    def lookups(rows):
        with tf.GradientTape() as tape:
            y = sum(tf.reduce_sum(tf.nn.embedding_lookup(table, rows[:, k]) * float(k + 1)) for k in range(2))
        gradient = tape.gradient(y, table)
        assert gradient.shape == [5, 2] and gradient.values.shape[1:] == [2]
        return {"gradient": gradient, "nothing": None, "sum": y}

    found = lookups(rows)
    assert isinstance(found["gradient"], tf.IndexedSlices) and found["nothing"] is None and found["sum"] == 12.0
    assert found["gradient"].indices.numpy().tolist() == [3, 0, 1, 1]
    assert found["gradient"].dense_shape.numpy().tolist() == [5, 2]
    assert tf.convert_to_tensor(found["gradient"]).numpy()[:, 0].tolist() == [2.0, 2.0, 0.0, 2.0, 0.0]


def test_gradients_of_layers_that_look_up():
    layer = tf.keras.layers.Embedding(8, 4)
    layer.build((None,))

    @tf.function
    def gradients(rows):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(layer(rows[:, :1])) + tf.reduce_sum(layer(rows[:, 1:]))
        return tape.gradient(loss, layer.trainable_variables)

    found = gradients(tf.constant([[1, 2], [2, 3]]))[0]
    assert sorted(found.indices.numpy().tolist()) == [1, 2, 2, 3]

"""tf.vectorized_map: one trace for all rows, with the results that TensorFlow 2.15 gives."""

import numpy as np
import pytest

import thalweg as tf


def test_one_trace_and_structures():
    calls = []

    def fn(row):
        calls.append(1)
        x, y = row["x"], row["y"]
        return {"product": tf.linalg.matvec(y, x), "norm": tf.norm(x)}

    x, y = np.arange(6, dtype=np.float32).reshape(3, 2), np.arange(12, dtype=np.float32).reshape(3, 2, 2)
    result = tf.vectorized_map(fn, {"x": tf.constant(x), "y": tf.constant(y)})
    assert calls == [1]
    np.testing.assert_allclose(result["product"].numpy(), np.einsum("nij,nj->ni", y, x))
    np.testing.assert_allclose(result["norm"].numpy(), np.linalg.norm(x, axis=1), rtol=1e-6)


def test_outer_products_as_in_tensorflows_manual():
    a = tf.ones([10, 3])
    b = tf.reshape(tf.range(30.0), [10, 3])
    result = tf.vectorized_map(lambda args: tf.tensordot(args[0], args[1], 0), (a, b))
    np.testing.assert_allclose(result.numpy(), np.einsum("ni,nj->nij", a.numpy(), b.numpy()))


def test_jacobians_by_rows():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])

    @tf.function
    def gradients(v):
        def one(row):
            with tf.GradientTape() as tape:
                tape.watch(row)
                y = tf.reduce_sum(row**3)
            return tape.gradient(y, row)
        return tf.vectorized_map(one, v, fallback_to_while_loop=False)

    np.testing.assert_allclose(gradients(x).numpy(), 3 * x.numpy()**2)


def test_falls_back_to_a_loop():
    v = tf.Variable(0.0)

    def fn(row):
        v.assign_add(tf.reduce_sum(row))
        return row + 1.0

    x = tf.constant([[1.0], [2.0], [3.0]])
    assert tf.vectorized_map(fn, x, warn=False).numpy().tolist() == [[2], [3], [4]]
    assert v.numpy() == 6
    with pytest.raises(ValueError, match="No pfor vectorization defined for AssignAddVariableOp"):
        tf.vectorized_map(fn, x, fallback_to_while_loop=False)
    with pytest.raises(ValueError):
        tf.vectorized_map(fn, tf.constant(1.0))


def test_shared_results_are_repeated():
    x = tf.zeros([3, 2])
    assert tf.vectorized_map(lambda row: tf.constant([1, 2]), x).numpy().tolist() == [[1, 2]] * 3
    assert tf.vectorized_map(lambda row: row, tf.zeros([0, 2])).shape == [0, 2]

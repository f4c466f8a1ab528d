"""tf.TensorArray: values and texts are those of TensorFlow 2.15, run eagerly."""

import inspect

import numpy as np
import pytest

import thalweg as tf


def array(size=3, **options):
    return tf.TensorArray(tf.float32, size, **options)


def test_writes_reads_and_stacks():
    ta = array()
    ta = ta.write(0, 1.0).write(1, 2).write(tf.constant(2, tf.int64), tf.Variable(3.0))
    assert repr(ta.stack()) == "<tf.Tensor: shape=(3,), dtype=float32, numpy=array([1., 2., 3.], dtype=float32)>"
    assert repr(ta.read(1)) == "<tf.Tensor: shape=(), dtype=float32, numpy=2.0>"
    assert repr(ta.size()) == "<tf.Tensor: shape=(), dtype=int32, numpy=3>"
    assert ta.dtype is tf.float32 and ta.dynamic_size is False and ta.handle is None
    assert ta.element_shape == [] and ta.flow.dtype is tf.variant
    assert tf.TensorArray(tf.float32, 3).unstack([4.0, 5.0, 6.0]).gather([2, 0, 2]).numpy().tolist() == [6, 4, 6]


def test_changes_in_place_eagerly():
    ta = array(1)
    ta.write(0, 5.0)
    assert ta.identity() is ta
    assert ta.stack().numpy().tolist() == [5.0]


def test_clears_what_was_read():
    ta = array().write(0, 1.0)
    ta.read(0)
    with pytest.raises(tf.errors.InvalidArgumentError) as refused:
        ta.read(0)
    assert str(refused.value) == ("Could not read index 0 twice because it was cleared after a previous read (perhaps try "
                                  "setting clear_after_read = false?)")
    assert ta.stack().numpy().tolist() == [0, 0, 0]
    assert ta.read(0).numpy() == 0.0
    kept = array(1, clear_after_read=False).write(0, 1.0)
    assert kept.read(0).numpy() == kept.read(0).numpy() == 1.0


@pytest.mark.parametrize("call, kind, text", [
    (lambda: tf.TensorArray(tf.float32), ValueError, "Size must be declared for TensorArrays when eager execution is enabled."),
    (lambda: array(1, handle=3), ValueError, "TensorArray handles are not supported when eager execution is enabled."),
    (lambda: array(tf.constant([3])), TypeError, "only integer scalar arrays can be converted to a scalar index"),
    (lambda: array(-3), tf.errors.InvalidArgumentError, None),
    (lambda: array().read(-1), tf.errors.OutOfRangeError, "Reading from negative indices (index -1) is not allowed."),
    (lambda: array().read(9), tf.errors.OutOfRangeError, "Tried to read from index 9 but array size is: 3 "),
    (lambda: array().read(0), (ValueError, tf.errors.InvalidArgumentError), None),
    (lambda: array().write(-1, 1.0), tf.errors.OutOfRangeError, "Writing to negative indices (index -1) is not allowed."),
    (lambda: array().write(9, 1.0), tf.errors.OutOfRangeError,
     "Tried to write to index 9 but array is not resizeable and size is: 3 "),
    (lambda: array().write(1, tf.constant(1)), tf.errors.InvalidArgumentError,
     "TensorArray dtype is float32 but Op is trying to write dtype int32 "),
    (lambda: tf.TensorArray(tf.int32, 1).write(0, 3.5), tf.errors.InvalidArgumentError,
     "TensorArray dtype is int32 but Op is trying to write dtype float32 "),
    (lambda: array().write(0, 1.0).write(1, [1.0, 2.0]), ValueError, "Incompatible shape for value ((2,)), expected (())"),
    (lambda: array().write(1.0, 1.0), TypeError, None),
    (lambda: array(2).unstack([1.0, 2.0]).concat(), tf.errors.InvalidArgumentError, None),
    (lambda: array(1).unstack([1.0, 2.0]), ValueError, "Cannot unstack 2 tensors into a TensorArray of static size 1 "),
    (lambda: array(1).unstack(1.0), ValueError, "Argument `axis` = 0 not in range [0, 0)"),
    (lambda: array(1).scatter([2, 0], [[1.0], [2.0]]), tf.errors.OutOfRangeError,
     "Tried to write to index 2 but array is not resizeable and size is: 1 "),
    (lambda: array().scatter([-1], [[1.0]]), tf.errors.OutOfRangeError, "Writing to negative indices (index -1) is not allowed."),
    (lambda: array(element_shape=[2]).scatter([1], [[1.0]]), ValueError, "Incompatible shape for value ((1,)), expected ((2,))"),
    (lambda: array().gather([9]), tf.errors.InvalidArgumentError, None),
    (lambda: array(2).split([1.0, 2.0], 2), tf.errors.InvalidArgumentError,
     "Expected lengths to be a vector, received shape: [] "),
    (lambda: array(2).split(1.0, [1, 2]), tf.errors.InvalidArgumentError,
     "Expected value to be at least a vector, but received shape: [] "),
    (lambda: array(2).split([1.0, 2.0], [1, 2]), tf.errors.InvalidArgumentError,
     "Expected sum of lengths to be equal to values.shape[0], but sum of lengths is 3 and value's shape is: [2] "),
    (lambda: array(3).split([1.0, 2.0, 3.0], [1, 2]), tf.errors.InvalidArgumentError,
     "TensorArray's size is not equal to the size of lengths (3 vs. 2), and the TensorArray is not marked as dynamically "
     "resizeable."),
    (lambda: array().grad("gradients"), NotImplementedError, None),
])
def test_refuses(call, kind, text):
    with pytest.raises(kind) as refused:
        call()
    assert text is None or str(refused.value) == text


def test_grows_where_it_may():
    ta = array(0, dynamic_size=True).write(2, 3.0).scatter([4, 0], [5.0, 1.0])
    assert ta.stack().numpy().tolist() == [1, 0, 3, 0, 5]
    assert ta.unstack([1.0] * 7).size().numpy() == 7
    assert array(5).unstack([1.0, 2.0]).size().numpy() == 2


def test_joins_and_splits():
    ta = array(2, infer_shape=False).write(0, [1.0]).write(1, [2.0, 3.0])
    assert ta.concat().numpy().tolist() == [1, 2, 3] and ta.element_shape.rank is None
    pieces = array(2).split([1, 2, 3], [1, 2])
    assert [pieces.read(i).numpy().tolist() for i in (0, 1)] == [[1], [2, 3]]
    assert array(2, element_shape=[2]).concat().numpy().tolist() == [0, 0, 0, 0]
    assert array(0, dynamic_size=True).split([1.0, 2.0, 3.0], [1, 2]).size().numpy() == 2


def test_stacks_nothing():
    assert array(0).stack().shape == [0]
    assert array(0, element_shape=[2]).stack().shape == [0, 2]
    assert array(2, infer_shape=False).write(0, [1.0]).gather([]).shape == [0]
    assert tf.TensorArray(tf.string, 2, element_shape=[]).stack().numpy().tolist() == [b"", b""]
    ta = array(2).unstack([1.0, 2.0])
    assert ta.close() is None and ta.size().numpy() == 0


def test_gradients():
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as tape:
            ta = array().unstack(tf.stack([x, x * x, x * x * x]))
            y = tf.reduce_sum(ta.gather([0, 0, 2])) + tf.reduce_sum(ta.read(1))
        gradient = tape.gradient(y, x)
    assert gradient.numpy().tolist() == [7, 18]
    assert outer.gradient(gradient, x).numpy().tolist() == [8, 14]
    with tf.GradientTape() as tape:
        ta = array(0, dynamic_size=True)
        power = x
        for i in range(3):
            ta = ta.write(i, power)
            power = power * x
        total = ta.read(1) * ta.read(2) + tf.reduce_sum(ta.stack(), 0)
    np.testing.assert_array_equal(tape.gradient(total, x).numpy(), [5 + 1, 5 * 16 + 1])


def test_wraps_a_flow():
    flow = array().unstack([1.0, 2.0, 3.0]).flow
    assert tf.TensorArray(tf.float32, flow=flow).stack().numpy().tolist() == [1, 2, 3]
    with pytest.raises(ValueError):
        tf.TensorArray(tf.float32, 3, flow=flow)


def test_signatures():
    expected = {
        "__init__": "(self, dtype, size=None, dynamic_size=None, clear_after_read=None, tensor_array_name=None, handle=None, "
                    "flow=None, infer_shape=True, element_shape=None, colocate_with_first_write_call=True, name=None)",
        "read": "(self, index, name=None)", "write": "(self, index, value, name=None)", "stack": "(self, name=None)",
        "unstack": "(self, value, name=None)", "concat": "(self, name=None)", "gather": "(self, indices, name=None)",
        "scatter": "(self, indices, value, name=None)", "split": "(self, value, lengths, name=None)",
        "size": "(self, name=None)", "close": "(self, name=None)", "identity": "(self)",
        "grad": "(self, source, flow=None, name=None)",
    }
    for name, signature in expected.items():
        assert str(inspect.signature(getattr(tf.TensorArray, name))) == signature


def test_spec():
    spec = tf.TensorArraySpec.from_value(array(element_shape=[2]))
    assert spec == tf.TensorArraySpec([2], tf.float32) and spec.is_compatible_with(array(element_shape=[2]))
    assert not spec.is_compatible_with(tf.TensorArray(tf.int32, 1))


def test_writing_many_is_quick():
    ta = tf.TensorArray(tf.float32, 0, dynamic_size=True)
    for i in range(20000):
        ta = ta.write(i, 1.0)
    assert tf.reduce_sum(ta.stack()).numpy() == 20000

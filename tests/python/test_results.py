"""Shapes of arguments and results that only Python has: tuples, callables, None."""

import numpy as np
import pytest

import thalweg as tf

A = tf.constant([[1.0, 2.0], [3.0, 4.0]])


def test_svd():
    values = tf.linalg.svd(A, compute_uv=False)
    assert isinstance(values, tf.Tensor) and values.shape == [2]
    s, u, v = tf.linalg.svd(A)
    assert np.allclose((u * s) @ tf.transpose(v), A, atol=1e-5)


def test_clip_by_global_norm():
    clipped, norm = tf.clip_by_global_norm([A, None, tf.constant([1.0])], 2.0)
    assert isinstance(clipped, list) and clipped[1] is None
    assert float(norm) == pytest.approx(31**0.5)
    assert np.allclose(clipped[0], A * 2 / 31**0.5)
    assert tf.clip_by_global_norm([None], 2.0)[0] == [None]
    pytest.raises(TypeError, tf.clip_by_global_norm, A, 2.0)
    pytest.raises(TypeError, tf.clip_by_global_norm, "abc", 2.0)


def test_windows():
    signal = tf.sin(tf.range(40.0))
    plain = tf.signal.stft(signal, 12, 4)
    assert np.allclose(plain, tf.signal.stft(signal, 12, 4, window_fn=tf.signal.hann_window))
    doubled = tf.signal.stft(signal, 12, 4, window_fn=lambda n, dtype: 2 * tf.signal.hann_window(n, dtype=dtype))
    assert np.allclose(doubled, 2 * plain.numpy())
    assert not np.allclose(tf.signal.stft(signal, 12, 4, window_fn=None), plain)
    back = tf.signal.inverse_stft(plain, 12, 4, window_fn=tf.signal.inverse_stft_window_fn(4))
    assert np.allclose(back[8:32], signal[8:32], atol=1e-5)


def test_any_number_of_arguments():
    assert np.allclose(tf.einsum("ij,jk->ik", A, A, optimize="optimal"), A @ A)
    rows, columns = tf.meshgrid([1, 2], [3, 4, 5])
    assert rows.shape == columns.shape == [3, 2]
    assert tf.meshgrid([1, 2], [3, 4, 5], indexing="ij")[0].shape == [2, 3]
    assert tf.meshgrid() == []


def test_strings_split():
    assert tf.strings.split("a b c").numpy().tolist() == [b"a", b"b", b"c"]
    assert tf.strings.split("a,b,c", sep=",", maxsplit=1).numpy().tolist() == [b"a", b"b,c"]
    assert tf.strings.bytes_split("abc").numpy().tolist() == [b"a", b"b", b"c"]
    with pytest.raises(tf.errors.UnimplementedError, match="StringSplitV2"):
        tf.strings.split(["a b"])
    pytest.raises(TypeError, tf.strings.split, 1)


NONE = r"argument '{}': Attempt to convert a value \(None\) with an unsupported type \(<class 'NoneType'>\) to a Tensor."


@pytest.mark.parametrize("call, name, argument", [
    (lambda: tf.nn.relu(None), "nn.relu", "features"),
    (lambda: tf.reduce_sum(None), "reduce_sum", "input_tensor"),
    (lambda: tf.matmul(A, None), "matmul", "b"),
    (lambda: tf.nn.batch_normalization(A, None, A, None, None, 0.1), "nn.batch_normalization", "mean"),
    (lambda: tf.raw_ops.Relu(features=None), "Relu", "features"),
    (lambda: tf.raw_ops.AddV2(x=A, y=None), "AddV2", "y"),
])
def test_none_for_a_tensor(call, name, argument):
    with pytest.raises(ValueError, match=f".*{name}: " + NONE.format(argument)):
        call()


def test_none_does_not_find_the_last_argument():
    tf.nn.relu(A)
    pytest.raises(ValueError, tf.nn.relu, None)
    pytest.raises(TypeError, tf.cast, A, None)


@pytest.mark.parametrize("options", [{"maxval": 3}, {"minval": 1, "maxval": 2.5}, {"maxval": np.float64(3)},
                                     {"maxval": 3, "dtype": tf.float64}, {"minval": 0, "maxval": 3, "dtype": tf.int32}],
                         ids=repr)
def test_bare_numbers_take_the_dtype(options):
    assert tf.random.uniform([4], **options).dtype == options.get("dtype", tf.float32)


@pytest.mark.parametrize("call, wanted", [
    (lambda: tf.where([True, False], tf.constant([1.0, 2.0]), 0), [1.0, 0.0]),
    (lambda: tf.where([True, False], 0, tf.constant([1, 2], tf.int64)), [0, 2]),
    (lambda: tf.where([True, False], tf.constant([1.0, 2.0]), np.zeros(2)), [1.0, 0.0]),
    (lambda: tf.one_hot([1], 2, on_value=5, dtype=tf.float32), [[0.0, 5.0]]),
    (lambda: tf.one_hot([1], 2, off_value=2, dtype=tf.int64), [[2, 1]]),
    (lambda: tf.reshape([[1], [2]], -1), [1, 2]),
    (lambda: tf.fill(2, 1), [1, 1]),
    (lambda: tf.stack([]), []),
    (lambda: tf.concat(tf.constant([[1, 2], [3, 4]]), 0), [[1, 2], [3, 4]]),
    (lambda: tf.concat(np.array([[1, 2], [3, 4]]), 0), [[1, 2], [3, 4]]),
    (lambda: tf.strings.format("{}", tf.ones(2)), b"[1 1]"),
    (lambda: tf.sort([3.0, np.nan, 1.0]), [1.0, 3.0, np.nan]),
    (lambda: tf.sort([3.0, np.nan, 1.0], direction="DESCENDING"), [3.0, 1.0, np.nan]),
    (lambda: tf.argsort([np.nan, 2.0, 1.0]), [2, 1, 0]),
    (lambda: tf.math.top_k([np.nan, 2.0, 1.0], 2).values, [2.0, 1.0]),
    (lambda: tf.eye(tf.constant(2), tf.constant(3)), [[1, 0, 0], [0, 1, 0]]),
    (lambda: tf.compat.v1.where([True, False], [[1, 2], [3, 4]], [[5, 6], [7, 8]]), [[1, 2], [7, 8]]),
    (lambda: tf.get_static_value(tf.constant([1, 2])), [1, 2]),
], ids=lambda value: "")
def test_values(call, wanted):
    np.testing.assert_array_equal(np.array(call()), wanted)


def test_sizes_past_32_bits_are_refused_and_not_cut():
    pytest.raises(tf.errors.InvalidArgumentError, tf.one_hot, [1], 2**41)
    pytest.raises(tf.errors.ResourceExhaustedError, tf.eye, 2**30)
    pytest.raises(ValueError, lambda: tf.constant([1], tf.int8) + 200)


def test_classes_of_errors():
    number = tf.constant([1])
    pytest.raises(tf.errors.InvalidArgumentError, lambda: number + 1.5)
    pytest.raises(TypeError, lambda: 1.5 + number)
    pytest.raises(TypeError, tf.function(lambda x: x + 1.5), number)
    pytest.raises(tf.errors.InvalidArgumentError, tf.matmul, tf.ones([2, 3]), tf.ones([5, 5]))
    pytest.raises(ValueError, tf.function(lambda x: tf.matmul(x, tf.ones([5, 5]))), tf.ones([2, 3]))
    pytest.raises(tf.errors.InvalidArgumentError, tf.reduce_sum, ["a"])
    pytest.raises(TypeError, tf.function(lambda: tf.reduce_sum(["a"])))
    pytest.raises(tf.errors.UnimplementedError, tf.cast, "1", tf.float32)
    pytest.raises(ValueError, tf.add_n, [])
    window = tf.ones([3, 3, 1, 1])
    assert tf.nn.conv2d(tf.ones([1, 2, 2, 1]), window, 1, "VALID").shape == [1, 0, 0, 1]
    pytest.raises(ValueError, tf.function(lambda x: tf.nn.conv2d(x, window, 1, "VALID")), tf.ones([1, 2, 2, 1]))


def test_moments_are_a_plain_tuple():
    assert type(tf.nn.moments(tf.ones([2, 2]), [0])) is tuple


def test_warning_of_lost_imaginary_parts(caplog):
    tf.get_logger().propagate = True
    assert tf.cast([1 + 2j], tf.float32).numpy().tolist() == [1.0]
    assert "casting an input of type complex128 to an incompatible dtype float32" in caplog.text


def test_tensors_of_another_dtype_do_not():
    pytest.raises(ValueError, tf.random.uniform, [4], maxval=tf.constant(3))
    pytest.raises(ValueError, tf.random.normal, [4], mean=tf.constant(1, tf.int64))

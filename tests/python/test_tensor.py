"""Tensor in Python: attributes, operators, indexing, NumPy, pickling; the texts are TensorFlow 2.15's."""

import copy
import pickle
import threading

import numpy as np
import pytest

import thalweg as tf

PLAIN = ["float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
         "bool", "complex64", "complex128"]


@pytest.fixture
def x():
    return tf.constant([1.0, 2.0])


def raises(kind, text, call):
    with pytest.raises(kind) as error:
        call()
    assert str(error.value) == text


def same(tensor, values, dtype=None):
    assert isinstance(tensor, tf.Tensor)
    np.testing.assert_array_equal(tensor.numpy(), np.asarray(values))
    if dtype is not None:
        assert tensor.dtype == dtype


def test_class(x):
    assert isinstance(x, tf.Tensor) and tf.is_tensor(x) and not tf.is_tensor(1)
    assert type(x).__name__ == "EagerTensor"
    with pytest.raises(TypeError):
        tf.Tensor()


def test_attributes(x):
    assert x.dtype is tf.float32
    assert x.shape == tf.TensorShape([2]) and x.get_shape() == [2] and x.ndim == 1
    assert x.device == "/job:localhost/replica:0/task:0/device:CPU:0"
    assert x.cpu() is x
    assert x.__array_priority__ == 100
    raises(AttributeError, "Tensor.name is undefined when eager execution is enabled.", lambda: x.name)
    with pytest.raises(tf.errors.InvalidArgumentError, match="CPU:0"):
        x.gpu()
    x._keras_mask = 3
    assert x._keras_mask == 3


def test_set_shape(x):
    assert x.set_shape([None]) is None
    raises(ValueError, "Tensor's shape (2,) is not compatible with supplied shape [3].", lambda: x.set_shape([3]))


def test_hash_and_ref(x):
    raises(TypeError, "Tensor is unhashable. Instead, use tensor.ref() as the key.", lambda: hash(x))
    assert x.ref() == x.ref() and hash(x.ref()) == hash(x.ref()) and x.ref().deref() is x
    assert {x.ref(): 1}[x.ref()] == 1
    assert repr(x.ref()) == ("<Reference wrapping <tf.Tensor: shape=(2,), dtype=float32, "
                             "numpy=array([1., 2.], dtype=float32)>>")


def test_copies_and_pickles(x):
    assert copy.copy(x) is x and copy.deepcopy(x) is x
    for tensor in (x, tf.constant(3), tf.constant(["a", "bc"]), tf.constant([[1.5]], tf.bfloat16), tf.constant([])):
        back = pickle.loads(pickle.dumps(tensor))
        assert back.dtype is tensor.dtype and back.shape == tensor.shape
        assert repr(back) == repr(tensor)


def test_pickles_that_lie():
    from thalweg import _thalweg

    for parts in ((1, (3,), b"abc"), (99, (1,), b"a"), (7, (2,), [b"a"]), (1, (None,), b""), (20, (), b""), (7, (1,), ["a"])):
        with pytest.raises((ValueError, TypeError)):
            _thalweg.rebuild(*parts)


def test_truth():
    assert tf.constant(True) and tf.constant([1.0]) and not tf.constant(0) and not tf.constant([])
    assert bool(tf.constant("a")) and not bool(tf.constant(""))
    raises(ValueError, "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()",
           lambda: bool(tf.constant([1, 2])))


def test_numbers():
    assert int(tf.constant(2.7)) == 2 and int(tf.constant([5])) == 5 and float(tf.constant(1.5)) == 1.5
    assert int(tf.constant(2**64 - 1, tf.uint64)) == 2**64 - 1
    assert complex(tf.constant(1j)) == 1j
    assert range(5)[tf.constant(2)] == 2
    raises(TypeError, "only length-1 arrays can be converted to Python scalars", lambda: int(tf.constant([1, 2])))
    raises(TypeError, "only length-1 arrays can be converted to Python scalars", lambda: float(tf.constant([1, 2])))
    raises(TypeError, "only integer scalar arrays can be converted to a scalar index", lambda: range(5)[tf.constant([1, 2])])
    with pytest.raises(ValueError):
        int(tf.constant(float("nan")))


def test_arithmetic(x):
    i = tf.constant([1, 2, 3])
    same(x + x, [2, 4], tf.float32)
    same(x - 1, [0, 1], tf.float32)
    same(1 - x, [0, -1], tf.float32)
    same(x * 2.5, [2.5, 5], tf.float32)
    same([1.0, 2.0] + x, [2, 4], tf.float32)
    same(-x, [-1, -2])
    same(+x, [1, 2])
    same(abs(-x), [1, 2])
    same(i / 2, [0.5, 1, 1.5], tf.float64)
    same(i // 2, [0, 1, 1], tf.int32)
    same(i % 2, [1, 0, 1], tf.int32)
    same(x // 2, [0, 1], tf.float32)
    same(2**x, [2, 4], tf.float32)
    same(x**2, [1, 4], tf.float32)
    with pytest.raises(TypeError):
        pow(x, 2, 3)
    m = tf.constant([[1, 2], [3, 4]])
    same(m @ m, [[7, 10], [15, 22]], tf.int32)
    same(m @ np.array([[1, 0], [0, 1]]), [[1, 2], [3, 4]], tf.int32)


def test_numpy_operands(x):
    same(x + np.array([1.0, 2.0]), [2, 4], tf.float32)
    same(np.array([1.0, 2.0]) + x, [2, 4], tf.float32)
    same(np.float64(1.5) * x, [1.5, 3], tf.float32)
    same(tf.constant([1, 2, 3]) + np.array([1.0, 2, 3]), [2, 4, 6], tf.int32)
    product = np.multiply(x, x)
    assert type(product) is np.ndarray and product.dtype == np.float32


def test_mistaken_operands(x):
    raises(ValueError, "Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a Tensor.",
           lambda: x + None)
    raises(TypeError, "Cannot convert 1.5 to EagerTensor of dtype int32", lambda: 1.5 + tf.constant([1]))
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.constant([1]) + 1.5
    raises(TypeError, "Cannot convert 'a' to EagerTensor of dtype float", lambda: x == "a")
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.constant([1, 2]) + x
    with pytest.raises(tf.errors.InvalidArgumentError):
        x + tf.constant([1.0, 2.0, 3.0])


def test_comparison(x):
    same(x == [1, 2], [True, True], tf.bool)
    same(x != x, [False, False], tf.bool)
    same(x < 1.5, [True, False], tf.bool)
    same(1.5 >= x, [True, False], tf.bool)
    assert (x == None) is False and (x != None) is True  # noqa: E711
    assert repr(tf.constant([1, 2]) == tf.constant([1, 2, 3])) == "<tf.Tensor: shape=(), dtype=bool, numpy=False>"
    assert repr(tf.constant([1, 2]) != tf.constant([1, 2, 3])) == "<tf.Tensor: shape=(), dtype=bool, numpy=True>"


def test_bits():
    i, t = tf.constant([1, 2, 3]), tf.constant(True)
    same(i & 1, [1, 0, 1])
    same(i | 4, [5, 6, 7])
    same(i ^ i, [0, 0, 0])
    same(~i, [-2, -3, -4])
    same(t & False, False)
    same(t | False, True)
    same(t ^ True, False)
    same(~t, False)


def test_indexing():
    m = tf.constant([[1, 2], [3, 4]])
    same(m[0, 1], 2)
    same(m[-1], [3, 4])
    same(m[::-1], [[3, 4], [1, 2]])
    same(m[..., None], [[[1], [2]], [[3], [4]]])
    same(m[:, tf.newaxis, 0], [[1], [3]])
    same(m[m > 2], [3, 4])
    same(m[tf.constant(1)], [3, 4])
    same(m[tf.constant(0) : tf.constant(1), 0], [1])
    same(m[np.int64(1)], [3, 4])
    same(m[np.array(1)], [3, 4])
    same(m[[1, 0]], 3)
    same(m[np.array([True, False])], [[1, 2]])
    same(m[5:], np.zeros([0, 2]))


def test_wrong_indices():
    m = tf.constant([[1, 2], [3, 4]])
    words = ("Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors are "
             "valid indices, got ")
    raises(TypeError, words + "0.5", lambda: m[0.5])
    raises(TypeError, words + "'a'", lambda: m[0, "a"])
    raises(TypeError, words + "1.5", lambda: m[0:1.5])
    raises(TypeError, words + "array([0, 1])", lambda: m[np.array([0, 1])])
    raises(ValueError, "mask cannot be scalar.", lambda: m[True])
    for wrong in (lambda: m[2], lambda: m[0, 0, 0], lambda: m[::0], lambda: m[..., ...], lambda: tf.constant(1)[0]):
        with pytest.raises(tf.errors.InvalidArgumentError):
            wrong()
    with pytest.raises((OverflowError, tf.errors.InvalidArgumentError)):
        m[10**30]


def test_length_and_iteration():
    m = tf.constant([[1, 2], [3, 4]])
    assert len(m) == 2 and [row.numpy().tolist() for row in m] == [[1, 2], [3, 4]]
    a, b = tf.constant([1, 2])
    assert int(a) == 1 and int(b) == 2
    raises(TypeError, "Scalar tensor has no `len()`", lambda: len(tf.constant(1)))
    raises(TypeError, "Cannot iterate over a scalar tensor.", lambda: iter(tf.constant(1)))


@pytest.mark.parametrize("dtype", PLAIN)
def test_numpy_round_trip(dtype):
    array = np.array([[0, 1, 1], [1, 0, 1]]).astype(dtype)
    tensor = tf.constant(array)
    assert tensor.dtype.name == dtype and tensor.numpy().dtype == array.dtype
    np.testing.assert_array_equal(tensor.numpy(), array)
    np.testing.assert_array_equal(np.asarray(tensor), array)
    scalar = tensor[0, 1].numpy()
    assert isinstance(scalar, np.generic) and scalar == array[0, 1]


def test_numpy_of_strings_and_bfloat16():
    assert tf.constant("a").numpy() == b"a"
    values = tf.constant([["a", "é"], ["", "d"]]).numpy()
    assert values.dtype == object and values.tolist() == [[b"a", "é".encode()], [b"", b"d"]]
    assert np.asarray(tf.constant(["a"])).dtype == object
    brain = tf.constant([1.5, 2.0], tf.bfloat16)
    assert brain.numpy().astype("float32").tolist() in ([1.5, 2.0], [float(0x3FC0), float(0x4000)])


def test_numpy_owns_and_views_do_not():
    x = tf.constant([1.0, 2.0])
    own, view = x.numpy(), np.asarray(x)
    assert own.flags.writeable and own.flags.owndata
    assert not view.flags.writeable and not view.flags.owndata
    own[0] = 7
    same(x, [1, 2])
    del x
    assert view.tolist() == [1, 2]
    assert np.array(tf.constant([1.0]), dtype="float64").dtype == np.float64
    assert memoryview(tf.constant([[1, 2]])).shape == (1, 2)
    with pytest.raises((BufferError, TypeError, ValueError)):
        np.asarray(tf.constant([1]))[0] = 1


def test_dlpack():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    same(tf.experimental.dlpack.from_dlpack(tf.experimental.dlpack.to_dlpack(x)), x.numpy())
    array = np.from_dlpack(x)
    assert array.tolist() == [[1, 2], [3, 4]] and x.__dlpack_device__() == (1, 0)
    mine = np.arange(6.0).reshape(2, 3)
    same(tf.experimental.dlpack.from_dlpack(mine), mine, tf.float64)
    same(tf.experimental.dlpack.from_dlpack(mine.T), mine.T, tf.float64)
    capsule = tf.experimental.dlpack.to_dlpack(x)
    tf.experimental.dlpack.from_dlpack(capsule)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.experimental.dlpack.from_dlpack(capsule)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.experimental.dlpack.from_dlpack(3)
    with pytest.raises(TypeError):
        tf.experimental.dlpack.to_dlpack(tf.constant("a"))


def test_threads_share_tensors():
    big = tf.constant(np.ones([300, 300], np.float32))
    failures = []

    def work():
        y = big
        for _ in range(50):
            y = y + big * 1.0
        if float(y[0, 0]) != 51.0:
            failures.append(y)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_memory_of_arrays_comes_back():
    import gc
    import weakref

    class Array(np.ndarray):
        pass

    array = np.ones(10000).view(Array)
    array.flags.writeable = False
    seen = weakref.ref(array)
    tensor = tf.convert_to_tensor(array)
    del array
    total = tensor + 1.0
    del tensor, total
    gc.collect()
    assert seen() is None

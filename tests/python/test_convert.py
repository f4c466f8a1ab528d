"""Python objects as tensors: tf.constant and tf.convert_to_tensor against TensorFlow 2.15's answers."""

import copy
import pickle

import numpy as np
import pytest

import thalweg as tf


class Nobody:
    def __repr__(self):
        return "<nobody>"


CONSTANTS = [
    (1, "<tf.Tensor: shape=(), dtype=int32, numpy=1>"),
    (1.5, "<tf.Tensor: shape=(), dtype=float32, numpy=1.5>"),
    (True, "<tf.Tensor: shape=(), dtype=bool, numpy=True>"),
    (1j, "<tf.Tensor: shape=(), dtype=complex128, numpy=1j>"),
    ("a", "<tf.Tensor: shape=(), dtype=string, numpy=b'a'>"),
    (b"a", "<tf.Tensor: shape=(), dtype=string, numpy=b'a'>"),
    (2**40, "<tf.Tensor: shape=(), dtype=int64, numpy=1099511627776>"),
    ([1, 2**40], "<tf.Tensor: shape=(2,), dtype=int64, numpy=array([            1, 1099511627776])>"),
    ([1, 2.5], "<tf.Tensor: shape=(2,), dtype=float32, numpy=array([1. , 2.5], dtype=float32)>"),
    ([1, True], "<tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 1], dtype=int32)>"),
    ([], "<tf.Tensor: shape=(0,), dtype=float32, numpy=array([], dtype=float32)>"),
    ([[], []], "<tf.Tensor: shape=(2, 0), dtype=float32, numpy=array([], shape=(2, 0), dtype=float32)>"),
    ([2j, 1.5], "<tf.Tensor: shape=(2,), dtype=complex128, numpy=array([0. +2.j, 1.5+0.j])>"),
    ((1, 2), "<tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 2], dtype=int32)>"),
    (range(3), "<tf.Tensor: shape=(3,), dtype=int32, numpy=array([0, 1, 2], dtype=int32)>"),
    (bytearray(b"x"), "<tf.Tensor: shape=(1,), dtype=int32, numpy=array([120], dtype=int32)>"),
    (np.float64(1.5), "<tf.Tensor: shape=(), dtype=float64, numpy=1.5>"),
    (np.float16(1), "<tf.Tensor: shape=(), dtype=float16, numpy=1.0>"),
    (np.int64(3), "<tf.Tensor: shape=(), dtype=int64, numpy=3>"),
    ([np.float64(1.5), 2], "<tf.Tensor: shape=(2,), dtype=float64, numpy=array([1.5, 2. ])>"),
    ([np.float32(1.5), 2.0], "<tf.Tensor: shape=(2,), dtype=float32, numpy=array([1.5, 2. ], dtype=float32)>"),
    ([1.5, np.float64(2)], "<tf.Tensor: shape=(2,), dtype=float32, numpy=array([1.5, 2. ], dtype=float32)>"),
    (np.array(["a", "bc"]), "<tf.Tensor: shape=(2,), dtype=string, numpy=array([b'a', b'bc'], dtype=object)>"),
    (["a", b"b"], "<tf.Tensor: shape=(2,), dtype=string, numpy=array([b'a', b'b'], dtype=object)>"),
    ([np.array([1, 2]), np.array([3, 4])],
     "<tf.Tensor: shape=(2, 2), dtype=int32, numpy=\narray([[1, 2],\n       [3, 4]], dtype=int32)>"),
    ([np.int64(1), 2], "<tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 2], dtype=int32)>"),
    ([np.uint8(200)], "<tf.Tensor: shape=(1,), dtype=int32, numpy=array([200], dtype=int32)>"),
    ([np.int64(2**40), 2], "<tf.Tensor: shape=(2,), dtype=int64, numpy=array([1099511627776,             2])>"),
    ([1, np.float64(2.5)], "<tf.Tensor: shape=(2,), dtype=float32, numpy=array([1. , 2.5], dtype=float32)>"),
]

WRONG = [
    ([[1, 2], [3]], ValueError, "Can't convert non-rectangular Python sequence to Tensor."),
    ([[1, 2], 3], ValueError, "Can't convert non-rectangular Python sequence to Tensor."),
    ([1, [2]], ValueError, "Can't convert non-rectangular Python sequence to Tensor."),
    ([1, "a"], ValueError, "Can't convert Python sequence with mixed types to Tensor."),
    (["a", 1], ValueError, "Can't convert Python sequence with mixed types to Tensor."),
    ([True, 1], ValueError, "Can't convert Python sequence with mixed types to Tensor."),
    ([1, 2j], ValueError, "Can't convert Python sequence with mixed types to Tensor."),
    (2**70, ValueError, "Can't convert Python sequence with out-of-range integer to Tensor."),
    (None, ValueError,
     "Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a Tensor."),
    ([None, 1], ValueError,
     "Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a Tensor."),
    ({1: 2}, ValueError, "Attempt to convert a value ({1: 2}) with an unsupported type (<class 'dict'>) to a Tensor."),
    (np.array([b"a", None], object), ValueError,
     "Failed to convert a NumPy array to a Tensor (Unsupported object type NoneType)."),
    (np.array([1, 2], object), ValueError, "Failed to convert a NumPy array to a Tensor (Unsupported object type int)."),
    (np.datetime64("2020"), ValueError,
     "Failed to convert a NumPy array to a Tensor (Unsupported numpy type: NPY_DATETIME)."),
]

WITH_DTYPE = [
    (np.array([300]), tf.uint8, "<tf.Tensor: shape=(1,), dtype=uint8, numpy=array([44], dtype=uint8)>"),
    (True, tf.float32, "<tf.Tensor: shape=(), dtype=float32, numpy=1.0>"),
    ([1, 2], tf.complex64, "<tf.Tensor: shape=(2,), dtype=complex64, numpy=array([1.+0.j, 2.+0.j], dtype=complex64)>"),
    (2**63, tf.uint64, "<tf.Tensor: shape=(), dtype=uint64, numpy=9223372036854775808>"),
    ([2**63], tf.uint64, "<tf.Tensor: shape=(1,), dtype=uint64, numpy=array([9223372036854775808], dtype=uint64)>"),
    (np.array([1.5]), tf.int32, "<tf.Tensor: shape=(1,), dtype=int32, numpy=array([1], dtype=int32)>"),
    (1, "float64", "<tf.Tensor: shape=(), dtype=float64, numpy=1.0>"),
    (0.1, tf.float64, "<tf.Tensor: shape=(), dtype=float64, numpy=0.1>"),
    ([0.1], np.float64, "<tf.Tensor: shape=(1,), dtype=float64, numpy=array([0.1])>"),
    (np.array([1.0, 2.0]), tf.float32, "<tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 2.], dtype=float32)>"),
]

WRONG_WITH_DTYPE = [
    (1.5, tf.int32, TypeError, "Cannot convert 1.5 to EagerTensor of dtype int32"),
    (1, tf.bool, TypeError, "Cannot convert 1 to EagerTensor of dtype bool"),
    ("a", tf.int32, TypeError, "Cannot convert 'a' to EagerTensor of dtype int32"),
    (1, tf.string, TypeError, "Cannot convert 1 to EagerTensor of dtype string"),
    (1j, tf.float32, TypeError, "Cannot convert 1j to EagerTensor of dtype float"),
    (300, tf.uint8, ValueError, "cannot convert 300 to a tensor of dtype uint8: it is out of range"),
    (-1, tf.uint8, ValueError, "cannot convert -1 to a tensor of dtype uint8: it is out of range"),
    (2**31, tf.int32, ValueError, "cannot convert 2147483648 to a tensor of dtype int32: it is out of range"),
    (1, "foo", TypeError, "Cannot convert the argument `type_value`: 'foo' to a TensorFlow DType."),
]


@pytest.mark.parametrize("value, text", CONSTANTS, ids=repr)
def test_constants(value, text):
    assert repr(tf.constant(value)) == text
    assert repr(tf.convert_to_tensor(value)) == text


@pytest.mark.parametrize("value, kind, text", WRONG, ids=repr)
def test_wrong_constants(value, kind, text):
    with pytest.raises(kind) as error:
        tf.constant(value)
    assert str(error.value) == text


@pytest.mark.parametrize("value, dtype, text", WITH_DTYPE, ids=repr)
def test_constants_with_dtype(value, dtype, text):
    assert repr(tf.constant(value, dtype)) == text


@pytest.mark.parametrize("value, dtype, kind, text", WRONG_WITH_DTYPE, ids=repr)
def test_wrong_constants_with_dtype(value, dtype, kind, text):
    with pytest.raises(kind) as error:
        tf.constant(value, dtype=dtype)
    assert str(error.value) == text


def test_objects_of_other_classes():
    with pytest.raises(ValueError) as error:
        tf.constant(Nobody())
    assert str(error.value).startswith("Attempt to convert a value (<nobody>) with an unsupported type (<class ")

    class Variable:
        def __tf_tensor__(self, dtype=None, name=None):
            return tf.constant([1.0, 2.0])

    assert (tf.constant([1.0, 1.0]) + Variable()).numpy().tolist() == [2, 3]
    assert (Variable() + tf.constant([1.0, 1.0])).numpy().tolist() == [2, 3]
    assert tf.convert_to_tensor([Variable(), Variable()]).shape == [2, 2]

    class ArrayLike:
        def __array__(self, dtype=None):
            return np.array([1, 2], np.int16)

    assert tf.constant(ArrayLike()).dtype is tf.int16


class Wrapped:
    def __init__(self, value):
        self.inner = tf.convert_to_tensor(value)


def test_registered_conversions():
    def convert(value, dtype=None, name=None, as_ref=False):
        return value.inner

    tf.register_tensor_conversion_function(Wrapped, convert)
    assert (tf.constant(1.0) + Wrapped(2.0)).numpy() == 3
    assert tf.matmul(Wrapped([[2.0]]), Wrapped([[3.0]])).numpy() == 6
    pytest.raises(TypeError, tf.register_tensor_conversion_function, int, convert)
    pytest.raises(TypeError, tf.register_tensor_conversion_function, "a", convert)


def test_variables_with_a_value_of_their_own():
    class Own(tf.Variable):
        def __init__(self, value):
            self.inner = tf.convert_to_tensor(value)

        def read_value(self):
            return self.inner

    assert (Own(2.0) + 1.0).numpy() == 3
    assert tf.reduce_sum(Own([1.0, 2.0])).numpy() == 3
    with pytest.raises(ValueError, match="__init__ has not run"):
        tf.identity(tf.Variable.__new__(tf.Variable))


@pytest.mark.parametrize("function", [tf.nn.relu, tf.raw_ops.AddV2, tf.clip_by_value, tf.concat, tf.linalg.matmul],
                         ids=repr)
def test_functions_are_copied_and_pickled_by_name(function):
    assert copy.deepcopy({"a": function})["a"] is function is copy.copy(function)
    assert pickle.loads(pickle.dumps(function)) is function


def test_shape_of_constant():
    assert tf.constant(1, shape=[2, 2]).numpy().tolist() == [[1, 1], [1, 1]]
    assert tf.constant([1, 2, 3, 4], shape=(2, 2)).numpy().tolist() == [[1, 2], [3, 4]]
    with pytest.raises(TypeError) as error:
        tf.constant([1, 2, 3], shape=[2])
    assert str(error.value) == (
        "Eager execution of tf.constant with unsupported shape. Tensor [1 2 3] (converted from [1, 2, 3]) has 3 elements, "
        "but got `shape` (2,) with 2 elements).")
    with pytest.raises(tf.errors.ResourceExhaustedError):
        tf.constant(1.0, shape=[10**9, 10**9, 10**9])


def test_tensors_in_lists():
    one = tf.constant(1.5)
    assert tf.convert_to_tensor([one, 2]).numpy().tolist() == [1.5, 2]
    assert tf.convert_to_tensor([1, one]).dtype is tf.float32
    assert tf.convert_to_tensor([tf.constant([1, 2]), [3, 4]]).shape == [2, 2]
    with pytest.raises(ValueError):
        tf.convert_to_tensor([tf.constant([1, 2]), tf.constant([1, 2, 3])])
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.convert_to_tensor([tf.constant(1.0), tf.constant(2)])


def test_tensors_and_dtypes():
    x = tf.constant([1.0, 2.0])
    assert tf.convert_to_tensor(x) is x and tf.convert_to_tensor(x, tf.float32) is x
    with pytest.raises(ValueError) as error:
        tf.convert_to_tensor(x, tf.int32)
    assert str(error.value) == ("Tensor conversion requested dtype int32 for Tensor with dtype float32: <tf.Tensor: "
                                "shape=(2,), dtype=float32, numpy=array([1., 2.], dtype=float32)>")
    with pytest.raises(TypeError) as error:
        tf.constant(x, tf.float64)
    assert str(error.value) == "Expected tensor [1. 2.] with dtype tf.float64, but got dtype tf.float32."
    assert tf.convert_to_tensor(1, dtype_hint=tf.float32).dtype is tf.float32
    assert tf.convert_to_tensor(1.5, dtype_hint=tf.int32).dtype is tf.float32


def test_shapes_are_tensors():
    x = tf.constant([[1.0, 2.0]])
    assert tf.convert_to_tensor(x.shape).numpy().tolist() == [1, 2]
    with pytest.raises(ValueError):
        tf.convert_to_tensor(tf.TensorShape([1, None]))


@pytest.mark.parametrize("array", [
    np.arange(24).reshape(2, 3, 4)[:, ::2, ::-1],
    np.arange(6, dtype=">i4").reshape(2, 3),
    np.zeros([0, 3], np.float32),
    np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    np.broadcast_to(np.float32(3), (4, 5)),
    np.array(3),
], ids=lambda a: f"{a.dtype.str}{a.shape}")
def test_array_layouts(array):
    tensor = tf.constant(array)
    assert tensor.shape == list(array.shape)
    np.testing.assert_array_equal(tensor.numpy(), array)


def test_arrays_are_copied_unless_they_cannot_change():
    array = np.zeros(5000)
    tensor = tf.convert_to_tensor(array)
    array[0] = 1
    assert float(tensor[0]) == 0
    view = array.view()
    view.flags.writeable = False
    tensor = tf.convert_to_tensor(view)
    array[0] = 2
    assert float(tensor[0]) == 1
    shared = tf.convert_to_tensor(np.asarray(tensor))
    assert np.shares_memory(np.asarray(shared), np.asarray(tensor))
    assert not np.shares_memory(np.asarray(tf.constant(np.asarray(tensor))), np.asarray(tensor))


def test_hostile_lists():
    loop = []
    loop.append(loop)
    with pytest.raises(ValueError):
        tf.constant(loop)
    deep = 1
    for _ in range(100000):
        deep = [deep]
    with pytest.raises(ValueError):
        tf.constant(deep)
    row = [0] * 100000
    with pytest.raises((tf.errors.ResourceExhaustedError, ValueError)):
        tf.constant([[[row] * 100000] * 100000] * 100000)

    class Shrinks:
        def __array__(self, dtype=None):
            victim.clear()
            return np.array(1.0)

    victim = [1.0, Shrinks(), 2.0, 3.0]
    with pytest.raises(ValueError):
        tf.constant(victim)


def test_wrong_calls():
    for call, text in [
        (lambda: tf.constant(), "constant() missing 1 required positional argument: 'value'"),
        (lambda: tf.constant(1, foo=2), "constant() got an unexpected keyword argument 'foo'"),
        (lambda: tf.constant(1, value=2), "constant() got multiple values for argument 'value'"),
        (lambda: tf.constant(1, None, None, "n", 5), "constant() takes from 1 to 4 positional arguments but 5 were given"),
    ]:
        with pytest.raises(TypeError) as error:
            call()
        assert str(error.value) == text

"""print, repr, str and format of tensors in Python, against TensorFlow 2.15's texts."""

import numpy as np
import pytest

import thalweg as tf

CASES = [
    (lambda: tf.constant(3.0), "tf.Tensor(3.0, shape=(), dtype=float32)", "<tf.Tensor: shape=(), dtype=float32, numpy=3.0>", "3.0"),
    (lambda: tf.constant([1.0, 2.5]), "tf.Tensor([1.  2.5], shape=(2,), dtype=float32)",
     "<tf.Tensor: shape=(2,), dtype=float32, numpy=array([1. , 2.5], dtype=float32)>", "[1.  2.5]"),
    (lambda: tf.constant([[1, 2], [3, 4]]), "tf.Tensor(\n[[1 2]\n [3 4]], shape=(2, 2), dtype=int32)",
     "<tf.Tensor: shape=(2, 2), dtype=int32, numpy=\narray([[1, 2],\n       [3, 4]], dtype=int32)>", "[[1 2]\n [3 4]]"),
    (lambda: tf.constant("é"), "tf.Tensor(b'\\xc3\\xa9', shape=(), dtype=string)",
     "<tf.Tensor: shape=(), dtype=string, numpy=b'\\xc3\\xa9'>", "b'\\xc3\\xa9'"),
    (lambda: tf.constant(["a", "b"]), "tf.Tensor([b'a' b'b'], shape=(2,), dtype=string)",
     "<tf.Tensor: shape=(2,), dtype=string, numpy=array([b'a', b'b'], dtype=object)>", "[b'a' b'b']"),
    (lambda: tf.constant(True), "tf.Tensor(True, shape=(), dtype=bool)", "<tf.Tensor: shape=(), dtype=bool, numpy=True>", "True"),
    (lambda: tf.constant([]), "tf.Tensor([], shape=(0,), dtype=float32)",
     "<tf.Tensor: shape=(0,), dtype=float32, numpy=array([], dtype=float32)>", "[]"),
    (lambda: tf.constant([float("nan"), float("inf")]), "tf.Tensor([nan inf], shape=(2,), dtype=float32)",
     "<tf.Tensor: shape=(2,), dtype=float32, numpy=array([nan, inf], dtype=float32)>", "[nan inf]"),
]


@pytest.mark.parametrize("make, plain, shown, formatted", CASES)
def test_texts(make, plain, shown, formatted):
    tensor = make()
    assert str(tensor) == plain and repr(tensor) == shown and format(tensor) == formatted and f"{tensor}" == formatted


def test_format_specifications():
    assert format(tf.constant(1.5), ".3f") == "1.500" and "{:5d}".format(tf.constant(7)) == "    7"
    with pytest.raises(TypeError) as error:
        "{:.2f}".format(tf.constant([1.0]))
    assert str(error.value) == "unsupported format string passed to numpy.ndarray.__format__"


def test_print_options():
    with np.printoptions(precision=2):
        assert str(tf.constant([1.23456])) == "tf.Tensor([1.23], shape=(1,), dtype=float32)"
        assert repr(tf.Variable([1.23456])).endswith("numpy=array([1.23], dtype=float32)>")
    assert str(tf.constant([1.23456])) == "tf.Tensor([1.23456], shape=(1,), dtype=float32)"


def test_as_numpy_prints():
    generator = np.random.default_rng(3)
    for dtype in ("float16", "float32", "float64", "int8", "int64", "uint16", "complex64", "bool"):
        for shape in ((), (3,), (2, 3), (2, 0), (2, 2, 2), (1500,)):
            array = (generator.standard_normal(shape) * 10).astype(dtype)
            assert format(tf.constant(array)) == format(np.asarray(array)[()])

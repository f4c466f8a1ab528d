"""tf.debugging.assert_shapes, with TensorFlow 2.15's texts."""

import pytest

import thalweg as tf

X = "shape=(30, 10) dtype=float32"


def check(*shapes, **options):
    return tf.debugging.assert_shapes(list(shapes), **options)


@pytest.mark.parametrize("sizes", [("N", 10), ("...", 10), ("*", "N"), (None, 10), (".", "M"), "NM", None, (30, 10)], ids=repr)
def test_shapes_that_fit(sizes):
    x = tf.constant(0.0, shape=[30, 10])
    assert check((x, sizes)) is None
    assert check((x, ("N", 10)), (tf.constant(0.0, shape=[30]), ("N",)), (tf.constant(3), ())) is None


@pytest.mark.parametrize("sizes, text", [
    (("N", 11), f"Specified explicitly.  Tensor {X} dimension 1 must have size 11.  Received size 10, shape (30, 10)"),
    (("N",), "Tensor  must have rank in (0, 1).  Received rank 2, shape (30, 10)"),
    (("A", "B", "C"), "Tensor  must have rank 3.  Received rank 2, shape (30, 10)"),
    (("N", "N"), f"Specified by tensor {X} dimension 0.  Tensor {X} dimension 1 must have size 30.  Received size 10, "
                 "shape (30, 10)"),
    ((30, "*"), f"Tensor {X} specified shape index 1.  Symbol `...` or `*` for a variable number of unspecified dimensions "
                "is only allowed as the first entry"),
    (1, f"Tensor {X}.  Specified shape must be an iterable.  An iterable has the attribute `__iter__` or `__getitem__`.  "
        "Received specified shape: 1"),
], ids=repr)
def test_shapes_that_do_not(sizes, text):
    x = tf.constant(0.0, shape=[30, 10])
    with pytest.raises(ValueError) as error:
        check((x, sizes))
    assert str(error.value) == text
    with pytest.raises(ValueError) as error:
        check((x, sizes), message="words")
    assert str(error.value) == "words.  " + text


def test_names_shared_by_tensors():
    with pytest.raises(ValueError) as error:
        check((tf.constant(0.0, shape=[30, 10]), ("N", 10)), (tf.constant(0.0, shape=[31]), ("N",)))
    assert str(error.value) == (f"Specified by tensor {X} dimension 0.  Tensor shape=(31,) dtype=float32 dimension 0 must "
                                "have size 30.  Received size 31, shape (31,)")

"""tf.debugging: assert_shapes with TensorFlow 2.15's texts, check_numerics, device placement."""

import numpy as np
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


def outcome(call, *arguments, **options):
    """The type and text of what a call raises."""
    with pytest.raises(Exception) as error:
        call(*arguments, **options)
    return type(error.value).__name__, str(error.value)


def test_values_that_differ():
    x, y = tf.constant([1, 2, 3, 4, 5]), tf.constant([1, 3, 3, 5, 6])
    assert tf.debugging.assert_equal(x, x) is None
    assert outcome(tf.debugging.assert_equal, x, y, message="labels") == (
        "InvalidArgumentError", "labels\nCondition x == y did not hold.\nIndices of first 3 different values:\n[[1]\n [3]\n [4]]\n"
        "Corresponding x values:\n[2 4 5]\nCorresponding y values:\n[3 5 6]\nFirst 3 elements of x:\n[1 2 3]\nFirst 3 elements of y:\n[1 3 3]")
    assert outcome(tf.debugging.assert_less, tf.constant([1, 4]), 3, summarize=1) == (
        "InvalidArgumentError", "Condition x < y did not hold.\nFirst 1 elements of x:\n[1]\nFirst 1 elements of y:\n[3]")
    assert outcome(tf.debugging.assert_none_equal, x, y, 0)[1] == "Condition x != y did not hold."


def test_ranks_and_types():
    x = tf.constant(0.0, shape=[30, 10])
    assert outcome(tf.debugging.assert_rank, x, 3, "words") == (
        "ValueError", "words.  Tensor  must have rank 3.  Received rank 2, shape (30, 10)")
    assert outcome(tf.debugging.assert_rank_in, x, (0, 1)) == (
        "ValueError", "Tensor  must have rank in (0, 1).  Received rank 2, shape (30, 10)")
    assert outcome(tf.debugging.assert_scalar, x)[0] == "ValueError"
    assert outcome(tf.debugging.assert_type, x, tf.int32)[0] == "TypeError"
    assert outcome(tf.debugging.assert_integer, x)[0] == "TypeError"
    assert tf.debugging.assert_same_float_dtype([x, None]) is tf.float32
    assert outcome(tf.debugging.assert_same_float_dtype, [tf.constant(1)]) == (
        "ValueError", "Expected floating point type, got <dtype: 'int32'>.")
    assert tf.debugging.is_numeric_tensor(x) is True
    assert not tf.debugging.is_numeric_tensor([1]) and not tf.debugging.is_numeric_tensor(tf.constant("a"))
    assert outcome(tf.debugging.assert_proper_iterable, x)[0] == "TypeError"


def test_assert_shows_its_data():
    tf.debugging.Assert(True, [1])
    assert outcome(tf.debugging.Assert, tf.constant(False), [tf.constant([1, 2, 3, 4, 5]), "text", 2.5], summarize=2) == (
        "InvalidArgumentError", "assertion failed: [1 2...] [text] [2.5]")


def test_check_numerics_names_the_op():
    x = tf.constant([1.0, 0.0, -1.0])
    tf.debugging.enable_check_numerics()
    try:
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            tf.math.log(x)
    finally:
        tf.debugging.disable_check_numerics()
    text = str(caught.value)
    for part in ('output 0 of eagerly-executing op "Log" (# of outputs: 1)', "shape: (3,)", "# of -Inf elements: 1", "# of +NaN elements: 1",
                 "Input tensor: tf.Tensor([ 1.  0. -1.], shape=(3,), dtype=float32)"):
        assert part in text
    assert "PyEval" not in text
    assert tf.math.log(0.0).numpy() == -np.inf


def test_log_device_placement(capfd):
    tf.debugging.set_log_device_placement(True)
    tf.add(1.0, 2.0)
    tf.debugging.set_log_device_placement(False)
    tf.add(1.0, 2.0)
    assert capfd.readouterr().err == "Executing op AddV2 in device /job:localhost/replica:0/task:0/device:CPU:0\n"

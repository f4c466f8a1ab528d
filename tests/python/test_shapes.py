"""TensorShape and TensorSpec, as TensorFlow 2.15 has them."""

import pickle

import numpy as np
import pytest

import thalweg as tf
from thalweg import TensorShape as S


def raises(kind, text, call):
    with pytest.raises(kind) as error:
        call()
    assert str(error.value) == text


@pytest.mark.parametrize("dims, text, plain", [
    ([2, None], "TensorShape([2, None])", "(2, None)"), (None, "TensorShape(None)", "<unknown>"),
    ([], "TensorShape([])", "()"), (3, "TensorShape([3])", "(3,)"), ((1, 2), "TensorShape([1, 2])", "(1, 2)"),
    (S([1]), "TensorShape([1])", "(1,)"), (np.array([2, 3]), "TensorShape([2, 3])", "(2, 3)"),
], ids=repr)
def test_texts(dims, text, plain):
    assert repr(S(dims)) == text and str(S(dims)) == plain
    assert pickle.loads(pickle.dumps(S(dims))) == S(dims)


def test_tensors_as_dims():
    assert S(tf.constant([2, 3])) == [2, 3] and S([tf.constant(3)]) == [3]


def test_wrong_dims():
    words = "Dimension value must be integer or None or have an __index__ method, got value "
    raises(TypeError, words + "''a'' with type '<class 'str'>'", lambda: S([2, "a"]))
    raises(TypeError, words + "'2.0' with type '<class 'float'>'", lambda: S([2.0]))
    raises(ValueError, "Dimension -2 must be >= 0", lambda: S([-2]))
    raises(ValueError, "Dimension -1 must be >= 0", lambda: S((-1,)))


def test_equality():
    assert S((1, 2)) == (1, 2) and S((1, 2)) == [1, 2] and S([None]) == S([None]) and S(None) == S(None)
    assert not S([2]) == None and not S([2]) == 3 and not S([2]) != [2] and S([2]) != "a"  # noqa: E711
    assert hash(S([2, 3])) == hash(S((2, 3)))


def test_parts():
    s = S([2, 3])
    assert (s.rank, s.ndims, s.as_list(), s.num_elements(), s.is_fully_defined()) == (2, 2, [2, 3], 6, True)
    assert (S(None).rank, S(None).dims, S([2, None]).num_elements(), S([2, None]).is_fully_defined()) == (None, None, None, False)
    assert s[0] == 2 and s[-1] == 3 and repr(s[:1]) == "TensorShape([2])" and list(S([2, None])) == [2, None]
    assert S(None)[0] is None and repr(S(None)[1:3]) == "TensorShape([None, None])" and repr(S(None)[1:]) == "TensorShape(None)"
    assert len(s) == 2 and bool(S([])) and not bool(S(None)) and tuple(s) == (2, 3) and np.zeros(s).shape == (2, 3)
    raises(IndexError, "tuple index out of range", lambda: s[5])
    raises(ValueError, "as_list() is not defined on an unknown TensorShape.", lambda: S(None).as_list())
    raises(ValueError, "Cannot take the length of shape with unknown rank.", lambda: len(S(None)))
    raises(ValueError, "Cannot iterate over a shape with unknown rank.", lambda: list(S(None)))


def test_together():
    assert S([2, None]).is_compatible_with([2, 3]) and not S([2, None]).is_compatible_with([3, 3])
    assert S([2, None]).merge_with([None, 3]) == [2, 3] and S(None).merge_with([1]) == [1]
    assert S([2]) + [3] == [2, 3] and [3] + S([2]) == [3, 2] and S([2]).concatenate([3]) == [2, 3]
    assert S(None).concatenate([3]) == S(None)
    assert S([2, None]).most_specific_compatible_shape([2, 3]) == [2, None]
    assert S([2, 3]).most_specific_common_supertype([S([2, 4])]) == [2, None]
    assert S([2, 3]).is_subtype_of(S([None, 3])) and S([2]).with_rank(1) == [2] and S(None).with_rank(2) == [None, None]
    raises(ValueError, "Shapes (2, None) and (3, 3) are not compatible", lambda: S([2, None]).merge_with([3, 3]))
    raises(ValueError, "Shape (2,) must have rank 2", lambda: S([2]).with_rank(2))
    raises(ValueError, "Shape (2,) must have rank at least 2", lambda: S([2]).with_rank_at_least(2))
    raises(ValueError, "Shape (2,) must have rank at most 0", lambda: S([2]).with_rank_at_most(0))
    raises(ValueError, "Shape (2,) must have rank 2", lambda: S([2]).assert_has_rank(2))
    raises(ValueError, "Shapes (2,) and (2, 3) must have the same rank", lambda: S([2]).assert_same_rank([2, 3]))
    raises(ValueError, "Shapes (2,) and [3] are incompatible", lambda: S([2]).assert_is_compatible_with([3]))
    raises(ValueError, "Shape (2, None) is not fully defined", lambda: S([2, None]).assert_is_fully_defined())


def test_specs():
    x = tf.constant([1.0, 2.0])
    spec = tf.TensorSpec([2, None], tf.float32, "x")
    assert repr(spec) == "TensorSpec(shape=(2, None), dtype=tf.float32, name='x')"
    assert repr(tf.TensorSpec(None)) == "TensorSpec(shape=<unknown>, dtype=tf.float32, name=None)"
    assert tf.TensorSpec([None]).is_compatible_with(x) and tf.TensorSpec([2]).is_compatible_with(x)
    assert not tf.TensorSpec([3]).is_compatible_with(x) and not tf.TensorSpec([2], tf.int32).is_compatible_with(x)
    assert tf.TensorSpec([None]).is_compatible_with(tf.TensorSpec([3]))
    assert repr(tf.TensorSpec.from_tensor(x)) == "TensorSpec(shape=(2,), dtype=tf.float32, name=None)"
    assert tf.TensorSpec.from_spec(tf.TensorSpec([2]), "n").name == "n"
    assert tf.TensorSpec([2]) == tf.TensorSpec([2]) and hash(tf.TensorSpec([2])) == hash(tf.TensorSpec([2]))
    merged = tf.TensorSpec([2]).most_specific_compatible_type(tf.TensorSpec([3]))
    assert repr(merged) == "TensorSpec(shape=(None,), dtype=tf.float32, name=None)"
    assert tf.TensorSpec([2]).is_subtype_of(tf.TensorSpec([None])) and tf.TensorSpec([2]).value_type is tf.Tensor
    assert pickle.loads(pickle.dumps(spec)) == spec


def test_spec_of_values():
    assert repr(tf.type_spec_from_value(3)) == "TensorSpec(shape=(), dtype=tf.int32, name=None)"
    assert repr(tf.type_spec_from_value("a")) == "TensorSpec(shape=(), dtype=tf.string, name=None)"
    assert repr(tf.type_spec_from_value(np.zeros([2]))) == "TensorSpec(shape=(2,), dtype=tf.float64, name=None)"
    with pytest.raises(TypeError):
        tf.type_spec_from_value(object())


def test_dims_are_dimensions():
    batch, features = S([None, 6]).dims
    assert (batch.value, features.value, features == 6, batch == 6) == (None, 6, True, None)
    assert [repr(features * 2), repr(13 // features), repr(features - 1), repr(batch + 1)] == [
        "Dimension(12)", "Dimension(2)", "Dimension(5)", "Dimension(None)"]
    assert S([batch, features]) == S([None, 6]) and list(range(8))[:features] == list(range(6))
    assert repr(batch.merge_with(features)) == "Dimension(6)" and str(batch) == "?"
    with pytest.raises(ValueError, match="not compatible"):
        features.merge_with(5)
    assert (tf.compat.dimension_value(features), tf.compat.dimension_value(4), tf.compat.dimension_value(None)) == (6, 4, None)
    assert repr(tf.compat.dimension_at_index(S(None), 1)) == "Dimension(None)"


@pytest.mark.parametrize("x, y, expected", [
    ([1, 3], [2, 1], [2, 3]), ([None, 3], [1], [None, 3]), ([None], [2], [2]), ([None], [1], [None]),
    ([None], [None], [None]), (None, [2], None), ([], [4], [4])])
def test_broadcast_static_shape(x, y, expected):
    assert repr(tf.broadcast_static_shape(S(x), S(y))) == repr(S(expected))
    assert repr(tf.broadcast_static_shape(S(y), S(x))) == repr(S(expected))


def test_broadcast_static_shape_refuses():
    with pytest.raises(ValueError, match="Incompatible shapes"):
        tf.broadcast_static_shape(S([2]), S([3]))

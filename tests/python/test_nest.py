"""tf.nest: orders and errors of TensorFlow 2.15."""

import collections

import pytest

import thalweg as tf

Pair = collections.namedtuple("Pair", "a b")


def test_flatten_and_pack():
    structure = {"b": [1, (2, Pair(3, None))], "a": 4}
    assert tf.nest.flatten(structure) == [4, 1, 2, 3, None] and tf.nest.flatten(5) == [5] and tf.nest.flatten([]) == []
    assert tf.nest.pack_sequence_as(structure, [10, 20, 30, 40, 50]) == {"b": [20, (30, Pair(40, 50))], "a": 10}
    assert tf.nest.pack_sequence_as(1, [7]) == 7
    counted = collections.defaultdict(list, z=1, y=2)
    packed = tf.nest.pack_sequence_as(counted, ["y", "z"])
    assert packed == {"z": "z", "y": "y"} and packed.default_factory is list
    ordered = collections.OrderedDict(z=1, y=2)
    assert list(tf.nest.pack_sequence_as(ordered, [2, 1]).items()) == [("z", 1), ("y", 2)]
    with pytest.raises(ValueError, match="Structure had 2 atoms, but flat_sequence had 1 items"):
        tf.nest.pack_sequence_as([1, 2], [1])
    with pytest.raises(TypeError):
        tf.nest.pack_sequence_as([1], 5)


def test_leaves():
    variable, tensor = tf.Variable([1.0, 2.0]), tf.constant([1.0, 2.0])
    assert tf.nest.flatten([variable, (tensor, "text")]) == [variable, tensor, "text"]
    assert not tf.nest.is_nested(variable) and not tf.nest.is_nested("text") and tf.nest.is_nested(())


def test_map():
    assert tf.nest.map_structure(lambda a, b: a + b, {"x": [1, 2]}, {"x": [10, 20]}) == {"x": [11, 22]}
    assert tf.nest.map_structure(float, Pair(1, (2,))) == Pair(1.0, (2.0,))
    with pytest.raises(TypeError):
        tf.nest.map_structure(5, [1])
    with pytest.raises(ValueError):
        tf.nest.map_structure(float)


def test_same_structure():
    tf.nest.assert_same_structure({"a": [1, 2]}, {"a": [3, 4]})
    tf.nest.assert_same_structure([1, 2], (3, 4), check_types=False)
    for other, kind in (((3, 4), TypeError), ([3], ValueError), ([3, [4]], ValueError)):
        with pytest.raises(kind):
            tf.nest.assert_same_structure([1, 2], other)

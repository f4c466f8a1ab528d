"""tf.raw_ops and the public functions as callables: keywords, results, errors, docs."""

import importlib
import inspect

import numpy as np
import pytest

import thalweg as tf


def raises(kind, text, call):
    with pytest.raises(kind) as error:
        call()
    assert str(error.value) == text


@pytest.fixture
def x():
    return tf.constant([1.0, 2.0])


def test_calls(x):
    assert tf.raw_ops.AddV2(x=x, y=x).numpy().tolist() == [2, 4]
    assert tf.raw_ops.AddV2(x=x, y=1, name="sum").numpy().tolist() == [2, 3]
    assert tf.raw_ops.AddV2(x=1.5, y=1).dtype is tf.float32
    assert tf.raw_ops.AddV2(x=x, y=np.array([1.0, 2.0])).dtype is tf.float32
    assert tf.raw_ops.AddV2(x=1, y=2, T=tf.int64).dtype is tf.int64
    with pytest.raises(ValueError):
        tf.raw_ops.AddV2(x=x, y=x, T=tf.int32)


def test_errors(x):
    raises(TypeError, "add_v2 only takes keyword args (possible keys: ['x', 'y', 'name']). Please pass these args as "
                      "kwargs instead.", lambda: tf.raw_ops.AddV2(x, x))
    raises(TypeError, "add_v2() missing 1 required positional argument: 'y'", lambda: tf.raw_ops.AddV2(x=x))
    raises(TypeError, "add_v2() missing 2 required positional arguments: 'x' and 'y'", lambda: tf.raw_ops.AddV2())
    raises(TypeError, "add_v2() got an unexpected keyword argument 'z'", lambda: tf.raw_ops.AddV2(x=x, y=x, z=1))
    with pytest.raises((TypeError, tf.errors.InvalidArgumentError)):
        tf.raw_ops.AddV2(x=1, y="a")
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.raw_ops.AddV2(x=x, y=tf.constant([1, 2]))


def test_attributes():
    m = tf.constant([[1, 2], [3, 4]])
    assert tf.raw_ops.MatMul(a=m, b=m, transpose_a=True).numpy().tolist() == [[10, 14], [14, 20]]
    raises(TypeError, "Expected bool for argument 'transpose_a' not 1.", lambda: tf.raw_ops.MatMul(a=m, b=m, transpose_a=1))
    raises(TypeError, "Expected bool for argument 'transpose_a' not 'x'.", lambda: tf.raw_ops.MatMul(a=m, b=m, transpose_a="x"))
    x = tf.constant([1.5, 2.5])
    assert tf.raw_ops.Cast(x=x, DstT=tf.int32).numpy().tolist() == [1, 2]
    assert tf.raw_ops.Cast(x=x, DstT="int32").dtype is tf.int32
    raises(TypeError, "cast() missing 1 required positional argument: 'DstT'", lambda: tf.raw_ops.Cast(x=x))
    with pytest.raises(TypeError):
        tf.raw_ops.Cast(x=x, DstT="foo")


def test_names_that_python_changes(x):
    m = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    assert tf.raw_ops.Sum(input=m, axis=0).numpy().tolist() == [4, 6]
    assert tf.raw_ops.ExpandDims(input=x, axis=0).shape == [1, 2]
    assert tf.raw_ops.Squeeze(input=m[:1], axis=[0]).shape == [2]


def test_lists(x):
    parts = tf.raw_ops.Split(axis=0, value=x, num_split=2)
    assert isinstance(parts, list) and [p.numpy().tolist() for p in parts] == [[1], [2]]
    assert tf.raw_ops.ConcatV2(values=[x, x], axis=0).numpy().tolist() == [1, 2, 1, 2]
    assert tf.raw_ops.Pack(values=[1.0, x[0]]).numpy().tolist() == [1, 1]
    many = [x] * 100
    assert tf.raw_ops.ConcatV2(values=many, axis=0).shape == [200]
    raises(TypeError, "Expected list for 'values' argument to 'concat_v2' Op, not 3.",
           lambda: tf.raw_ops.ConcatV2(values=3, axis=0))


def test_named_tuples(x):
    for op, call in (("Unique", lambda: tf.raw_ops.Unique(x=tf.constant([3, 3, 4]))),
                     ("TopKV2", lambda: tf.raw_ops.TopKV2(input=x, k=1)), ("TopKV2", lambda: tf.nn.top_k(x, 1))):
        if not hasattr(tf.raw_ops, op):
            pytest.skip(f"this build has no {op}")
        result = call()
        assert isinstance(result, tuple) and type(result).__name__ == op and repr(result).startswith(op + "(")
        assert all(isinstance(part, tf.Tensor) for part in result)


def test_public_functions(x):
    assert tf.add(x, x).numpy().tolist() == [2, 4] and tf.add(x=x, y=1).numpy().tolist() == [2, 3]
    assert tf.add(x, 1, name="sum").numpy().tolist() == [2, 3] and tf.add(x, 1, "sum").numpy().tolist() == [2, 3]
    assert tf.math.add is tf.add and importlib.import_module("thalweg.math") is tf.math
    raises(TypeError, "add() missing 1 required positional argument: 'y'", lambda: tf.add(1))
    raises(TypeError, "add() missing 2 required positional arguments: 'x' and 'y'", lambda: tf.add())
    raises(TypeError, "add() got an unexpected keyword argument 'foo'", lambda: tf.add(x, x, foo=1))
    raises(TypeError, "add() got multiple values for argument 'x'", lambda: tf.add(1, 2, x=3))
    raises(TypeError, "add() takes from 2 to 3 positional arguments but 4 were given", lambda: tf.add(1, 2, 3, 4))


def test_options():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    assert tf.reduce_sum(x, axis=1, keepdims=True).numpy().tolist() == [[3], [7]]
    assert tf.reduce_sum(x, 1).numpy().tolist() == [3, 7] and tf.reduce_sum(x, [0, 1]).numpy() == 10
    assert tf.reduce_sum(x, axis=tf.constant(0)).numpy().tolist() == [4, 6]
    assert tf.reduce_sum(x, axis=np.array([0])).numpy().tolist() == [4, 6] and tf.reduce_sum(x, axis=None).numpy() == 10
    assert tf.reduce_sum([[1, 2], [3, 4]], -1).dtype is tf.int32
    for wrong in (1.5, "a", [0, "a"], [[0]], {}):
        with pytest.raises(TypeError):
            tf.reduce_sum(x, axis=wrong)
    assert tf.reduce_sum(x, keepdims=1).shape == [1, 1] and tf.reduce_sum(x, keepdims=None).shape == []
    raises(TypeError, "Expected bool for argument 'keepdims' not 2.", lambda: tf.reduce_sum(x, keepdims=2))
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.reduce_sum(x, axis=10**30)


def test_shapes_and_dtypes():
    for shape in ([2, 3], (2, 3), tf.TensorShape([2, 3]), tf.constant([2, 3]), np.array([2, 3]), [tf.constant(2), 3]):
        assert tf.zeros(shape).shape == [2, 3]
    assert tf.zeros([]).shape == [] and tf.zeros([2], tf.int32).dtype is tf.int32 and tf.zeros([2], "int64").dtype is tf.int64
    for dtype in ("float64", np.float64, tf.float64, 2, np.dtype("float64")):
        assert tf.cast(tf.constant(1), dtype).dtype is tf.float64
    raises(TypeError, "Cannot convert the argument `type_value`: 'foo' to a TensorFlow DType.", lambda: tf.cast(1, "foo"))
    raises(TypeError, "Cannot convert the argument `type_value`: <class 'int'> to a TensorFlow DType.", lambda: tf.cast(1, int))


def test_literals_in_lists(x):
    assert tf.stack([x, [3, 4]]).dtype is tf.float32 and tf.stack([1, 2.5]).numpy().tolist() == [1, 2.5]
    assert tf.concat([x, np.array([1.0, 2.0])], 0).dtype is tf.float32


def test_docs_and_signatures():
    assert str(inspect.signature(tf.add)) == "(x, y, name=None)"
    assert str(inspect.signature(tf.raw_ops.AddV2)) == "(*, x, y, name=None)"
    assert inspect.signature(tf.reduce_sum).parameters["keepdims"].default is False
    assert tf.raw_ops.AddV2.__doc__ and tf.add.__doc__ and tf.add.__name__ == "add" and tf.math.add.__module__ == "thalweg"
    assert repr(tf.raw_ops.AddV2) == "<op tf.raw_ops.AddV2>" and repr(tf.add) == "<function tf.add>"


def test_every_record_is_described():
    for name, op in vars(tf.raw_ops).items():
        if not name.startswith("_"):
            assert op.__name__ == name and inspect.signature(op) and op.__doc__

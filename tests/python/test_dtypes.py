"""tf.DType and tf.as_dtype, as TensorFlow 2.15 has them."""

import copy
import pickle

import numpy as np
import pytest

import thalweg as tf

NUMBERS = {"float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int16": 5, "int8": 6, "string": 7, "complex64": 8,
           "int64": 9, "bool": 10, "bfloat16": 14, "uint16": 17, "complex128": 18, "float16": 19, "resource": 20,
           "variant": 21, "uint32": 22, "uint64": 23}


@pytest.mark.parametrize("name, number", NUMBERS.items())
def test_identity(name, number):
    dtype = getattr(tf, name)
    assert repr(dtype) == "tf." + name and str(dtype) == f"<dtype: '{name}'>" and dtype.name == name
    assert dtype.as_datatype_enum == number and hash(dtype) == number
    assert tf.as_dtype(name) is dtype and tf.as_dtype(number) is dtype and tf.dtypes.as_dtype(dtype) is dtype
    assert dtype == name and dtype == number and not dtype != name and dtype != "foo" and dtype != None  # noqa: E711
    assert pickle.loads(pickle.dumps(dtype)) is dtype and copy.deepcopy(dtype) is dtype
    assert dtype.base_dtype is dtype and tf.DType(number) is dtype


def test_numpy_types():
    for name in NUMBERS:
        dtype = getattr(tf, name)
        if dtype.is_numpy_compatible and name not in ("string", "bfloat16"):
            assert np.dtype(dtype.as_numpy_dtype).name == name
            assert dtype == np.dtype(name) and dtype == np.dtype(name).type
    assert tf.string.as_numpy_dtype is object
    assert tf.as_dtype(np.dtype("S3")) is tf.string and tf.as_dtype(object) is tf.string
    assert tf.as_dtype(float) is tf.float32 and tf.as_dtype(bool) is tf.bool
    assert tf.as_dtype("float") is tf.float32 and tf.as_dtype("double") is tf.float64 and tf.half is tf.float16


@pytest.mark.parametrize("value", ["foo", "<f4", int, complex, str, 99, 0, -1, None, [], 1.5, np.datetime64], ids=repr)
def test_not_dtypes(value):
    with pytest.raises(TypeError) as error:
        tf.as_dtype(value)
    assert str(error.value) == f"Cannot convert the argument `type_value`: {value!r} to a TensorFlow DType."


def test_kinds():
    assert [n for n in NUMBERS if getattr(tf, n).is_floating] == ["float32", "float64", "bfloat16", "float16"]
    assert [n for n in NUMBERS if getattr(tf, n).is_complex] == ["complex64", "complex128"]
    assert [n for n in NUMBERS if getattr(tf, n).is_unsigned] == ["uint8", "uint16", "uint32", "uint64"]
    assert len([n for n in NUMBERS if getattr(tf, n).is_integer]) == 8
    assert [n for n in NUMBERS if getattr(tf, n).is_bool] == ["bool"]
    assert [n for n in NUMBERS if not getattr(tf, n).is_numpy_compatible] == ["resource", "variant"]
    assert tf.complex64.real_dtype is tf.float32 and tf.int32.real_dtype is tf.int32


def test_sizes_and_limits():
    assert (tf.float32.size, tf.complex128.size, tf.bool.size, tf.bfloat16.size, tf.string.size) == (4, 16, 1, 2, 0)
    assert tf.int8.min == -128 and tf.uint16.max == 65535 and tf.float32.max == np.finfo(np.float32).max
    assert tf.int8.limits == (0, 127) and tf.float32.limits == (0, 1) and tf.uint16.limits == (0, 65535)
    with pytest.raises(TypeError) as error:
        tf.string.min
    assert str(error.value) == "Cannot find minimum value of <dtype: 'string'> with type <dtype: 'string'>."
    with pytest.raises(TypeError) as error:
        tf.bool.max
    assert str(error.value) == "Cannot find maximum value of <dtype: 'bool'> with type <dtype: 'bool'>."

"""Tensors and variables, and what they hold."""

import numpy as np

import thalweg as tf
from thalweg.keras.bridge.objects import _engine
from thalweg.keras.bridge.settings import floatx
from thalweg.keras.model.input import Input

__all__ = ["arange", "batch_get_value", "batch_set_value", "cast", "cast_to_floatx", "constant", "count_params",
           "dtype", "eval", "eye", "get_value", "int_shape", "is_keras_tensor", "is_sparse",
           "manual_variable_initialization", "moving_average_update", "ndim",
           "ones", "ones_like", "placeholder", "print_tensor", "random_bernoulli", "random_binomial", "random_normal",
           "random_normal_variable", "random_uniform", "random_uniform_variable", "set_value", "shape",
           "stop_gradient", "to_dense", "truncated_normal", "update", "update_add", "update_sub", "variable", "zeros", "zeros_like"]


def variable(value, dtype=None, name=None, constraint=None):
    return tf.Variable(value, dtype=dtype or floatx(), name=name, constraint=constraint)


def constant(value, dtype=None, shape=None, name=None):
    return tf.constant(value, dtype=dtype or floatx(), shape=shape, name=name or "Const")


def placeholder(shape=None, ndim=None, dtype=None, sparse=False, name=None, ragged=False):
    """A tensor of a model without a value; the shape has the batch in it."""
    if shape is None:
        shape = (None,) * (ndim or 0)
    return Input(batch_shape=tuple(shape), dtype=dtype or floatx(), name=name)


def is_keras_tensor(x):
    if not tf.is_tensor(x):
        raise ValueError(f"Unexpectedly found an instance of type `{type(x)}`. Expected a symbolic tensor instance.")
    return _engine.history(x) is not None


def is_sparse(tensor):
    """False: all tensors hold all their elements."""
    return False


def to_dense(tensor):
    return tensor


def manual_variable_initialization(value):
    """Nothing: variables have their values from the beginning."""


def shape(x):
    return tf.shape(x)


def int_shape(x):
    return tuple(x.shape)


def ndim(x):
    return len(x.shape)


def dtype(x):
    return tf.as_dtype(x.dtype).name


def count_params(x):
    return int(np.prod(tuple(x.shape), dtype="int64"))


def get_value(x):
    return x.numpy() if hasattr(x, "numpy") else x


eval = get_value


def batch_get_value(tensors):
    return [get_value(x) for x in tensors]


def set_value(x, value):
    x.assign(np.asarray(value, x.dtype.as_numpy_dtype))


def batch_set_value(tuples):
    for x, value in tuples:
        set_value(x, value)


def zeros(shape, dtype=None, name=None):
    return variable(tf.zeros(shape, dtype or floatx()), dtype, name)


def ones(shape, dtype=None, name=None):
    return variable(tf.ones(shape, dtype or floatx()), dtype, name)


def eye(size, dtype=None, name=None):
    return variable(tf.eye(size, dtype=dtype or floatx()), dtype, name)


def zeros_like(x, dtype=None, name=None):
    return tf.zeros_like(x, dtype=dtype, name=name)


def ones_like(x, dtype=None, name=None):
    return tf.ones_like(x, dtype=dtype, name=name)


def arange(start, stop=None, step=1, dtype="int32"):
    if stop is None and start < 0:
        start = 0
    numbers = tf.range(start, delta=step) if stop is None else tf.range(start, stop, step)
    return numbers if dtype == "int32" else tf.cast(numbers, dtype)


def cast(x, dtype):
    return tf.cast(x, dtype)


def cast_to_floatx(x):
    if tf.is_tensor(x) or isinstance(x, tf.Variable):
        return tf.cast(x, floatx())
    return np.asarray(x, dtype=floatx())


def update(x, new_x):
    return x.assign(new_x)


def update_add(x, increment):
    return x.assign_add(increment)


def update_sub(x, decrement):
    return x.assign_sub(decrement)


def moving_average_update(x, value, momentum):
    """x * momentum + value * (1 - momentum), which x becomes."""
    return x.assign_sub((x - tf.cast(value, x.dtype)) * tf.cast(1 - momentum, x.dtype))


def stop_gradient(variables):
    if isinstance(variables, (list, tuple)):
        return [tf.stop_gradient(x) for x in variables]
    return tf.stop_gradient(variables)


def print_tensor(x, message="", summarize=3):
    """Prints x, and gives it."""
    tf.print(message, x, summarize=summarize)
    return x


def random_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
    return tf.random.normal(shape, mean, stddev, dtype or floatx(), seed)


def random_uniform(shape, minval=0.0, maxval=1.0, dtype=None, seed=None):
    return tf.random.uniform(shape, minval, maxval, dtype or floatx(), seed)


def truncated_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
    return tf.random.truncated_normal(shape, mean, stddev, dtype or floatx(), seed)


def random_bernoulli(shape, p=0.0, dtype=None, seed=None):
    """Ones with probability p."""
    drawn = tf.random.uniform(shape, dtype=dtype or floatx(), seed=seed)
    return tf.cast(drawn <= p, drawn.dtype)


random_binomial = random_bernoulli


def random_normal_variable(shape, mean, scale, dtype=None, name=None, seed=None):
    return variable(random_normal(shape, mean, scale, dtype, seed), dtype, name)


def random_uniform_variable(shape, low, high, dtype=None, name=None, seed=None):
    return variable(random_uniform(shape, low, high, dtype, seed), dtype, name)

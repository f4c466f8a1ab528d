"""Arithmetic, reductions and shapes: mostly other names for functions of TensorFlow, with the defaults of Keras."""

import builtins

import numpy as np

import thalweg as tf
from thalweg.keras.bridge.settings import floatx

__all__ = ["abs", "all", "any", "argmax", "argmin", "batch_dot", "batch_flatten", "clip", "concatenate", "cos",
           "cumprod", "cumsum", "dot", "equal", "exp", "expand_dims", "flatten", "foldl", "foldr", "gather", "greater",
           "greater_equal", "less", "less_equal", "log", "map_fn", "max", "maximum", "mean", "min", "minimum",
           "not_equal", "one_hot", "permute_dimensions", "pow", "prod", "repeat", "repeat_elements", "reshape",
           "reverse", "round", "sign", "sin", "sqrt", "square", "squeeze", "stack", "std", "sum", "tile", "transpose",
           "var"]


def abs(x):
    return tf.abs(x)


def square(x):
    return tf.square(x)


def sqrt(x):
    """Of what is not negative; zero elsewhere."""
    x = tf.convert_to_tensor(x)
    return tf.sqrt(tf.maximum(x, tf.cast(0, x.dtype)))


def exp(x):
    return tf.exp(x)


def log(x):
    return tf.math.log(x)


def round(x):
    return tf.round(x)


def sign(x):
    return tf.sign(x)


def sin(x):
    return tf.sin(x)


def cos(x):
    return tf.cos(x)


def pow(x, a):
    return tf.pow(x, a)


def clip(x, min_value, max_value):
    """Values between two others; None is no bound."""
    if isinstance(min_value, (int, float)) and isinstance(max_value, (int, float)):
        max_value = builtins.max(max_value, min_value)
    x = tf.convert_to_tensor(x)
    low = -np.inf if min_value is None else min_value
    high = np.inf if max_value is None else max_value
    return tf.clip_by_value(x, tf.cast(low, x.dtype), tf.cast(high, x.dtype))


def equal(x, y):
    return tf.equal(x, y)


def not_equal(x, y):
    return tf.not_equal(x, y)


def greater(x, y):
    return tf.greater(x, y)


def greater_equal(x, y):
    return tf.greater_equal(x, y)


def less(x, y):
    return tf.less(x, y)


def less_equal(x, y):
    return tf.less_equal(x, y)


def maximum(x, y):
    return tf.maximum(x, y)


def minimum(x, y):
    return tf.minimum(x, y)


def _reduction(name, reduce, prepare=lambda x: x):
    """A reduction with Keras's arguments, of what `prepare` makes of x."""
    def reduction(x, axis=None, keepdims=False):
        return reduce(prepare(x), axis, keepdims)

    reduction.__name__ = reduction.__qualname__ = name
    return reduction


def _real(x):
    x = tf.convert_to_tensor(x)
    return tf.cast(x, floatx()) if x.dtype == tf.bool else x


def _truth(x):
    return tf.cast(x, "bool")


max = _reduction("max", tf.reduce_max)
min = _reduction("min", tf.reduce_min)
sum = _reduction("sum", tf.reduce_sum)
prod = _reduction("prod", tf.reduce_prod)
mean = _reduction("mean", tf.reduce_mean, _real)
var = _reduction("var", tf.math.reduce_variance, _real)
std = _reduction("std", tf.math.reduce_std, _real)
any = _reduction("any", tf.reduce_any, _truth)
all = _reduction("all", tf.reduce_all, _truth)


def argmax(x, axis=-1):
    return tf.argmax(x, axis)


def argmin(x, axis=-1):
    return tf.argmin(x, axis)


def cumsum(x, axis=0):
    return tf.cumsum(x, axis=axis)


def cumprod(x, axis=0):
    return tf.math.cumprod(x, axis=axis)


def dot(x, y):
    """The product over the last dimension of x and the second to last of y."""
    if len(x.shape) > 2 or len(y.shape) > 2:
        return tf.tensordot(x, y, [[len(x.shape) - 1], [builtins.max(len(y.shape) - 2, 0)]])
    return tf.matmul(x, y)


def batch_dot(x, y, axes=None):
    """The product of each pair of examples over one dimension of each."""
    x, y = tf.convert_to_tensor(x), tf.convert_to_tensor(y)
    ranks = len(x.shape), len(y.shape)
    if builtins.min(ranks) < 2:
        raise ValueError(f"Cannot do batch_dot on inputs with rank < 2. Received inputs with tf.shapes {x.shape} and "
                         f"{y.shape}.")
    if axes is None:
        axes = (ranks[0] - 1, 1 if ranks[1] == 2 else ranks[1] - 2)
    elif isinstance(axes, int):
        axes = (axes, axes)
    if builtins.any(isinstance(axis, (list, tuple)) for axis in axes):
        raise ValueError("Multiple target dimensions are not supported. Expected: None, int, (int, int), Provided: "
                         f"{axes}")
    axes = [axis + rank if axis < 0 else axis for axis, rank in zip(axes, ranks)]
    if 0 in axes:
        raise ValueError("Cannot perform batch_dot over axis 0. If your inputs are not batched, add a dummy batch "
                         "dimension to your inputs using K.expand_dims(x, 0)")
    letters = "bcdefghijklmn"
    first = letters[: ranks[0]]
    second = ["b", *"opqrstuvwxyz"[: ranks[1] - 1]]
    second[axes[1]] = first[axes[0]]
    left = first.replace(first[axes[0]], "")
    left += "".join(letter for i, letter in enumerate(second) if i not in (0, axes[1]))
    result = tf.einsum(f"{first},{''.join(second)}->{left}", x, y)
    return tf.expand_dims(result, 1) if ranks == (2, 2) else result


def transpose(x):
    return tf.transpose(x)


def permute_dimensions(x, pattern):
    return tf.transpose(x, perm=pattern)


def reshape(x, shape):
    return tf.reshape(x, shape)


def flatten(x):
    return tf.reshape(x, [-1])


def batch_flatten(x):
    """All dimensions but the first as one."""
    sizes = tuple(x.shape)[1:]
    size = tf.reduce_prod(tf.shape(x)[1:]) if None in sizes else int(np.prod(sizes, dtype="int64"))
    return tf.reshape(x, [-1, size])


def expand_dims(x, axis=-1):
    return tf.expand_dims(x, axis)


def squeeze(x, axis):
    return tf.squeeze(x, [axis])


def stack(x, axis=0):
    return tf.stack(x, axis=axis)


def concatenate(tensors, axis=-1):
    return tf.concat(tensors, axis)


def tile(x, n):
    return tf.tile(x, [n] if isinstance(n, int) else n)


def repeat(x, n):
    """[batch, features] n times: [batch, n, features]."""
    return tf.tile(tf.expand_dims(x, 1), [1, n, 1])


def repeat_elements(x, rep, axis):
    return tf.repeat(x, rep, axis=axis)


def reverse(x, axes):
    return tf.reverse(x, [axes] if isinstance(axes, int) else axes)


def gather(reference, indices):
    return tf.gather(reference, indices)


def one_hot(indices, num_classes):
    return tf.one_hot(indices, depth=num_classes, axis=-1)


def map_fn(fn, elems, name=None, dtype=None):
    return tf.map_fn(fn, elems, dtype=dtype)


def foldl(fn, elems, initializer=None, name=None):
    return tf.foldl(fn, elems, initializer=initializer)


def foldr(fn, elems, initializer=None, name=None):
    return tf.foldr(fn, elems, initializer=initializer)

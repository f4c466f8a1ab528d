"""Small things that programs ask of Keras's backend."""

import numpy as np

from thalweg.keras._objects import _engine

_floatx, _epsilon = "float32", 1e-7


def clear_session():
    """Automatic names begin anew."""
    _engine.clear_session()


def floatx():
    return _floatx


def epsilon():
    return _epsilon


def image_data_format():
    return "channels_last"


def get_value(x):
    return np.asarray(x)


def set_value(x, value):
    x.assign(np.asarray(value, x.dtype.as_numpy_dtype))


def int_shape(x):
    return tuple(x.shape)


def is_keras_tensor(x):
    return _engine.history(x) is not None

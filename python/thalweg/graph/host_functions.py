"""tf.py_function and tf.numpy_function: Python code that runs with the values, also inside of traced functions."""

import functools

from thalweg import _thalweg, nest
from thalweg._thalweg import convert_to_tensor
from thalweg.core.specs import TensorSpec
from thalweg.dtypes import as_dtype

_DIFFERENTIABLE, _STATEFUL, _STATELESS = range(3)


class _Host:
    """What the engine calls: takes the list of the inputs, returns the list of the results."""

    def __init__(self, function, dtypes):
        self._function = function
        self._dtypes = dtypes

    def __call__(self, tensors):
        result = self._function(*map(self._argument, tensors))
        values = [] if result is None else result if isinstance(result, (list, tuple)) else [result]
        if len(values) != len(self._dtypes):
            return [0] * len(values)  # the engine says how many there should be
        return list(map(self._convert, values, self._dtypes))


class _TensorHost(_Host):
    _argument = staticmethod(lambda tensor: tensor)
    _convert = staticmethod(convert_to_tensor)


class _ArrayHost(_Host):
    _argument = staticmethod(lambda tensor: tensor.numpy())

    @staticmethod
    def _convert(value, dtype):
        """Arrays have the dtype that they have, which the engine checks; Python's numbers take the one asked for."""
        return convert_to_tensor(value) if hasattr(value, "dtype") else convert_to_tensor(value, dtype)


def _dtypes(types):
    return [as_dtype(one.dtype if isinstance(one, TensorSpec) else one) for one in types]


def _call(host_type, kind, func, inp, types):
    is_list = isinstance(types, (list, tuple))
    dtypes = _dtypes(types if is_list else [types])
    inputs = [convert_to_tensor(value) for value in inp]
    results = _thalweg.call_host(host_type(func, dtypes), inputs, dtypes, kind)
    return results if is_list else results[0]


def _decorates(function, name, types):
    """Whether the call is `@tf.py_function(Tout=...)`; TypeError without the types of the results."""
    if types is None:
        raise TypeError("Missing required argument: 'Tout'\n"
                        f"  If using {name} as a decorator, set `Tout`\n"
                        "  **by name** above the function:\n"
                        f"  `@{name}(Tout=tout)`")
    return function is None


def py_function(func=None, inp=None, Tout=None, name=None):
    """Calls func with eager tensors, now or each time that the traced function runs; tapes go back through its ops."""
    if _decorates(func, "tf.py_function", Tout):
        def decorator(inner):
            return functools.wraps(inner)(lambda *inp: py_function(inner, inp, Tout, name))
        return decorator
    return _call(_TensorHost, _DIFFERENTIABLE, func, inp, Tout)


def _call_now(func, inp):
    """What TensorFlow does outside of functions: the results are what they are."""
    import numpy
    result = nest.flatten(func(*[numpy.array(convert_to_tensor(value)) for value in inp]))
    result = [value if value is None else convert_to_tensor(value) for value in result]
    return result[0] if len(result) == 1 else result


def numpy_function(func=None, inp=None, Tout=None, stateful=True, name=None):
    """Calls func with NumPy arrays, now or each time that the traced function runs; there is no gradient."""
    if _decorates(func, "tf.numpy_function", Tout):
        def decorator(inner):
            return functools.wraps(inner)(lambda *inp: numpy_function(inner, inp, Tout, stateful, name))
        return decorator
    if not _thalweg.is_tracing():
        return _call_now(func, inp)
    return _call(_ArrayHost, _STATEFUL if stateful else _STATELESS, func, inp, Tout)


def py_func(func, inp, Tout, stateful=True, name=None):
    """The name that numpy_function had in TensorFlow 1."""
    return numpy_function(func, inp, Tout, stateful, name)

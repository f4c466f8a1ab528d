"""The classes and functions of the package that the engine's module calls."""

import sys

from thalweg import _thalweg, dtypes, errors
from thalweg.core import logging as _logging
from thalweg.core.shapes import TensorShape


class Reference:
    """A hashable handle on a tensor: `tensor.ref()`. Two are equal when they hold the same object."""

    __slots__ = ("_wrapped",)

    def __init__(self, wrapped):
        self._wrapped = wrapped

    def deref(self):
        """The tensor."""
        return self._wrapped

    def __eq__(self, other):
        return isinstance(other, Reference) and self._wrapped is other._wrapped

    def __hash__(self):
        return id(self._wrapped)

    def __repr__(self):
        return f"<Reference wrapping {self._wrapped!r}>"


def named_tuple(name, fields):
    """The type of several results."""
    from collections import namedtuple

    return namedtuple(name, fields, module="thalweg")


def documentation(description):
    """The docstring of a public function, by its record."""
    from thalweg.names import docs as _docs

    return _docs.docstring(description)


def signature(description):
    """The inspect.Signature of a public function or a raw op, by its record."""
    from thalweg.names import docs as _docs

    return _docs.signature(description)


# Where TensorFlow's named tuples are not called after the function, or are no named ones.
RECORD_NAMES = {
    "nn.top_k": "TopKV2",
    "math.top_k": "TopKV2",
    "unique": "Unique",
    "unique_with_counts": "UniqueWithCounts",
    "linalg.qr": "Qr",
    "linalg.slogdet": "LogMatrixDeterminant",
    "linalg.eig": "tuple",
    "linalg.eigh": "tuple",
    "linalg.svd": "Svd",
    "nn.max_pool_with_argmax": "MaxPoolWithArgmax",
    "meshgrid": "Meshgrid",
    "nn.moments": "tuple",
    "nn.weighted_moments": "tuple",
    "nn.sufficient_statistics": "tuple",
    "nn.normalize_moments": "tuple",
    "linalg.normalize": "tuple",
    "clip_by_global_norm": "tuple",
}

# Functions of a list that take one value in its place, and whether only a tensor may stand there.
SINGLE_VALUES = {"concat": False, "strings.format": True}


def numpy_text(tensor, as_repr):
    """A tensor as NumPy's print options say; None where nobody has changed them."""
    numpy = sys.modules.get("numpy")
    if numpy is None or numpy.get_printoptions() == _default_options():
        return None
    text = repr(tensor.numpy()) if as_repr else str(tensor.numpy())
    text = "\n" + text if "\n" in text else text
    shape, dtype = tuple(tensor.shape), tensor.dtype.name
    if as_repr:
        return f"<tf.Tensor: shape={shape}, dtype={dtype}, numpy={text}>"
    return f"tf.Tensor({text}, shape={shape}, dtype={dtype})"


def _default_options():
    """NumPy's own print options, as this version of it names them."""
    defaults = {"edgeitems": 3, "threshold": 1000, "floatmode": "maxprec", "precision": 8, "suppress": False,
                "linewidth": 75, "nanstr": "nan", "infstr": "inf", "sign": "-", "formatter": None, "legacy": False,
                "override_repr": None}
    return {name: defaults.get(name) for name in sys.modules["numpy"].get_printoptions()}


_conversions = []  # (priority, order, classes, function), in the order in which they are asked


def register_tensor_conversion_function(base_type, conversion_func, priority=100):
    """Says how objects of a class become tensors: by conversion_func(value, dtype=None, name=None, as_ref=False).

    Functions of lower priority are asked first; one that returns NotImplemented passes the object on.
    """
    classes = base_type if isinstance(base_type, tuple) else (base_type,)
    if not all(isinstance(one, type) for one in classes):
        raise TypeError(f"Argument `base_type` must be a type or a tuple of types. Obtained: {base_type}")
    if any(issubclass(one, (int, float, complex)) or one.__module__ == "numpy" for one in classes):
        raise TypeError("Cannot register conversions for Python numeric types and NumPy scalars and arrays.")
    if not callable(conversion_func):
        raise TypeError(f"Argument `conversion_func` must be callable. Received {conversion_func}.")
    _conversions.append((priority, len(_conversions), classes, conversion_func))
    _conversions.sort(key=lambda entry: entry[:2])
    _thalweg.use_conversions()


def conversion(value):
    """The tensor that a registered function makes of an object; None where there is none."""
    for _, _, classes, function in _conversions:
        if isinstance(value, classes):
            made = function(value, dtype=None, name=None, as_ref=False)
            if made is not NotImplemented:
                return made
    return None

_thalweg.register("dtype", dtypes.BY_NUMBER)
_thalweg.register("as_dtype", dtypes.as_dtype)
_thalweg.register("tensor_shape", TensorShape)
_thalweg.register("errors", {name: value for name, value in vars(errors).items() if isinstance(value, type)})
_thalweg.register("named_tuple", named_tuple)
_thalweg.register("record_names", RECORD_NAMES)
_thalweg.register("docs", documentation)
_thalweg.register("signature", signature)
_thalweg.register("reference", Reference)
_thalweg.register("warn", _logging.warn)
_thalweg.register("single_values", SINGLE_VALUES)
_thalweg.register("numpy_text", numpy_text)
_thalweg.register("conversion", conversion)

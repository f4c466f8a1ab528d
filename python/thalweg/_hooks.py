"""The classes and functions of the package that the engine's module calls."""

from thalweg import _logging, _thalweg, dtypes, errors
from thalweg.shapes import TensorShape


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
    from thalweg import _docs

    return _docs.docstring(description)


def signature(description):
    """The inspect.Signature of a public function or a raw op, by its record."""
    from thalweg import _docs

    return _docs.signature(description)


# Where TensorFlow's named tuples are not called after the function.
RECORD_NAMES = {
    "nn.top_k": "TopKV2",
    "math.top_k": "TopKV2",
    "unique": "Unique",
    "unique_with_counts": "UniqueWithCounts",
    "linalg.qr": "Qr",
    "linalg.slogdet": "LogMatrixDeterminant",
    "linalg.eig": "Eig",
    "linalg.eigh": "SelfAdjointEigV2",
    "linalg.svd": "Svd",
    "nn.max_pool_with_argmax": "MaxPoolWithArgmax",
    "meshgrid": "Meshgrid",
}

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

"""tf.make_tensor_proto and tf.make_ndarray, on the engine's own TensorProto."""

import math

from thalweg import _thalweg, dtypes
from thalweg._thalweg import TensorProto

_engine = _thalweg.functions()


def make_tensor_proto(values, dtype=None, shape=None, verify_shape=False, allow_broadcast=False):
    """The TensorProto of a number, a list, an array or a tensor; with a shape, the last value fills what is missing."""
    if allow_broadcast and verify_shape:
        raise ValueError("allow_broadcast and verify_shape are not both allowed.")
    if isinstance(values, TensorProto):
        return values
    if values is None:
        raise ValueError("None values not supported.")
    dtype = None if dtype is None else dtypes.as_dtype(dtype)
    if shape is not None and math.prod(shape) == 0 and not hasattr(values, "__array__"):
        tensor = _thalweg.constant([], dtype or dtypes.float32, shape)
    elif hasattr(values, "__array__") and dtype is not None:
        tensor = _engine["cast"](_thalweg.convert_to_tensor(values), dtype)
    else:
        tensor = _thalweg.constant(values, dtype)
    if shape is None:
        return _thalweg.tensor_to_proto(tensor, "brief")
    size, given, wanted = math.prod(tensor.shape), tuple(tensor.shape), tuple(shape)
    if allow_broadcast:
        if given not in ((), (1,)) and size != math.prod(wanted):
            raise TypeError(f"Expected Tensor's shape: {wanted}, but got {given}.")
    elif verify_shape and given != wanted:
        raise TypeError(f"Expected Tensor's shape: {wanted}, but got {given}.")
    elif size > math.prod(wanted):
        raise ValueError(f"Too many elements provided. Takes at most {math.prod(wanted)}, but got {size}.")
    proto = _thalweg.tensor_to_proto(tensor, "brief" if size == math.prod(wanted) else "list")
    proto.tensor_shape = _thalweg.shape_to_proto(wanted)
    return proto


def make_ndarray(tensor):
    """The NumPy array of a TensorProto."""
    return _thalweg.tensor_from_proto(tensor).numpy()

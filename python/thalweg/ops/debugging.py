"""Assertions whose arguments only Python can express."""

from thalweg._thalweg import Tensor, convert_to_tensor
from thalweg.dtypes import as_dtype, float32

_ANY_RANK = ("...", "*")
_ANY_SIZE = (None, ".")


def _described(tensor):
    return f"shape={tensor.shape} dtype={tensor.dtype.name}"


def _check_rank(tensor, sizes, prefix):
    """A leading `...` or `*` allows more dimensions; one entry also describes a scalar."""
    rank = tensor.shape.rank
    if sizes and sizes[0] in _ANY_RANK:
        wanted, fits = f"at least {len(sizes) - 1}", rank >= len(sizes) - 1
    elif len(sizes) == 1:
        wanted, fits = "in (0, 1)", rank <= 1
    else:
        wanted, fits = str(len(sizes)), rank == len(sizes)
    if not fits:
        raise ValueError(f"{prefix}Tensor  must have rank {wanted}.  Received rank {rank}, shape {tensor.shape}")


def _specified(tensor, sizes, prefix):
    """(dimension, what it must be) for every entry that says something."""
    dims = tensor.shape.as_list() or [1]
    if sizes and sizes[0] in _ANY_RANK:
        sizes = sizes[1:]
        first = len(dims) - len(sizes)
    else:
        first = 0
    for position, size in enumerate(sizes):
        if size in _ANY_RANK:
            raise ValueError(f"{prefix}Tensor {_described(tensor)} specified shape index {position + first}.  Symbol "
                             "`...` or `*` for a variable number of unspecified dimensions is only allowed as the first "
                             "entry")
        if size not in _ANY_SIZE and first + position < len(dims):
            yield first + position, dims[first + position], size


def assert_shapes(shapes, data=None, summarize=None, message=None, name=None):
    """Checks the shapes of several tensors, whose sizes may share names: [(x, ("N", 10)), (y, ("N",))]."""
    prefix = f"{message}.  " if message else ""
    entries = list(shapes.items() if isinstance(shapes, dict) else shapes)
    known = {}
    for value, sizes in entries:
        if sizes is None:
            continue
        tensor = convert_to_tensor(value)
        if not hasattr(sizes, "__iter__") and not hasattr(sizes, "__getitem__"):
            raise ValueError(f"{prefix}Tensor {_described(tensor)}.  Specified shape must be an iterable.  An iterable "
                             f"has the attribute `__iter__` or `__getitem__`.  Received specified shape: {sizes}")
        sizes = list(sizes)
        _check_rank(tensor, sizes, prefix)
        for dimension, actual, size in _specified(tensor, sizes, prefix):
            if isinstance(size, str):
                described = f"by tensor {_described(tensor)} dimension {dimension}"
                wanted, source = known.setdefault(size, (actual, described))
            else:
                wanted, source = int(size), "explicitly"
            if actual != wanted:
                raise ValueError(f"{prefix}Specified {source}.  Tensor {_described(tensor)} dimension {dimension} must "
                                 f"have size {wanted}.  Received size {actual}, shape {tensor.shape}")


def Assert(condition, data, summarize=None, name=None):
    """Raises InvalidArgumentError with the first entries of each of the data unless the condition is true."""
    from thalweg import raw_ops

    if not isinstance(data, (list, tuple)):
        raise TypeError("values must be a sequence.")
    if not isinstance(condition, Tensor):
        condition = bool(condition)
    raw_ops.Assert(condition=condition, data=list(data), summarize=3 if summarize is None else summarize)


def is_numeric_tensor(tensor):
    """Whether this is a tensor of numbers: floating point, integer or complex."""
    return isinstance(tensor, Tensor) and (tensor.dtype.is_floating or tensor.dtype.is_integer or tensor.dtype.is_complex)


def assert_same_float_dtype(tensors=None, dtype=None):
    """The one floating-point type of all tensors, float32 when there are none; ValueError when they differ."""
    wanted, source = as_dtype(dtype) if dtype is not None else None, None
    for tensor in tensors or ():
        if tensor is None:
            continue
        found = convert_to_tensor(tensor).dtype
        if wanted is None:
            wanted, source = found, tensor
        elif found != wanted:
            of_whom = "" if source is None else f" as {source}"
            raise ValueError(f"{tensor}, type={found}, must be of the same type ({wanted}){of_whom}.")
    if wanted is None:
        return float32
    if not wanted.is_floating:
        raise ValueError(f"Expected floating point type, got {wanted}.")
    return wanted


def assert_proper_iterable(values):
    """TypeError for what is no iterable, or one that is a single value itself: a tensor, an array, a text."""
    unintended = isinstance(values, (Tensor, str, bytes)) or hasattr(values, "__array_interface__")
    if unintended:
        raise TypeError(f'Expected argument "values" to be a "proper" iterable.  Found: {type(values)}')
    if not hasattr(values, "__iter__"):
        raise TypeError(f'Expected argument "values" to be iterable.  Found: {type(values)}')

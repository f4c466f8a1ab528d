"""tf.compat: names of other versions."""

from thalweg.compat import v1, v2
from thalweg.core.shapes import Dimension


def as_bytes(bytes_or_text, encoding="utf-8"):
    """Text as bytes."""
    if isinstance(bytes_or_text, (bytes, bytearray, memoryview)):
        return bytes(bytes_or_text)
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_text(bytes_or_text, encoding="utf-8"):
    """Bytes as text."""
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, (bytes, bytearray)):
        return bytes(bytes_or_text).decode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


as_str = as_text


def dimension_value(dimension):
    """The size of a dimension, whether it is a number, None or a Dimension."""
    return dimension.value if isinstance(dimension, Dimension) else dimension


def dimension_at_index(shape, index):
    """A dimension of a shape as a Dimension; an unknown one where the rank is unknown."""
    return Dimension(None) if shape.rank is None else shape.dims[index]

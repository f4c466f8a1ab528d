"""TensorSpec: what a tensor must look like, without its value."""

from thalweg import dtypes
from thalweg._thalweg import Tensor, convert_to_tensor
from thalweg.core.shapes import TensorShape


class TypeSpec:
    """The base of the descriptions of values."""


class TensorSpec(TypeSpec):
    """The shape, dtype and name of a tensor."""

    __slots__ = ("_shape", "_dtype", "_name")

    def __init__(self, shape, dtype=dtypes.float32, name=None):
        self._shape = TensorShape(shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._name = name

    shape = property(lambda self: self._shape, doc="The TensorShape.")
    dtype = property(lambda self: self._dtype, doc="The DType.")
    name = property(lambda self: self._name, doc="The name, or None.")
    value_type = property(lambda self: Tensor, doc="The class of the values.")

    @classmethod
    def from_spec(cls, spec, name=None):
        """The spec of what another spec describes, under another name."""
        return cls(spec.shape, spec.dtype, name or spec.name)

    @classmethod
    def from_tensor(cls, tensor, name=None):
        """The spec of a tensor."""
        return cls(tensor.shape, tensor.dtype, name)

    def is_compatible_with(self, spec_or_value):
        """Whether a tensor, or what another spec describes, has this dtype and a shape that fits."""
        if not isinstance(spec_or_value, (Tensor, TensorSpec)):
            try:
                spec_or_value = convert_to_tensor(spec_or_value)
            except (TypeError, ValueError):
                return False
        return self._dtype is spec_or_value.dtype and self._shape.is_compatible_with(spec_or_value.shape)

    def is_subtype_of(self, other):
        """Whether everything this describes fits the other."""
        return (isinstance(other, TensorSpec) and self._dtype is other._dtype
                and self._shape.is_subtype_of(other._shape) and other._name in (None, self._name))

    def most_specific_common_supertype(self, others):
        """The spec that this and all others fit, or None."""
        others = list(others)
        if any(not isinstance(other, TensorSpec) or other._dtype is not self._dtype for other in others):
            return None
        shape = self._shape.most_specific_common_supertype([other._shape for other in others])
        name = self._name if all(other._name == self._name for other in others) else None
        return TensorSpec(shape, self._dtype, name)

    def most_specific_compatible_type(self, other):
        """The spec that both fit."""
        found = self.most_specific_common_supertype([other])
        if found is None:
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        return found

    def __eq__(self, other):
        return (isinstance(other, TensorSpec) and self._shape == other._shape and self._dtype is other._dtype
                and self._name == other._name)

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash((self._shape, self._dtype))

    def __repr__(self):
        return f"TensorSpec(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r})"

    def __reduce__(self):
        return TensorSpec, (self._shape, self._dtype, self._name)


def type_spec_from_value(value):
    """The spec of a value: of a tensor, or of what becomes one."""
    if isinstance(value, TypeSpec):
        return value
    try:
        return TensorSpec.from_tensor(convert_to_tensor(value))
    except (TypeError, ValueError):
        raise TypeError(f"Could not build a TypeSpec for {value!r} of unsupported type {type(value)!r}.") from None

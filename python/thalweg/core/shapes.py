"""TensorShape: the shape of a tensor, of which dimensions or even the rank may be unknown."""

import operator


def _dimension(value):
    if value is None:
        return None
    if isinstance(value, Dimension):
        return value.value
    try:
        index = operator.index(value)
    except (TypeError, AttributeError):
        raise TypeError("Dimension value must be integer or None or have an __index__ method, got value "
                        f"'{value!r}' with type '{type(value)!r}'") from None
    if index < 0:
        raise ValueError(f"Dimension {index} must be >= 0")
    return index


def _dimensions(dims):
    """A tuple of numbers and Nones, or None for an unknown rank."""
    if dims is None:
        return None
    if isinstance(dims, TensorShape):
        return dims._dims
    if isinstance(dims, str):
        raise TypeError(f"Failed to convert '{dims!r}' to a shape: '{dims[:1]!r}'could not be converted to a "
                        "dimension. A shape should either be single dimension (e.g. 10), or an iterable of dimensions "
                        "(e.g. [1, 10, None]).")
    try:
        entries = iter(dims)
    except TypeError:
        return (_dimension(dims),)
    return tuple(_dimension(entry) for entry in entries)


class Dimension:
    """One dimension as TensorFlow 1 gave it: `shape.dims[0].value`; arithmetic with an unknown one is unknown."""

    __slots__ = ("_value",)

    def __init__(self, value):
        self._value = value._value if isinstance(value, Dimension) else _dimension(value)

    @property
    def value(self):
        """The size, or None."""
        return self._value

    def is_compatible_with(self, other):
        """Whether they could be the same."""
        other = Dimension(other)
        return self._value is None or other._value is None or self._value == other._value

    def assert_is_compatible_with(self, other):
        """ValueError unless they could be the same."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Dimensions {self} and {other} are not compatible")

    def merge_with(self, other):
        """What both together say."""
        self.assert_is_compatible_with(other)
        return Dimension(other if self._value is None else self)

    def _with(self, other, compute):
        """What `compute` makes of both sizes, or of this one where the other is no dimension."""
        try:
            other = Dimension(other)
        except (TypeError, ValueError):
            return NotImplemented
        known = self._value is not None and other._value is not None
        return compute(self._value, other._value) if known else None

    def _dimension_with(self, other, compute):
        result = self._with(other, compute)
        return result if result is NotImplemented else Dimension(result)

    def __add__(self, other):
        return self._dimension_with(other, operator.add)

    def __sub__(self, other):
        return self._dimension_with(other, operator.sub)

    def __rsub__(self, other):
        return self._dimension_with(other, lambda a, b: b - a)

    def __mul__(self, other):
        return self._dimension_with(other, operator.mul)

    def __floordiv__(self, other):
        return self._dimension_with(other, operator.floordiv)

    def __rfloordiv__(self, other):
        return self._dimension_with(other, lambda a, b: b // a)

    def __mod__(self, other):
        return self._dimension_with(other, operator.mod)

    def __rmod__(self, other):
        return self._dimension_with(other, lambda a, b: b % a)

    __radd__, __rmul__ = __add__, __mul__

    def __eq__(self, other):
        return self._with(other, operator.eq)

    def __ne__(self, other):
        return self._with(other, operator.ne)

    def __lt__(self, other):
        return self._with(other, operator.lt)

    def __le__(self, other):
        return self._with(other, operator.le)

    def __gt__(self, other):
        return self._with(other, operator.gt)

    def __ge__(self, other):
        return self._with(other, operator.ge)

    def __hash__(self):
        return hash(self._value)

    def __int__(self):
        return self._value

    __index__ = __int__

    def __str__(self):
        return "?" if self._value is None else str(self._value)

    def __repr__(self):
        return f"Dimension({self._value})"


class TensorShape:
    """The shape of a tensor: known and unknown dimensions, or an unknown rank."""

    __slots__ = ("_dims",)

    def __init__(self, dims):
        if type(dims) is tuple:
            for dim in dims:
                if type(dim) is not int or dim < 0:
                    dims = _dimensions(dims)
                    break
        else:
            dims = _dimensions(dims)
        self._dims = dims

    @property
    def rank(self):
        """The number of dimensions, or None."""
        return None if self._dims is None else len(self._dims)

    ndims = rank

    @property
    def dims(self):
        """The dimensions as a list of Dimension, or None."""
        return None if self._dims is None else [Dimension(dim) for dim in self._dims]

    def as_list(self):
        """The dimensions as a list, unknown ones None."""
        if self._dims is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self._dims)

    def num_elements(self):
        """The number of elements, or None."""
        if not self.is_fully_defined():
            return None
        count = 1
        for dim in self._dims:
            count *= dim
        return count

    def is_fully_defined(self):
        """Whether every dimension is known."""
        return self._dims is not None and None not in self._dims

    def is_compatible_with(self, other):
        """Whether some fully defined shape fits both."""
        other = as_shape(other)
        if self._dims is None or other._dims is None:
            return True
        return len(self._dims) == len(other._dims) and all(
            a is None or b is None or a == b for a, b in zip(self._dims, other._dims))

    def merge_with(self, other):
        """What both together say."""
        other = as_shape(other)
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are not compatible")
        if self._dims is None:
            return other
        if other._dims is None:
            return self
        return TensorShape([b if a is None else a for a, b in zip(self._dims, other._dims)])

    def concatenate(self, other):
        """The dimensions of this shape, then those of the other."""
        other = as_shape(other)
        if self._dims is None or other._dims is None:
            return TensorShape(None)
        return TensorShape(self._dims + other._dims)

    def most_specific_compatible_shape(self, other):
        """The most specific shape that both are instances of."""
        other = as_shape(other)
        if self._dims is None or other._dims is None or len(self._dims) != len(other._dims):
            return TensorShape(None)
        return TensorShape([a if a == b else None for a, b in zip(self._dims, other._dims)])

    def most_specific_common_supertype(self, others):
        """The most specific shape that this and all others are instances of."""
        found = self
        for other in others:
            if not isinstance(other, TensorShape):
                return None
            found = found.most_specific_compatible_shape(other)
        return found

    def is_subtype_of(self, other):
        """Whether every tensor of this shape fits the other."""
        if not isinstance(other, TensorShape) or other._dims is None:
            return isinstance(other, TensorShape)
        return self._dims is not None and len(self._dims) == len(other._dims) and all(
            b is None or a == b for a, b in zip(self._dims, other._dims))

    def with_rank(self, rank):
        """This shape, with unknown dimensions if its rank was unknown."""
        if self._dims is None:
            return TensorShape([None] * rank)
        self.assert_has_rank(rank)
        return self

    def with_rank_at_least(self, rank):
        """This shape, which must have so many dimensions or more."""
        if self._dims is not None and len(self._dims) < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank):
        """This shape, which must have so many dimensions or fewer."""
        if self._dims is not None and len(self._dims) > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self

    def assert_has_rank(self, rank):
        """ValueError unless the rank is this or unknown."""
        if self._dims is not None and len(self._dims) != rank:
            raise ValueError(f"Shape {self} must have rank {rank}")

    def assert_same_rank(self, other):
        """ValueError unless the ranks agree or one is unknown."""
        other = as_shape(other)
        if self._dims is not None and other._dims is not None and len(self._dims) != len(other._dims):
            raise ValueError(f"Shapes {self} and {other} must have the same rank")

    def assert_is_compatible_with(self, other):
        """ValueError unless some fully defined shape fits both."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are incompatible")

    def assert_is_fully_defined(self):
        """ValueError unless every dimension is known."""
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def __len__(self):
        if self._dims is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return len(self._dims)

    def __bool__(self):
        return self._dims is not None

    def __iter__(self):
        if self._dims is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return iter(self._dims)

    def __getitem__(self, key):
        if self._dims is not None:
            found = self._dims[key]
            return TensorShape(found) if isinstance(key, slice) else found
        if not isinstance(key, slice):
            return None
        start = key.start or 0
        if key.step is not None:
            raise ValueError("Steps are not yet handled")
        if key.stop is None or start < 0 or key.stop < 0:
            return TensorShape(None)
        return TensorShape([None] * max(key.stop - start, 0))

    def __add__(self, other):
        return self.concatenate(other)

    def __radd__(self, other):
        return as_shape(other).concatenate(self)

    def __eq__(self, other):
        try:
            other = as_shape(other)
        except (TypeError, ValueError):
            return NotImplemented
        return self._dims == other._dims

    def __hash__(self):
        return hash(self._dims)

    def __repr__(self):
        return "TensorShape(None)" if self._dims is None else f"TensorShape({list(self._dims)})"

    def __str__(self):
        return "<unknown>" if self._dims is None else str(self._dims)

    def __reduce__(self):
        return TensorShape, (self.dims,)


def as_shape(shape):
    """A TensorShape of a list, a tuple, a number or None."""
    return shape if isinstance(shape, TensorShape) else TensorShape(shape)


def broadcast_static_shape(shape_x, shape_y):
    """The shape of two operands that are broadcast against each other, as far as it is known."""
    x, y = as_shape(shape_x), as_shape(shape_y)
    if x.rank is None or y.rank is None:
        return TensorShape(None)
    rank = max(x.rank, y.rank)
    pairs = zip(*([1] * (rank - shape.rank) + shape.as_list() for shape in (x, y)))

    def meet(a, b):
        if a == 1 or (a is None and b not in (1, None)):
            return b
        if b == 1 or b is None or a == b:
            return a
        raise ValueError(f"Incompatible shapes for broadcasting: {x} and {y}.")

    return TensorShape([meet(a, b) for a, b in pairs])

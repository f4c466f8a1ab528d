"""Element types: tf.float32 and the others, and tf.as_dtype."""

import sys

# Names by TensorFlow's number.
_NAMES = {
    1: "float32", 2: "float64", 3: "int32", 4: "uint8", 5: "int16", 6: "int8", 7: "string", 8: "complex64", 9: "int64",
    10: "bool", 14: "bfloat16", 17: "uint16", 18: "complex128", 19: "float16", 20: "resource", 21: "variant",
    22: "uint32", 23: "uint64",
}
_SIZES = {"float32": 4, "float64": 8, "complex64": 8, "complex128": 16, "bool": 1, "bfloat16": 2, "float16": 2}


class DType:
    """An element type. There is one object per type; it equals its name and its NumPy type."""

    __slots__ = ("_number", "_name", "_size")

    def __new__(cls, number):
        return as_dtype(number)

    @classmethod
    def _make(cls, number, name):
        made = object.__new__(cls)
        made._number = number
        made._name = name
        bits = "".join(c for c in name if c.isdigit())
        made._size = _SIZES.get(name) or (int(bits) // 8 if bits else 0)
        return made

    name = property(lambda self: self._name, doc="Such as 'float32'.")
    size = property(lambda self: self._size, doc="Bytes of one element; 0 for strings and handles.")
    as_datatype_enum = property(lambda self: self._number, doc="TensorFlow's number of the type.")
    base_dtype = property(lambda self: self, doc="The type itself.")
    is_bool = property(lambda self: self is bool)
    is_floating = property(lambda self: self._name in ("float16", "bfloat16", "float32", "float64"))
    is_complex = property(lambda self: self._name in ("complex64", "complex128"))
    is_integer = property(lambda self: self._name.startswith(("int", "uint")))
    is_unsigned = property(lambda self: self._name.startswith("uint"))
    is_quantized = property(lambda self: False)
    is_numeric = property(lambda self: self.is_integer or self.is_floating or self.is_complex)
    is_numpy_compatible = property(lambda self: self._name not in ("resource", "variant"))
    _is_ref_dtype = property(lambda self: False)

    @property
    def real_dtype(self):
        """The type of the real part."""
        return {"complex64": float32, "complex128": float64}.get(self._name, self)

    @property
    def as_numpy_dtype(self):
        """The NumPy type of the elements. bfloat16 is that of ml_dtypes where it is installed, else its bits."""
        import numpy

        if self._name in ("string", "resource", "variant"):
            return object
        if self._name == "bool":
            return numpy.bool_
        if self._name == "bfloat16":
            try:
                import ml_dtypes
            except ImportError:
                return numpy.uint16
            return ml_dtypes.bfloat16
        return getattr(numpy, self._name)

    def _limits_info(self, which):
        import numpy

        if self.is_integer:
            return numpy.iinfo(self.as_numpy_dtype)
        if self._name == "bfloat16":
            try:
                import ml_dtypes
            except ImportError:
                pass
            else:
                return ml_dtypes.finfo(ml_dtypes.bfloat16)
        elif self.is_floating:
            return numpy.finfo(self.as_numpy_dtype)
        raise TypeError(f"Cannot find {which} value of {self} with type {self}.")

    @property
    def min(self):
        """The smallest value."""
        return self._limits_info("minimum").min

    @property
    def max(self):
        """The largest value."""
        return self._limits_info("maximum").max

    @property
    def limits(self):
        """The range images of this type use: (0, 1) for reals, (0, max) for integers."""
        if self is bool:
            return (0, 1)
        if self.is_floating or self.is_complex:
            return (0, 1)
        return (0, self.max)

    def is_compatible_with(self, other):
        """Whether a value of the other type can stand for this one: the same type."""
        return self is as_dtype(other)

    is_subtype_of = is_compatible_with

    def most_specific_common_supertype(self, types):
        """The type, when all others are the same."""
        return self if all(self is other for other in types) else None

    def __eq__(self, other):
        if other is self:
            return True
        if other is None:
            return False
        try:
            return as_dtype(other) is self
        except TypeError:
            return False

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return self._number

    def __int__(self):
        return self._number

    def __repr__(self):
        return "tf." + self._name

    def __str__(self):
        return f"<dtype: '{self._name}'>"

    def __reduce__(self):
        return as_dtype, (self._name,)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


_BY_NAME = {name: DType._make(number, name) for number, name in _NAMES.items()}
BY_NUMBER = tuple(_BY_NAME.get(_NAMES.get(number)) for number in range(24))
_ALIASES = {"float": "float32", "double": "float64", "half": "float16", "object": "string"}
_BY_PYTHON_TYPE = {float: "float32", type(True): "bool", object: "string"}


def as_dtype(type_value):
    """The DType of a name, a number, a NumPy type, `float` or `bool`."""
    if isinstance(type_value, DType):
        return type_value
    found = None
    if isinstance(type_value, str):
        found = _BY_NAME.get(_ALIASES.get(type_value, type_value))
    elif isinstance(type_value, int):
        found = BY_NUMBER[type_value] if 0 < type_value < len(BY_NUMBER) else None
    elif isinstance(type_value, type) and type_value in _BY_PYTHON_TYPE:
        found = _BY_NAME[_BY_PYTHON_TYPE[type_value]]
    else:
        found = _of_numpy(type_value)
    if found is None:
        raise TypeError(f"Cannot convert the argument `type_value`: {type_value!r} to a TensorFlow DType.")
    return found


def _of_numpy(value):
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return None
    if not isinstance(value, numpy.dtype):
        is_scalar_type = isinstance(value, type) and (issubclass(value, numpy.generic) or value.__name__ == "bfloat16")
        inner = getattr(value, "dtype", None)
        if is_scalar_type:
            value = numpy.dtype(value)
        elif isinstance(inner, numpy.dtype):
            value = inner
        elif isinstance(inner, DType):
            return inner
        else:
            return None
    if value.kind in "SUO":
        return string
    return _BY_NAME.get(value.name)


float16 = half = _BY_NAME["float16"]
bfloat16 = _BY_NAME["bfloat16"]
float32 = _BY_NAME["float32"]
float64 = double = _BY_NAME["float64"]
int8 = _BY_NAME["int8"]
int16 = _BY_NAME["int16"]
int32 = _BY_NAME["int32"]
int64 = _BY_NAME["int64"]
uint8 = _BY_NAME["uint8"]
uint16 = _BY_NAME["uint16"]
uint32 = _BY_NAME["uint32"]
uint64 = _BY_NAME["uint64"]
complex64 = _BY_NAME["complex64"]
complex128 = _BY_NAME["complex128"]
string = _BY_NAME["string"]
resource = _BY_NAME["resource"]
variant = _BY_NAME["variant"]
bool = _BY_NAME["bool"]

"""tf.IndexedSlices: some rows of a tensor whose other rows are zero; the gradient of a lookup."""

from thalweg import _thalweg, dtypes
from thalweg._thalweg import convert_to_tensor
from thalweg.core.shapes import TensorShape, as_shape
from thalweg.core.specs import TensorSpec, TypeSpec


class IndexedSlices:
    """Rows of a larger tensor: values[i] belongs to row indices[i], and rows named twice add up."""

    def __init__(self, values, indices, dense_shape=None):
        self._values = values
        self._indices = indices
        self._dense_shape = dense_shape

    values = property(lambda self: self._values, doc="The rows.")
    indices = property(lambda self: self._indices, doc="The number of each row.")
    dense_shape = property(lambda self: self._dense_shape, doc="The shape of the whole as a vector, or None.")
    name = property(lambda self: self.values.name, doc="The name of the values.")
    device = property(lambda self: self.values.device, doc="The name of the device of the values.")
    dtype = property(lambda self: self.values.dtype, doc="The DType of the values.")
    op = property(lambda self: self.values.op, doc="Graphs only.")
    graph = property(lambda self: self.values.graph, doc="Graphs only.")

    @property
    def shape(self):
        """The TensorShape of the whole."""
        return TensorShape(None if self._dense_shape is None else convert_to_tensor(self._dense_shape).numpy())

    def __neg__(self):
        return IndexedSlices(-self.values, self.indices, self.dense_shape)

    def __str__(self):
        shape = "" if self._dense_shape is None else f", dense_shape={self._dense_shape!s}"
        return f"IndexedSlices(indices={self._indices!s}, values={self._values!s}{shape})"

    def __tf_tensor__(self, dtype=None, name=None):
        """The whole tensor; ValueError where its first dimension is not known."""
        from thalweg import math

        if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(self.dtype):
            raise ValueError(f"Incompatible tensor conversion requested to `dtype` {dtypes.as_dtype(dtype).name} for "
                             f"IndexedSlices ({self}) with dtype {self.dtype.name}")
        if self.dense_shape is None:
            raise ValueError(f"Tensor conversion requested for IndexedSlices for argument `value` without dense_shape: {self}")
        rows = convert_to_tensor(self.dense_shape)[0]
        return math.unsorted_segment_sum(self.values, self.indices, rows)

    @property
    def _type_spec(self):
        indices_shape = self._indices.shape.merge_with(self._values.shape[:1])
        shape = TensorShape([None]).concatenate(self._values.shape[1:]).merge_with(self.shape)
        shape_dtype = None if self._dense_shape is None else self._dense_shape.dtype
        return IndexedSlicesSpec(shape, self.dtype, self._indices.dtype, shape_dtype, indices_shape)

    def consumers(self):
        """Graphs only."""
        return self.values.consumers()


class IndexedSlicesSpec(TypeSpec):
    """What a tf.IndexedSlices must look like."""

    __slots__ = ("_shape", "_values_dtype", "_indices_dtype", "_dense_shape_dtype", "_indices_shape")
    value_type = property(lambda self: IndexedSlices, doc="The class of the values.")

    def __init__(self, shape=None, dtype=dtypes.float32, indices_dtype=dtypes.int64, dense_shape_dtype=None,
                 indices_shape=None):
        self._shape = as_shape(shape)
        self._values_dtype = dtypes.as_dtype(dtype)
        self._indices_dtype = dtypes.as_dtype(indices_dtype)
        self._dense_shape_dtype = None if dense_shape_dtype is None else dtypes.as_dtype(dense_shape_dtype)
        self._indices_shape = as_shape(indices_shape).with_rank(1)

    def _parts(self):
        return self._shape, self._values_dtype, self._indices_dtype, self._dense_shape_dtype, self._indices_shape

    @property
    def _component_specs(self):
        rows = self._indices_shape.concatenate(self._shape[1:])
        specs = [TensorSpec(rows, self._values_dtype), TensorSpec(self._indices_shape, self._indices_dtype)]
        if self._dense_shape_dtype is not None:
            specs.append(TensorSpec([self._shape.rank], self._dense_shape_dtype))
        return tuple(specs)

    def is_compatible_with(self, spec_or_value):
        """Whether slices, or what another spec describes, fit."""
        other = spec_or_value._type_spec if isinstance(spec_or_value, IndexedSlices) else spec_or_value
        return (isinstance(other, IndexedSlicesSpec) and self._parts()[1:4] == other._parts()[1:4]
                and self._shape.is_compatible_with(other._shape)
                and self._indices_shape.is_compatible_with(other._indices_shape))

    def __eq__(self, other):
        return isinstance(other, IndexedSlicesSpec) and self._parts() == other._parts()

    def __hash__(self):
        return hash(self._parts())

    def __repr__(self):
        return f"IndexedSlicesSpec{self._parts()}"

    def __reduce__(self):
        return IndexedSlicesSpec, self._parts()


_thalweg.register("indexed_slices", IndexedSlices)

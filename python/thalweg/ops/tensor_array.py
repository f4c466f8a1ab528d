"""tf.TensorArray: an array of tensors that loops write and read step by step, on TensorFlow's list ops."""

import operator

from thalweg import _thalweg, dtypes, errors
from thalweg._thalweg import Tensor, convert_to_tensor
from thalweg.core.shapes import TensorShape
from thalweg.core.specs import TypeSpec
from thalweg.graph import function as _function


def _ops():
    import thalweg

    return thalweg.raw_ops


def _shape_input(shape):
    """A shape as list ops take it: -1 for what is not known."""
    if shape.rank is None:
        return _thalweg.constant(-1, dtypes.int32)
    return _thalweg.constant([-1 if size is None else size for size in shape.as_list()], dtypes.int32, [shape.rank])


class TensorArray:
    """An array of tensors of one dtype; elements that were never written are zeros.

    Eagerly an array changes in place and every method that changes it also returns it; while a function is traced those
    methods return another array. Programs that go on with what they return work in both.
    """

    def __init__(self, dtype, size=None, dynamic_size=None, clear_after_read=None, tensor_array_name=None, handle=None,
                 flow=None, infer_shape=True, element_shape=None, colocate_with_first_write_call=True, name=None):
        wraps = isinstance(flow, Tensor) and flow.dtype == dtypes.variant
        if _function.executing_eagerly() and not wraps:
            if handle is not None:
                raise ValueError("TensorArray handles are not supported when eager execution is enabled.")
            if size is None:
                raise ValueError("Size must be declared for TensorArrays when eager execution is enabled.")
        elif flow is not None and not wraps:
            raise TypeError(f"Expected `flow` to be a variant tensor, but received `{getattr(flow, 'dtype', flow)}` instead.")
        if flow is None and size is None:
            raise ValueError("Argument `size` must be provided if argument `flow` is not provided.")
        if wraps and size is not None:
            raise ValueError("Cannot provide both `flow` and `size` arguments at the same time.")
        if wraps and element_shape is not None:
            raise ValueError("Cannot provide both `flow` and `element_shape` arguments at the same time.")
        self._dtype = dtypes.as_dtype(dtype)
        self._dynamic_size = bool(dynamic_size)
        self._clear_after_read = clear_after_read is None or bool(clear_after_read)
        self._infer_shape = infer_shape
        self._element_shape = TensorShape(element_shape)
        self._size = None if wraps else self._index(size)
        self._cleared = set()  # indices that were read and not written again
        self._zeros = None  # stands in the places that were cleared
        self._flow = flow if wraps else _ops().TensorListReserve(
            element_shape=_shape_input(self._element_shape), num_elements=self._size, element_dtype=self._dtype)

    flow = property(lambda self: self._flow, doc="The list of the elements, a scalar of dtype variant.")
    dtype = property(lambda self: self._dtype, doc="The dtype of the elements.")
    handle = property(lambda self: None, doc="None: the array has no handle besides its flow.")
    element_shape = property(lambda self: self._element_shape, doc="What is known of the shape of every element.")
    dynamic_size = property(lambda self: self._dynamic_size, doc="Whether writes past the end make it longer.")

    @staticmethod
    def _index(value):
        """An index or a size: an int where it is known now, else an int32 tensor."""
        if not isinstance(value, Tensor) or _function.executing_eagerly():
            return operator.index(value)
        return _as_integers(value)

    def _length(self):
        return int(_ops().TensorListLength(input_handle=self._flow))

    def _value(self, value):
        """What is written, as a tensor of the array's dtype."""
        value = convert_to_tensor(value, dtype_hint=self._dtype)
        if value.dtype != self._dtype:
            raise errors.InvalidArgumentError(
                None, None, f"TensorArray dtype is {self._dtype.name} but Op is trying to write dtype {value.dtype.name} ")
        return value

    def _fit(self, shape):
        """What is known of the elements when one of this shape is among them."""
        if not self._element_shape.is_compatible_with(shape):
            raise ValueError(f"Incompatible shape for value ({shape}), expected ({self._element_shape})")
        return self._element_shape.merge_with(shape) if self._infer_shape else self._element_shape

    def _changed(self, flow, element_shape=None, size=None):
        """The array with another list: this one, or while a function is traced another."""
        array = self
        if not _function.executing_eagerly():
            array = object.__new__(type(self))
            array.__dict__.update(self.__dict__)
        array._flow = flow
        if element_shape is not None:
            array._element_shape = element_shape
        if size is not None:
            array._size = size
        return array

    def _check_write(self, index):
        if not _function.executing_eagerly():
            return
        if index < 0:
            raise errors.OutOfRangeError(None, None, f"Writing to negative indices (index {index}) is not allowed.")
        if not self._dynamic_size and index >= (size := self._length()):
            raise errors.OutOfRangeError(
                None, None, f"Tried to write to index {index} but array is not resizeable and size is: {size} ")

    def _readable_again(self, indices=None):
        """Elements that were cleared are zeros, or something else, from now on."""
        if _function.executing_eagerly():
            self._cleared.difference_update(self._cleared.copy() if indices is None else indices)

    def identity(self):
        """The same array; while a function is traced, by an op of its own."""
        if _function.executing_eagerly():
            return self
        return self._changed(_ops().Identity(input=self._flow))

    def grad(self, source, flow=None, name=None):
        """Refused, as TensorFlow does eagerly: tapes differentiate through arrays without it."""
        raise NotImplementedError(
            "TensorArray.grad is not supported when executing eagerly; eager's gradient implementation does not use/need "
            "this function to compute gradients of operations that use TensorArrays.")

    def read(self, index, name=None):
        """Element `index`. Eagerly it can be read once, unless clear_after_read is False."""
        index = self._index(index)
        eager = _function.executing_eagerly()
        if eager:
            if index < 0:
                raise errors.OutOfRangeError(None, None, f"Reading from negative indices (index {index}) is not allowed.")
            if index >= (size := self._length()):
                raise errors.OutOfRangeError(None, None, f"Tried to read from index {index} but array size is: {size} ")
            if index in self._cleared:
                raise errors.InvalidArgumentError(
                    None, None, f"Could not read index {index} twice because it was cleared after a previous read "
                    "(perhaps try setting clear_after_read = false?)")
        value = _ops().TensorListGetItem(input_handle=self._flow, index=index, element_shape=_shape_input(self._element_shape),
                                         element_dtype=self._dtype)
        if eager and self._clear_after_read:
            if self._zeros is None or self._zeros.shape != value.shape:
                self._zeros = _ops().ZerosLike(x=value)
            self._flow = _ops().TensorListSetItem(input_handle=self._flow, index=index, item=self._zeros)
            self._cleared.add(index)
        return value

    def write(self, index, value, name=None):
        """The array with a value at an index."""
        index = self._index(index)
        self._check_write(index)
        value = self._value(value)
        shape = self._fit(value.shape)
        flow = _ops().TensorListSetItem(input_handle=self._flow, index=index, item=value,
                                        resize_if_index_out_of_bounds=self._dynamic_size)
        self._readable_again([index])
        return self._changed(flow, shape)

    def stack(self, name=None):
        """All elements along a new first axis."""
        count = -1
        if _function.executing_eagerly():
            if not self._element_shape.is_fully_defined() and self._length() == 0:
                return _thalweg.constant([], self._dtype)
            self._readable_again()
        elif not self._dynamic_size and isinstance(self._size, int):
            count = self._size
        return _ops().TensorListStack(input_handle=self._flow, element_shape=_shape_input(self._element_shape),
                                      element_dtype=self._dtype, num_elements=count)

    def gather(self, indices, name=None):
        """The elements that the indices name, along a new first axis."""
        indices = _as_integers(convert_to_tensor(indices, dtype_hint=dtypes.int32))
        if _function.executing_eagerly():
            if 0 in indices.shape and not self._element_shape.is_fully_defined():
                return _thalweg.constant([], self._dtype)
            self._readable_again(indices.numpy().reshape(-1).tolist())
        return _ops().TensorListGather(input_handle=self._flow, indices=indices,
                                       element_shape=_shape_input(self._element_shape), element_dtype=self._dtype)

    def concat(self, name=None):
        """All elements one after another along their first axis; they may differ in its length."""
        shape = self._element_shape
        if shape.rank:
            shape = TensorShape([None] + shape.as_list()[1:])
        joined = _ops().TensorListConcatV2(input_handle=self._flow, element_shape=_shape_input(shape),
                                           leading_dims=_thalweg.constant([], dtypes.int64), element_dtype=self._dtype)
        self._readable_again()
        return joined.tensor

    def unstack(self, value, name=None):
        """The array whose elements are the rows of a value."""
        value = self._value(value)
        if value.shape.rank == 0:
            raise ValueError("Argument `axis` = 0 not in range [0, 0)")
        rows = value.shape[0] if value.shape.rank else None
        if _function.executing_eagerly() and not self._dynamic_size and rows > (size := self._length()):
            raise ValueError(f"Cannot unstack {rows} tensors into a TensorArray of static size {size} ")
        shape = self._fit(value.shape[1:])
        flow = _ops().TensorListFromTensor(tensor=value, element_shape=_shape_input(shape))
        self._readable_again()
        return self._changed(flow, shape, rows)

    def scatter(self, indices, value, name=None):
        """The array with the rows of a value at the indices."""
        indices = _as_integers(convert_to_tensor(indices, dtype_hint=dtypes.int32))
        value = self._value(value)
        if _function.executing_eagerly():
            places = indices.numpy().reshape(-1).tolist()
            for index in places:
                self._check_write(index)
            self._readable_again(places)
        shape = self._fit(value.shape[1:])
        flow = _ops().TensorListScatterIntoExistingList(input_handle=self._flow, tensor=value, indices=indices)
        return self._changed(flow, shape)

    def split(self, value, lengths, name=None):
        """The array whose elements are pieces of a value along its first axis, of these lengths."""
        value = self._value(value)
        lengths = _as_integers(convert_to_tensor(lengths, dtype_hint=dtypes.int64), dtypes.int64)
        if _function.executing_eagerly():
            self._check_split(value, lengths)
        flow = _ops().TensorListSplit(tensor=value, element_shape=_shape_input(self._element_shape), lengths=lengths)
        self._readable_again()
        return self._changed(flow, size=lengths.shape[0] if lengths.shape.rank else None)

    def _check_split(self, value, lengths):
        def refuse(text):
            raise errors.InvalidArgumentError(None, None, text)

        if lengths.shape.rank != 1:
            refuse(f"Expected lengths to be a vector, received shape: {lengths.shape.as_list()} ")
        if value.shape.rank == 0:
            refuse(f"Expected value to be at least a vector, but received shape: {value.shape.as_list()} ")
        total = sum(lengths.numpy().tolist())
        if total != value.shape[0]:
            refuse("Expected sum of lengths to be equal to values.shape[0], but sum of lengths is "
                   f"{total} and value's shape is: {value.shape.as_list()} ")
        if not self._dynamic_size and lengths.shape[0] != (size := self._length()):
            refuse(f"TensorArray's size is not equal to the size of lengths ({size} vs. {lengths.shape[0]}), and the "
                   "TensorArray is not marked as dynamically resizeable.")

    def size(self, name=None):
        """How many elements it has, a scalar int32."""
        if not _function.executing_eagerly() and not self._dynamic_size and self._size is not None:
            return convert_to_tensor(self._size, dtypes.int32)
        return _ops().TensorListLength(input_handle=self._flow)

    def close(self, name=None):
        """Lets go of the elements."""
        if _function.executing_eagerly():
            self._flow = _ops().TensorListResize(input_handle=self._flow, size=0)
            self._readable_again()


def _as_integers(tensor, dtype=dtypes.int32):
    """An integer tensor of another width."""
    if not tensor.dtype.is_integer and 0 not in tensor.shape.as_list():
        raise TypeError(f"indices and lengths are integers, not {tensor.dtype.name}")
    return tensor if tensor.dtype == dtype else _ops().Cast(x=tensor, DstT=dtype)


class TensorArraySpec(TypeSpec):
    """The description of a TensorArray."""

    def __init__(self, element_shape=None, dtype=dtypes.float32, dynamic_size=False, infer_shape=True):
        self._element_shape = TensorShape(element_shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._dynamic_size = dynamic_size
        self._infer_shape = infer_shape

    value_type = property(lambda self: TensorArray, doc="The class of the values.")

    @staticmethod
    def from_value(value):
        """The spec of an array."""
        if not isinstance(value, TensorArray):
            raise TypeError(f"Expected value to be a TensorArray, but got: {type(value)}.")
        return TensorArraySpec(value.element_shape, value.dtype, value.dynamic_size, value._infer_shape)

    def _key(self):
        return (self._element_shape.as_list() if self._element_shape.rank is not None else None, self._dtype,
                self._dynamic_size, self._infer_shape)

    def is_compatible_with(self, other):
        """Whether an array, or what another spec describes, fits."""
        if isinstance(other, TensorArray):
            other = TensorArraySpec.from_value(other)
        return (isinstance(other, TensorArraySpec) and self._dtype == other._dtype
                and self._dynamic_size == other._dynamic_size and self._element_shape.is_compatible_with(other._element_shape))

    def __eq__(self, other):
        return isinstance(other, TensorArraySpec) and self._key() == other._key()

    def __hash__(self):
        return hash((str(self._element_shape), self._dtype, self._dynamic_size, self._infer_shape))

    def __repr__(self):
        return (f"TensorArraySpec({self._element_shape!r}, {self._dtype!r}, dynamic_size={self._dynamic_size}, "
                f"infer_shape={self._infer_shape})")

"""Input: the tensors that models begin with."""

from thalweg.dtypes import as_dtype
from thalweg.keras.bridge.objects import _engine
from thalweg.keras.bridge.settings import floatx


def Input(shape=None, batch_size=None, name=None, dtype=None, sparse=None, tensor=None, ragged=None, type_spec=None,
          batch_shape=None, **kwargs):
    """A tensor without a value, to which layers and ops are applied to make a model."""
    batch_shape = kwargs.pop("batch_input_shape", batch_shape)
    if kwargs:
        raise ValueError(f"Unrecognized keyword arguments: {list(kwargs)}")
    if shape is not None and batch_shape is not None:
        raise ValueError("Only provide the `shape` OR `batch_input_shape` argument to Input, not both at the same time.")
    if sparse or ragged:
        raise ValueError("`Input` stands for a SparseTensor or RaggedTensor here, which this library does not have.")
    if tensor is not None and _engine.history(tensor) is not None:
        return tensor
    if tensor is not None:
        batch_shape, dtype = tuple(tensor.shape), tensor.dtype
    if type_spec is not None:
        batch_shape, dtype = tuple(type_spec.shape), type_spec.dtype
    if shape is None and batch_shape is None:
        raise ValueError("Please provide to Input a `shape` or a `tensor` or a `type_spec` argument. Note that `shape` "
                         "does not include the batch dimension.")
    if batch_shape is None:
        batch_shape = (batch_size,) + tuple(shape if hasattr(shape, "__iter__") else (shape,))
    return _engine.input(tuple(batch_shape), as_dtype(dtype or floatx()), name or "")

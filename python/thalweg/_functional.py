"""tf.map_fn, tf.foldl, tf.foldr, tf.scan and tf.vectorized_map: functions over the rows of tensors."""

from thalweg import _thalweg, nest
from thalweg._control_flow import while_loop
from thalweg._tensor_array import TensorArray
from thalweg._thalweg import convert_to_tensor
from thalweg.specs import TensorSpec

_engine = _thalweg.functions()


def _rows(elems):
    """The tensors of a structure, and how many rows they have."""
    flat = [convert_to_tensor(leaf) for leaf in nest.flatten(elems)]
    if not flat:
        raise ValueError("elems must be a Tensor or a structure of Tensors; it is empty.")
    for tensor in flat:
        if tensor.shape.rank == 0:
            raise ValueError("Elements must be tensors with at least one dimension, got a scalar.")
    known = flat[0].shape.as_list()[0] if flat[0].shape.rank else None
    return flat, known if known is not None else _engine["shape"](flat[0])[0]


def _row(elems, flat, i):
    return nest.pack_sequence_as(elems, [tensor[i] for tensor in flat]) if nest.is_nested(elems) else flat[0][i]


def _dtypes(signature):
    return [spec.dtype if isinstance(spec, TensorSpec) else spec for spec in nest.flatten(signature)]


def map_fn(fn, elems, dtype=None, parallel_iterations=None, back_prop=True, swap_memory=False, infer_shape=True,
           name=None, fn_output_signature=None):
    """What fn gives for each row, stacked."""
    if not callable(fn):
        raise TypeError(f"The provided function {getattr(fn, '__name__', fn)} is not callable.fn must be callable.")
    signature = fn_output_signature if fn_output_signature is not None else dtype
    flat, count = _rows(elems)
    if signature is None:
        signature = nest.pack_sequence_as(elems, [t.dtype for t in flat]) if nest.is_nested(elems) else flat[0].dtype
    arrays = [TensorArray(dtype, size=count, infer_shape=infer_shape) for dtype in _dtypes(signature)]

    def body(i, arrays):
        result = fn(_row(elems, flat, i))
        if nest.is_nested(signature):
            nest.assert_same_structure(signature, result)
        leaves = [convert_to_tensor(leaf, array.dtype) for leaf, array in zip(nest.flatten(result), arrays)]
        return i + 1, [array.write(i, leaf) for array, leaf in zip(arrays, leaves)]

    _, arrays = while_loop(lambda i, arrays: i < count, body, (convert_to_tensor(0), arrays))
    results = [array.stack() for array in arrays]
    return nest.pack_sequence_as(signature, results) if nest.is_nested(signature) else results[0]


def _fold(fn, elems, initializer, backwards):
    flat, count = _rows(elems)
    first = count - 1 if backwards else convert_to_tensor(0)
    step = -1 if backwards else 1
    start = convert_to_tensor(first)
    if initializer is None:
        value, start = _row(elems, flat, first), start + step
    else:
        value = nest.map_structure(convert_to_tensor, initializer)
    _, value = while_loop((lambda i, value: i >= 0) if backwards else (lambda i, value: i < count),
                          lambda i, value: (i + step, fn(value, _row(elems, flat, i))), (start, value))
    return value


def foldl(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None):
    """fn(...fn(fn(initializer, row 0), row 1)..., last row)."""
    return _fold(fn, elems, initializer, False)


def foldr(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None):
    """The same from the last row to the first."""
    return _fold(fn, elems, initializer, True)


def scan(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, infer_shape=True,
         reverse=False, name=None):
    """All the values that a fold goes through, stacked."""
    flat, count = _rows(elems)
    start = convert_to_tensor(count - 1 if reverse else 0)
    step = -1 if reverse else 1
    if initializer is None:
        value = _row(elems, flat, start)
    else:
        value = nest.map_structure(convert_to_tensor, initializer)
    arrays = [TensorArray(leaf.dtype, size=count, infer_shape=infer_shape) for leaf in nest.flatten(value)]
    i = start
    if initializer is None:
        arrays = [array.write(i, leaf) for array, leaf in zip(arrays, nest.flatten(value))]
        i = i + step

    def body(i, value, arrays):
        value = fn(value, _row(elems, flat, i))
        return i + step, value, [array.write(i, leaf) for array, leaf in zip(arrays, nest.flatten(value))]

    _, value, arrays = while_loop((lambda i, value, arrays: i >= 0) if reverse else (lambda i, value, arrays: i < count),
                                  body, (i, value, arrays))
    results = [array.stack() for array in arrays]
    return nest.pack_sequence_as(value, results) if nest.is_nested(value) else results[0]


def vectorized_map(fn, elems, fallback_to_while_loop=True, warn=True):
    """What fn gives for each row, stacked: fn is traced once, and its ops are applied to all rows at once."""
    found = {}

    def flat_function(*rows):
        found["result"] = fn(nest.pack_sequence_as(elems, rows) if nest.is_nested(elems) else rows[0])
        return [convert_to_tensor(leaf) for leaf in nest.flatten(found["result"])]

    flat = [convert_to_tensor(leaf) for leaf in nest.flatten(elems)]
    results = _thalweg.vectorized_map(flat_function, flat, fallback_to_while_loop, warn)
    return nest.pack_sequence_as(found["result"], results) if nest.is_nested(found["result"]) else results[0]

"""tf.map_fn, tf.foldl, tf.foldr, tf.scan and tf.vectorized_map: functions over the rows of tensors."""

from thalweg import _thalweg, nest
from thalweg._thalweg import convert_to_tensor
from thalweg.core.specs import TensorSpec


def _tensors(elems):
    return [convert_to_tensor(leaf) for leaf in nest.flatten(elems)]


def _dtypes(signature):
    return [spec.dtype if isinstance(spec, TensorSpec) else spec for spec in nest.flatten(signature)]


def map_fn(fn, elems, dtype=None, parallel_iterations=None, back_prop=True, swap_memory=False, infer_shape=True,
           name=None, fn_output_signature=None):
    """What fn gives for each row, stacked."""
    if not callable(fn):
        raise TypeError(f"The provided function {getattr(fn, '__name__', fn)} is not callable.fn must be callable.")
    signature = fn_output_signature if fn_output_signature is not None else dtype
    flat = _tensors(elems)
    if signature is None:
        signature = nest.pack_sequence_as(elems, [t.dtype for t in flat])
    dtypes = _dtypes(signature)

    def body(*row):
        result = fn(nest.pack_sequence_as(elems, row))
        if nest.is_nested(signature):
            nest.assert_same_structure(signature, result)
        return [convert_to_tensor(leaf, dtype) for leaf, dtype in zip(nest.flatten(result), dtypes)]

    return nest.pack_sequence_as(signature, _thalweg.over_rows(body, flat, [], False))


def _fold(fn, elems, initializer, backwards, collect):
    """The last value of a fold, or all of them."""
    flat, first = _tensors(elems), None
    if initializer is None:
        initializer = elems
        first, flat = _thalweg.split_first_row(flat, backwards)
        state = first
    else:
        state = [convert_to_tensor(leaf) for leaf in nest.flatten(initializer)]

    def body(*leaves):
        value = fn(nest.pack_sequence_as(initializer, leaves[:len(state)]), nest.pack_sequence_as(elems, leaves[len(state):]))
        if nest.is_nested(initializer):
            nest.assert_same_structure(initializer, value)
        made = [convert_to_tensor(leaf, like.dtype) for leaf, like in zip(nest.flatten(value), state)]
        return made + made if collect else made

    found = _thalweg.over_rows(body, flat, state, backwards)
    if collect:
        found = found[len(state):]
        if first is not None:
            found = _thalweg.with_first_row(first, found, backwards)
    return nest.pack_sequence_as(initializer, found)


def foldl(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None):
    """fn(...fn(fn(initializer, row 0), row 1)..., last row)."""
    return _fold(fn, elems, initializer, False, False)


def foldr(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None):
    """The same from the last row to the first."""
    return _fold(fn, elems, initializer, True, False)


def scan(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, infer_shape=True,
         reverse=False, name=None):
    """All the values that a fold goes through, stacked."""
    return _fold(fn, elems, initializer, reverse, True)


def vectorized_map(fn, elems, fallback_to_while_loop=True, warn=True):
    """What fn gives for each row, stacked: fn is traced once, and its ops are applied to all rows at once."""
    structure = []

    def body(*row):
        structure[:] = [fn(nest.pack_sequence_as(elems, row))]
        return [convert_to_tensor(leaf) for leaf in nest.flatten(structure[0])]

    found = _thalweg.vectorized_map(body, _tensors(elems), fallback_to_while_loop, warn)
    return nest.pack_sequence_as(structure[0], found)

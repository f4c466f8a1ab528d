"""tf.control_dependencies, tf.group and their like: what must run before what, where no tensor says so."""

import builtins

from thalweg import _thalweg
from thalweg._thalweg import Operation, Tensor, VariableBase

_engine = _thalweg.functions()


class _Group:
    """What tf.group and tf.no_op give inside of a function: ops that others may wait for."""

    def __init__(self, before):
        self.before = before


def _flatten(inputs):
    """Tensors and operations of a list that may hold groups, what py_function gives for no results, and None."""
    for item in inputs:
        if isinstance(item, _Group):
            yield from item.before
        elif isinstance(item, (list, builtins.tuple)):
            yield from _flatten(item)
        elif isinstance(item, (Tensor, Operation)):
            yield item
        elif item is not None and not isinstance(item, VariableBase):
            raise TypeError("Control inputs must be Operations or Tensors, or Variables; got "
                            f"{item!r} of type {type(item).__name__}.")


class control_dependencies:
    """`with tf.control_dependencies([check]):` what is traced inside runs after these, and makes them needed.

    Effects, such as assignments, run in program order without it. None leaves the scopes around this one. Outside of
    functions ops have run already; a callable is called there.
    """

    def __init__(self, control_inputs):
        self._inputs = control_inputs
        self._scopes = []  # one for each time it has been entered

    def __enter__(self):
        if callable(self._inputs):
            self._inputs = self._inputs()
        scope = _thalweg.ControlScope()
        if _thalweg.is_tracing():
            scope.enter(None if self._inputs is None else list(_flatten(self._inputs)))
        self._scopes.append(scope)

    def __exit__(self, *error):
        self._scopes.pop().exit()
        return False


def group(*inputs, **kwargs):
    """An operation that is done when all of these are; None outside of functions."""
    kwargs.pop("name", None)
    if kwargs:
        raise ValueError("Unknown keyword arguments: " + ", ".join(kwargs.keys()))
    return _Group(list(_flatten(inputs))) if _thalweg.is_tracing() else None


def no_op(name=None):
    """An operation that does nothing; None outside of functions."""
    return group()


def tuple(tensors, control_inputs=None, name=None):
    """The same tensors, none of which is there before all of them and the control inputs are."""
    given = [tensor for tensor in tensors if tensor is not None]
    if not given:
        raise ValueError(f"`tensors` must have at least one Tensor. Received: {tensors}")
    with control_dependencies(given + list(control_inputs or [])):
        return [None if tensor is None else _engine["identity"](tensor) for tensor in tensors]

"""Activations: from a tensor to one like it."""

from thalweg.keras._functions import fill
from thalweg.keras._objects import _engine, deserialize as _deserialize, find_custom, register_kind

_functions = fill(__name__, "keras.activations.")
register_kind("activation", {}, lambda name, core: _functions.get(name))


def get(identifier):
    """A function from None (which is linear), a name, a configuration or a callable."""
    if identifier is None:
        return _functions["linear"]
    if callable(identifier):
        return identifier
    if isinstance(identifier, str):
        custom = find_custom(identifier)
        if custom is not None:
            return custom
        if identifier in _functions:
            return _functions[identifier]
    return _deserialize("activation", identifier)


def serialize(activation):
    return _engine.serialize("activation", activation)


def deserialize(name, custom_objects=None):
    return _deserialize("activation", name, custom_objects)

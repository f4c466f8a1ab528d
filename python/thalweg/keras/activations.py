"""Activations: from a tensor to one like it."""

import thalweg as tf
from thalweg.keras.bridge.named_functions import fill
from thalweg.keras.bridge.objects import (deserialize as _deserialize, find_custom, register_kind, serialize as
                                          _serialize)

_functions = fill(__name__, "keras.activations.")
register_kind("activation", {}, lambda name, core: _functions.get(name) or getattr(tf.nn, name))


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
    if not isinstance(identifier, (str, dict)):
        raise TypeError(f"Could not interpret activation function identifier: {identifier}")
    return _deserialize("activation", identifier)


def serialize(activation, use_legacy_format=False):
    """The name, or the configuration of an object."""
    return _serialize("activation", activation, use_legacy_format)


def deserialize(name, custom_objects=None, use_legacy_format=False):
    """The way back from a name or a configuration."""
    return _deserialize("activation", name, custom_objects)

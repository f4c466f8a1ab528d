"""Functions of Keras: losses, metrics and activations, by all their names."""

import sys

from thalweg import _thalweg
from thalweg.keras.bridge.objects import deserialize


def fill(module, prefix):
    """Puts the public functions of a part of Keras into its module; gives them by name, other spellings included."""
    functions = {name[len(prefix):]: function for name, function in _thalweg.functions().items()
                 if name.startswith(prefix) and "." not in name[len(prefix):]}
    vars(sys.modules[module]).update(functions)
    return functions


def get(kind, identifier, functions):
    """A loss or a metric from what programs write for one; None stays, a name of a function gives the function."""
    if identifier is None:
        return None
    if isinstance(identifier, str) and identifier in functions:
        return functions[identifier]
    return deserialize(kind, identifier)

"""Initializers, regularizers and constraints: kinds that are one function."""

from thalweg.keras.bridge.objects import (Described, _engine, deserialize as _deserialize, make_classes, register_kind,
                                          serialize as _serialize)


class FunctionKind(Described):
    """The base of their base classes. A class of a program writes `__call__`."""

    _takes_others = False

    def _start(self, config):
        self._become(_engine.make(self._kind, self._engine_name, config))

    def __setattr__(self, name, value):
        if not self._set_option(name, value):
            object.__setattr__(self, name, value)

    def __call__(self, x):
        if self._engine_name is None:
            raise NotImplementedError("Must be implemented in subclasses.")
        return _engine.call_of_tensor(self._core, x)

    def get_config(self):
        return self._core.get_config() if self._engine_name is not None else {}

    def __reduce__(self):
        return type(self).from_config, (self.get_config(),)


def fill(module, base):
    """Puts the engine's classes of a kind, and get, serialize and deserialize, into its module; gives the classes."""
    kind = base._kind
    classes = make_classes(kind, base, module["__name__"])
    register_kind(kind, classes, base)

    def get(identifier):
        """From None, a name, a configuration, an object or a callable; a class is called."""
        if identifier is None:
            return None
        return identifier() if isinstance(identifier, type) else _deserialize(kind, identifier)

    def serialize(object, use_legacy_format=False):
        """The configuration that makes another one like it."""
        return _serialize(kind, object, use_legacy_format)

    def deserialize(config, custom_objects=None, use_legacy_format=False):
        """The way back from a configuration."""
        return _deserialize(kind, config, custom_objects)

    # Configurations know some by other names, and one that only LSTM has.
    shown = {name: made for name, made in classes.items() if not name.endswith("V2") and name != "ForgetBias"}
    module.update(shown, get=get, serialize=serialize, deserialize=deserialize)
    return classes

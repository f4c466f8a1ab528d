"""The first values of weights."""

from thalweg.keras._objects import Described, _engine, deserialize as _deserialize, make_classes, register_kind


class Initializer(Described):
    """The base of initializers. A class of a program writes `__call__`."""

    _kind = "initializer"
    _engine_name = None

    def _start(self, config):
        self.__dict__["_core"] = _engine.make("initializer", self._engine_name, config)
        _engine.remember(self._core, self)

    def __call__(self, shape, dtype=None, **kwargs):
        if self._engine_name is None:
            raise NotImplementedError("Must be implemented in subclasses.")
        return _engine.initialize(self._core, shape, dtype)

    def get_config(self):
        return self._core.get_config() if self._engine_name is not None else {}


_classes = make_classes("initializer", Initializer, __name__)
globals().update(_classes)
register_kind("initializer", _classes, Initializer)


def get(identifier):
    """From None, a name, a configuration, an object or a callable; a class is called."""
    if identifier is None:
        return None
    if isinstance(identifier, type):
        return identifier()
    return _deserialize("initializer", identifier)


def serialize(object, use_legacy_format=False):
    return _engine.serialize("initializer", object)


def deserialize(config, custom_objects=None, use_legacy_format=False):
    return _deserialize("initializer", config, custom_objects)


def _snake(name):
    return _engine.to_snake_case(name)


globals().update({_snake(name): made for name, made in _classes.items()})
zeros, ones, constant = _classes.get("Zeros"), _classes.get("Ones"), _classes.get("Constant")

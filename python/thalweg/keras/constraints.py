"""What weights become after each step of training."""

from thalweg.keras._objects import Described, _engine, deserialize as _deserialize, make_classes, register_kind


class Constraint(Described):
    """The base of constraints. A class of a program writes `__call__`."""

    _kind = "constraint"
    _engine_name = None

    def _start(self, config):
        self.__dict__["_core"] = _engine.make("constraint", self._engine_name, config)
        _engine.remember(self._core, self)

    def __call__(self, x):
        if self._engine_name is None:
            raise NotImplementedError("Must be implemented in subclasses.")
        return _engine.call_of_tensor(self._core, x)

    def get_config(self):
        return self._core.get_config() if self._engine_name is not None else {}


_classes = make_classes("constraint", Constraint, __name__)
globals().update(_classes)
register_kind("constraint", _classes, Constraint)


def get(identifier):
    """From None, a name, a configuration, an object or a callable; a class is called."""
    if identifier is None:
        return None
    if isinstance(identifier, type):
        return identifier()
    return _deserialize("constraint", identifier)


def serialize(object, use_legacy_format=False):
    return _engine.serialize("constraint", object)


def deserialize(config, custom_objects=None, use_legacy_format=False):
    return _deserialize("constraint", config, custom_objects)


globals().update({_engine.to_snake_case(name): made for name, made in _classes.items()})

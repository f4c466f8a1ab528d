"""Penalties on the values of weights."""

from thalweg.keras._objects import Described, _engine, deserialize as _deserialize, make_classes, register_kind


class Regularizer(Described):
    """The base of regularizers. A class of a program writes `__call__`."""

    _kind = "regularizer"
    _engine_name = None

    def _start(self, config):
        self.__dict__["_core"] = _engine.make("regularizer", self._engine_name, config)
        _engine.remember(self._core, self)

    def __call__(self, x):
        if self._engine_name is None:
            raise NotImplementedError("Must be implemented in subclasses.")
        return _engine.call_of_tensor(self._core, x)

    def get_config(self):
        return self._core.get_config() if self._engine_name is not None else {}


_classes = make_classes("regularizer", Regularizer, __name__)
globals().update(_classes)
register_kind("regularizer", _classes, Regularizer)


def get(identifier):
    """From None, a name, a configuration, an object or a callable; a class is called."""
    if identifier is None:
        return None
    if isinstance(identifier, type):
        return identifier()
    return _deserialize("regularizer", identifier)


def serialize(object, use_legacy_format=False):
    return _engine.serialize("regularizer", object)


def deserialize(config, custom_objects=None, use_legacy_format=False):
    return _deserialize("regularizer", config, custom_objects)


def l1(l1=0.01):
    return _classes["L1"](l1)


def l2(l2=0.01):
    return _classes["L2"](l2)


def l1_l2(l1=0.01, l2=0.01):
    return _classes["L1L2"](l1, l2)

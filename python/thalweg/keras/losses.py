"""Losses: how far predictions are from what is true."""

from thalweg.keras._functions import fill
from thalweg.keras._objects import Described, _engine, deserialize as _deserialize, make_classes, register_kind


class Reduction:
    """How the losses of examples become one number."""

    AUTO = "auto"
    NONE = "none"
    SUM = "sum"
    SUM_OVER_BATCH_SIZE = "sum_over_batch_size"

    @classmethod
    def all(cls):
        return (cls.AUTO, cls.NONE, cls.SUM, cls.SUM_OVER_BATCH_SIZE)

    @classmethod
    def validate(cls, key):
        if key not in cls.all():
            raise ValueError(f"Invalid Reduction Key: {key}. Expected keys are \"{cls.all()}\"")


class Loss(Described):
    """The base of losses. A class of a program writes `call(y_true, y_pred)`, which gives the loss of each example."""

    _kind = "loss"
    _engine_name = None

    def __init__(self, reduction="auto", name=None):
        Reduction.validate(reduction)
        self.reduction, self.name = reduction, name

    def _start(self, config):
        config = {key: value for key, value in config.items() if not (key == "name" and value is None)}
        self.__dict__["_core"] = _engine.make("loss", self._engine_name, config)
        _engine.remember(self._core, self)

    def __call__(self, y_true, y_pred, sample_weight=None):
        if "_core" in self.__dict__:
            return _engine.loss(self._core, y_true, y_pred, sample_weight)
        return _engine.compute_weighted_loss(self.call(y_true, y_pred), sample_weight, self.reduction)

    def call(self, y_true, y_pred):
        if "_core" not in self.__dict__:
            raise NotImplementedError("Must be implemented in subclasses.")
        return _engine.loss_call(self._core, y_true, y_pred)

    def get_config(self):
        if "_core" in self.__dict__:
            return self._core.get_config()
        return {"reduction": self.reduction, "name": self.name}


_classes = make_classes("loss", Loss, __name__)
globals().update(_classes)
_functions = fill(__name__, "keras.losses.")
register_kind("loss", _classes, lambda name, core: _functions[name])


def get(identifier):
    """A loss from a name, a configuration, an object or a callable; a name of a function gives the function."""
    if identifier is None:
        return None
    if isinstance(identifier, str) and identifier in _functions:
        return _functions[identifier]
    return _deserialize("loss", identifier)


def serialize(loss):
    return _engine.serialize("loss", loss)


def deserialize(name, custom_objects=None):
    return _deserialize("loss", name, custom_objects)

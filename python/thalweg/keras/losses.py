"""Losses: how far predictions are from what is true."""

from thalweg.keras.bridge.named_functions import fill, get as _get
from thalweg.keras.bridge.objects import (Described as _Described, _engine, deserialize as _deserialize, make_classes,
                                          register_kind, serialize as _serialize)


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


class Loss(_Described):
    """The base of losses. A class of a program writes `call(y_true, y_pred)`, which gives the loss of each example."""

    _kind = "loss"
    _takes_others = False

    def __init__(self, reduction="auto", name=None):
        Reduction.validate(reduction)
        self.reduction, self.name = reduction, name

    def _start(self, config):
        config = {key: value for key, value in config.items() if not (key == "name" and value is None)}
        made = _engine.make("loss", self._engine_name, config)
        if type(self).call is Loss.call:
            self._become(made)
            return
        # A class of the program that computes something else from what the engine's gives.
        self.__dict__["_inner"] = made
        self.reduction, self.name = (made.get_config()[key] for key in ("reduction", "name"))

    def __setattr__(self, name, value):
        if name in ("reduction", "name") and "_core" in self.__dict__:
            self._start({key: self.get_config()[key] for key in (p.name for p in self._parameters)} | {name: value})
        else:
            object.__setattr__(self, name, value)

    @property
    def _engine_core(self):
        return self.__dict__.get("_inner", self.__dict__.get("_core"))

    @property
    def fn(self):
        """The function of labels and predictions that it takes the mean of."""
        core = self._engine_core
        name = None if core is None else core.get_config().get("fn")
        if name not in _functions:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute 'fn'")
        return _functions[name]

    def __call__(self, y_true, y_pred, sample_weight=None):
        if "_core" in self.__dict__:
            return _engine.loss(self._core, y_true, y_pred, sample_weight)
        return _engine.compute_weighted_loss(self.call(y_true, y_pred), sample_weight, self.reduction)

    def call(self, y_true, y_pred):
        if self._engine_core is None:
            raise NotImplementedError("Must be implemented in subclasses.")
        return _engine.loss_call(self._engine_core, y_true, y_pred)

    def get_config(self):
        config = {"reduction": self.reduction, "name": self.name}
        return config if self._engine_core is None else {**self._engine_core.get_config(), **config}

    @classmethod
    def from_config(cls, config):
        return cls(**{key: value for key, value in config.items() if key != "fn" or cls._engine_name is None})

    def __reduce__(self):
        return type(self).from_config, (self.get_config(),)


_classes = make_classes("loss", Loss, __name__)
globals().update(_classes)
_functions = fill(__name__, "keras.losses.")
register_kind("loss", _classes, lambda name, core: _functions[name])


def get(identifier):
    """A loss from a name, a configuration, an object or a callable; a name of a function gives the function."""
    return _get("loss", identifier, _functions)


def serialize(loss, use_legacy_format=False):
    """The configuration that makes another one like it."""
    return _serialize("loss", loss, use_legacy_format)


def deserialize(name, custom_objects=None, use_legacy_format=False):
    """The way back from a configuration."""
    return _deserialize("loss", name, custom_objects)

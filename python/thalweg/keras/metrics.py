"""Metrics: numbers that accumulate over batches."""

import functools
import math

import numpy as np

import thalweg as tf
from thalweg.dtypes import as_dtype
from thalweg.keras.bridge.named_functions import fill, get as _get
from thalweg.keras.bridge.objects import (Described as _Described, _engine, deserialize as _deserialize, make_classes,
                                          new_name as _new_name, register_kind, serialize as _serialize)
from thalweg.keras.bridge.settings import epsilon, floatx
from thalweg.ops.variable import Variable


def _as_value(result):
    """A result as it is now: a variable would go on to change, and numbers are tensors like other results."""
    if isinstance(result, dict):
        return {name: _as_value(item) for name, item in result.items()}
    return tf.convert_to_tensor(result) if isinstance(result, (Variable, float, int)) else result


def _giving_values(result):
    """The method `result` that a class of a program writes, with values for what it gives."""
    if not callable(result):
        return result

    @functools.wraps(result)
    def giving_values(self, *args, **kwargs):
        return _as_value(result(self, *args, **kwargs))

    return giving_values


class Metric(_Described):
    """The base of metrics. A class of a program writes `update_state` and `result`, and makes variables with
    `add_weight`."""

    _kind = "metric"
    _takes_others = False
    stateful = built = trainable = True
    losses = metrics = property(lambda self: [])

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if "result" in cls.__dict__:
            cls.result = _giving_values(cls.result)

    def __init__(self, name=None, dtype=None, **kwargs):
        if name is None:
            name = _new_name(self)
        self._dtype = as_dtype(dtype or floatx()).name
        self.__dict__["_core"] = _engine.python_metric(self, name, as_dtype(self._dtype))

    def _keeps_all(self):
        return self._engine_name is None and "_inner" not in self.__dict__

    def _start(self, config):
        config = {key: value for key, value in config.items() if value is not None or key != "name"}
        self._dtype = config["dtype"] = as_dtype(config.get("dtype") or floatx()).name
        made = _engine.make("metric", self._engine_name, config)
        if not any(getattr(type(self), name) is not getattr(Metric, name)
                   for name in ("update_state", "result", "reset_state")):
            self._become(made)
            return
        # A class of the program that does something in another way than the engine's: the engine calls it.
        self.__dict__["_inner"] = made
        self.__dict__["_core"] = _engine.python_metric(self, made.name, as_dtype(self._dtype))
        for variable in _engine.metric_variables(made):
            _engine.metric_add_weight(self._core, variable)

    @property
    def _engine_core(self):
        return self.__dict__.get("_inner", self.__dict__["_core"])

    @property
    def name(self):
        return self._core.name

    @property
    def _name(self):
        return self.name

    @_name.setter
    def _name(self, value):
        _engine.metric_set_name(self._core, value)

    @property
    def dtype(self):
        return self.__dict__.get("_dtype") or self.get_config()["dtype"]

    def add_weight(self, name, shape=(), aggregation=None, synchronization=None, initializer=None, dtype=None):
        """A variable of this metric."""
        from thalweg.keras import initializers
        dtype = as_dtype(dtype or self._dtype)
        make = initializers.get("zeros" if initializer is None else initializer)
        value = make(list(shape), dtype=dtype)
        variable = Variable(value, dtype=dtype, trainable=False, name=name)
        _engine.metric_add_weight(self._core, variable)
        return variable

    add_variable = add_weight

    def __setattr__(self, name, value):
        if name != "name" and self._set_option(name, value):
            return
        object.__setattr__(self, name, value)
        if "_core" not in self.__dict__:
            return
        for variable in value.variables if isinstance(value, Metric) else [value]:
            if isinstance(variable, Variable) and not any(variable is known for known in self.variables):
                _engine.metric_add_weight(self._core, variable)

    def update_state(self, *args, **kwargs):
        if self._engine_name is None:
            raise NotImplementedError("Must be implemented in subclasses.")
        args = list(args)
        for key in ("y_true", "values", "matrix", "y_pred", "sample_weight"):
            if key in kwargs:
                value = kwargs.pop(key)
                if key == "sample_weight" and value is None:
                    continue
                args.append(value)
        if kwargs:
            raise TypeError(f"update_state() got an unexpected keyword argument '{next(iter(kwargs))}'")
        _engine.metric_update(self._engine_core, *args)

    def result(self):
        if self._engine_name is None:
            raise NotImplementedError("Must be implemented in subclasses.")
        return _engine.metric_result(self._engine_core)

    def reset_state(self):
        if self._engine_name is not None:
            return _engine.metric_reset(self._engine_core)
        for variable in self.variables:
            variable.assign(np.zeros(variable.shape.as_list(), variable.dtype.as_numpy_dtype))

    def reset_states(self):
        return self.reset_state()

    def __call__(self, *args, **kwargs):
        self.update_state(*args, **kwargs)
        result = self.result()
        if isinstance(result, tf.Tensor):
            result._metric_obj = self  # which add_metric looks for
        return result

    @property
    def variables(self):
        return _engine.metric_variables(self._core)

    weights = non_trainable_weights = non_trainable_variables = variables

    @property
    def trainable_weights(self):
        return []

    trainable_variables = trainable_weights

    def get_weights(self):
        return [variable.numpy() for variable in self.variables]

    def set_weights(self, weights):
        if len(weights) != len(self.variables):
            raise ValueError(f"You called `set_weights(weights)` on metric \"{self.name}\" with a weight list of length "
                             f"{len(weights)}, but the metric was expecting {len(self.variables)} weights.")
        for variable, value in zip(self.variables, weights):
            variable.assign(value)

    def merge_state(self, metrics):
        """Adds what others of its kind have taken in."""
        done = []
        for other in metrics:
            if len(other.variables) != len(self.variables):
                raise ValueError(f"Metric {other} is not compatible with {self}")
            done += [mine.assign_add(theirs) for mine, theirs in zip(self.variables, other.variables)]
        return done

    def __copy__(self):
        """Another object with the same variables."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        return made

    def __reduce__(self):
        return _restore, (type(self), self.get_config(), self.get_weights())

    def __deepcopy__(self, memo):
        made = type(self).from_config(self.get_config())
        made.set_weights(self.get_weights())
        return made

    def get_config(self):
        if self._engine_name is not None:
            return self._engine_core.get_config()
        return {"name": self.name, "dtype": self.dtype}


def _restore(cls, config, weights):
    made = cls.from_config(config)
    if made.variables:
        made.set_weights(weights)
    return made


_classes = make_classes("metric", Metric, __name__)


def _thresholds_of_area(self):
    """All of them: those given or evenly spread, and two that lie just beyond 0 and 1."""
    config = self.get_config()
    inner = config.get("thresholds")
    if inner is None:
        inner = [(i + 1) / (config["num_thresholds"] - 1) for i in range(config["num_thresholds"] - 2)]
    return [-epsilon(), *sorted(inner), 1.0 + epsilon()]


_classes["AUC"].thresholds = property(_thresholds_of_area)
_classes["F1Score"].beta = 1.0
for _name in ("FalseNegatives", "FalsePositives", "Precision", "Recall", "TrueNegatives", "TruePositives"):
    _classes[_name].init_thresholds = property(lambda self: self.get_config()["thresholds"])
    _classes[_name].thresholds = property(lambda self: _listed(self.init_thresholds, self))


def _listed(given, metric):
    """Thresholds in a list, with Keras's where there are none."""
    if given is None:
        return [-math.inf if getattr(metric, "top_k", None) is not None else 0.5]
    return list(given) if isinstance(given, (list, tuple)) else [given]


globals().update(_classes)
_functions = fill(__name__, "keras.metrics.")
register_kind("metric", _classes, lambda name, core: _engine_metric(core))


def _engine_metric(core):
    made = Metric.__new__(Metric)
    made.__dict__["_core"] = core
    made.__dict__["_engine_name"] = core.class_name
    return made


class MeanMetricWrapper(_classes["Mean"]):
    """The mean of what a function of y_true and y_pred gives; further arguments are the function's."""

    def __init__(self, fn, name=None, dtype=None, **kwargs):
        super().__init__(name=_engine.unique_name("mean_metric_wrapper") if name is None else name, dtype=dtype)
        self._fn, self._fn_kwargs = fn, kwargs

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Takes in a batch."""
        y_true, y_pred = (tf.cast(value, self._dtype) for value in (y_true, y_pred))
        rank = len(y_pred.shape) - len(y_true.shape)
        if rank == 1 and y_pred.shape[-1] == 1:
            y_pred = tf.squeeze(y_pred, -1)
        elif rank == -1 and y_true.shape[-1] in (1, None):
            y_true = tf.squeeze(y_true, -1)
        values = self._fn(y_true, y_pred, **self._fn_kwargs)
        mask = _engine.mask_of(values)
        if mask is not None:
            mask = tf.cast(mask, values.dtype)
            sample_weight = mask if sample_weight is None else tf.cast(sample_weight, values.dtype) * mask
        super().update_state(values, sample_weight=sample_weight)

    def get_config(self):
        if type(self) is MeanMetricWrapper:
            return {"name": self.name, "dtype": self.dtype, "fn": self._fn, **self._fn_kwargs}
        return {"name": self.name, "dtype": self.dtype, **self._fn_kwargs}

    @classmethod
    def from_config(cls, config):
        config = dict(config)
        fn = config.pop("fn", None)
        return cls(get(fn), **config) if cls is MeanMetricWrapper else cls(**config)


def get(identifier):
    """A metric from a name, a configuration, an object or a callable; a name of a function gives the function."""
    return _get("metric", identifier, _functions)


def serialize(metric, use_legacy_format=False):
    """The configuration that makes another one like it."""
    return _serialize("metric", metric, use_legacy_format)


def deserialize(config, custom_objects=None, use_legacy_format=False):
    """The way back from a configuration."""
    return _deserialize("metric", config, custom_objects)

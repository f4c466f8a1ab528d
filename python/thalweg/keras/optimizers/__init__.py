"""Optimizers: how variables follow gradients."""

import numpy as np

from thalweg._tape import GradientTape
from thalweg.keras._objects import Described, _engine, deserialize as _deserialize, make_classes, register_kind


class Optimizer(Described):
    """The base of optimizers. A class of a program writes `build(var_list)` and `update_step(gradient, variable)`."""

    _kind = "optimizer"
    _engine_name = None

    def __init__(self, name=None, weight_decay=None, clipnorm=None, clipvalue=None, global_clipnorm=None, use_ema=False,
                 ema_momentum=0.99, ema_overwrite_frequency=None, jit_compile=True, **kwargs):
        self._options = {"weight_decay": weight_decay, "clipnorm": clipnorm, "clipvalue": clipvalue,
                         "global_clipnorm": global_clipnorm, "use_ema": use_ema, "ema_momentum": ema_momentum,
                         "ema_overwrite_frequency": ema_overwrite_frequency}
        self.__dict__["_core"] = _engine.python_optimizer(self, name or type(self).__name__, 0.001, self._options)
        self.jit_compile = jit_compile
        self._variables = []

    def _start(self, config):
        if "lr" in config:
            config["learning_rate"] = config.pop("lr")
        if config.get("name") is None:
            config.pop("name", None)
        config.pop("is_legacy_optimizer", None)
        rate = config.get("learning_rate")
        if callable(rate) and not hasattr(rate, "_core"):
            config["learning_rate"] = rate
        elif rate is not None and not hasattr(rate, "_core") and not isinstance(rate, dict):
            config["learning_rate"] = float(rate)
        self.__dict__["_core"] = _engine.make("optimizer", self._engine_name, config)
        _engine.remember(self._core, self)

    @property
    def name(self):
        return self._core.name

    def apply_gradients(self, grads_and_vars, name=None, skip_gradients_aggregation=False, **kwargs):
        """One step: each variable follows its gradient."""
        pairs = list(grads_and_vars)
        _engine.apply_gradients(self._core, [g for g, _ in pairs], [v for _, v in pairs])
        return self.iterations

    def compute_gradients(self, loss, var_list, tape=None):
        if callable(loss):
            with GradientTape() as tape:
                loss = loss()
        variables = var_list() if callable(var_list) else list(var_list)
        return list(zip(tape.gradient(loss, variables), variables))

    def minimize(self, loss, var_list, tape=None):
        """Computes the loss, then makes a step."""
        return self.apply_gradients(self.compute_gradients(loss, var_list, tape))

    def build(self, var_list):
        if type(self)._engine_name is not None:
            _engine.optimizer_build(self._core, list(var_list))

    def add_variable_from_reference(self, model_variable, variable_name, shape=None, initial_value=None):
        """A variable that goes with one of the model's."""
        if initial_value is None and shape is not None:
            initial_value = np.zeros(shape, model_variable.dtype.as_numpy_dtype)
        return _engine.add_slot(model_variable, variable_name, initial_value)

    def _build_learning_rate(self, learning_rate):
        _engine.optimizer_set_rate(self._core, learning_rate)
        return _engine.optimizer_rate(self._core)

    @property
    def iterations(self):
        return _engine.optimizer_iterations(self._core)

    @property
    def learning_rate(self):
        schedule = _engine.optimizer_schedule(self._core)
        return _engine.optimizer_rate(self._core) if schedule is None else schedule

    @learning_rate.setter
    def learning_rate(self, value):
        if _engine.optimizer_schedule(self._core) is not None and not callable(value):
            raise TypeError("This optimizer was created with a `LearningRateSchedule` object as its `learning_rate` "
                            "constructor argument, hence its learning rate is not settable. If you need the learning "
                            "rate to be settable, you should instantiate the optimizer with a float `learning_rate` "
                            "argument.")
        _engine.optimizer_set_rate(self._core, value if callable(value) else float(value))

    lr = _learning_rate = learning_rate

    @property
    def variables(self):
        return CallableList(_engine.optimizer_variables(self._core))

    def finalize_variable_values(self, var_list):
        _engine.optimizer_finalize(self._core, list(var_list))

    def get_config(self):
        if type(self)._engine_name is not None:
            return self._core.get_config()
        return {"name": self.name, **self._options, "jit_compile": self.jit_compile, "is_legacy_optimizer": False}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        return cls(**{key: value for key, value in config.items() if key != "is_legacy_optimizer"})

    def __setattr__(self, name, value):
        if name in ("learning_rate", "lr"):
            type(self).learning_rate.fset(self, value)
        elif name == "_learning_rate":
            pass  # _build_learning_rate has set it
        else:
            object.__setattr__(self, name, value)


class CallableList(list):
    """A list that may also be called, as programs for older versions do."""

    def __call__(self):
        return self


_classes = make_classes("optimizer", Optimizer, __name__)
globals().update({key: value for key, value in _classes.items() if key != "LossScaleOptimizer"})
register_kind("optimizer", _classes, Optimizer)


def get(identifier):
    """An optimizer from a name, a configuration or an object."""
    if isinstance(identifier, Optimizer):
        return identifier
    if isinstance(identifier, dict) and "class_name" in identifier:
        return _deserialize("optimizer", identifier)
    if isinstance(identifier, str):
        return _deserialize("optimizer", identifier)
    raise ValueError(f"Could not interpret optimizer identifier: {identifier}")


def serialize(optimizer):
    return _engine.serialize("optimizer", optimizer)


def deserialize(config, custom_objects=None):
    return _deserialize("optimizer", config, custom_objects)


from thalweg.keras.optimizers import experimental, legacy, schedules  # noqa: E402: they come from what stands above

"""Optimizers: how variables follow gradients."""

import functools
import inspect

import numpy as np

from thalweg.autodiff.tape import GradientTape
from thalweg.core import logging as _logging
from thalweg.keras.bridge.objects import (Described, _engine, deserialize as _deserialize, make_classes, register_kind,
                                          serialize as _serialize)
from thalweg.ops.variable import Variable


class Optimizer(Described):
    """The base of optimizers. A class of a program writes `build(var_list)` and `update_step(gradient, variable)`."""

    _kind = "optimizer"
    _applies_itself = False  # whether a class writes apply_gradients: fit calls it then

    def __init__(self, name=None, weight_decay=0, clipnorm=None, clipvalue=None, global_clipnorm=None, use_ema=False,
                 ema_momentum=0.99, ema_overwrite_frequency=None, jit_compile=True, **kwargs):
        options = {"weight_decay": weight_decay, "clipnorm": clipnorm, "clipvalue": clipvalue,
                   "global_clipnorm": global_clipnorm, "use_ema": use_ema, "ema_momentum": ema_momentum,
                   "ema_overwrite_frequency": ema_overwrite_frequency}
        for key in kwargs:
            raise TypeError(f"{key} is not a valid argument, kwargs should be empty for `Optimizer`.")
        self.__dict__.update(options)
        options["weight_decay"] = weight_decay or None
        self.__dict__["_core"] = _engine.python_optimizer(self, name or type(self).__name__, 0.001, options)
        self.jit_compile = jit_compile

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if "build" in vars(cls):
            cls.build = _within_engine(cls.build)
        cls._applies_itself = cls.apply_gradients is not Optimizer.apply_gradients

    def _keeps_all(self):
        return self._engine_name is None and "_inner" not in self.__dict__

    def _start(self, config):
        if "lr" in config:
            _logging.warn("`lr` is deprecated in Keras optimizer, please use `learning_rate` or use the legacy optimizer, "
                          f"e.g., tf.keras.optimizers.legacy.{type(self).__name__}.")
            config["learning_rate"] = config.pop("lr")
        if config.get("name") is None:
            config.pop("name", None)
        config.pop("is_legacy_optimizer", None)
        if config.get("learning_rate") is not None:
            config["learning_rate"] = _rate(config["learning_rate"])
        made = _engine.make("optimizer", self._engine_name, config)
        cls = type(self)
        if cls.update_step is Optimizer.update_step and cls.build is Optimizer.build and not cls._applies_itself:
            self._become(made)
            return
        # A class of the program that makes steps in another way than the engine's: the engine calls it.
        self.__dict__["_inner"] = made
        self.__dict__["_core"] = _engine.python_optimizer_around(self, made)

    @property
    def name(self):
        return self._core.name

    _name = name

    def apply_gradients(self, grads_and_vars, name=None, skip_gradients_aggregation=False, **kwargs):
        """One step: each variable follows its gradient."""
        pairs = list(grads_and_vars)
        try:
            _engine.apply_gradients(self._core, [g for g, _ in pairs], [v for _, v in pairs], name or "")
        except ValueError as refused:
            if str(refused).startswith("The optimizer cannot recognize variable"):
                raise KeyError(str(refused)) from None
            raise
        return self.iterations

    def compute_gradients(self, loss, var_list, tape=None):
        if callable(loss):
            with GradientTape() as tape:
                loss = loss()
        elif tape is None:
            raise ValueError(f"`tape` is required when a `Tensor` loss is passed. Received: loss={loss}, tape={tape}.")
        variables = var_list() if callable(var_list) else list(var_list)
        return list(zip(tape.gradient(loss, variables), variables))

    def minimize(self, loss, var_list, tape=None):
        """Computes the loss, then makes a step."""
        self.apply_gradients(self.compute_gradients(loss, var_list, tape))

    def aggregate_gradients(self, grads_and_vars):
        """The gradients of all replicas, of which there is one."""
        return grads_and_vars

    def build(self, var_list):
        """Makes the variables that go with these."""
        self._index_dict = {self._var_key(variable): i for i, variable in enumerate(var_list)}
        if not self.__dict__.get("_building"):
            _engine.optimizer_build(self._core, list(var_list))
        elif "_inner" in self.__dict__:
            _engine.optimizer_inner_build(self._inner, list(var_list))

    def _build_now(self, var_list):
        """What the engine calls to have variables made."""
        self.__dict__["_building"] = True
        try:
            self.build(var_list)
        finally:
            self.__dict__["_building"] = False

    def update_step(self, gradient, variable):
        """Changes a variable. A class of a program writes it, or calls it with something else."""
        if "_inner" not in self.__dict__:
            raise NotImplementedError("Must be implemented in subclasses.")
        _engine.optimizer_inner_step(self._inner, self._index_dict[self._var_key(variable)], gradient, variable)

    def _var_key(self, variable):
        return variable.ref()

    def add_variable_from_reference(self, model_variable, variable_name, shape=None, initial_value=None):
        """A variable that goes with one of the model's."""
        if initial_value is None and shape is not None:
            initial_value = np.zeros(shape, model_variable.dtype.as_numpy_dtype)
        if self.__dict__.get("_building"):
            return _engine.add_slot(model_variable, variable_name, initial_value)
        if initial_value is None:
            initial_value = np.zeros(model_variable.shape, model_variable.dtype.as_numpy_dtype)
        return Variable(initial_value, trainable=False, name=f"{variable_name}/{model_variable.name.partition(':')[0]}")

    def add_variable(self, shape, dtype=None, initializer="zeros", name=None):
        """A variable that goes with none of the model's."""
        from thalweg.keras import initializers
        value = initializers.get(initializer)(shape, dtype=dtype)
        return Variable(value, trainable=False, name=name or "Variable")

    def exclude_from_weight_decay(self, var_list=None, var_names=None):
        """Leaves out these variables, and those in whose names one of the expressions is found."""
        _engine.exclude_from_weight_decay(self._core, list(var_list or []), list(var_names or []))

    def _build_learning_rate(self, learning_rate):
        _engine.optimizer_set_rate(self._core, _rate(learning_rate))
        return self._learning_rate

    def _serialize_hyperparameter(self, hyperparameter):
        """As configurations have it."""
        if isinstance(hyperparameter, schedules.LearningRateSchedule):
            return schedules.serialize(hyperparameter)
        if callable(hyperparameter):
            return hyperparameter()
        return hyperparameter.numpy() if hasattr(hyperparameter, "numpy") else hyperparameter

    @property
    def iterations(self):
        return _engine.optimizer_iterations(self._core)

    @iterations.setter
    def iterations(self, variable):
        if _engine.optimizer_is_built(self._core):
            raise RuntimeError("Cannot set `iterations` to a new Variable after the Optimizer weights have been created. "
                               f"Here it is attempting to set `iterations` to {variable}. Usually this means you are "
                               "trying to set `iterations` after calling `apply_gradients()`. Please set `iterations` "
                               "before calling `apply_gradients()`.")
        _engine.optimizer_set_iterations(self._core, variable)

    @property
    def learning_rate(self):
        return _engine.optimizer_rate(self._core)

    @learning_rate.setter
    def learning_rate(self, value):
        if _engine.optimizer_schedule(self._core) is not None and not callable(value):
            raise TypeError("This optimizer was created with a `LearningRateSchedule` object as its `learning_rate` "
                            "constructor argument, hence its learning rate is not settable. If you need the learning "
                            "rate to be settable, you should instantiate the optimizer with a float `learning_rate` "
                            "argument.")
        _engine.optimizer_set_rate(self._core, _rate(value))
        if "_inner" in self.__dict__ and callable(value):
            _engine.optimizer_set_rate(self._inner, value)

    lr = learning_rate

    @property
    def _learning_rate(self):
        """The variable, or the schedule that sets it."""
        schedule = _engine.optimizer_schedule(self._core)
        return self.learning_rate if schedule is None else schedule

    @property
    def variables(self):
        return CallableList(_engine.optimizer_variables(self._core))

    def set_weights(self, weights):
        """Sets `variables`, in their order."""
        if len(self.variables) == 1:
            raise ValueError("You are calling `set_weights()` on an optimizer that has not yet been built. Please call "
                             "`optimizer.build(trainable_variables)` to create the optimizer weights before calling "
                             "`set_weights()`.")
        for variable, weight in zip(self.variables, weights):
            if variable.shape != weight.shape:
                raise ValueError(f"Optimizer variable {variable.name} has shape {variable.shape} not compatible with "
                                 f"provided weight shape {weight.shape}.")
            variable.assign(weight)

    def finalize_variable_values(self, var_list):
        _engine.optimizer_finalize(self._core, list(var_list))

    def get_config(self):
        if self._engine_name is not None:
            return self.__dict__.get("_inner", self._core).get_config()
        return {"name": self.name, **{option: getattr(self, option) for option in _COMMON}, "jit_compile": False,
                "is_legacy_optimizer": False}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        config = {key: value for key, value in config.items() if key != "is_legacy_optimizer"}
        if isinstance(config.get("learning_rate"), dict):
            config["learning_rate"] = schedules.deserialize(config["learning_rate"], custom_objects)
        return cls(**config)

    def __deepcopy__(self, memo):
        copy = memo[id(self)] = type(self).from_config(self.get_config())
        copy.iterations.assign(self.iterations)
        if _engine.optimizer_is_built(self._core):
            copy.build(_engine.optimizer_targets(self._core))
            for variable, own in zip(copy.variables, self.variables):
                variable.assign(own)
        return copy

    def __reduce__(self):
        if _engine.optimizer_is_built(self._core):
            raise TypeError(f"cannot pickle {self.name} alone, since its variables belong to those of a model: pickle the "
                            "model that was compiled with it, or get_config() and variables")
        return type(self).from_config, (self.get_config(),)

    def __setattr__(self, name, value):
        if name in ("learning_rate", "lr"):
            type(self).learning_rate.fset(self, value)
        elif name in ("_learning_rate", "_name"):
            pass  # _build_learning_rate has set it, and the constructor
        else:
            if name in _COMMON and "_core" in self.__dict__:
                _engine.set_option(self._core, "optimizer", name, value)
            if not self._set_option(name, value):
                object.__setattr__(self, name, value)


# What all optimizers have, in the order of their configurations.
_COMMON = ("weight_decay", "clipnorm", "global_clipnorm", "clipvalue", "use_ema", "ema_momentum",
           "ema_overwrite_frequency")


def _within_engine(build):
    """The `build` of a class of a program: variables are made while the engine builds the optimizer."""
    @functools.wraps(build)
    def start(self, var_list):
        if self.__dict__.get("_building"):
            build(self, var_list)
        else:
            _engine.optimizer_build(self._core, list(var_list))

    return start


def _rate(given):
    """A learning rate as the engine takes it: a number, a schedule, or the configuration of one."""
    if isinstance(given, dict) or isinstance(given, schedules.LearningRateSchedule):
        return given
    if not callable(given):
        return float(given)
    return given if inspect.signature(given).parameters else float(given())


class CallableList(list):
    """A list that may also be called, as programs for older versions do."""

    def __call__(self):
        return self


def _show_defaults(made):
    """Has `inspect.signature` show the rate as it is written; the engine keeps it as a float32."""
    shown = made.__init__.__signature__
    rounded = [p.replace(default=float(f"{p.default:.7g}")) if isinstance(p.default, float) else p
               for p in shown.parameters.values()]
    made.__init__.__signature__ = shown.replace(parameters=rounded)


_classes = make_classes("optimizer", Optimizer, __name__)
for _made in _classes.values():
    _show_defaults(_made)
globals().update({key: value for key, value in _classes.items() if key != "LossScaleOptimizer"})
register_kind("optimizer", _classes, Optimizer)


def get(identifier, use_legacy_optimizer=False, **kwargs):
    """An optimizer from a name, a configuration or an object."""
    if isinstance(identifier, Optimizer):
        return identifier
    if use_legacy_optimizer and isinstance(identifier, str):
        return getattr(legacy, type(_deserialize("optimizer", identifier)).__name__)()
    if isinstance(identifier, str) or isinstance(identifier, dict) and "class_name" in identifier:
        return deserialize(identifier)
    raise ValueError(f"Could not interpret optimizer identifier: {identifier}")


def serialize(optimizer, use_legacy_format=False):
    """The configuration that makes another one like it."""
    whole = _serialize("optimizer", optimizer, use_legacy_format)
    if whole.get("module") and isinstance(optimizer, legacy.Optimizer):
        whole["module"] = "keras.optimizers.legacy"
    return whole


def deserialize(config, custom_objects=None, use_legacy_format=False, **kwargs):
    """The way back from a configuration."""
    if isinstance(config, dict) and config.get("module") == "keras.optimizers.legacy":
        return getattr(legacy, config["class_name"]).from_config(config["config"], custom_objects)
    return _deserialize("optimizer", config, custom_objects)


from thalweg.keras.optimizers import experimental, legacy, schedules  # noqa: E402: they come from what stands above

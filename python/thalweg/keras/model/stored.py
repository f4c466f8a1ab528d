"""A model as text and as values: JSON, copies and pickles."""

import copy
import json

import numpy as np

from thalweg.keras import optimizers
from thalweg.keras._part import part_of
from thalweg.keras.bridge.objects import CustomObjectScope, _engine, find_custom

_VERSION = "2.15.0"  # of the Keras whose configurations these are


@part_of("thalweg.keras.models", "Model")
class Stored:
    """The part of a model about what makes another one like it."""

    def to_json(self, **kwargs):
        """Its configuration as text; `model_from_json` makes a model of it."""
        whole = {"class_name": type(self).__name__, "config": self.get_config(), "keras_version": _VERSION,
                 "backend": "tensorflow"}
        return json.dumps(whole, default=_plain, **kwargs)

    def to_yaml(self, **kwargs):
        raise RuntimeError("Method `model.to_yaml()` has been removed due to security risk of arbitrary code execution. "
                           "Please use `model.to_json()` instead.")

    def get_compile_config(self):
        """The arguments of compile, as configurations; None where it was not called."""
        from thalweg.keras.bridge.registered import serialize_keras_object
        given = self.__dict__.get("_core_compiled_with")
        return None if given is None else {key: serialize_keras_object(value) for key, value in given.items()}

    def compile_from_config(self, config):
        """Compiles as another model was; makes the optimizer's variables where the model has its own."""
        from thalweg.keras.bridge.registered import deserialize_keras_object
        if config is None:
            return
        self.compile(**{key: deserialize_keras_object(value) for key, value in config.items()})
        if self.built and self.optimizer is not None:
            self.optimizer.build(self.trainable_variables)

    def __reduce__(self):
        classes = {type(layer).__name__: type(layer) for layer in self._flatten_layers()
                   if not type(layer).__module__.startswith("thalweg.")}
        built = self.get_build_config() if self.built else None
        return _remake, (type(self), self.get_config(), classes, built,
                         self.get_weights() if self.built else None, self._compiled_state())

    def __deepcopy__(self, memo):
        remake, parts = self.__reduce__()
        made = memo[id(self)] = remake(*copy.deepcopy(parts, memo))
        return made

    def _compiled_state(self):
        """The arguments of compile and the values of the optimizer's variables."""
        given = self.__dict__.get("_core_compiled_with")
        if given is None:
            return None
        optimizer = self.optimizer
        is_built = optimizer is not None and _engine.optimizer_is_built(optimizer._core)
        values = [variable.numpy() for variable in optimizer.variables] if is_built else None
        return given | {"optimizer": optimizers.serialize(optimizer)}, values


def _remake(cls, config, classes, built, weights, compiled):
    with CustomObjectScope(classes):
        made = cls.from_config(config)
    if built and not made.built:
        made.build_from_config(built)
    if weights is not None:
        made.set_weights(weights)
    if compiled is not None:
        arguments, values = compiled
        made.compile(**arguments)
        if values is not None:
            made.optimizer.build(made.trainable_variables)
            for variable, value in zip(made.optimizer.variables, values):
                variable.assign(value)
    return made


def _plain(value):
    """What JSON has no form for."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if hasattr(value, "as_list"):
        return value.as_list()
    return value.__name__ if hasattr(value, "__name__") else str(value)


def model_from_config(config, custom_objects=None):
    """A model from class name and configuration."""
    from thalweg.keras import layers, models
    if isinstance(config, list):
        raise TypeError(f"`model_from_config` expects a dictionary, not a list. Received: config={config}. Did you mean to "
                        "use `Sequential.from_config(config)`?")
    cls = find_custom(config["class_name"], custom_objects) or getattr(models, config["class_name"], None)
    with CustomObjectScope(custom_objects or {}):
        return layers.deserialize(config) if cls is None else cls.from_config(config["config"])


def model_from_json(json_string, custom_objects=None):
    """The model that `to_json` wrote."""
    return model_from_config(json.loads(json_string), custom_objects)


def model_from_yaml(yaml_string, custom_objects=None):
    raise RuntimeError("Method `model_from_yaml()` has been removed due to security risk of arbitrary code execution. "
                       "Please use `Model.to_json()` and `model_from_json()` instead.")

"""Layer: the class that programs derive their layers from."""

import abc
import copy
import inspect

import numpy as np

from thalweg._thalweg import Tensor, VariableBase
from thalweg.core.name_scope import name_scope
from thalweg.core.specs import TensorSpec
from thalweg.keras.bridge.objects import Described, _engine, new_name
from thalweg.keras.bridge.overrides import given_arguments, of_engine, overrides_of
from thalweg.keras.layer.holder import Holder
from thalweg.keras.layer.input_spec import InputSpec
from thalweg.keras.layer.nodes import Connected
from thalweg.keras.mixed_precision import Policy, policy_name
from thalweg.nest import flatten, map_structure
from thalweg.ops.module import Module

# Weights that layers may be told to do without, and the options that say so.
_WEIGHT_OPTIONS = {"bias": ("use_bias", "bias_axes"), "gamma": ("scale",), "beta": ("center",), "scale": ("use_scale",)}


class Layer(Connected, Holder, Described, Module, metaclass=abc.ABCMeta):
    """The base of all layers. A class of a program writes `build`, `call` and what else it needs."""

    _kind = "layer"
    _engine_name = None
    _is_model = False
    _overrides = None
    _options = frozenset()  # names of what the engine's class can be told
    _fixed = {}  # arguments that can have these values only
    _integers = ()  # arguments that are made integers, as numbers and texts can be
    _call_names = ()  # what `call` of a class of the engine takes after the inputs, by position

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        cls._overrides = overrides_of(cls)

    def __new__(cls, *args, **kwargs):
        made = super().__new__(cls)
        if cls._overrides["get_config"] and getattr(cls.get_config, "_is_engine", False):
            # Under a name that is not searched for layers.
            made.__dict__["_core_arguments"] = given_arguments(made, args, kwargs)
        return made

    @of_engine
    def __init__(self, trainable=True, name=None, dtype=None, dynamic=False, **kwargs):
        allowed = {"input_dim", "input_shape", "batch_input_shape", "batch_size", "weights", "activity_regularizer",
                   "autocast", "implementation", "experimental_autocast", "input_length"}
        for key in kwargs:
            if key not in allowed:
                raise TypeError(f"('Keyword argument not understood:', '{key}')")
        if isinstance(trainable, Layer) or not isinstance(trainable, (bool, np.bool_, int)):
            trainable = True  # super().__init__(self), as old programs write
        shape = kwargs.get("batch_input_shape")
        if shape is None and "input_shape" in kwargs:
            shape = (kwargs.get("batch_size"),) + tuple(kwargs["input_shape"])
        if shape is None and "input_dim" in kwargs:
            shape = (kwargs.get("batch_size"), kwargs["input_dim"])
        self._attach(None, name, bool(trainable), dtype, shape)
        if "autocast" in kwargs:
            _engine.layer_set(self._core, "autocast", bool(kwargs["autocast"]))
        if kwargs.get("activity_regularizer") is not None:
            self.activity_regularizer = kwargs["activity_regularizer"]
        if kwargs.get("weights") is not None:
            _engine.set_initial_weights(self._core, kwargs["weights"])
        if dynamic:
            self.__dict__["_dynamic"] = True

    def _attach(self, inner, name, trainable, dtype, shape):
        """Makes the engine's counterpart of an object of a class that Python writes."""
        name = new_name(self) if name is None else _checked_name(name)
        if dtype is not None:
            dtype = policy_name(dtype)
        self.__dict__["_core"] = _engine.python_layer(self, inner, name, trainable, dtype, shape, self._is_model)

    def _start(self, config):
        """Makes the engine's layer of a class that the engine has, or of one that comes from it."""
        config = dict(config)
        weights = config.pop("weights", None)
        config = self._for_engine(config)
        core = _engine.make("layer", self._engine_name, config)
        if type(self).__dict__.get("_engine_name") is not None and weights is None:
            self._become(core)
        else:
            self._attach(core, core.name, config.get("trainable", True), config.get("dtype"),
                         config.get("batch_input_shape"))
        if weights is not None:
            _engine.set_initial_weights(self._core, weights)

    def _for_engine(self, config):
        """The arguments of a constructor as the engine takes them: one spelling of the shape, and nothing it ignores."""
        own = {p.name for p in self._parameters}
        batch_size = None if "batch_size" in own else config.pop("batch_size", None)
        for ignored in ("autocast", "dynamic"):
            config.pop(ignored, None)
        for name in self._integers:
            if name in config and not isinstance(config[name], int):
                config[name] = int(config[name])
        for name, only in self._fixed.items():
            if config.pop(name, only[0]) not in only:
                raise ValueError(f"{type(self).__name__} of this library has no {name} but {only[0]}.")
        shape = config.pop("batch_input_shape", None)
        if "input_dim" in config and "input_dim" not in own:
            shape = (batch_size, config.pop("input_dim"))
        if "input_length" in config and "input_length" not in own:
            config.pop("input_length")
        if "input_shape" in config and "batch_input_shape" not in own:
            given = config.pop("input_shape")
            if given is not None:
                shape = (batch_size,) + tuple(given)
        if shape is not None:
            config["batch_input_shape"] = tuple(shape)
        for key in config:
            if key not in own and key not in ("name", "trainable", "dtype", "batch_input_shape"):
                raise TypeError(f"('Keyword argument not understood:', '{key}')")
        if config.get("dtype") is not None:
            config["dtype"] = policy_name(config["dtype"])
        if config.get("name") is not None:
            _checked_name(config["name"])
        else:
            config.pop("name", None)
            if self._engine_name != type(self).__name__:
                config["name"] = new_name(self)
        return config

    def __setattr__(self, name, value):
        if name in ("trainable", "built") and "_core" in self.__dict__:
            _engine.layer_set(self._core, name, bool(value))
            return
        if name in self._options and "_core" in self.__dict__ and _engine.set_member(self._core, name, value):
            return
        if self._set_weight(name, value):
            return
        before = self.__dict__.get(name)
        object.__setattr__(self, name, value)
        if "_core" not in self.__dict__ or name not in self.__dict__:
            return
        if isinstance(before, VariableBase) and before is not value:
            self._forget(before, value if isinstance(value, VariableBase) else None)
        if isinstance(value, VariableBase):
            _engine.track(self._core, value)

    def __delattr__(self, name):
        before = self.__dict__.get(name)
        object.__delattr__(self, name)
        if isinstance(before, VariableBase) and "_core" in self.__dict__:
            self._forget(before, None)

    def _set_weight(self, name, value):
        """Puts a variable, or what is computed, in the place of a weight of the engine's layer; False where it has none of
        this name."""
        core, known = self.__dict__.get("_core"), getattr(type(self), name, None)
        if core is None or self._engine_name is None or isinstance(known, property) or not (
                value is None or isinstance(value, (VariableBase, Tensor, np.ndarray, int, float))):
            return False
        if not _engine.set_weight(core, name, value):
            return False
        self.__dict__.pop(name, None)
        if not isinstance(value, VariableBase):
            self.__dict__[name] = value  # what the program put there is what it finds
        return True

    def _forget(self, variable, other):
        """A variable that is no attribute any more is no weight, and another has its place."""
        if not any(held is variable for held in self.__dict__.values()):
            _engine.untrack(self._core, variable, other)

    @property
    def name(self):
        return _engine.layer_get(self._core, "name")

    @property
    def _name(self):
        return self.name

    @_name.setter
    def _name(self, value):
        _engine.layer_set(self._core, "name", value)

    @property
    def built(self):
        return _engine.layer_get(self._core, "built")

    @property
    def trainable(self):
        return _engine.layer_get(self._core, "trainable")

    @property
    def dtype(self):
        return _engine.layer_get(self._core, "dtype")

    variable_dtype = dtype

    @property
    def compute_dtype(self):
        return _engine.layer_get(self._core, "compute_dtype")

    @property
    def dtype_policy(self):
        return Policy(_engine.layer_get(self._core, "policy"))

    @property
    def _batch_input_shape(self):
        """The shape that it was told its inputs have, batch included."""
        shape = _engine.layer_config(self._core).get("batch_input_shape")
        if shape is None:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '_batch_input_shape'")
        return shape

    @property
    def dynamic(self):
        """Whether it, or a layer in it, can only be run eagerly."""
        return self.__dict__.get("_dynamic", False) or any(layer.dynamic for layer in _engine.layers(self._core))

    @property
    def stateful(self):
        """Whether it keeps states from batch to batch; of a model, whether one of its layers does."""
        if "_stateful" in self.__dict__ or not self._is_model:
            return self.__dict__.get("_stateful", False)
        return any(layer.stateful for layer in _engine.layers(self._core))

    @stateful.setter
    def stateful(self, value):
        self.__dict__["_stateful"] = value

    @property
    def supports_masking(self):
        return self.__dict__.get("_supports_masking", False) or _engine.layer_get(self._core, "supports_masking")

    @supports_masking.setter
    def supports_masking(self, value):
        self.__dict__["_supports_masking"] = bool(value)

    @property
    def activity_regularizer(self):
        """What is added to the losses for each output."""
        if "_activity_regularizer" in self.__dict__:
            return self._activity_regularizer
        return _engine.member(self._core, "activity_regularizer") if "activity_regularizer" in self._options else None

    @activity_regularizer.setter
    def activity_regularizer(self, value):
        from thalweg.keras import regularizers
        value = regularizers.get(value)
        if not _engine.set_member(self._core, "activity_regularizer", value):
            _engine.layer_set(self._core, "activity_regularizer", value)
            self.__dict__["_activity_regularizer"] = value

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            for option in _WEIGHT_OPTIONS.get(name, ()):
                if option in self._options and self.built and not _engine.member(self._core, option):
                    return None  # a weight that the layer was told to do without
            raise

    def __call__(self, *args, **kwargs):
        if "_core" not in self.__dict__:
            raise RuntimeError("It looks like you are subclassing `Model` and you forgot to call `super().__init__()`. "
                               "Always start with this line.")
        if args:
            if len(args) > 1 and not self._overrides["call"] and self._call_names:
                return _engine.call(self._core, args[0], (), self._name_arguments(args[1:], kwargs))
            return _engine.call(self._core, args[0], args[1:], kwargs)
        for first in (self._overrides["first"], "inputs", "query", "x"):
            if first in kwargs:
                return _engine.call(self._core, kwargs.pop(first), (), kwargs)
        raise ValueError("The first argument to `Layer.call` must always be passed.")

    def _name_arguments(self, args, kwargs):
        """All arguments after the inputs by name; the errors are Python's."""
        if len(args) > len(self._call_names):
            raise TypeError(f"{type(self).__name__}.call() takes from 2 to {len(self._call_names) + 2} positional arguments "
                            f"but {len(args) + 2} were given")
        for name in self._call_names[:len(args)]:
            if name in kwargs:
                raise TypeError(f"{type(self).__name__}.call() got multiple values for argument '{name}'")
        return {**dict(zip(self._call_names, args)), **kwargs}

    @of_engine
    def call(self, inputs, *args, **kwargs):
        if args and self._call_names:
            args, kwargs = (), self._name_arguments(args, kwargs)
        return _engine.call_inner(self._core, inputs, args, kwargs)

    @of_engine
    def build(self, input_shape):
        _engine.build(self._core, input_shape)

    @of_engine
    def compute_mask(self, inputs, mask=None):
        if not self._is_model and not self.supports_masking and any(one is not None for one in flatten(mask)):
            raise TypeError(f"Layer {self.name} does not support masking, but was passed an input_mask: {mask}")
        return _engine.compute_mask(self._core, inputs, mask)

    @of_engine
    def compute_output_shape(self, input_shape):
        return _engine.compute_output_shape(self._core, input_shape)

    @of_engine
    def reset_states(self):
        _engine.reset_states(self._core)

    @of_engine
    def get_config(self):
        """What makes another one like it. A class of a program that does not write it is made with the same arguments."""
        if "_core_arguments" not in self.__dict__:
            return _engine.layer_config(self._core)
        taken = inspect.signature(type(self).__init__).parameters
        common = {} if self._is_model else _engine.layer_config(self._core)
        return {**{key: value for key, value in common.items() if key in taken or "kwargs" in taken}, **self._core_arguments}

    @classmethod
    def from_config(cls, config):
        return cls(**config)

    def get_build_config(self):
        """What it was built for, or None."""
        return _engine.build_config(self._core)

    def build_from_config(self, config):
        if config.get("input_shape") is not None:
            self.build(config["input_shape"])

    def finalize_state(self):
        """Nothing: layers that learn from data, batch by batch, do so here."""

    def save_own_variables(self, store):
        """Puts the values of its weights into a dict under their numbers."""
        for i, weight in enumerate(self.weights):
            store[str(i)] = weight.numpy()

    def load_own_variables(self, store):
        """Takes the values of its weights from such a dict."""
        if len(store) != len(self.weights):
            raise ValueError(f"Layer '{self.name}' expected {len(self.weights)} variables, but received {len(store)} "
                             f"variables during loading. Expected: {[weight.name for weight in self.weights]}")
        self.set_weights([store[str(i)] for i in range(len(store))])

    def _copy(self):
        """Another one like it, with new weights."""
        return type(self).from_config(self.get_config())

    def _has_own_parts(self):
        """Whether all it holds are attributes here: a class of a program that comes from none of the engine's."""
        return self._engine_name is None and not self._is_model and "_core" in self.__dict__

    def __copy__(self):
        """Another object with the same weights."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        return made

    def __deepcopy__(self, memo):
        if self._has_own_parts():
            made = memo[id(self)] = type(self).__new__(type(self))
            made._take_parts(self._own_parts(), lambda part: copy.deepcopy(part, memo))
            return made
        made = memo[id(self)] = self._copy()
        if self.built and not made.built:
            made.build_from_config(self.get_build_config() or {})
        made.set_weights(self.get_weights())
        return made

    def __reduce__(self):
        if self._has_own_parts():
            return _restore_parts, (type(self),), self._own_parts()
        return _restore, (type(self), self.get_config(), self.get_build_config() if self.built else None,
                          self.get_weights())

    def __setstate__(self, parts):
        self._take_parts(parts, lambda part: part)

    def _own_parts(self):
        attributes = {name: value for name, value in self.__dict__.items()
                      if not name.startswith("_core") or name == "_core_arguments"}
        held = {id(value) for value in attributes.values()}
        others = [weight for weight in _engine.own_weights(self._core) if id(weight) not in held]
        return {"name": self.name, "trainable": self.trainable, "dtype": self.dtype_policy.name, "built": self.built,
                "attributes": attributes, "weights": others}

    def _take_parts(self, parts, take):
        self._attach(None, parts["name"], parts["trainable"], parts["dtype"], None)
        for weight in parts["weights"]:
            _engine.track_own(self._core, take(weight))
        for name, value in parts["attributes"].items():
            value = take(value)
            self.__dict__[name] = value
            if isinstance(value, VariableBase):
                _engine.track(self._core, value)
        self.built = parts["built"]

    @property
    def input_spec(self):
        """What it demands of its inputs: an InputSpec, a list of them, or None."""
        if "_input_spec" in self.__dict__:
            return self._input_spec
        specs, is_list = _engine.input_specs(self._core)
        made = [InputSpec(**spec) for spec in specs]
        return (made if is_list else made[0]) if made else None

    @input_spec.setter
    def input_spec(self, value):
        for spec in flatten(value):
            if spec is not None and not isinstance(spec, InputSpec):
                raise TypeError(f"Layer input_spec must be an instance of InputSpec. Got: {spec}")
        _engine.set_input_specs(self._core, [InputSpec() if spec is None else spec
                                             for spec in ([] if value is None else flatten(value))])
        self.__dict__["_input_spec"] = value

    @property
    def name_scope(self):
        """The tf.name_scope of its name."""
        return name_scope(self.name)

    def compute_output_signature(self, input_signature):
        """The TensorSpecs of its outputs for inputs of these."""
        shapes = self.compute_output_shape(map_structure(lambda spec: spec.shape, input_signature))
        return map_structure(lambda shape: TensorSpec(shape, self.compute_dtype), shapes)

    def __repr__(self):
        return f"<{type(self).__module__}.{type(self).__qualname__} object at {hex(id(self))}>"


def _restore_parts(cls):
    return cls.__new__(cls)


def _restore(cls, config, built_for, weights):
    """The way back from what a layer of the engine is written as."""
    made = cls.from_config(config)
    if built_for is not None and not made.built:
        made.build_from_config(built_for)
    if made.built:
        made.set_weights(weights)
    return made


def _checked_name(name):
    if not isinstance(name, str):
        raise TypeError(f"Expected `name` argument to be a string, but got: {name}")
    return name


Layer._overrides = overrides_of(Layer)

"""Models: layers that can be trained."""

import sys
import warnings

from thalweg._thalweg import VariableBase
from thalweg.keras.bridge.objects import CustomObjectScope, _engine, new_name as _new_name
from thalweg.keras.bridge.overrides import of_engine as _of_engine
from thalweg.keras.layer.base import Layer
from thalweg.keras.layer.nodes import shapes_of
from thalweg.keras.model import old_names as _old_names, steps as _steps, stored as _stored, training as _training
from thalweg.ops.module import Module


def _is_functional_call(args, kwargs):
    return len(args) in (2, 3) or (len(args) == 1 and "outputs" in kwargs) or ("inputs" in kwargs and "outputs" in kwargs)


class Model(_training.Training, _stored.Stored, _old_names.OldNames, Layer):
    """A layer that can be trained: of tensors that begin with `Input`, or a class with `call`."""

    _is_model = True
    history = None

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if cls._computes():
            cls._overrides["train_step"] = cls._overrides["test_step"] = True
        for kind in _steps.KINDS:
            cls._overrides[f"{kind}_step"] |= _steps.makes_function(cls, kind)

    @_of_engine
    def __init__(self, *args, **kwargs):
        if _is_functional_call(args, kwargs):
            inputs = args[0] if args else kwargs.pop("inputs")
            outputs = args[1] if len(args) >= 2 else kwargs.pop("outputs")
            name = args[2] if len(args) == 3 else kwargs.pop("name", None)
            trainable = kwargs.pop("trainable", True)
            for key in kwargs:
                raise TypeError(f"('Keyword argument not understood:', '{key}')")
            self._start_functional(inputs, outputs, name, trainable)
            return
        if args and isinstance(args[0], Model):
            args = ()  # super().__init__(self), as old programs write
        name = kwargs.pop("name", args[0] if args and isinstance(args[0], str) else None)
        super().__init__(name=name, **kwargs)

    def _start_functional(self, inputs, outputs, name, trainable):
        core = _engine.functional(inputs, outputs, name or "")
        if type(self) is Model:
            self.__class__ = Functional
            self._become(core)
        else:
            self._attach(core, name, trainable, None, None)
        if not trainable:
            self.trainable = False

    def __setattr__(self, name, value):
        if name == "stop_training":
            _engine.stop_training(self._core, bool(value))
            return
        if name == "optimizer":
            self.__dict__["_own_optimizer"] = value
            return
        if "_core" not in self.__dict__ and _is_tracked(value):
            raise RuntimeError("It looks like you are subclassing `Model` and you forgot to call `super().__init__()`. "
                               "Always start with this line.")
        super().__setattr__(name, value)

    @property
    def stop_training(self):
        return _engine.is_stopping(self._core)

    @property
    def layers(self):
        return _engine.layers(self._core)

    def get_layer(self, name=None, index=None):
        if index is not None and name is not None:
            raise ValueError(f"Provide only a layer name or a layer index. Received: index={index}, name={name}.")
        layers = self.layers
        if index is not None:
            if len(layers) <= index:
                raise ValueError(f"Was asked to retrieve layer at index {index} but model only has {len(layers)} layers.")
            return layers[index]
        if name is None:
            raise ValueError("Provide either a layer name or layer index at `get_layer`.")
        for layer in layers:
            if layer.name == name:
                return layer
        raise ValueError(f"No such layer: {name}. Existing layers are: {[layer.name for layer in layers]}.")

    @property
    def inputs(self):
        return _as_list(self._ends()[0])

    @property
    def outputs(self):
        return _as_list(self._ends()[1])

    @property
    def input_names(self):
        return _engine.input_names(self._core)

    @property
    def output_names(self):
        return _engine.output_names(self._core)

    @property
    def input(self):
        found = self._ends()[0]
        return super().input if found is None else found

    @property
    def output(self):
        found = self._ends()[1]
        return super().output if found is None else found

    @property
    def input_shape(self):
        found = self._ends()[0]
        return super().input_shape if found is None else shapes_of(found)

    @property
    def output_shape(self):
        found = self._ends()[1]
        return super().output_shape if found is None else shapes_of(found)

    def _check_weights(self):
        if not self.built and ("build" in type(self).__dict__ or type(self) is Sequential):
            raise ValueError(f"Weights for model '{self.name}' have not yet been created. Weights are created when the "
                             "model is first called on inputs or `build()` is called with an `input_shape`.")

    @property
    def weights(self):
        self._check_weights()
        return super().weights

    @property
    def trainable_weights(self):
        self._check_weights()
        return super().trainable_weights

    @property
    def non_trainable_weights(self):
        self._check_weights()
        return super().non_trainable_weights

    @property
    def state_updates(self):
        """Nothing: updates are made where `call` makes them."""
        warnings.warn("`Model.state_updates` will be removed in a future version. This property should not be used in "
                      "TensorFlow 2.0, as `updates` are applied automatically.", stacklevel=2)
        return []

    def finalize_state(self):
        """Nothing: layers have what they need once they are built."""

    def count_params(self):
        if not self.built:
            raise ValueError(f"You tried to call `count_params` on layer {self.name}, but the layer isn't built. You can "
                             f"build it manually via: `{self.name}.build(batch_input_shape)`.")
        return super().count_params()

    def _copy(self):
        return clone_model(self)

    def _ends(self):
        """What its layers lie between; None and None where they are not known."""
        return _engine.model_inputs(self._core), _engine.model_outputs(self._core)

    def add_loss(self, losses, **kwargs):
        """Adds to what is minimised: numbers made in `call`, or from the tensors of a functional model."""
        for loss in losses if isinstance(losses, (list, tuple)) else [losses]:
            if _engine.history(loss) is not None:
                _engine.model_add_loss(self._core, loss)
            else:
                super().add_loss(loss, **kwargs)

    def add_metric(self, value, name=None, **kwargs):
        """Counts the mean of a value made in `call`, or from the tensors of a functional model."""
        if _engine.history(value) is not None:
            _engine.include(self._core, _AddMetric(name, name="add_metric")(value))
        else:
            super().add_metric(value, name=name, **kwargs)

    def summary(self, line_length=None, positions=None, print_fn=None, expand_nested=False, show_trainable=False,
                layer_range=None):
        """Prints its layers."""
        text = _engine.summary(self._core, {"line_length": line_length, "positions": positions,
                                            "expand_nested": expand_nested, "show_trainable": show_trainable,
                                            "layer_range": layer_range})
        for line in text.splitlines():
            (print_fn or _print)(line)

    @classmethod
    def from_config(cls, config, custom_objects=None):
        if cls in (Model, Functional) or "layers" in config and "input_layers" in config:
            with CustomObjectScope(custom_objects or {}):
                return _wrap_model(_engine.from_config("Functional", config))
        return cls(**config)


def _print(line):
    sys.stdout.write(line + "\n")


class _AddMetric(Layer):
    def __init__(self, metric_name, name):
        super().__init__(name=_engine.unique_name(name))
        self._metric_name = metric_name

    def call(self, value):
        self.add_metric(value, name=self._metric_name)
        return value


_AddMetric.__name__ = "AddMetric"  # as summaries show it


class Functional(Model):
    """A model of tensors that begin with `Input`."""

    _engine_name = "Functional"

    def __init__(self, inputs, outputs, name=None, trainable=True):
        self._start_functional(inputs, outputs, name, trainable)


class ModuleWrapper(Layer):
    """A tf.Module as a layer: its `__call__`, or another method."""

    def __init__(self, module, method_name=None, **kwargs):
        super().__init__(**kwargs)
        self._method_name = method_name or ("__call__" if callable(module) else "call")
        if not hasattr(module, self._method_name):
            raise ValueError(f"{self._method_name} is not defined on object {module}")
        self._module = module

    def call(self, *args, **kwargs):
        return getattr(self._module, self._method_name)(*args, **kwargs)


class Sequential(Model):
    """Layers one after the other."""

    _engine_name = "Sequential"

    def __init__(self, layers=None, name=None):
        core = _engine.sequential(name or ("" if type(self) is Sequential else _new_name(self)))
        self.__dict__["_sequence"] = core
        if type(self) is Sequential:
            self._become(core)
        else:
            self._attach(core, core.name, True, None, None)
        for layer in layers if isinstance(layers, (list, tuple)) else [] if layers is None else [layers]:
            self.add(layer)

    def add(self, layer):
        if isinstance(layer, Module) and not isinstance(layer, Layer):
            layer = ModuleWrapper(layer)
        if not isinstance(layer, Layer):
            history = _engine.history(layer)
            if history is None:
                raise TypeError(f"The added layer must be an instance of class Layer. Received: layer={layer} of type "
                                f"{type(layer)}.")
            layer = history[0]
        _engine.sequential_add(self.__dict__.get("_sequence", self._core), layer)

    def pop(self):
        _engine.sequential_pop(self.__dict__.get("_sequence", self._core))

    @classmethod
    def from_config(cls, config, custom_objects=None):
        from thalweg.keras import layers as layers_module
        if "layers" not in config:
            return cls(**config)
        model = cls(name=config.get("name"))
        with CustomObjectScope(custom_objects or {}):
            for layer in config["layers"]:
                model.add(layers_module.deserialize(layer))
        return model


def _is_tracked(value):
    """A layer, a variable, or nothing but those."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return len(value) > 0 and all(_is_tracked(item) for item in value)
    return isinstance(value, (Layer, VariableBase))


def _wrap_model(core):
    made = Functional.__new__(Functional)
    made._become(core)
    return made


def _as_list(tensors):
    if tensors is None:
        return None
    if isinstance(tensors, dict):
        return [tensors[key] for key in sorted(tensors)]
    return list(tensors) if isinstance(tensors, (list, tuple)) else [tensors]


from thalweg.keras.model.clone import clone_model  # noqa: E402 (it needs the classes above)
from thalweg.keras.model.stored import model_from_config, model_from_json, model_from_yaml  # noqa: E402

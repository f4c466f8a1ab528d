"""Layers."""

from thalweg.keras._input import Input
from thalweg.keras._layer import Layer
from thalweg.keras._objects import _engine, find_custom, make_classes, register_kind

_classes = make_classes("layer", Layer, __name__)
for _name in ("Functional", "Model", "Sequential"):
    _classes.pop(_name, None)
globals().update(_classes)


class RNN(_classes["RNN"]):
    """A recurrent layer over any cell, or over several, one on top of the other."""

    _engine_name = "RNN"

    def __init__(self, cell, *args, **kwargs):
        if isinstance(cell, (list, tuple)):
            cell = _classes["StackedRNNCells"](list(cell))
        super().__init__(cell, *args, **kwargs)


_classes["RNN"] = RNN


def _adapt(self, data, batch_size=None, steps=None):
    """Learns from data, all of it at once, what the layer does to its inputs."""
    _engine.adapt(self._core, data)


for _name in ("Discretization", "Normalization"):
    _classes[_name].adapt = _adapt
_classes["Discretization"].bin_boundaries = property(lambda self: _engine.bin_boundaries(self._core))


def _get_initial_state(self, inputs=None, batch_size=None, dtype=None):
    """The states that a sequence begins with: zeros for a batch of this size, or of the inputs'."""
    states = _engine.initial_state(self._core, inputs, batch_size, dtype)
    return states[0] if type(self)._has_bare_state else states


for _name in ("SimpleRNNCell", "GRUCell", "LSTMCell", "StackedRNNCells"):
    _classes[_name].get_initial_state = _get_initial_state
    _classes[_name]._has_bare_state = _name in ("SimpleRNNCell", "GRUCell")


def _merge(name):
    def merge(inputs, **kwargs):
        return _classes[name](**kwargs)(inputs)

    merge.__name__ = merge.__qualname__ = name.lower()
    merge.__doc__ = f"The result of the layer {name} for these inputs."
    return merge


for _name in ("Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum", "Concatenate"):
    globals()[_name.lower()] = _merge(_name)


def dot(inputs, axes, normalize=False, **kwargs):
    """The result of the layer Dot for two inputs."""
    return _classes["Dot"](axes=axes, normalize=normalize, **kwargs)(inputs)


def _default(name, core):
    """Objects of classes that have no Python class of their own: models, and ops on the tensors of models."""
    from thalweg.keras import models
    cls = {"Functional": models.Functional, "Sequential": models.Sequential}.get(name)
    if cls is None:
        cls = _classes[name] = type(name, (Layer,), {"_engine_name": name, "__module__": __name__})
    made = cls.__new__(cls)
    made.__dict__["_core"] = core
    return made


register_kind("layer", _classes, _default)


def serialize(layer):
    return {"class_name": type(layer).__name__, "config": layer.get_config()}


def deserialize(config, custom_objects=None):
    """A layer from its configuration."""
    from thalweg.keras import models
    name = config["class_name"]
    custom = find_custom(config.get("registered_name") or name, custom_objects) or find_custom(name, custom_objects)
    if custom is not None:
        return custom.from_config(config["config"])
    if name in ("Sequential", "Functional", "Model"):
        cls = models.Sequential if name == "Sequential" else models.Functional
        return cls.from_config(config["config"], custom_objects)
    if name not in _classes:
        raise ValueError(f"Unknown layer: '{name}'. Please ensure you are using a `keras.utils.custom_object_scope` and "
                         "that this object is included in the scope.")
    return _classes[name].from_config(config["config"])

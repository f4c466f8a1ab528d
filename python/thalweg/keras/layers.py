"""Layers."""

import itertools as _itertools
import types as _types

import numpy as _np

from thalweg._thalweg import Tensor as _Tensor
from thalweg.core.shapes import TensorShape as _TensorShape
from thalweg.keras.bridge import objects as _objects
from thalweg.keras.bridge.objects import _engine
from thalweg.keras.bridge.overrides import of_engine as _of_engine
from thalweg.keras.layer.base import Layer
from thalweg.keras.layer.input_spec import InputSpec
from thalweg.keras.layer.lambda_layer import Lambda
from thalweg.keras.layer.recurrent import AbstractRNNCell, PlainCell as _PlainCell, checked_cell as _checked_cell
from thalweg.keras.layer.wrapper import Wrapper
from thalweg.keras.model.input import Input
from thalweg.nest import flatten as _flatten, pack_sequence_as as _pack_sequence_as

# Arguments that Keras takes by name alone: those of every layer, and some of a few.
_COMMON = {"input_shape", "name", "dtype", "trainable"}
_OF_CONVOLUTIONS = {"groups", "kernel_initializer", "kernel_regularizer", "kernel_constraint"}
_BY_NAME = {
    "AdditiveAttention": {"dropout"}, "Attention": {"dropout"},
    "BatchNormalization": {"renorm", "renorm_clipping", "renorm_momentum", "fused", "virtual_batch_size", "adjustment"},
    "Conv1DTranspose": {"groups"},
    "Conv2DTranspose": {"groups"}, "Conv3DTranspose": {"groups"}, "ConvLSTM1D": {"unroll", "time_major"},
    "ConvLSTM2D": {"unroll", "time_major"}, "ConvLSTM3D": {"unroll", "time_major"}, "DepthwiseConv1D": {"groups"},
    "DepthwiseConv2D": {"groups"}, "GRU": {"implementation", "zero_output_for_mask"}, "GRUCell": {"implementation"},
    "GlobalAveragePooling1D": {"keepdims"}, "LSTM": {"implementation", "zero_output_for_mask"},
    "LSTMCell": {"implementation"}, "MultiHeadAttention": {"query_shape", "key_shape", "value_shape"},
    "SeparableConv1D": _OF_CONVOLUTIONS, "SeparableConv2D": _OF_CONVOLUTIONS,
    "SimpleRNN": {"time_major", "zero_output_for_mask"}, "SpatialDropout1D": {"noise_shape", "seed", "data_format"},
    "SpatialDropout2D": {"noise_shape", "seed"}, "SpatialDropout3D": {"noise_shape", "seed"},
    "StackedRNNCells": {"reverse_state_order"},
}


def _is_by_name(name, parameter):
    return name != "InputLayer" and parameter in _COMMON or parameter in _BY_NAME.get(name, ())


_classes = _objects.make_classes("layer", Layer, __name__, _is_by_name)
for _name in ("Functional", "Lambda", "Model", "Sequential"):
    _classes.pop(_name, None)


def _flatten_shapes(shapes):
    return [one for shape in shapes for one in (_flatten_shapes(shape) if isinstance(shape, (list, tuple)) else [shape])]


class RNN(_classes["RNN"]):
    """A recurrent layer over any cell, or over several, one on top of the other."""

    _engine_name = "RNN"

    def __init__(self, cell, return_sequences=False, return_state=False, go_backwards=False, stateful=False, unroll=False,
                 time_major=False, **kwargs):
        if isinstance(cell, (list, tuple)):
            cell = _classes["StackedRNNCells"]([_checked_cell(one, "RNN", True) for one in cell])
        cell = _checked_cell(cell, "RNN", False)
        super().__init__(cell, return_sequences=return_sequences, return_state=return_state, go_backwards=go_backwards,
                         stateful=stateful, unroll=unroll, time_major=time_major, **kwargs)

    @property
    def cell(self):
        """What computes one step."""
        cell = _engine.member(self._core, "cell")
        return cell._core_cell if isinstance(cell, _PlainCell) else cell

    def __call__(self, *args, **kwargs):
        result = super().__call__(*args, **kwargs)
        sizes = getattr(self.cell, "state_size", None)
        if not self.return_state or isinstance(self.cell, _classes["StackedRNNCells"]) or not isinstance(
                sizes, (list, tuple)) or not any(isinstance(size, (list, tuple)) for size in sizes):
            return result
        return [result[0], *_pack_sequence_as(sizes, result[1:])]

    @_of_engine
    def compute_output_shape(self, input_shape):
        """That of the output, and of each state in one list where they are returned."""
        shapes = super().compute_output_shape(input_shape)
        if not self.return_state:
            return shapes
        return _flatten_shapes(shapes)

    @classmethod
    def from_config(cls, config, custom_objects=None):
        with _objects.CustomObjectScope(custom_objects or {}):
            return cls(deserialize(config["cell"]), **{key: value for key, value in config.items() if key != "cell"})


def _own_classes(layer):
    """The classes of a recurrent layer and of its cells, by name, as far as they are a program's own."""
    cell = getattr(layer, "cell", None)
    classes = {type(one).__name__: type(one) for one in (layer, cell, *getattr(cell, "cells", ()))}
    return {name: cls for name, cls in classes.items() if issubclass(cls, Layer) and _classes.get(name) is not cls}


class Bidirectional(_classes["Bidirectional"]):
    """A recurrent layer and another like it that goes backwards, with their outputs merged."""

    _engine_name = "Bidirectional"

    def __init__(self, layer, merge_mode="concat", weights=None, backward_layer=None, **kwargs):
        with _objects.CustomObjectScope(_own_classes(layer) | _own_classes(backward_layer)):  # copies are made of both
            super().__init__(layer, merge_mode=merge_mode, weights=weights, backward_layer=backward_layer, **kwargs)

    return_sequences = property(lambda self: self.forward_layer.return_sequences)
    return_state = property(lambda self: self.forward_layer.return_state)
    stateful = property(lambda self: self.forward_layer.stateful)


class InputLayer(_classes["InputLayer"]):
    """What a model begins with."""

    _engine_name = "InputLayer"

    def __init__(self, input_shape=None, batch_size=None, dtype=None, input_tensor=None, sparse=None, name=None, ragged=None,
                 type_spec=None, **kwargs):
        like = input_tensor if input_tensor is not None else type_spec
        if like is not None:
            kwargs["batch_input_shape"], dtype = tuple(like.shape), like.dtype
        given = {"input_shape": input_shape, "batch_size": batch_size, "dtype": dtype, "sparse": sparse, "name": name,
                 "ragged": ragged}
        super().__init__(**{key: value for key, value in given.items() if value is not None}, **kwargs)
        if _engine.layer_config(self._core)["batch_input_shape"] is not None:
            self.__dict__["_core_tensor"] = _engine.input_of(self._core)  # which its call lives as long as


def _add_argument(name, place, argument, only):
    """An argument of Keras's that has its place and can be no other than these here; the first is the default."""
    cls = _classes[name]
    cls._fixed = {argument: only}
    cls._parameters = (*cls._parameters[:place], _objects.Parameter(argument, False, only[0]), *cls._parameters[place:])
    cls.__init__.__signature__ = _objects.signature_of(cls._parameters)


_classes["Dense"]._integers = ("units",)
_add_argument("Embedding", 8, "sparse", (False,))
_classes |= {"RNN": RNN, "Bidirectional": Bidirectional, "InputLayer": InputLayer}
# What isinstance says of Keras's classes.
for _base, _derived in ((Wrapper, ("Bidirectional", "SpectralNormalization", "TimeDistributed")),
                        (RNN, ("ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D", "GRU", "LSTM", "SimpleRNN")),
                        (_classes["Conv1D"], ("Conv1DTranspose",)), (_classes["Conv2D"], ("Conv2DTranspose",)),
                        (_classes["Conv3D"], ("Conv3DTranspose",)),
                        (_classes["Dropout"], ("SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D"))):
    for _name in _derived:
        _base.register(_classes[_name])
for _name, _class in _classes.items():
    for _rank in (1, 2, 3):
        if "Conv" in _name and f"{_rank}D" in _name:
            _class.rank = _rank
    _class._options = frozenset(p.name for p in _class._parameters) - _COMMON
globals().update({name: cls for name, cls in _classes.items()
                  if name not in ("AddLoss", "ConvLSTMCell", "SlicingOpLambda", "TFOpLambda")})


# What `call` takes after the inputs, by position as in Keras.
_OF_SEQUENCES = ("mask", "training", "initial_state")
_OF_CELLS = ("states", "training")
_OF_ATTENTION = ("mask", "training", "return_attention_scores", "use_causal_mask")
_CALL_NAMES = {
    "AdditiveAttention": _OF_ATTENTION, "Attention": _OF_ATTENTION, "BatchNormalization": ("training", "mask"),
    "Bidirectional": ("training", "mask", "initial_state", "constants"), "CategoryEncoding": ("count_weights",),
    "ConvLSTM1D": _OF_SEQUENCES, "ConvLSTM2D": _OF_SEQUENCES, "ConvLSTM3D": _OF_SEQUENCES, "GRU": _OF_SEQUENCES,
    "GRUCell": _OF_CELLS, "GlobalAveragePooling1D": ("mask",), "GroupNormalization": ("mask",), "LSTM": _OF_SEQUENCES,
    "LSTMCell": _OF_CELLS,
    "MultiHeadAttention": ("value", "key", "attention_mask", "return_attention_scores", "training", "use_causal_mask"),
    "RNN": (*_OF_SEQUENCES, "constants"), "SimpleRNN": _OF_SEQUENCES, "SimpleRNNCell": _OF_CELLS, "Softmax": ("mask",),
    "StackedRNNCells": ("states", "constants", "training"), "TimeDistributed": ("training", "mask"),
}
for _name in ("AlphaDropout", "Dropout", "GaussianDropout", "GaussianNoise", "SpatialDropout1D", "SpatialDropout2D",
              "SpatialDropout3D", "SpectralNormalization"):
    _CALL_NAMES[_name] = ("training",)
for _name, _names in _CALL_NAMES.items():
    _classes[_name]._call_names = _names


def _adapt(self, data, batch_size=None, steps=None):
    """Learns from data, an array or a dataset of batches, what the layer does to its inputs."""
    self.reset_state()
    if isinstance(data, (_np.ndarray, list, tuple, _Tensor)):
        data = [data]
    for batch in _itertools.islice(data, steps):
        self.update_state(batch)
    self.finalize_state()


def _update_state(self, data):
    """Takes in a batch, which counts when `finalize_state` is called."""
    self.__dict__.setdefault("_core_batches", []).append(_np.asarray(data))


def _reset_state(self):
    """Forgets what it learnt from data."""
    self.__dict__["_core_batches"] = []


def _finalize_state(self):
    """Learns from all batches that it took in."""
    batches = self.__dict__.get("_core_batches")
    if batches:
        _engine.adapt(self._core, batches[0] if len(batches) == 1 else _np.concatenate(batches))


for _name in ("Discretization", "Normalization"):
    _classes[_name].adapt = _adapt
    _classes[_name].update_state = _update_state
    _classes[_name].reset_state = _reset_state
    _classes[_name].finalize_state = _finalize_state
for _place, _name in enumerate(("mean", "variance")):
    setattr(_classes["Normalization"], _name, property(lambda self, place=_place: _engine.moments(self._core)[place]))
    setattr(_classes["Normalization"], f"adapt_{_name}", property(lambda self, name=_name: _engine.member(self._core, name)))
_classes["Discretization"].bin_boundaries = property(lambda self: _engine.bin_boundaries(self._core))


def _get_initial_state(self, inputs=None, batch_size=None, dtype=None):
    """The states that a sequence begins with: zeros for a batch of this size, or of the inputs'."""
    if inputs is None and (batch_size is None or dtype is None):
        raise ValueError("batch_size and dtype cannot be None while constructing initial state. Received: "
                         f"batch_size={batch_size}, dtype={dtype}")
    states = _engine.initial_state(self._core, inputs, batch_size, dtype)
    return states[0] if type(self)._has_bare_state else states


for _name in ("SimpleRNNCell", "GRUCell", "LSTMCell", "StackedRNNCells"):
    _classes[_name].get_initial_state = _of_engine(_get_initial_state)
    _classes[_name]._has_bare_state = _name in ("SimpleRNNCell", "GRUCell")


def _call_cell(self, *args, **kwargs):
    """One step: the output and the states after it, one that is given as it is, not in a list, likewise."""
    states = kwargs["states"] if "states" in kwargs else args[1] if len(args) > 1 else None
    output = Layer.__call__(self, *args, **kwargs)
    is_bare = isinstance(states, _Tensor) and isinstance(output, (list, tuple)) and isinstance(output[1], list)
    return (output[0], output[1][0]) if is_bare else output


for _name in ("SimpleRNNCell", "GRUCell"):
    _classes[_name].__call__ = _call_cell


def _size(shape):
    return shape[0] if shape.rank == 1 else shape


def _compute_attention_shape(self, query_shape, value_shape=None, key_shape=None):
    """The shape of its output for queries, values and keys of these."""
    given = [shape for shape in (query_shape, value_shape, key_shape) if shape is not None]
    return _engine.compute_output_shape(self._core, given if len(given) > 1 else query_shape)


_classes["MultiHeadAttention"].compute_output_shape = _of_engine(_compute_attention_shape)


def _state_size(self):
    """The size of its state, or those of several in a list."""
    if type(self).__name__ == "StackedRNNCells":
        return tuple(cell.state_size for cell in self.cells)
    sizes = [_size(shape) for shape in _engine.state_sizes(self._core)]
    return sizes[0] if type(self)._has_bare_state else sizes


for _name in ("SimpleRNNCell", "GRUCell", "LSTMCell", "StackedRNNCells"):
    _classes[_name].state_size = property(_state_size)
    _classes[_name].output_size = property(lambda self: _size(_engine.output_size(self._core)))


def _states(self):
    """The states that a stateful layer has kept; None for each where there are none yet."""
    cell = _engine.member(self._core, "cell")
    return _engine.kept_states(self._core) or [None] * len(_engine.state_sizes(cell._core))


def _reset_states(self, states=None):
    """Forgets the states, or goes on with these."""
    if not self.stateful:
        raise AttributeError("Layer must be stateful.")
    if states is None:
        return _engine.reset_states(self._core)
    kept, given = _engine.kept_states(self._core), list(states) if isinstance(states, (list, tuple)) else [states]
    if len(given) != len(kept):
        raise ValueError(f"Layer {self.name} expects {len(kept)} states, but it received {len(given)} state values. "
                         f"States received: {states}")
    for variable, value in zip(kept, given):
        variable.assign(value)


for _name in ("ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D", "GRU", "LSTM", "RNN", "SimpleRNN"):
    _classes[_name].states = property(_states)
    _classes[_name].reset_states = _of_engine(_reset_states)
    _classes[_name].stateful = property(lambda self: _engine.member(self._core, "stateful"))


def _get_initial_state_for(self, inputs):
    """The states that these sequences begin with, in a list."""
    return _engine.initial_state(_engine.member(self._core, "cell")._core, inputs, None, None)


def _state_spec(self):
    """What it demands of the states it begins with."""
    return [InputSpec(shape=(None, *_TensorShape(size).as_list())) for size in _flatten(self.cell.state_size)]


for _name in ("RNN", "GRU", "LSTM", "SimpleRNN"):
    _classes[_name].get_initial_state = _of_engine(_get_initial_state_for)
    _classes[_name].state_spec = property(_state_spec)


def _merge(name):
    def merge(inputs, **kwargs):
        return _classes[name](**kwargs)(inputs)

    merge.__name__ = merge.__qualname__ = name.lower()
    merge.__doc__ = f"The result of the layer {name} for these inputs."
    return merge


for _name in ("Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum"):
    globals()[_name.lower()] = _merge(_name)


def concatenate(inputs, axis=-1, **kwargs):
    """The result of the layer Concatenate for these inputs."""
    return _classes["Concatenate"](axis=axis, **kwargs)(inputs)


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


def _of_op(cls, config):
    """A layer that an op on the tensors of models became, from its configuration."""
    made = cls.__new__(cls)
    made._become(_engine.from_config(cls._engine_name, config))
    return made


for _name in ("SlicingOpLambda", "TFOpLambda"):
    _classes[_name].from_config = classmethod(_of_op)


_objects.register_kind("layer", _classes, _default)


def serialize(layer, use_legacy_format=False):
    """The class and the configuration of a layer."""
    if use_legacy_format or not isinstance(layer, Layer):
        return {"class_name": type(layer).__name__, "config": layer.get_config()}
    return _objects.serialize("layer", layer)


def deserialize(config, custom_objects=None, use_legacy_format=False):
    """A layer from its configuration."""
    from thalweg.keras import models
    name = config["class_name"]
    registered = config.get("registered_name") or name
    custom = _objects.find_custom(registered, custom_objects) or _objects.find_custom(name, custom_objects)
    if custom is not None:
        return custom.from_config(config["config"])
    if name in ("Sequential", "Functional", "Model"):
        cls = models.Sequential if name == "Sequential" else models.Functional
        return cls.from_config(config["config"], custom_objects)
    if name not in _classes:
        raise ValueError(f"Unknown layer: '{name}'. Please ensure you are using a `keras.utils.custom_object_scope` and "
                         "that this object is included in the scope.")
    return _classes[name].from_config(config["config"])


_PREPROCESSING = ("CategoryEncoding", "CenterCrop", "Discretization", "HashedCrossing", "Hashing", "Normalization",
                  "Rescaling", "Resizing")
# Where layers stood before they were found good.
experimental = _types.SimpleNamespace(
    EinsumDense=_classes["EinsumDense"],
    preprocessing=_types.SimpleNamespace(**{name: _classes[name] for name in _PREPROCESSING}))

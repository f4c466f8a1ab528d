"""The first values of weights."""

from thalweg.keras.bridge.kinds import FunctionKind as _FunctionKind, fill as _fill
from thalweg.keras.bridge.objects import _engine
from thalweg.keras.bridge.settings import floatx


class Initializer(_FunctionKind):
    """The base of initializers. A class of a program writes `__call__(shape, dtype=None)`."""

    _kind = "initializer"

    def __call__(self, shape, dtype=None, **kwargs):
        if self._engine_name is None:
            raise NotImplementedError("Must be implemented in subclasses.")
        for key in kwargs:
            if key not in ("partition_shape", "partition_offset", "layout"):
                raise TypeError(f"Unknown keyword arguments: {list(kwargs)}. Allowed keyword arguments: "
                                "['partition_shape', 'partition_offset', 'layout'].")
        offset = kwargs.get("partition_offset")
        if offset is not None and self._engine_name in ("Orthogonal", "Identity"):
            raise ValueError(f"{type(self).__name__} initializer doesn't support partition-related arguments.")
        part = None if offset is None else hash(offset) if offset else 0
        return _engine.initialize(self._core, kwargs.get("partition_shape") or shape, dtype or floatx(), part)


_classes = _fill(globals(), Initializer)

# Those that are a VarianceScaling of their own: its scale, mode and distribution.
for _name, _scaling in {
        "GlorotUniform": (1.0, "fan_avg", "uniform"), "GlorotNormal": (1.0, "fan_avg", "truncated_normal"),
        "HeUniform": (2.0, "fan_in", "uniform"), "HeNormal": (2.0, "fan_in", "truncated_normal"),
        "LecunUniform": (1.0, "fan_in", "uniform"), "LecunNormal": (1.0, "fan_in", "truncated_normal")}.items():
    _classes[_name].scale, _classes[_name].mode, _classes[_name].distribution = _scaling
globals().update({_engine.to_snake_case(name): made for name, made in _classes.items() if name in globals()})

"""What weights become after each step of training."""

from thalweg.keras.bridge.kinds import FunctionKind as _FunctionKind, fill as _fill
from thalweg.keras.bridge.objects import _engine


class Constraint(_FunctionKind):
    """The base of constraints. A class of a program writes `__call__(w)`."""

    _kind = "constraint"

    def __call__(self, w):
        return w if self._engine_name is None else super().__call__(w)


_classes = _fill(globals(), Constraint)
globals().update({_engine.to_snake_case(name): made for name, made in _classes.items() if name in globals()})

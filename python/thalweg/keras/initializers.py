"""The first values of weights."""

from thalweg.keras._kinds import FunctionKind, fill
from thalweg.keras._objects import _engine


class Initializer(FunctionKind):
    """The base of initializers. A class of a program writes `__call__(shape, dtype=None)`."""

    _kind = "initializer"

    def __call__(self, shape, dtype=None, **kwargs):
        if self._engine_name is None:
            raise NotImplementedError("Must be implemented in subclasses.")
        return _engine.initialize(self._core, shape, dtype)


_classes = fill(globals(), Initializer)
globals().update({_engine.to_snake_case(name): made for name, made in _classes.items()})

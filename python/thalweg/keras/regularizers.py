"""Penalties on the values of weights."""

import math as _math

from thalweg.keras.bridge.kinds import FunctionKind as _FunctionKind, fill as _fill


class Regularizer(_FunctionKind):
    """The base of regularizers. A class of a program writes `__call__(x)`."""

    _kind = "regularizer"


    def __call__(self, x):
        return 0.0 if self._engine_name is None else super().__call__(x)


_classes = _fill(globals(), Regularizer)
orthogonal_regularizer = _classes["OrthogonalRegularizer"]


class L1(_classes["L1"]):
    """The sum of absolute values, times a factor."""

    def __init__(self, l1=0.01, **kwargs):
        super().__init__(_factor(l1, kwargs))


class L2(_classes["L2"]):
    """The sum of squares, times a factor."""

    def __init__(self, l2=0.01, **kwargs):
        super().__init__(_factor(l2, kwargs))


def _factor(given, others):
    """Older programs call it `l`."""
    given = others.pop("l", given)
    if others:
        raise TypeError(f"Argument(s) not recognized: {others}")
    if given is not None and not (isinstance(given, (int, float)) and _math.isfinite(given)):
        raise ValueError(f"Value {given} is not a valid regularization penalty number, expected an int or float value.")
    return 0.01 if given is None else given


_classes.update(L1=L1, L2=L2)
l1, l2 = L1, L2


def l1_l2(l1=0.01, l2=0.01):
    """Both; None is nothing."""
    return _classes["L1L2"](l1 or 0.0, l2 or 0.0)

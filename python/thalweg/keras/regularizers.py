"""Penalties on the values of weights."""

from thalweg.keras._kinds import FunctionKind, fill


class Regularizer(FunctionKind):
    """The base of regularizers. A class of a program writes `__call__(x)`."""

    _kind = "regularizer"


_classes = fill(globals(), Regularizer)


def l1(l1=0.01):
    """The sum of absolute values, times a factor."""
    return _classes["L1"](l1)


def l2(l2=0.01):
    """The sum of squares, times a factor."""
    return _classes["L2"](l2)


def l1_l2(l1=0.01, l2=0.01):
    """Both."""
    return _classes["L1L2"](l1, l2)

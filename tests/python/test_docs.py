"""Every name that comes from a record says what it does."""

import inspect
import types

import pytest
import thalweg as tf


def described(module):
    for name in dir(module):
        value = getattr(module, name)
        if isinstance(value, types.ModuleType) and value.__name__ == f"{module.__name__}.{name}":
            yield from described(value)
        elif type(value).__name__ in ("PublicFunction", "RawOp"):
            yield pytest.param(value, id=f"{module.__name__}.{name}")


@pytest.mark.parametrize("function", described(tf))
def test_says_what_it_does(function):
    sentence = function.__doc__.splitlines()[0]
    assert sentence.endswith((".", ":")) and not sentence.startswith("tf."), sentence
    assert "name" in inspect.signature(function).parameters

"""tf.contrib.eager, usually imported as tfe."""

import functools

from thalweg import Variable, config, convert_to_tensor, enable_eager_execution, executing_eagerly, identity, nest
from thalweg.autodiff.custom_gradient import custom_gradient
from thalweg.autodiff.tape import GradientTape


def num_gpus():
    """How many GPUs there are."""
    return len(config.list_physical_devices("GPU"))


def list_devices():
    """The names of the logical devices."""
    return [device.name for device in config.list_logical_devices()]


def _positions(f, params, num_args):
    """The positions of the arguments to differentiate by: all, or those that params names or numbers."""
    if params is None:
        return range(num_args)
    code = getattr(f, "__code__", None)
    names = code.co_varnames[:code.co_argcount] if code else ()
    return [names.index(param) if isinstance(param, str) else param for param in params]


def value_and_gradients_function(f, params=None):
    """The function that returns f's value and its gradients by the arguments, a list."""

    @functools.wraps(f)
    def decorated(*args, dy=None):
        # Two arguments that are one tensor have a gradient each.
        tensors = [identity(convert_to_tensor(arg)) for arg in args]
        sources = [tensors[i] for i in _positions(f, params, len(args))]
        with GradientTape() as tape:
            tape.watch(sources)
            value = f(*tensors)
        if value is None:
            raise ValueError("Cannot differentiate a function that returns None; did you forget to return a value from "
                             f"{f.__name__}?")
        return value, tape.gradient(value, sources, output_gradients=dy)

    return decorated


def gradients_function(f, params=None):
    """The function that returns f's gradients by the arguments, a list."""
    both = value_and_gradients_function(f, params)
    return functools.wraps(f)(lambda *args, dy=None: both(*args, dy=dy)[1])


def implicit_value_and_gradients(f):
    """The function that returns f's value and pairs of gradient and variable, of all trainable variables that f reads."""

    @functools.wraps(f)
    def decorated(*args, **kwargs):
        with GradientTape() as tape:
            value = f(*args, **kwargs)
        if value is None:
            raise ValueError("Cannot differentiate a function that returns None; did you forget to return a value from "
                             f"{f.__name__}?")
        variables = tape.watched_variables()
        if not variables:
            raise ValueError("No trainable variables were accessed while the function was being computed.")
        return value, list(zip(tape.gradient(nest.flatten(value), list(variables)), variables))

    return decorated


def implicit_gradients(f):
    """The function that returns pairs of gradient and variable, of all trainable variables that f reads."""
    both = implicit_value_and_gradients(f)
    return functools.wraps(f)(lambda *args, **kwargs: both(*args, **kwargs)[1])


def __getattr__(name):
    if name == "metrics":
        from thalweg.keras import metrics
        return metrics
    raise AttributeError(f"module 'thalweg.contrib.eager' has no attribute '{name}'")

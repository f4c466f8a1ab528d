"""Functions with a gradient of their own: tf.custom_gradient, tf.recompute_grad, tf.grad_pass_through."""

import functools

from thalweg import _thalweg, nest
from thalweg._thalweg import Tape, convert_to_tensor
from thalweg.autodiff.tape import GradientTape, UnconnectedGradients, stop_recording


def _takes_variables(grad_fn):
    import inspect  # heavy, and seldom needed

    spec = inspect.getfullargspec(grad_fn)
    return "variables" in spec.args or "variables" in spec.kwonlyargs or spec.varkw is not None


class _VariableWatcher:
    """The variables that are read inside its scope."""

    def __enter__(self):
        self._tape = Tape(False, True)
        self._tape.start()
        return self

    def __exit__(self, *error):
        self.variables = self._tape.watched_variables()
        self._tape.stop()


def _call(f, args, kwargs):
    """f's result, whose way back on the tapes that record is the function that f returns with it."""
    with _VariableWatcher() as watcher:
        result, grad_fn = f(*args, **kwargs)
    inputs = nest.flatten(args)
    given = {id(leaf) for leaf in inputs + nest.flatten(kwargs)}
    variables = [variable for variable in watcher.variables if id(variable) not in given]
    if variables and not _takes_variables(grad_fn):
        raise TypeError("@tf.custom_gradient grad_fn must accept keyword argument 'variables', since function uses "
                        f"variables: {variables}")

    def backward(*result_grads):
        if variables:
            input_grads, variable_grads = grad_fn(*result_grads, variables=variables)
            if len(variable_grads) != len(variables):
                raise ValueError("Must return gradient for each variable from @custom_gradient grad_fn.")
        else:
            input_grads, variable_grads = grad_fn(*result_grads), []
        flat = nest.flatten(input_grads)
        if len(flat) != len(inputs):
            raise ValueError(f"custom_gradient function expected to return {len(inputs)} gradients, but returned "
                             f"{len(flat)} instead.")
        return flat + list(variable_grads)

    tensors = [convert_to_tensor(leaf) for leaf in [*inputs, *variables]]
    outputs = [convert_to_tensor(leaf) for leaf in nest.flatten(result)]
    return nest.pack_sequence_as(result, _thalweg.record(tensors, outputs, backward))


def custom_gradient(f=None):
    """A function with a gradient of its own: f returns its result and the function from the gradients of the result to
    those of f's arguments. That function takes `variables=` where f reads variables, and returns their gradients too."""
    if f is None:
        return custom_gradient

    @functools.wraps(f)
    def decorated(*args, **kwargs):
        return _call(f, args, kwargs)

    return decorated


def recompute_grad(f):
    """f, of which tapes keep the arguments alone: what lies between is computed again on the way back."""

    @custom_gradient
    def inner(*args, **kwargs):
        with stop_recording():
            with _VariableWatcher() as watcher:
                result = f(*args, **kwargs)
        for variable in watcher.variables:
            variable.value()  # the tapes outside learn of it

        def grad(*result_grads, variables=None):
            return _recomputed(f, args, kwargs, result_grads, list(variables or ()))

        return result, grad

    return functools.wraps(f)(inner)


def _recomputed(f, args, kwargs, result_grads, variables):
    """The gradients of the arguments, and of the variables where there are any. Tapes outside see them computed."""
    from thalweg import identity

    with GradientTape() as tape:
        own_args = nest.map_structure(identity, args)
        tape.watch(own_args)
        tape.watch(variables)
        result = f(*own_args, **kwargs)
    input_grads, variable_grads = tape.gradient(result, (own_args, variables), output_gradients=result_grads,
                                                unconnected_gradients=UnconnectedGradients.ZERO)
    return (input_grads, variable_grads) if variables else input_grads


def grad_pass_through(f):
    """f, whose gradient is that of the identity."""

    @custom_gradient
    def inner(*args, **kwargs):
        def grad(*result_grads, variables=None):
            input_grads = result_grads[0] if len(result_grads) == 1 else result_grads
            return input_grads if variables is None else (input_grads, [None] * len(variables))

        return f(*args, **kwargs), grad

    return functools.wraps(f)(inner)

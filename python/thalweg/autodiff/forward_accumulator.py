"""tf.autodiff.ForwardAccumulator: derivatives along a direction."""

import threading

from thalweg import nest
from thalweg._thalweg import Tape, convert_to_tensor
from thalweg.autodiff.tape import GradientTape, UnconnectedGradients


class _Active(threading.local):
    """The accumulators whose scopes this thread is in, outermost first."""

    def __init__(self):
        self.accumulators = []


_active = _Active()


class _Recording:
    """A scope in which the accumulators record, also those whose own scope has ended."""

    def __init__(self, accumulators):
        self._idle = [accumulator for accumulator in accumulators if not accumulator._recording]

    def __enter__(self):
        for accumulator in self._idle:
            accumulator._tape.start()

    def __exit__(self, *error):
        for accumulator in reversed(self._idle):
            accumulator._tape.stop()


class ForwardAccumulator:
    """Derivatives of what is computed inside its scope, along the tangents of the primals.

    The gradient is linear in the gradient it starts with, so differentiating it once more with respect to that gives the
    product of the jacobian with a vector.
    """

    def __init__(self, primals, tangents):
        nest.assert_same_structure(primals, tangents, check_types=False)
        self._primals = nest.flatten(primals)
        if len({id(primal) for primal in self._primals}) != len(self._primals):
            raise ValueError("Tensor {} was specified as a primal multiple times. This may indicate an error. If it was "
                             "intended, please sum the corresponding tangents.")
        self._tangents = [convert_to_tensor(tangent, dtype=primal.dtype)
                          for primal, tangent in zip(self._primals, nest.flatten(tangents))]
        for primal, tangent in zip(self._primals, self._tangents):
            if not primal.shape.is_compatible_with(tangent.shape):
                raise ValueError(f"Tangent {tangent} was expected to be of shape {primal.shape} but is instead of shape "
                                 f"{tangent.shape}")
        self._tape = Tape(True, False)
        self._recording = False
        self._enclosing = ()
        for primal in self._primals:
            self._tape.watch(primal)

    def __enter__(self):
        if self._recording:
            raise ValueError("Accumulator is already recording.")
        self._tape.start()
        self._recording = True
        self._enclosing = tuple(_active.accumulators)
        _active.accumulators.append(self)
        return self

    def __exit__(self, *error):
        if self._recording:
            self._tape.stop()
            self._recording = False
            _active.accumulators.remove(self)

    def jvp(self, primals, unconnected_gradients=UnconnectedGradients.NONE):
        """The derivative of each tensor along the tangents; None, or zeros, where it depends on no primal."""
        zeros = UnconnectedGradients(unconnected_gradients) is UnconnectedGradients.ZERO
        with _Recording(self._enclosing):  # they see what the derivative depends on
            return nest.map_structure(lambda result: self._derivative(result, zeros), primals)

    def _derivative(self, result, zeros):
        from thalweg import ones_like, zeros_like

        with GradientTape() as along:
            start = ones_like(result)
            along.watch(start)
            found = self._tape.gradient([result], self._primals, [start], False)
            pairs = [(convert_to_tensor(gradient), tangent)
                     for gradient, tangent in zip(found, self._tangents) if gradient is not None]
        if not pairs:
            return zeros_like(result) if zeros else None
        gradients, tangents = zip(*pairs)
        return along.gradient(gradients, start, output_gradients=tangents)

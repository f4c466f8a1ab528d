"""tf.GradientTape over the engine's tape."""

import enum

from thalweg import _thalweg, nest
from thalweg._thalweg import Tape, Tensor, VariableBase, convert_to_tensor, is_tensor
from thalweg.core.logging import warn_once_here


class UnconnectedGradients(enum.Enum):
    """What the gradient of something is that the target does not depend on: None, or zeros."""

    NONE = "none"
    ZERO = "zero"


_USED = "A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)"
_INSIDE = ("Calling GradientTape.gradient on a persistent tape inside its context is significantly less efficient than "
           "calling it outside the context (it causes the gradient ops to be recorded on the tape, leading to increased "
           "CPU and memory usage). Only call GradientTape.gradient inside the context if you actually want to trace the "
           "gradient in order to compute higher order derivatives.")


def _wants_zeros(unconnected_gradients):
    if unconnected_gradients is UnconnectedGradients.NONE:
        return False
    try:
        return UnconnectedGradients(unconnected_gradients) is UnconnectedGradients.ZERO
    except ValueError:
        raise ValueError(f"Unknown value for unconnected_gradients: {unconnected_gradients!r}") from None


class _Pause:
    """The scope of stop_recording."""

    def __init__(self, tape):
        self._tape = tape

    def __enter__(self):
        if self._tape._tape is None:
            raise RuntimeError("Trying to stop recording a tape which is not recording.")
        self._tape._pop_tape()

    def __exit__(self, *error):
        self._tape._push_tape()


class GradientTape:
    """Records what is computed inside its scope, so that gradients can be taken afterwards.

    Trainable variables are watched as they are read, tensors with watch(). A tape gives its gradients once unless it is
    persistent, and belongs to the thread that opened it.
    """

    def __init__(self, persistent=False, watch_accessed_variables=True):
        self._tape = None
        self._persistent = bool(persistent)
        self._watch_accessed_variables = bool(watch_accessed_variables)
        self._used = None  # the engine's tape once it has given its gradients: it knows what it watched
        self._recording = False

    def __enter__(self):
        self._push_tape()
        return self

    def __exit__(self, *error):
        if self._recording:
            self._pop_tape()

    def _push_tape(self):
        if self._recording:
            raise ValueError(
                "Tape is still recording, This can happen if you try to re-enter an already-active tape.")
        if self._tape is None:
            self._tape = Tape(self._persistent, self._watch_accessed_variables)
        self._tape.start()
        self._recording = True

    def _pop_tape(self):
        if not self._recording:
            raise ValueError("Tape is not recording.")
        self._tape.stop()
        self._recording = False

    def watch(self, tensor):
        """Follows a tensor or variable, or all of a structure."""
        for leaf in nest.flatten(tensor):
            if not is_tensor(leaf):
                raise ValueError(f"Passed in object {leaf} of type {type(leaf).__name__!r}, not tf.Tensor or tf.Variable "
                                 "or ExtensionType.")
            if self._tape is None:
                raise AttributeError("'NoneType' object has no attribute '_tape'")
            self._tape.watch(leaf)

    def stop_recording(self):
        """A scope inside which nothing is recorded on this tape."""
        return _Pause(self)

    def reset(self):
        """Forgets everything, as if the scope had just been entered."""
        self._pop_tape()
        self._tape = None
        self._push_tape()

    def watched_variables(self):
        """The variables that it watches, in the order in which they were first read."""
        tape = self._tape or self._used
        return () if tape is None else tape.watched_variables()

    def _begin_use(self):
        """The engine's tape for one set of gradients."""
        if self._tape is None:
            raise RuntimeError(_USED)
        if self._recording and not self._persistent:
            self._pop_tape()
        return self._tape

    def _end_use(self, tape):
        if not self._persistent:
            self._tape, self._used = None, tape

    def gradient(self, target, sources, output_gradients=None, unconnected_gradients=UnconnectedGradients.NONE):
        """The gradients of the target, or of the sum of several, in the structure of the sources.

        None stands where the target does not depend on a source, or zeros where unconnected_gradients says so. The
        gradient of a lookup is a tf.IndexedSlices.
        """
        tape = self._begin_use()
        if self._recording:
            warn_once_here(_INSIDE)
        if target is None:
            raise TypeError("Argument `target` should be a list or nested structure of Tensors, Variables or "
                            "CompositeTensors to be differentiated, but received None.")
        zeros = _wants_zeros(unconnected_gradients)
        if output_gradients is not None:
            output_gradients = [given if given is None else convert_to_tensor(given)
                                for given in nest.flatten(output_gradients)]
        targets = [target] if isinstance(target, Tensor) else nest.flatten(target)
        if isinstance(sources, (Tensor, VariableBase)):
            found = tape.gradient(targets, [sources], output_gradients, zeros)[0]
        else:
            found = tape.gradient(targets, nest.flatten(sources), output_gradients, zeros)
            if type(sources) is not list or any(map(nest.is_nested, sources)):
                found = nest.pack_sequence_as(sources, found)
        self._end_use(tape)
        return found

    def _require_persistent(self, vectorized, what):
        if not vectorized and not self._persistent:
            raise RuntimeError(f"GradientTape must be created with persistent=True to compute the {what} "
                               "experimental_use_pfor set to False.")

    def jacobian(self, target, sources, unconnected_gradients=UnconnectedGradients.NONE, parallel_iterations=None,
                 experimental_use_pfor=True):
        """d target / d source, every element by every element, in the structure of the sources.

        parallel_iterations and experimental_use_pfor make no difference to the result.
        """
        if self._tape is None:
            raise RuntimeError(_USED)
        self._require_persistent(experimental_use_pfor, "jacobian with eager execution enabled and with ")
        zeros = _wants_zeros(unconnected_gradients)
        tape = self._begin_use()
        found = tape.jacobian(target, nest.flatten(sources), zeros)
        self._end_use(tape)
        return nest.pack_sequence_as(sources, found)

    def batch_jacobian(self, target, source, unconnected_gradients=UnconnectedGradients.NONE, parallel_iterations=None,
                       experimental_use_pfor=True):
        """The jacobian of each example by itself: target[i] depends on source[i] alone."""
        if self._tape is None:
            raise RuntimeError(_USED)
        target.shape.with_rank_at_least(2)
        source.shape.with_rank_at_least(2)
        if target.shape[0] != source.shape[0]:
            raise ValueError(f"Need first dimension of target shape ({target.shape}) and source shape ({source.shape}) to "
                             "match.")
        self._require_persistent(experimental_use_pfor, "batch_jacobian with eager execution enabled and  with")
        tape = self._begin_use()
        # What does not depend on the source has a jacobian of zeros here, whatever is said of the unconnected.
        found = tape.batch_jacobian(target, source, True)
        self._end_use(tape)
        return found


class AggregationMethod:
    """How tf.gradients adds gradients up; here always in the one way that the engine has."""

    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


def gradients(ys, xs, grad_ys=None, name="gradients", gate_gradients=False, aggregation_method=None, stop_gradients=None,
              unconnected_gradients=UnconnectedGradients.NONE):
    """The gradients of the sum of ys with respect to each of xs, inside of a tf.function: they are read off its graph.

    Tensors in stop_gradients count as constants. None stands where the ys do not depend on an x, or zeros where
    unconnected_gradients says so.
    """
    ys = nest.flatten(ys)
    grad_ys = [] if grad_ys is None else nest.flatten(grad_ys)
    if grad_ys and len(grad_ys) != len(ys):
        raise ValueError(f"Argument `grad_ys` has {len(grad_ys)} gradients for {len(ys)} `ys`.")
    return _thalweg.gradients(ys, nest.flatten(xs), grad_ys, nest.flatten(stop_gradients or []),
                              _wants_zeros(unconnected_gradients))


class stop_recording:
    """A scope inside which the tapes that are open in this thread do not record."""

    def __enter__(self):
        self._paused = _thalweg.pause_tapes()

    def __exit__(self, *error):
        _thalweg.resume_tapes(self._paused)

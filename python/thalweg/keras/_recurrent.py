"""Cells of recurrent layers that programs write."""

from thalweg.keras._layer import Layer
from thalweg.keras._objects import _engine
from thalweg.keras._overrides import of_engine


class AbstractRNNCell(Layer):
    """The base of such cells. A class of a program writes `call(inputs, states)`, which gives the output and the next
    states, and the properties `state_size` and `output_size`."""

    def call(self, inputs, states):
        raise NotImplementedError

    @property
    def state_size(self):
        """The size of the state, or those of several in a list."""
        raise NotImplementedError

    @property
    def output_size(self):
        raise NotImplementedError

    @of_engine
    def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
        """Zeros for a batch of this size, or of the inputs'."""
        states = _engine.initial_state(self._core, inputs, batch_size, dtype)
        return states if isinstance(self.state_size, (list, tuple)) else states[0]

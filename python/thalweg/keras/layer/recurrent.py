"""Cells of recurrent layers that programs write."""

from thalweg.keras.bridge.objects import _engine
from thalweg.keras.bridge.overrides import of_engine
from thalweg.keras.layer.base import Layer


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


class PlainCell(Layer):
    """A cell of a program that is no layer: an object with `call` and `state_size`."""

    def __init__(self, cell, **kwargs):
        super().__init__(**kwargs)
        self.__dict__["_core_cell"] = cell  # under a name that is not searched for layers

    state_size = property(lambda self: self._core_cell.state_size)

    @property
    def output_size(self):
        if not hasattr(self._core_cell, "output_size"):
            raise NotImplementedError  # that of the state
        return self._core_cell.output_size

    def build(self, input_shape):
        if hasattr(self._core_cell, "build"):
            self._core_cell.build(input_shape)
        self.built = True

    def call(self, inputs, states):
        cell = self._core_cell
        return (cell if callable(cell) else cell.call)(inputs, states)

    def get_config(self):
        return self._core_cell.get_config() if hasattr(self._core_cell, "get_config") else {}


def checked_cell(cell, what, plural):
    """A cell as a layer; ValueError in Keras's words where it cannot be one."""
    if not hasattr(cell, "call"):
        raise ValueError(f"All cells must have a `call` method. Received cell without a `call` method: {cell}" if plural else
                         f"Argument `cell` should have a `call` method. The {what} was passed: cell={cell}")
    if not hasattr(cell, "state_size"):
        raise ValueError(f"All cells must have a `state_size` attribute. Received cell without a `state_size`: {cell}"
                         if plural else "The RNN cell should have a `state_size` attribute (tuple of integers, one integer per "
                         f"RNN state). Received: cell={cell}")
    return cell if isinstance(cell, Layer) else PlainCell(cell)

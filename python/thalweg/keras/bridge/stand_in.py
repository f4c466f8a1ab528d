"""Objects that have the methods of a model, for callbacks of the engine."""

import contextlib

from thalweg.keras.models import Model
from thalweg.ops.variable import Variable


class StandIn(Model):
    """A model that has the weights of an object, and tells it what a callback does."""

    @contextlib.contextmanager
    def seen_as(self, thing):
        self.kept = [Variable(value) for value in (thing.get_weights() if hasattr(thing, "get_weights") else [])]
        self.stop_training = False
        before = [variable.numpy() for variable in self.kept]
        yield self._core
        if self.stop_training:
            thing.stop_training = True
        after = [variable.numpy() for variable in self.kept]
        if any((one != other).any() for one, other in zip(before, after)):
            thing.set_weights(after)

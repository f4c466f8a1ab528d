"""What fit, evaluate and predict take: arrays, or anything that gives batches."""

import math
import operator
import random

import numpy as np

from thalweg import _thalweg
from thalweg.data import Dataset
from thalweg.keras.bridge.settings import floatx
from thalweg.keras.model.steps import pack, unpack


def arrays(data):
    """Lists of numbers as arrays, pandas' frames as their values, real numbers in the dtype of Keras; structures stay."""
    if isinstance(data, np.ndarray):
        return data.astype(floatx(), copy=False) if issubclass(data.dtype.type, np.floating) else data
    if data is None or isinstance(data, _thalweg.Tensor):
        return data
    if isinstance(data, dict):
        return {key: arrays(item) for key, item in data.items()}
    if isinstance(data, (list, tuple)):
        if any(hasattr(item, "shape") or isinstance(item, (dict, list, tuple)) and _has_arrays(item) for item in data):
            return type(data)(arrays(item) for item in data) if type(data) in (list, tuple) else list(data)
        return arrays(np.asarray(data))
    if hasattr(data, "to_numpy"):
        return arrays(data.to_numpy())
    return data


def _has_arrays(data):
    if isinstance(data, dict):
        return any(_has_arrays(item) for item in data.values())
    if isinstance(data, (list, tuple)):
        return any(_has_arrays(item) for item in data)
    return hasattr(data, "shape")


def is_batches(data):
    """Whether this gives batches by itself: a generator, a Sequence of keras.utils, a dataset."""
    if data is None or isinstance(data, (np.ndarray, _thalweg.Tensor, dict, list, tuple)) or hasattr(data, "to_numpy"):
        return False
    return hasattr(data, "__next__") or hasattr(data, "__iter__") or hasattr(data, "__getitem__")


def describe(data):
    """What Keras calls it."""
    from thalweg.keras.utils import Sequence
    if isinstance(data, Dataset):
        return "dataset"
    return "`keras.utils.Sequence`" if isinstance(data, Sequence) else "python generator"


def check(x, y=None, sample_weight=None, validation_split=0.0):
    """Refuses what batches have in themselves, and data that is missing."""
    if not is_batches(x):
        if x is None and y is not None:
            raise ValueError(f"Failed to find data adapter that can handle input: {type(x)}, {type(y)}")
        if getattr(x, "shape", (None,))[:1] == (0,):
            raise ValueError("Expected input data to be non-empty.")
        return
    for name, given in (("y", y), ("sample_weight", sample_weight)):
        if given is not None:
            raise ValueError(f"`{name}` argument is not supported when using {describe(x)} as input.")
    if validation_split:
        raise ValueError("`validation_split` is only supported for Tensors or NumPy arrays, found following types in "
                         f"the input: [{type(x)}]")


def check_class_weight(class_weight):
    """Weights are numbers by class; the engine checks which classes."""
    if class_weight and not all(isinstance(key, (int, float, np.number)) and not isinstance(weight, (dict, list))
                                for key, weight in class_weight.items()):
        raise ValueError("Expected `class_weight` to be a dict with keys from 0 to one less than the number of classes, "
                         f"found {class_weight}")


def whole(name, value):
    """A number of epochs or examples."""
    try:
        return None if value is None else operator.index(value)
    except TypeError:
        raise TypeError(f"`{name}` must be a whole number. Got: {value!r}") from None


def steps(value):
    """A number of steps: a part of one counts as one, as `len(x) / batch_size` often gives."""
    return None if value is None else math.ceil(value)


class Batches:
    """A source of batches that is gone through once for each epoch; `finish` follows the last.

    One that is asked for batches by number begins anew in every epoch, even where `steps` are fewer than it has.
    """

    def __init__(self, source, steps=None, shuffle=False):
        self._source, self._limit, self._shuffle, self._runs = source, None, shuffle, False
        self._by_number = hasattr(source, "__getitem__") and not hasattr(source, "__next__")
        if isinstance(source, Dataset):  # the engine goes through it by itself
            self.start, self.steps = source._stage, -1
            return
        try:
            self.steps = len(source)
        except TypeError:
            self.steps = -1
        if self._by_number and steps is not None and 0 < steps < self.steps:
            self._limit = self.steps = steps

    def start(self, epoch):
        self.finish()
        self._runs = True
        if self._by_number:
            order = list(range(len(self._source)))
            if self._shuffle:
                random.shuffle(order)
            batches = (self._source[i] for i in order[:self._limit])
        else:
            batches = self._source if hasattr(self._source, "__next__") else iter(self._source)
        return (self._prepare(batch) for batch in batches)

    def finish(self):
        """After an epoch."""
        if self._runs and self._by_number and hasattr(self._source, "on_epoch_end"):
            self._source.on_epoch_end()
        self._runs = False

    def _prepare(self, batch):
        parts = tuple(arrays(part) for part in unpack(batch))
        return pack(*parts)


def validation(data, batch_size, steps, sources):
    """The options of fit for validation data; a source of batches is added to `sources`."""
    if is_batches(data):
        batches = Batches(data, steps)
        sources.append(batches)
        return {"validation_start": batches.start, "validation_length": batches.steps}
    if not isinstance(data, tuple):
        data = tuple(data) if isinstance(data, list) else (data,)
    return {"validation_data": tuple(arrays(part) for part in data if part is not None),
            "validation_batch_size": batch_size}

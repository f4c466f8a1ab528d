"""What fit, evaluate and predict take: arrays, or anything that gives batches."""

import numpy as np

from thalweg import _thalweg
from thalweg.data import Dataset


def arrays(data):
    """Lists of numbers as arrays, pandas' frames as their values; structures stay."""
    if data is None or isinstance(data, (np.ndarray, _thalweg.Tensor)):
        return data
    if isinstance(data, dict):
        return {key: arrays(item) for key, item in data.items()}
    if isinstance(data, (list, tuple)):
        if any(hasattr(item, "shape") or isinstance(item, (dict, list, tuple)) and _has_arrays(item) for item in data):
            return type(data)(arrays(item) for item in data) if type(data) in (list, tuple) else list(data)
        return np.asarray(data)
    if hasattr(data, "to_numpy"):
        return data.to_numpy()
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
    if hasattr(data, "__next__"):
        return "a generator or `keras.utils.Sequence`"
    return "a dataset"


class Batches:
    """A source of batches that is gone through once for each epoch."""

    def __init__(self, source):
        self._source = source
        if isinstance(source, Dataset):  # the engine goes through it by itself
            self.start, self.steps = source._stage, -1
            return
        try:
            self.steps = len(source)
        except TypeError:
            self.steps = -1

    def start(self, epoch):
        source = self._source
        if epoch and hasattr(source, "on_epoch_end") and hasattr(source, "__getitem__"):
            source.on_epoch_end()
        if hasattr(source, "__next__"):
            batches = source
        elif hasattr(source, "__iter__") and not hasattr(source, "__getitem__"):
            batches = iter(source)
        else:
            batches = (source[i] for i in range(len(source)))
        return (self._prepare(batch) for batch in batches)

    def _prepare(self, batch):
        if isinstance(batch, list):
            batch = tuple(batch)
        if not isinstance(batch, tuple):
            batch = (batch,)
        return tuple(arrays(part) for part in batch)


def validation(data, batch_size):
    """The options of fit for validation data."""
    if is_batches(data):
        batches = Batches(data)
        return {"validation_start": batches.start, "validation_length": batches.steps}
    if not isinstance(data, tuple):
        data = tuple(data) if isinstance(data, list) else (data,)
    return {"validation_data": tuple(arrays(part) for part in data if part is not None),
            "validation_batch_size": batch_size}

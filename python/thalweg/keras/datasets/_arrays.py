"""What the engine loads, as NumPy arrays."""

import numpy as np


def arrays(data):
    """Tensors as arrays."""
    return tuple((x.numpy(), y.numpy()) for x, y in data)


def sequences(data):
    """Lists of different lengths as arrays of objects."""
    return tuple((np.array(x, dtype="object"), y.numpy()) for x, y in data)


def renamed(num_words, others):
    """The number of words under its old name; a TypeError for names that there never were."""
    if "nb_words" in others:
        num_words = others.pop("nb_words")
    if others:
        raise TypeError(f"Unrecognized keyword arguments: {others}")
    return num_words

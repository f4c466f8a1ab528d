"""Helpers for data, files and progress.

Arrays are NumPy's here and follow its rules, so what works on them is written with NumPy; the rest calls the engine.
"""

import os
import random

import numpy as np

from thalweg._thalweg import keras_utils
from thalweg.core import logging as _logging
from thalweg.keras.model.steps import pack as pack_x_y_sample_weight, unpack as unpack_x_y_sample_weight


def _labels(y, num_classes):
    """Labels in one row, the shape without a last dimension of one, and the number of classes."""
    y = np.array(y, dtype="int")
    shape = y.shape[:-1] if y.ndim > 1 and y.shape[-1] == 1 else y.shape
    y = y.ravel()
    return y, shape, num_classes or y.max() + 1


def to_categorical(y, num_classes=None, dtype="float32"):
    """Rows with a one at each label and zeros elsewhere: labels [..., 1] or [...] become [..., num_classes]."""
    y, shape, num_classes = _labels(y, num_classes)
    rows = np.zeros((len(y), num_classes), dtype)
    rows[range(len(y)), y] = 1
    return rows.reshape(*shape, num_classes)


def to_ordinal(y, num_classes=None, dtype="float32"):
    """Rows with as many ones as the label says: labels become [..., num_classes - 1]."""
    y, shape, num_classes = _labels(y, num_classes)
    rows = np.arange(num_classes - 1) < y[:, np.newaxis]
    return rows.astype(dtype).reshape(*shape, num_classes - 1)


def normalize(x, axis=-1, order=2):
    """x divided by its norm of this order along an axis, where that is not zero."""
    size = np.atleast_1d(np.linalg.norm(x, order, axis))
    return x / np.expand_dims(np.where(size == 0, size.dtype.type(1), size), axis)


def _kept(length, maxlen, where, option):
    """The part of `length` that a row of `maxlen` has, at its front or its back."""
    if where == "post":
        return slice(0, min(length, maxlen))
    if where == "pre":
        return slice(max(length - maxlen, 0), length)
    raise ValueError(f'{option} must be "pre" or "post". Received: {where!r}')


def pad_sequences(sequences, maxlen=None, dtype="int32", padding="pre", truncating="pre", value=0.0):
    """Sequences of different lengths as one array [sequences, maxlen, ...], cut and filled with `value`."""
    if not hasattr(sequences, "__len__"):
        raise ValueError(f"`sequences` must be a list of sequences. Received: {sequences!r}")
    for sequence in sequences:
        if not hasattr(sequence, "__len__"):
            raise ValueError(f"`sequences` must be a list of sequences. Found among them: {sequence!r}")
    if isinstance(value, str) and dtype != object and not np.issubdtype(dtype, np.str_):
        raise ValueError(f"`value` is a str, which dtype {dtype} cannot hold; set dtype=object for strings.")
    if maxlen is None:
        maxlen = max(map(len, sequences))
    sample = next((np.asarray(sequence).shape[1:] for sequence in sequences if len(sequence)), ())
    padded = np.full((len(sequences), maxlen) + sample, value, dtype)
    for position, (row, sequence) in enumerate(zip(padded, sequences)):
        if not len(sequence):
            continue
        part = np.asarray(sequence[_kept(len(sequence), maxlen, truncating, "truncating")], dtype)
        if part.shape[1:] != sample:
            raise ValueError(f"Samples of the sequence at position {position} have shape {part.shape[1:]}, "
                             f"those before it {sample}")
        row[_kept(maxlen, len(part), padding, "padding")] = part
    return padded


def set_random_seed(seed):
    """Seeds everything that draws: Python's random, NumPy and the engine."""
    if not isinstance(seed, int):
        raise ValueError("Expected `seed` argument to be an integer. "
                         f"Received: seed={seed} (of type {type(seed)})")
    random.seed(seed)
    np.random.seed(seed)
    keras_utils.set_random_seed(seed)


def get_file(fname=None, origin=None, untar=False, md5_hash=None, file_hash=None, cache_subdir="datasets",
             hash_algorithm="auto", extract=False, archive_format="auto", cache_dir=None):
    """The path of a file in Keras's cache, which is copied there from `origin`, a path or a file:// address, when it is
    missing or has another hash. Nothing is downloaded: for other origins the error says where to put the file."""
    if origin is None:
        raise ValueError("`origin`, a path or an address, must be given.")
    if isinstance(archive_format, (list, tuple)):
        archive_format = "auto" if len(archive_format) > 1 else next(iter(archive_format), None)
    return keras_utils.get_file(os.fspath(fname or ""), os.fspath(origin), bool(untar), md5_hash or "", file_hash or "",
                                os.fspath(cache_subdir), hash_algorithm, bool(extract), archive_format or "",
                                os.path.expanduser(cache_dir or ""))


class Progbar:
    """Shows steps, time and averaged values on sys.stdout.

    Args:
      target: the number of steps, None when it is not known.
      width: the bar's, in characters.
      verbose: 0 silent, 1 a bar that is drawn again and again, 2 a line at the end.
      interval: seconds between two drawings.
      stateful_metrics: names of values that are shown as they are; others are averaged over the steps.
      unit_name: what a step is called.
    """

    def __init__(self, target, width=30, verbose=1, interval=0.05, stateful_metrics=None, unit_name="step"):
        self.width = width
        self.verbose = verbose
        self.interval = interval
        self.unit_name = unit_name
        self.stateful_metrics = set(stateful_metrics or ())
        self._bar = keras_utils.Progbar(target, width, verbose, interval, list(self.stateful_metrics), unit_name)

    @property
    def target(self):
        """The number of steps, None while it is not known."""
        return self._bar.target

    @target.setter
    def target(self, target):
        self._bar.target = target

    def update(self, current, values=None, finalize=None):
        """Shows that `current` steps are done; `values` are pairs of names and values of the last step."""
        values = [(name, float(np.mean(value))) for name, value in values or ()]
        text = self._bar.render(int(current), values, finalize)
        if text:
            _logging.write(text)

    def add(self, n, values=None):
        """The same, `n` steps further."""
        self.update(self._bar.seen_so_far + n, values)


class Sequence:
    """The base of data that is asked for batches by number: write `__len__` and `__getitem__`."""

    def __getitem__(self, index):
        raise NotImplementedError

    def __len__(self):
        raise NotImplementedError

    def on_epoch_end(self):
        """After each epoch, to shuffle."""

    def __iter__(self):
        for i in range(len(self)):
            yield self[i]


def plot_model(model, to_file="model.png", show_shapes=False, show_dtype=False, show_layer_names=True, rankdir="TB",
               expand_nested=False, dpi=96, layer_range=None, show_layer_activations=False, show_trainable=False):
    """Writes a picture of a model, and the text that Graphviz draws it from beside it."""
    return _engine_keras().plot_model(model._core, {
        "to_file": to_file, "show_shapes": show_shapes, "show_dtype": show_dtype, "show_layer_names": show_layer_names,
        "rankdir": rankdir, "expand_nested": expand_nested, "dpi": dpi, "layer_range": layer_range,
        "show_layer_activations": show_layer_activations, "show_trainable": show_trainable}, True)


def model_to_dot(model, show_shapes=False, show_dtype=False, show_layer_names=True, rankdir="TB", expand_nested=False,
                 dpi=96, subgraph=False, layer_range=None, show_layer_activations=False, show_trainable=False):
    """The text that Graphviz draws a model from."""
    return _engine_keras().plot_model(model._core, {
        "show_shapes": show_shapes, "show_dtype": show_dtype, "show_layer_names": show_layer_names, "rankdir": rankdir,
        "expand_nested": expand_nested, "dpi": dpi, "layer_range": layer_range,
        "show_layer_activations": show_layer_activations, "show_trainable": show_trainable}, False)


def _engine_keras():
    from thalweg import _thalweg
    return _thalweg.keras


def enable_interactive_logging():
    """Progress is shown on sys.stdout."""
    _logging.set_interactive(True)


def disable_interactive_logging():
    """Progress is told to the logger "tensorflow"."""
    _logging.set_interactive(False)


def is_interactive_logging_enabled():
    return _logging.is_interactive()


_REGISTERED = ("CustomObjectScope", "custom_object_scope", "get_custom_objects")
_SERIALIZED = ("register_keras_serializable", "get_registered_name", "get_registered_object", "serialize_keras_object",
               "deserialize_keras_object")


def __getattr__(name):
    # Names of configurations live beside the objects that are made from them.
    from thalweg.keras.bridge import objects as _objects
    from thalweg.keras.bridge import registered as _registered
    if name in _REGISTERED:
        return getattr(_objects, name)
    if name in _SERIALIZED:
        return getattr(_registered, name)
    raise AttributeError(f"module 'thalweg.keras.utils' has no attribute '{name}'")

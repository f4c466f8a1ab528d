"""tf.print: TensorFlow's text of tensors, and of the lists and dictionaries around them."""

import logging
import os
import pprint
import sys

from thalweg import _thalweg
from thalweg._thalweg import Tensor, VariableBase

_engine = _thalweg.functions()
_print_op = _thalweg.raw_ops()["PrintV2"]
_LEVELS = {logging.INFO: "log(info)", logging.WARNING: "log(warning)", logging.ERROR: "log(error)"}


def _replace(value, replacement):
    """The structure with every tensor in it replaced, in the order in which pprint shows it: plain dictionaries by
    their sorted keys."""
    if isinstance(value, VariableBase):
        value = value.value()
    if isinstance(value, Tensor):
        return replacement(value)
    if isinstance(value, dict):
        keys = list(value)
        if type(value) is dict:
            try:
                keys = sorted(keys)
            except TypeError:
                pass
        replaced = {key: _replace(value[key], replacement) for key in keys}
        return replaced if type(value) is dict else type(value)(replaced.items())
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_replace(item, replacement) for item in value))
    if isinstance(value, (list, tuple)):
        return type(value)(_replace(item, replacement) for item in value)
    return value


def _placeholder(inputs):
    """A text that stands for a tensor and is found nowhere else in what is printed."""
    text = " ".join(pprint.pformat(_replace(value, lambda tensor: "")) for value in inputs)
    placeholder = "{}"
    while placeholder in text:
        placeholder += "0"
    return placeholder


def _text(inputs, summarize, sep):
    placeholder, tensors, templates = _placeholder(inputs), [], []

    def hold(tensor):
        tensors.append(tensor)
        return placeholder

    for value in inputs:
        held = _replace(value, hold)
        templates.append(held if isinstance(value, str) else pprint.pformat(held))
    template = sep.join(templates).replace(f"'{placeholder}'", placeholder)
    return _engine["strings.format"](template, tensors, placeholder, summarize)


def _write(stream, text):
    if isinstance(stream, str):
        with open(stream.removeprefix("file://"), "ab") as file:
            file.write(text)
    elif isinstance(stream, int):
        logging.getLogger("thalweg").log(stream, "%s", text.decode("utf-8", "replace"))
    elif hasattr(stream, "buffer"):
        stream.flush()  # what was written as text comes first
        stream.buffer.write(text)
        stream.flush()
    else:
        stream.write(text.decode("utf-8", "replace"))


def print(*inputs, output_stream=None, summarize=3, sep=" ", end=os.linesep, name=None,
          **unknown):  # TensorFlow's name
    """Writes values to a stream: sys.stderr (the default), sys.stdout, a logging level, or a file "file://..."."""
    if unknown:
        raise ValueError(f"Unrecognized keyword arguments for tf.print: {unknown}")
    stream = sys.stderr if output_stream is None else output_stream
    known = stream in (logging.INFO, logging.WARNING, logging.ERROR) if isinstance(stream, int) else (
        stream.startswith("file://") if isinstance(stream, str) else stream in (sys.stdout, sys.stderr))
    if not known:
        raise ValueError(f"Unsupported output stream, logging level, or file.{stream}. Supported streams are sys.stdout, "
                         "sys.stderr, tf.logging[info, warning, error]. File needs to be in the form of "
                         "'file://<filepath>'.")
    only = inputs[0] if len(inputs) == 1 else None
    if isinstance(only, Tensor) and only.dtype.name == "string" and only.shape.rank == 0:
        text = only
    else:
        text = _text(inputs, summarize, sep)
    if _thalweg.is_tracing():
        named = "stderr" if stream is sys.stderr else "stdout" if stream is sys.stdout else _LEVELS.get(stream, stream)
        _print_op(input=text, output_stream=named, end=end)
    else:
        _write(stream, text.numpy() + end.encode())

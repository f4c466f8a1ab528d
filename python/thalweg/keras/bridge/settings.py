"""What programs set once for all of Keras."""

from thalweg import _thalweg

_engine = _thalweg.keras
_values = {"floatx": "float32", "epsilon": 1e-7, "image_data_format": "channels_last"}


def floatx():
    """The dtype of layers, weights and metrics that are given none."""
    return _values["floatx"]


def set_floatx(value):
    """Sets it for what is made from now on, and the global policy where that was it."""
    if value not in ("float16", "float32", "float64"):
        raise ValueError(f"Unknown `floatx` value: {value}. Expected one of {{'float16', 'float32', 'float64'}}")
    if _engine.global_policy() == _values["floatx"]:
        _engine.set_global_policy(value)
    _values["floatx"] = value


def epsilon():
    """How far losses and constraints keep from where logarithms and quotients are not finite."""
    return _values["epsilon"]


def set_epsilon(value):
    _engine.set_epsilon(float(value))
    _values["epsilon"] = value


def image_data_format():
    """Where images have their channels: "channels_last" or "channels_first"."""
    return _values["image_data_format"]


def set_image_data_format(data_format):
    """Sets it for the layers that are made from now on."""
    if data_format not in ("channels_last", "channels_first"):
        raise ValueError(f"Unknown `data_format`: {data_format}. Expected one of {{'channels_first', 'channels_last'}}")
    _values["image_data_format"] = data_format

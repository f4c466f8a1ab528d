"""The rows of tests/keras_cases: values and random tensors on the way in, JSON and bytes on the way out."""

import copy

import golden_runner
import numpy as np
import op_rows
import tensorflow as tf


class Row:
    """One case: its values, its random tensors, and the bytes of what is stored."""

    def __init__(self, family, name, index, values, blob):
        self.family, self.name, self.index, self.values, self.blob = family, name, index, values, blob
        self.case = {"class": name, "row": index, "config": plain(values.get("config") or {}), "error": None,
                     "check": values.get("_check", "value"), "tolerance": golden_runner.tolerance(values)}
        self.stage = "construct"

    def config(self):
        """The constructor's arguments, for Keras to take apart."""
        config = copy.deepcopy(self.values.get("config") or {})
        return config | {"data_format": "channels_last"} if self.moved else config

    @property
    def moved(self):
        """Whether the channels are moved to the end and back, for layers that TensorFlow's CPU kernels know only in that form."""
        return self.values.get("_as") == "channels_last"

    def construct(self, kind):
        """An object of a class, from the row's config. What the constructor refuses, it says in its own words, not in those of from_config."""
        try:
            return kind.from_config(self.config())
        except KeyError:  # MultiHeadAttention.from_config wants the shapes that get_config adds.
            pass
        except TypeError as error:
            if not str(error).startswith("Error when deserializing class"):
                raise
        return kind(**self.config())

    def tensors(self, value, path):
        """A value of the row with every spec in it made a tensor."""
        if op_rows.is_spec(value):
            return op_rows.parse(value, f"{self.family}/{self.name}/{self.index}/{path}")
        if isinstance(value, list):
            return [self.tensors(item, f"{path}/{place}") for place, item in enumerate(value)]
        if isinstance(value, dict):
            return {key: self.tensors(item, f"{path}/{key}") for key, item in value.items()}
        return value

    def draw(self, dtype, shape, distribution, path):
        return self.tensors(f"{dtype}[{','.join(map(str, shape))}] {distribution}", path)

    def store(self, value):
        """A tensor of either kind, or a structure of them, as the manifest refers to it; None stays None."""
        if value is None:
            return None
        if isinstance(value, (list, tuple)):
            return [self.store(item) for item in value]
        if isinstance(value, dict):
            return {key: self.store(item) for key, item in value.items()}
        if isinstance(value, tf.IndexedSlices):
            return {"indices": self.store(value.indices), "values": self.store(value.values), "dense_shape": [int(dim) for dim in value.dense_shape]}
        if not isinstance(value, op_rows.Tensor):
            value = golden_runner.from_tensorflow(tf.convert_to_tensor(value))
        return golden_runner.refer(value, self.blob)

    def argument(self, value):
        """An argument of a call as JSON: tensors as {"tensor": reference}."""
        if isinstance(value, op_rows.Tensor):
            return {"tensor": self.store(value)}
        if isinstance(value, list):
            return [self.argument(item) for item in value]
        if isinstance(value, dict):
            return {key: self.argument(item) for key, item in value.items()}
        return plain(value)


def plain(value):
    """A configuration as JSON."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, tf.TensorShape):
        return None if value.rank is None else value.as_list()
    if isinstance(value, (tf.Tensor, tf.Variable)):
        return plain(value.numpy())
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, tf.DType):
        return value.name
    if isinstance(value, float) and not np.isfinite(value):
        return "nan" if np.isnan(value) else "inf" if value > 0 else "-inf"
    if value is Ellipsis:
        return {"class_name": "__ellipsis__"}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"no JSON for {value!r}")


def to_tensorflow(value):
    """A structure of tensors, each as TensorFlow's; what is no tensor stays as it is."""
    if isinstance(value, op_rows.Tensor):
        return golden_runner.to_tensorflow(value)
    if isinstance(value, list):
        return [to_tensorflow(item) for item in value]
    if isinstance(value, dict):
        return {key: to_tensorflow(item) for key, item in value.items()}
    return value


def refuse_text_numbers(value):
    """YAML reads `1e-3` as text; no option of Keras's is such a text."""
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else []:
        refuse_text_numbers(item)
    if isinstance(value, str):
        try:
            float(value)
        except ValueError:
            return
        raise ValueError(f"the number {value} is a text: write it with a point")

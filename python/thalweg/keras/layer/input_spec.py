"""InputSpec: what a layer demands of an input."""

from thalweg.core.shapes import TensorShape
from thalweg.dtypes import as_dtype


class InputSpec:
    """Rank, shape, dtype and single dimensions; what is None may be anything.

        self.input_spec = tf.keras.layers.InputSpec(ndim=3, axes={-1: 8})
    """

    def __init__(self, dtype=None, shape=None, ndim=None, max_ndim=None, min_ndim=None, axes=None,
                 allow_last_axis_squeeze=False, name=None):
        self.dtype = None if dtype is None else as_dtype(dtype).name
        shape = TensorShape(shape)
        self.shape = None if shape.rank is None else tuple(shape.as_list())
        self.ndim = ndim if self.shape is None else len(self.shape)
        self.max_ndim, self.min_ndim = max_ndim, min_ndim
        self.name, self.allow_last_axis_squeeze = name, allow_last_axis_squeeze
        try:
            self.axes = {int(axis): size for axis, size in dict(axes or {}).items()}
        except (TypeError, ValueError):
            raise TypeError(f"Argument `axes` must be a dict with integer keys. Received: axes={axes}") from None
        highest = self.ndim if self.ndim is not None else self.max_ndim
        if self.axes and highest is not None and max(self.axes) > highest - 1:
            raise ValueError(f"Axis {max(self.axes)} is greater than the maximum allowed value: {highest - 1}")

    def __repr__(self):
        known = [("dtype", self.dtype), ("shape", self.shape), ("ndim", self.ndim), ("max_ndim", self.max_ndim),
                 ("min_ndim", self.min_ndim), ("axes", self.axes)]
        return f"InputSpec({', '.join(f'{name}={value}' for name, value in known if value)})"

    def get_config(self):
        return {"dtype": self.dtype, "shape": self.shape, "ndim": self.ndim, "max_ndim": self.max_ndim,
                "min_ndim": self.min_ndim, "axes": self.axes}

    @classmethod
    def from_config(cls, config):
        return cls(**config)

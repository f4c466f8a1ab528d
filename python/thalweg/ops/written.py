"""Functions of the engine whose arguments or results only Python can express: callables, tensors among None."""

from collections.abc import Sequence

from thalweg import _thalweg
from thalweg._thalweg import Tensor, VariableBase
from thalweg.ops.indexed_slices import IndexedSlices

_engine = _thalweg.functions()


def svd(tensor, full_matrices=False, compute_uv=True, name=None):
    """Singular values, falling, and the vectors (s, u, v): tensor = u diag(s) v^H; the values alone without vectors."""
    results = _engine["linalg.svd"](tensor, full_matrices, compute_uv)
    return tuple(results) if compute_uv else results[0]


def get_current_name_scope():
    """The name_scope that this runs in, `"outer/inner"`; empty outside of all."""
    return _thalweg.current_name_scope().rstrip("/")


def is_symbolic_tensor(tensor):
    """Whether it is a tensor of a function that is being traced, which has no value yet."""
    return isinstance(tensor, Tensor) and not isinstance(tensor, _thalweg.KerasTensor) and not hasattr(tensor, "numpy")


def get_static_value(tensor, partial=False):
    """The value of a tensor as an array where it is known without running anything, else None.

    With `partial`, what is known of a vector that stands for a shape: an array with None for the rest.
    """
    if isinstance(tensor, VariableBase):
        return None
    if not isinstance(tensor, Tensor):
        return tensor
    if hasattr(tensor, "numpy"):  # symbolic tensors lack it
        return tensor.numpy()
    dims = _thalweg.known_dims(tensor)
    if dims.rank is None or (not partial and not dims.is_fully_defined()):
        return None
    import numpy

    known = dims.as_list()
    return numpy.array(known, tensor.dtype.as_numpy_dtype if dims.is_fully_defined() else object)


def timestamp(name=None):
    """The time since 1970, in seconds; functions ask for it whenever they run."""
    import time

    from thalweg import float64, numpy_function

    return _thalweg.constant(time.time(), float64) if not _thalweg.is_tracing() else numpy_function(time.time, [], float64)


def _on_values(function, t):
    """function of a tensor, or of the values of tf.IndexedSlices with their rows as they were."""
    if isinstance(t, IndexedSlices):
        return IndexedSlices(function(t.values), t.indices, t.dense_shape)
    return function(t)


def _values(t):
    return t.values if isinstance(t, IndexedSlices) else t


def clip_by_value(t, clip_value_min, clip_value_max, name=None):
    """Every element between the two bounds."""
    return _on_values(lambda values: _engine["clip_by_value"](values, clip_value_min, clip_value_max), t)


def clip_by_norm(t, clip_norm, axes=None, name=None):
    """Scaled so that its norm is at most clip_norm; along the axes where they are given."""
    return _on_values(lambda values: _engine["clip_by_norm"](values, clip_norm, axes), t)


def scalar_mul(scalar, x, name=None):
    """A tensor, or tf.IndexedSlices, times a scalar."""
    return _on_values(lambda values: _engine["math.scalar_mul"](scalar, values), x)


def global_norm(t_list, name=None):
    """The norm of all tensors together; None is passed over."""
    _check_list(t_list)
    return _engine["linalg.global_norm"]([_values(t) for t in t_list if t is not None])


def _check_list(t_list):
    if not isinstance(t_list, Sequence) or isinstance(t_list, str):
        raise TypeError(f"`t_list` should be a sequence of tensors. Received {type(t_list)}.")


def clip_by_global_norm(t_list, clip_norm, use_norm=None, name=None):
    """All tensors scaled by one number, so that their norm together is at most clip_norm, and that norm."""
    _check_list(t_list)
    tensors = [_values(t) for t in t_list if t is not None]
    if not tensors:
        return list(t_list), _thalweg.constant(0.0) if use_norm is None else use_norm
    *clipped, norm = _engine["clip_by_global_norm"](tensors, clip_norm, use_norm)
    remaining = iter(clipped)
    return [None if t is None else _on_values(lambda values: next(remaining), t) for t in t_list], norm


def _window(window_fn, frame_length, dtype):
    """What the window function says, ones where there is none."""
    from thalweg import ones

    return ones([frame_length], dtype) if window_fn is None else window_fn(frame_length, dtype=dtype)


def stft(signals, frame_length, frame_step, fft_length=None, window_fn=_engine["signal.hann_window"], pad_end=False,
         name=None):
    """Fourier transforms of windowed frames: [..., samples] becomes [..., frames, fft_length / 2 + 1]."""
    signals = _thalweg.convert_to_tensor(signals)
    window = _window(window_fn, int(frame_length), signals.dtype)
    return _engine["signal.stft"](signals, frame_length, frame_step, fft_length, window, pad_end)


def inverse_stft(stfts, frame_length, frame_step, fft_length=None, window_fn=_engine["signal.hann_window"], name=None):
    """Signals from windowed frames' transforms, overlapped and added."""
    stfts = _thalweg.convert_to_tensor(stfts)
    window = _window(window_fn, int(frame_length), stfts.dtype.real_dtype)
    return _engine["signal.inverse_stft"](stfts, frame_length, frame_step, fft_length, window)


def inverse_stft_window_fn(frame_step, forward_window_fn=_engine["signal.hann_window"], name=None):
    """The window function of inverse_stft that undoes the forward one: divided by the sum of its squares at each
    place of the overlap."""

    def window(frame_length, dtype):
        from thalweg import pad, reduce_sum, reshape, square, tile

        frame_length = int(frame_length)
        forward = forward_window_fn(frame_length, dtype=dtype)
        overlaps = -(-frame_length // frame_step)
        squares = pad(square(forward), [[0, overlaps * frame_step - frame_length]])
        sums = reduce_sum(reshape(squares, [overlaps, frame_step]), 0, keepdims=True)
        return forward / reshape(tile(sums, [overlaps, 1]), [overlaps * frame_step])[:frame_length]

    return window

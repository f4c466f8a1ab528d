"""Convolutions, pooling, padding and resizing. Kernels are [..., in, out]; data_format None is image_data_format()."""

import itertools

import thalweg as tf
from thalweg.keras.bridge.settings import image_data_format

__all__ = ["bias_add", "conv1d", "conv2d", "conv2d_transpose", "conv3d", "depthwise_conv2d", "pool2d", "pool3d",
           "resize_images", "resize_volumes", "separable_conv2d", "spatial_2d_padding", "spatial_3d_padding",
           "temporal_padding", "local_conv1d", "local_conv2d"]

_LETTERS = {1: "W", 2: "HW", 3: "DHW"}


def _checked(data_format):
    data_format = image_data_format() if data_format is None else data_format
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(f"Unknown data_format: {data_format}")
    return data_format


def _first(data_format):
    return _checked(data_format) == "channels_first"


def _layout(data_format, rank):
    return f"NC{_LETTERS[rank]}" if _first(data_format) else f"N{_LETTERS[rank]}C"


def _sizes(value, rank):
    return (value,) * rank if isinstance(value, int) else tuple(value)


def _padding(padding):
    if padding not in ("same", "valid"):
        raise ValueError(f"Invalid padding: {padding}")
    return padding.upper()


def _channels_last(x, rank):
    return tf.transpose(x, [0, *range(2, rank + 2), 1])


def _channels_first(x, rank):
    return tf.transpose(x, [0, rank + 1, *range(1, rank + 1)])


def _on_channels_last(function, x, data_format, rank):
    """Calls a function of images that have their channels last."""
    if not _first(data_format):
        return function(x)
    return _channels_first(function(_channels_last(x, rank)), rank)


def _convolution(x, kernel, strides, padding, data_format, dilation_rate, rank):
    return tf.nn.convolution(x, kernel, strides=_sizes(strides, rank), padding=_padding(padding),
                             data_format=_layout(data_format, rank), dilations=_sizes(dilation_rate, rank))


def conv1d(x, kernel, strides=1, padding="valid", data_format=None, dilation_rate=1):
    """`padding` may be "causal": no step sees a later one."""
    if padding == "causal":
        left = dilation_rate * (kernel.shape[0] - 1)
        x = _on_channels_last(lambda y: temporal_padding(y, (left, 0)), x, data_format, 1)
        padding = "valid"
    return _convolution(x, kernel, strides, padding, data_format, dilation_rate, 1)


def conv2d(x, kernel, strides=(1, 1), padding="valid", data_format=None, dilation_rate=(1, 1)):
    return _convolution(x, kernel, strides, padding, data_format, dilation_rate, 2)


def conv3d(x, kernel, strides=(1, 1, 1), padding="valid", data_format=None, dilation_rate=(1, 1, 1)):
    return _convolution(x, kernel, strides, padding, data_format, dilation_rate, 3)


def conv2d_transpose(x, kernel, output_shape, strides=(1, 1), padding="valid", data_format=None, dilation_rate=(1, 1)):
    """`output_shape` has the batch, which may be None, and the channels in it."""
    output_shape = list(output_shape)
    if output_shape[0] is None:
        output_shape[0] = tf.shape(x)[0]
    return tf.nn.conv2d_transpose(x, kernel, tf.stack(output_shape), strides=_sizes(strides, 2),
                                  padding=_padding(padding), data_format=_layout(data_format, 2), dilations=_sizes(dilation_rate, 2))


def depthwise_conv2d(x, depthwise_kernel, strides=(1, 1), padding="valid", data_format=None, dilation_rate=(1, 1)):
    def convolve(y):
        return tf.nn.depthwise_conv2d(y, depthwise_kernel, [1, *_sizes(strides, 2), 1], _padding(padding),
                                      dilations=_sizes(dilation_rate, 2))

    return _on_channels_last(convolve, x, data_format, 2)


def separable_conv2d(x, depthwise_kernel, pointwise_kernel, strides=(1, 1), padding="valid", data_format=None,
                     dilation_rate=(1, 1)):
    if len(_sizes(strides, 2)) != 2:
        raise ValueError("`strides` must be a tuple of 2 integers.")
    x = depthwise_conv2d(x, depthwise_kernel, strides, padding, data_format, dilation_rate)
    return conv2d(x, pointwise_kernel, 1, "valid", data_format)


def _pool(x, pool_size, strides, padding, data_format, pool_mode, rank):
    if pool_mode not in ("max", "avg"):
        raise ValueError(f"Invalid pooling mode: {pool_mode}")
    for name, value in (("pool_size", pool_size), ("strides", strides)):
        if len(value) != rank:
            raise ValueError(f"`{name}` must be a tuple of {rank} integers.")
    return _on_channels_last(lambda y: tf.nn.pool(y, pool_size, pool_mode.upper(), strides=strides,
                                                  padding=_padding(padding)), x, data_format, rank)


def pool2d(x, pool_size, strides=(1, 1), padding="valid", data_format=None, pool_mode="max"):
    return _pool(x, pool_size, strides, padding, data_format, pool_mode, 2)


def pool3d(x, pool_size, strides=(1, 1, 1), padding="valid", data_format=None, pool_mode="max"):
    return _pool(x, pool_size, strides, padding, data_format, pool_mode, 3)


def bias_add(x, bias, data_format=None):
    """Adds a vector to the channels, or a tensor like one example."""
    if len(bias.shape) not in (1, len(x.shape) - 1):
        raise ValueError(f"Unexpected bias dimensions {len(bias.shape)}, expect to be 1 or {len(x.shape) - 1} "
                         "dimensions")
    rank, first = len(x.shape) - 2, _first(data_format)
    if len(bias.shape) > 1 and first:
        bias = tf.transpose(bias, [rank, *range(rank)])
    elif first and rank > 0:
        bias = tf.reshape(bias, [-1] + [1] * rank)
    return x + bias


def temporal_padding(x, padding=(1, 1)):
    """Zeros before and after the steps of [batch, time, features]."""
    return tf.pad(x, [[0, 0], list(padding), [0, 0]])


def _spatial_padding(x, padding, data_format, rank):
    pairs = [list(pair) for pair in padding]
    whole = [[0, 0], [0, 0], *pairs] if _first(data_format) else [[0, 0], *pairs, [0, 0]]
    if len(pairs) != rank:
        raise ValueError(f"`padding` must have {rank} pairs, got {padding}")
    return tf.pad(x, whole)


def spatial_2d_padding(x, padding=((1, 1), (1, 1)), data_format=None):
    return _spatial_padding(x, padding, data_format, 2)


def spatial_3d_padding(x, padding=((1, 1), (1, 1), (1, 1)), data_format=None):
    return _spatial_padding(x, padding, data_format, 3)


def resize_images(x, height_factor, width_factor, data_format, interpolation="nearest"):
    layer = tf.keras.layers.UpSampling2D((height_factor, width_factor), data_format=_checked(data_format),
                                         interpolation=interpolation, dtype=x.dtype)
    return layer(x)


def resize_volumes(x, depth_factor, height_factor, width_factor, data_format):
    layer = tf.keras.layers.UpSampling3D((depth_factor, height_factor, width_factor), data_format=_checked(data_format),
                                         dtype=x.dtype)
    return layer(x)


def local_conv1d(inputs, kernel, kernel_size, strides, data_format=None):
    """A convolution of sequences with filters of its own for each place: kernel [places, window * channels, filters]."""
    return _local(inputs, kernel, kernel_size, strides, None, data_format)


def local_conv2d(inputs, kernel, kernel_size, strides, output_shape, data_format=None):
    """The same for images."""
    return _local(inputs, kernel, kernel_size, strides, output_shape, data_format)


def _local(inputs, kernel, kernel_size, strides, output_shape, data_format):
    is_first = (data_format or image_data_format()) == "channels_first"
    if is_first:
        inputs = tf.transpose(inputs, [0, *range(2, len(inputs.shape)), 1])
    places = [kernel.shape[0]] if output_shape is None else list(output_shape)
    windows = []
    for place in itertools.product(*(range(count) for count in places)):
        cut = tuple(slice(i * stride, i * stride + size) for i, stride, size in zip(place, strides, kernel_size))
        windows.append(tf.reshape(inputs[(slice(None), *cut)], [1, -1, kernel.shape[1]]))
    made = tf.transpose(tf.matmul(tf.concat(windows, 0), kernel), [1, 0, 2])
    made = tf.reshape(made, [-1, *places, kernel.shape[2]])
    return tf.transpose(made, [0, len(places) + 1, *range(1, len(places) + 1)]) if is_first else made

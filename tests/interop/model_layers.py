"""The layers that random_models.py draws: for each class the ranks it takes and a function that draws its configuration.

A configuration is the constructor's arguments as JSON. A layer inside it is `{"layer": class, "config": {...}}`. Shapes are
without the batch; an unknown dimension is None.
"""

from model_options import ACTIVATIONS, CONSTRAINTS, INITIALIZERS, LAYERS, RECURRENT, REGULARIZERS, layer


def dense_options(d):
    return d.options(activation=ACTIVATIONS, use_bias=[False], activity_regularizer=REGULARIZERS) | d.weights("kernel", "bias")


@layer(1, 2, 3, 4)
def Dense(d, shape):
    return {"units": d.randint(1, 5)} | dense_options(d)


@layer(1, 2, 3)
def EinsumDense(d, shape):
    units = d.randint(1, 4)
    equation, output, axes = d.one(*{1: [("ab,bc->ac", [units], "c"), ("...x,xy->...y", [units], "y")],
                                     2: [("abc,cd->abd", [None, units], "d"), ("...x,xy->...y", [None, units], "y"), ("abc,bd->acd", [shape[-1], units], "d")],
                                     3: [("abcd,de->abce", [None, None, units], "e"), ("...x,xy->...y", [units], "y")]}[len(shape)])
    if equation.startswith("...") and len(shape) == 2:
        output = [None, units]
    if equation.startswith("...") and len(shape) == 3:
        output = [None, None, units]
    config = {"equation": equation, "output_shape": output}
    if d.maybe(0.7):
        config["bias_axes"] = axes
    return config | d.options(activation=ACTIVATIONS) | d.weights("kernel", "bias")


@layer(1, 2, 3, 4)
def Activation(d, shape):
    return {"activation": d.choice(ACTIVATIONS[:-1])}


@layer(1, 2, 3, 4)
def ActivityRegularization(d, shape):
    return d.options(0.7, l1=[0.01, 0.1], l2=[0.02, 0.3])


@layer(1, 2, 3, 4)
def ELU(d, shape):
    return d.options(alpha=[0.3, 1.5])


@layer(1, 2, 3, 4)
def LeakyReLU(d, shape):
    return d.options(alpha=[0.1, 0.5])


@layer(1, 2, 3, 4)
def ReLU(d, shape):
    return d.options(max_value=[0.5, 6.0], negative_slope=[0.1, 0.5], threshold=[0.2, 0.4])


@layer(1, 2, 3, 4)
def ThresholdedReLU(d, shape):
    return d.options(theta=[0.1, 0.5])


@layer(1, 2, 3)
def PReLU(d, shape):
    config = d.options(0.2, alpha_initializer=INITIALIZERS, alpha_regularizer=REGULARIZERS, alpha_constraint=CONSTRAINTS)
    return config | ({"shared_axes": d.sample(range(1, len(shape) + 1), d.randint(1, len(shape)))} if d.maybe(0.5) else {})


@layer(1, 2, 3)
def Softmax(d, shape):
    return axis_option(d, shape)


def rate(d, shape):
    return {"rate": d.one(0.0, 0.2, 0.5)}


@layer(1, 2, 3)
def Dropout(d, shape):
    return rate(d, shape) | d.options(0.2, seed=[3])


@layer(1, 2, 3)
def AlphaDropout(d, shape):
    return rate(d, shape)


@layer(1, 2, 3)
def GaussianDropout(d, shape):
    return rate(d, shape)


@layer(1, 2, 3)
def GaussianNoise(d, shape):
    return {"stddev": d.one(0.1, 1.0)}


@layer(2)
def SpatialDropout1D(d, shape):
    return rate(d, shape)


@layer(3)
def SpatialDropout2D(d, shape):
    return rate(d, shape) | d.options(data_format=["channels_last", "channels_first"])


@layer(4)
def SpatialDropout3D(d, shape):
    return rate(d, shape) | d.options(data_format=["channels_last", "channels_first"])


@layer(1, 2, 3, 4)
def Flatten(d, shape):
    return d.options(data_format=["channels_last", "channels_first"])


@layer(1, 2, 3)
def Identity(d, shape):
    return {}


@layer(1)
def RepeatVector(d, shape):
    return {"n": d.randint(1, 4)}


@layer(1, 2, 3)
def Permute(d, shape):
    return {"dims": d.sample(range(1, len(shape) + 1), len(shape))}


@layer(1, 2, 3)
def Reshape(d, shape):
    if None in shape:
        return {"target_shape": d.one([-1, shape[-1] or 1], [-1])}
    size = 1
    for dim in shape:
        size *= dim
    divisors = [n for n in range(1, size + 1) if size % n == 0]
    first = d.choice(divisors)
    return {"target_shape": d.one([size], [first, size // first], [-1, first], [first, -1], [1, size], [first, 1, size // first], [-1])}


@layer(2, 3)
def Masking(d, shape):
    return d.options(mask_value=[0.5, 0.0])


@layer(1, 2, dtype="int32")
def Embedding(d, shape):
    config = {"input_dim": 7, "output_dim": d.randint(1, 4)} | d.flag("mask_zero", 0.5)
    return config | d.weights("embeddings") | (d.flag("input_length", 0.2, shape[0]) if len(shape) == 1 else {})


@layer(1, dtype="int32")
def CategoryEncoding(d, shape):
    return {"num_tokens": 7} | d.options(output_mode=["multi_hot", "count"])


@layer(1, dtype="int32")
def Hashing(d, shape):
    return {"num_bins": d.randint(2, 6), "output_mode": d.one("multi_hot", "count")} | d.options(salt=[133137, [1, 2]])


@layer(1)
def Discretization(d, shape):
    return {"bin_boundaries": [-0.5, 0.0, 0.25], "output_mode": d.one("multi_hot", "count")}


def without_gaps(config, dimensions):
    """TensorFlow's CPU kernels for volumes put windows elsewhere than its rule says where a stride is larger than a window."""
    if dimensions == 3 and config.get("padding") == "same":
        config.pop("strides", None)
    return config


def pooling(dimensions):
    def config(d, shape):
        config = d.options(strides=[1, 2, 3], padding=["same"])
        if d.maybe(0.8):
            config["pool_size"] = d.sizes(dimensions, 3)
        if d.maybe(0.2):
            config["data_format"] = d.one("channels_last", "channels_last", "channels_first")
        return without_gaps(config, dimensions)
    return config


def global_pooling(d, shape):
    return d.flag("keepdims") | d.options(0.2, data_format=["channels_last", "channels_first"])


for _dimensions in (1, 2, 3):
    for _name in ("MaxPooling", "AveragePooling"):
        LAYERS[f"{_name}{_dimensions}D"] = ((_dimensions + 1,), "float32", False, pooling(_dimensions))
        LAYERS[f"Global{_name}{_dimensions}D"] = ((_dimensions + 1,), "float32", False, global_pooling)


def convolution_options(d, dimensions, *weights, dilation=True, groups=1):
    config = {"kernel_size": d.sizes(dimensions, 3)} | d.options(activation=ACTIVATIONS, use_bias=[False], padding=["same"], activity_regularizer=["l2"])
    if d.maybe(0.4):
        config["strides"] = d.sizes(dimensions, 3)
    elif dilation and d.maybe():
        config["dilation_rate"] = d.sizes(dimensions, 2)
    if d.maybe(0.05):
        config["data_format"] = "channels_first"
    return without_gaps(config, dimensions) | d.weights(*weights, "bias")


def convolution(dimensions):
    def config(d, shape):
        config = {"filters": d.randint(1, 4)} | convolution_options(d, dimensions, "kernel")
        if dimensions == 1 and d.maybe():
            config["padding"] = "causal"
        channels = shape[-1]
        if channels and channels % 2 == 0 and d.maybe(0.2):
            config |= {"groups": 2, "filters": d.one(2, 4)}
        return config
    return config


def transposed(dimensions):
    def config(d, shape):
        config = {"filters": d.randint(1, 3)} | convolution_options(d, dimensions, "kernel", dilation=False)
        if d.maybe(0.2):
            config["output_padding"] = d.one(0, 1)
        if dimensions == 2 and "strides" not in config and "output_padding" not in config and d.maybe(0.2):
            config["dilation_rate"] = d.one(1, 2)
        return config
    return config


def separable(dimensions):
    def config(d, shape):
        config = {"filters": d.randint(1, 4)} | convolution_options(d, dimensions, "depthwise", "pointwise") | d.options(depth_multiplier=[2])
        for name in ("strides", "dilation_rate"):
            if isinstance(config.get(name), list):
                config[name] = config[name][0]
        if dimensions == 1 and d.maybe(0.2):
            config["padding"] = "causal"
        return config
    return config


def depthwise(dimensions):
    def config(d, shape):
        config = convolution_options(d, dimensions, "depthwise") | d.options(depth_multiplier=[2, 3])
        if isinstance(config.get("strides"), list):
            config["strides"] = config["strides"][0]
        return config
    return config


def local(dimensions):
    def config(d, shape):
        config = {"filters": d.randint(1, 3)} | convolution_options(d, dimensions, "kernel", dilation=False) | d.options(implementation=[1, 2, 3])
        if config.get("padding") and config.get("implementation", 1) == 1 and d.maybe(0.7):
            del config["padding"]
        return config
    return config


for _dimensions in (1, 2, 3):
    LAYERS[f"Conv{_dimensions}D"] = ((_dimensions + 1,), "float32", False, convolution(_dimensions))
    LAYERS[f"Conv{_dimensions}DTranspose"] = ((_dimensions + 1,), "float32", False, transposed(_dimensions))
for _dimensions in (1, 2):
    LAYERS[f"SeparableConv{_dimensions}D"] = ((_dimensions + 1,), "float32", False, separable(_dimensions))
    LAYERS[f"DepthwiseConv{_dimensions}D"] = ((_dimensions + 1,), "float32", False, depthwise(_dimensions))
    LAYERS[f"LocallyConnected{_dimensions}D"] = ((_dimensions + 1,), "float32", False, local(_dimensions))


def margins(argument, dimensions, high):
    def config(d, shape):
        pairs = [[d.randint(0, high), d.randint(0, high)] for _ in range(dimensions)]
        values = [1, high, pairs[0] if dimensions == 1 else pairs] + ([[d.randint(0, high) for _ in range(dimensions)]] if dimensions > 1 else [])
        config = d.options(0.8, **{argument: values})
        return config | (d.options(0.2, data_format=["channels_last", "channels_first"]) if dimensions > 1 else {})
    return config


def upsampling(dimensions):
    def config(d, shape):
        config = d.options(0.7, size=[d.randint(1, 3) if dimensions == 1 else d.sizes(dimensions, 3)])
        if dimensions == 2:
            config |= d.options(interpolation=["bilinear", "bicubic", "lanczos3", "area", "gaussian", "mitchellcubic", "lanczos5", "nearest"])
        return config | (d.options(0.2, data_format=["channels_last", "channels_first"]) if dimensions > 1 else {})
    return config


for _dimensions in (1, 2, 3):
    LAYERS[f"ZeroPadding{_dimensions}D"] = ((_dimensions + 1,), "float32", False, margins("padding", _dimensions, 2))
    LAYERS[f"Cropping{_dimensions}D"] = ((_dimensions + 1,), "float32", False, margins("cropping", _dimensions, 1))
    LAYERS[f"UpSampling{_dimensions}D"] = ((_dimensions + 1,), "float32", False, upsampling(_dimensions))


@layer(2, 3)
def CenterCrop(d, shape):
    return {"height": d.randint(1, 6), "width": d.randint(1, 6)}


@layer(3)
def Resizing(d, shape):
    return {"height": d.randint(1, 6), "width": d.randint(1, 6)} | d.options(
        interpolation=["bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic"], crop_to_aspect_ratio=[True])


@layer(1, 2, 3)
def Rescaling(d, shape):
    return {"scale": d.one(0.5, 1 / 127.5, -2.0)} | d.options(offset=[-1, 0.25])


@layer(1, 2, 3)
def Normalization(d, shape):
    last = shape[-1] or 2
    if d.maybe(0.5):
        return {"axis": None, "mean": 0.3, "variance": 2.0} | d.flag("invert")
    return {"mean": [0.1 * k for k in range(last)], "variance": [0.5 + k for k in range(last)]} | d.flag("invert")


def axis_option(d, shape, chance=0.4):
    axes = [-1, 1, len(shape)] + ([[1, len(shape)], -2] if len(shape) > 1 else [])
    return d.options(chance, axis=axes)


@layer(1, 2, 3, 4)
def BatchNormalization(d, shape):
    return axis_option(d, shape, 0.3) | d.options(momentum=[0.7, 0.99], epsilon=[0.01, 0.1], center=[False], scale=[False]) | d.weights("beta", "gamma")


@layer(1, 2, 3)
def LayerNormalization(d, shape):
    return axis_option(d, shape) | d.options(epsilon=[0.01, 0.1], center=[False], scale=[False]) | d.weights("beta", "gamma")


@layer(1, 2, 3)
def GroupNormalization(d, shape):
    channels = shape[-1] or 2
    groups = d.choice([n for n in range(1, channels + 1) if channels % n == 0] + [-1])
    return {"groups": groups} | d.options(epsilon=[0.01], center=[False], scale=[False]) | d.weights("beta", "gamma") | d.options(0.1, axis=[1, -1])


@layer(1, 2, 3)
def UnitNormalization(d, shape):
    return axis_option(d, shape)


def cell_options(d):
    return {"units": d.randint(1, 4)} | d.options(0.2, activation=ACTIVATIONS, use_bias=[False]) | d.weights("kernel", "recurrent", "bias")


def cell(d):
    kind = d.one("SimpleRNNCell", "GRUCell", "LSTMCell")
    return {"layer": kind, "config": CELLS[kind](d)}


CELLS = {
    "SimpleRNNCell": cell_options,
    "GRUCell": lambda d: cell_options(d) | d.options(0.2, reset_after=[False], recurrent_activation=["hard_sigmoid", "tanh"]),
    "LSTMCell": lambda d: cell_options(d) | d.options(0.2, unit_forget_bias=[False], recurrent_activation=["hard_sigmoid", "tanh"]),
}


def sequence_options(d):
    return d.options(0.3, return_sequences=[True], go_backwards=[True], return_state=[True]) | d.options(0.1, unroll=[True])


@layer(2)
def SimpleRNN(d, shape):
    return CELLS["SimpleRNNCell"](d) | sequence_options(d)


@layer(2)
def GRU(d, shape):
    return CELLS["GRUCell"](d) | sequence_options(d) | d.options(0.1, time_major=[False], implementation=[1])


@layer(2)
def LSTM(d, shape):
    return CELLS["LSTMCell"](d) | sequence_options(d) | d.options(0.1, implementation=[1])


@layer(2)
def RNN(d, shape):
    cells = [cell(d) for _ in range(d.one(1, 2, 2, 3))]
    stacked = {"layer": "StackedRNNCells", "config": {"cells": cells}}
    return {"cell": stacked if d.maybe(0.7) else cells[0] if len(cells) == 1 else cells} | sequence_options(d)


@layer(2)
def Bidirectional(d, shape):
    kind = d.choice(RECURRENT)
    inner = LAYERS[kind][3](d, shape)
    config = {"layer": {"layer": kind, "config": inner}} | d.options(0.6, merge_mode=["concat", "sum", "mul", "ave", None])
    if d.maybe(0.15):
        config["backward_layer"] = {"layer": kind, "config": inner | {"go_backwards": not inner.get("go_backwards", False), "name": "other"}}
    return config


@layer(2, 3, 4)
def TimeDistributed(d, shape):
    inner = [name for name, (ranks, dtype, merges, _) in LAYERS.items()
             if len(shape) - 1 in ranks and dtype == "float32" and not merges and name not in ("RNN", "Bidirectional", "TimeDistributed", "Masking")]
    kind = d.choice(inner)
    return {"layer": {"layer": kind, "config": {name: value for name, value in LAYERS[kind][3](d, shape[1:]).items() if name != "return_state"}}}


@layer(1, 2, 3)
def SpectralNormalization(d, shape):
    kind = {1: "Dense", 2: "Conv1D", 3: "Conv2D"}[len(shape)]
    return {"layer": {"layer": kind, "config": LAYERS[kind][3](d, shape)}} | d.options(power_iterations=[2])


def conv_lstm(dimensions):
    def config(d, shape):
        config = {"filters": d.randint(1, 3), "kernel_size": d.sizes(dimensions, 3)} | d.options(
            0.3, padding=["same"], return_sequences=[True], return_state=[True], go_backwards=[True], use_bias=[False], activation=ACTIVATIONS)
        return config | d.options(0.15, strides=[1, 2], unit_forget_bias=[False]) | d.weights("kernel", "recurrent", "bias")
    return config


for _dimensions in (1, 2, 3):
    LAYERS[f"ConvLSTM{_dimensions}D"] = ((_dimensions + 2,), "float32", False, conv_lstm(_dimensions))


@layer(2, 3)
def MultiHeadAttention(d, shape):
    config = {"num_heads": d.randint(1, 3), "key_dim": d.randint(1, 3)} | d.options(value_dim=[2, 3], use_bias=[False], output_shape=[2, [3]])
    if len(shape) == 3:
        config |= d.options(attention_axes=[[1], [2], [1, 2]])
    return config | d.weights("kernel", "bias")


@layer(2, merges=True)
def Attention(d, shape):
    return d.options(use_scale=[True], score_mode=["concat", "dot"])


@layer(2, merges=True)
def AdditiveAttention(d, shape):
    return d.options(use_scale=[False])


def plain(d, shape):
    return {}


for _name in ("Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum"):
    LAYERS[_name] = ((1, 2, 3), "float32", True, plain)


@layer(1, 2, 3, merges=True)
def Concatenate(d, shape):
    return d.options(axis=[-1, 1, len(shape)])


@layer(1, 2, merges=True)
def Dot(d, shape):
    return {"axes": 1 if len(shape) == 1 else d.one(1, 2, -1, [1, 1], [2, 2])} | d.flag("normalize")

#!/usr/bin/env python3
"""The workloads of bench/run.py in the real TensorFlow, eager or as functions. Prints `name seconds` lines.

    tensorflow_peer.py [--threads 1] [--only matmul_1000,exp_1m]
"""

import functools
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import keras_models  # noqa: E402: its folder is on the path only now
import models  # noqa: E402
from timing import asked, seconds  # noqa: E402

options = asked(__doc__)
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"

start = time.perf_counter()
import tensorflow as tf  # noqa: E402: its import is measured

IMPORT = time.perf_counter() - start
tf.config.threading.set_intra_op_parallelism_threads(options.threads)
tf.config.threading.set_inter_op_parallelism_threads(options.threads)

MILLION = 1_000_000

# (size, in, out, window, stride, how many); the same lists as in bench/workloads.h.
MNIST = [(28, 1, 32, 3, 1, 1), (26, 32, 64, 3, 1, 1)]
RESNET50 = [(224, 3, 64, 7, 2, 1), (56, 64, 64, 1, 1, 1), (56, 64, 64, 3, 1, 3), (56, 64, 256, 1, 1, 4), (56, 256, 64, 1, 1, 2),
            (56, 256, 128, 1, 2, 1), (56, 256, 512, 1, 2, 1), (28, 128, 128, 3, 1, 4), (28, 128, 512, 1, 1, 4), (28, 512, 128, 1, 1, 3),
            (28, 512, 256, 1, 2, 1), (28, 512, 1024, 1, 2, 1), (14, 256, 256, 3, 1, 6), (14, 256, 1024, 1, 1, 6),
            (14, 1024, 256, 1, 1, 5), (14, 1024, 512, 1, 2, 1), (14, 1024, 2048, 1, 2, 1), (7, 512, 512, 3, 1, 3),
            (7, 512, 2048, 1, 1, 3), (7, 2048, 512, 1, 1, 2)]


def uniform(*shape):
    return tf.random.uniform(shape, -1, 1)


def one_input(function, *shape):
    """A workload: the function on numbers between -1 and 1."""

    def run():
        x = uniform(*shape)
        return seconds(lambda: function(x))

    return run


def scalar_add():
    x, y = tf.constant(1.0), tf.constant(2.0)
    return seconds(lambda: x + y)


def convolutions(layers, batch, padding, backward, rounds):
    """The best of several rounds; in each, every layer runs as often as the model has it."""
    best = float("inf")
    for _ in range(rounds):
        total = 0.0
        for place, (size, channels, filters, window, stride, count) in enumerate(layers):
            image, kernel = uniform(batch, size, size, channels), uniform(window, window, channels, filters)
            keywords = {"strides": [1, stride, stride, 1], "padding": padding}
            grad = tf.raw_ops.Conv2D(input=image, filter=kernel, **keywords)
            for run in range(-1, count):
                start = time.perf_counter()
                tf.raw_ops.Conv2D(input=image, filter=kernel, **keywords)
                if backward and place > 0:
                    tf.raw_ops.Conv2DBackpropInput(input_sizes=image.shape, filter=kernel, out_backprop=grad, **keywords)
                if backward:
                    tf.raw_ops.Conv2DBackpropFilter(input=image, filter_sizes=kernel.shape, out_backprop=grad, **keywords)
                if run >= 0:
                    total += time.perf_counter() - start
        best = min(best, total)
    return best


def batch_norm():
    x, vector, none = uniform(32, 112, 112, 64), uniform(64), tf.zeros([0])
    return seconds(lambda: tf.raw_ops.FusedBatchNormV3(x=x, scale=vector, offset=vector, mean=none, variance=none))


def adam():
    grad, var, m, v = uniform(10 * MILLION), tf.Variable(uniform(10 * MILLION)), tf.Variable(tf.zeros(10 * MILLION)), tf.Variable(tf.zeros(10 * MILLION))
    rates = {"beta1_power": 0.9, "beta2_power": 0.999, "lr": 0.001, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-7}
    return seconds(lambda: tf.raw_ops.ResourceApplyAdam(var=var.handle, m=m.handle, v=v.handle, grad=grad, **rates))


def positive_log():
    x = tf.exp(uniform(MILLION))
    return seconds(lambda: tf.math.log(x))


def pool(function):
    return one_input(lambda x: function(x, 2, 2, "VALID"), 32, 112, 112, 64)


def taped_add():
    x, y = tf.constant(1.0), tf.constant(2.0)

    def run():
        with tf.GradientTape() as tape:
            tape.watch(x)
            for _ in range(1000):
                x + y  # noqa: B018: only its time counts

    return seconds(run)


def scalar_chain():
    x, a, b = tf.constant(0.5), tf.constant(0.9), tf.constant(0.1)

    def run():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in range(50):
                y = y * a + b
        return tape.gradient(y, x)

    return seconds(run)


def repeated(made, wrap=lambda step: step):
    """A workload: a step of a model, as it is or as a function."""

    def run():
        step, inputs = made(tf)
        call = wrap(step)
        return seconds(lambda: call(*inputs))

    return run


def lstm_step(_):
    """Keras's LSTM over rows of images, of which the last output is classified: the step, and what it is called with."""
    layers = [tf.keras.layers.LSTM(128), tf.keras.layers.Dense(10)]
    x, labels = uniform(32, 28, 28), tf.range(32) % 10

    def model(_, x):
        return layers[1](layers[0](x))

    model(None, x)
    weights = [w for layer in layers for w in layer.trainable_weights]
    return models.training_of(tf, weights, model), (x, labels)


def traced_add():
    x, y = tf.constant(1.0), tf.constant(2.0)
    f = tf.function(lambda a, b: a + b)
    return seconds(lambda: f(x, y))


def while_loop_turn(turns=1000):
    f, n = tf.function(models.while_loop(tf)), tf.constant(turns)
    return seconds(lambda: f(n)) / turns


def resnet50():
    """The frozen graph: its variables are constants, and TensorFlow's passes saw it."""
    from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2  # its only place

    model, image = models.resnet50(tf, tf.Variable)
    frozen = convert_variables_to_constants_v2(tf.function(model).get_concrete_function(tf.TensorSpec(image.shape, image.dtype)))
    return seconds(lambda: frozen(image), budget=3.0)


def resnet50_trace(rounds=5):
    """What the first call takes more than later ones."""
    model, image = models.resnet50(tf, tf.Variable)
    first = later = float("inf")
    for _ in range(rounds):
        f = tf.function(model)
        for run in range(3):
            start = time.perf_counter()
            f(image).numpy()
            took = time.perf_counter() - start
            first, later = (min(first, took), later) if run == 0 else (first, min(later, took))
    return first - later


WORKLOADS = {
    "import": lambda: IMPORT,
    "scalar_add": scalar_add,
    "matmul_10": one_input(lambda x: tf.matmul(x, x), 10, 10),
    "matmul_1000": one_input(lambda x: tf.matmul(x, x), 1000, 1000),
    "matmul_1024": one_input(lambda x: tf.matmul(x, x), 1024, 1024),
    "chain_1m": one_input(models.chain(tf), MILLION),
    "exp_1m": one_input(tf.exp, MILLION),
    "tanh_1m": one_input(tf.tanh, MILLION),
    "sigmoid_1m": one_input(tf.sigmoid, MILLION),
    "log_1m": positive_log,
    "erf_1m": one_input(tf.math.erf, MILLION),
    "softmax_1024x1000": one_input(tf.nn.softmax, 1024, 1000),
    "reduce_sum_all": one_input(tf.reduce_sum, 1000, 1000),
    "reduce_sum_axis_0": one_input(lambda x: tf.reduce_sum(x, 0), 1000, 1000),
    "reduce_sum_axis_1": one_input(lambda x: tf.reduce_sum(x, 1), 1000, 1000),
    "transpose_1024x1000": one_input(tf.transpose, 1024, 1000),
    "mnist_convs_b32": lambda: convolutions(MNIST, 32, "VALID", True, 20),
    "resnet50_convs_b1": lambda: convolutions(RESNET50, 1, "SAME", False, 5),
    "resnet50_convs_b16": lambda: convolutions(RESNET50, 16, "SAME", True, 1),
    "max_pool": pool(tf.nn.max_pool2d),
    "avg_pool": pool(tf.nn.avg_pool2d),
    "batch_norm": batch_norm,
    "taped_add_1000": taped_add,
    "scalar_chain_100": scalar_chain,
    "mlp_step": repeated(models.mlp_step),
    "mlp_step_function": repeated(models.mlp_step, tf.function),
    "adam_10m": adam,
    "traced_add": traced_add,
    "traced_chain_1m": one_input(tf.function(models.chain(tf), jit_compile=True), MILLION),
    "traced_mlp_step": repeated(models.mlp_step, tf.function),
    "traced_cnn_step": repeated(models.cnn_step, tf.function),
    "traced_lstm_step": repeated(lstm_step, tf.function),
    "while_loop_turn": while_loop_turn,
    "resnet50_b1": resnet50,
    "resnet50_trace": resnet50_trace,
    **{name: functools.partial(run, tf) for name, run in keras_models.WORKLOADS.items()},
}

for name, run in WORKLOADS.items():
    if not options.only or name in options.only.split(","):
        print(name, run(), flush=True)

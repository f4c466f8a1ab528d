#!/usr/bin/env python3
"""The workloads in which Python itself takes part. Prints `name seconds` lines for bench/run.py.

    python_bench.py [--only scalar_add,traced_add,matmul_10,mlp_step,import,keras_fit_mlp]
"""

import argparse
import functools
import time

import keras_models
from models import mlp_step
from timing import seconds

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--only", default="")
only = parser.parse_args().only

start = time.perf_counter()
import thalweg as tf  # noqa: E402: its import is measured

IMPORT = time.perf_counter() - start


def scalar_add():
    x, y = tf.constant(1.0), tf.constant(2.0)
    return seconds(lambda: x + y)


def traced_add():
    x, y = tf.constant(1.0), tf.constant(2.0)
    f = tf.function(lambda a, b: a + b)
    return seconds(lambda: f(x, y))


def matmul_10():
    x = tf.ones([10, 10])
    return seconds(lambda: tf.matmul(x, x))


def eager_mlp_step():
    step, inputs = mlp_step(tf)
    return seconds(lambda: step(*inputs))


WORKLOADS = {
    "import": lambda: IMPORT,
    "scalar_add": scalar_add,
    "traced_add": traced_add,
    "matmul_10": matmul_10,
    "mlp_step": eager_mlp_step,
    **{name: functools.partial(run, tf) for name, run in keras_models.WORKLOADS.items()},
}

for name, run in WORKLOADS.items():
    if not only or name in only.split(","):
        print(name, run(), flush=True)

#!/usr/bin/env python3
"""The workloads in which Python itself takes part. Prints `name seconds` lines for bench/run.py.

    python_bench.py [--only scalar_add,matmul_10,mlp_step,import]
"""

import argparse
import time

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


def matmul_10():
    x = tf.ones([10, 10])
    return seconds(lambda: tf.matmul(x, x))


def mlp_step():
    """784-128-10, batches of 32, Adam; the same step as bench/peers/tensorflow_peer.py."""
    weights = [tf.Variable(tf.random.uniform(shape, -1, 1) * 0.05) for shape in ((784, 128), (128,), (128, 10), (10,))]
    slots = [(tf.Variable(tf.zeros_like(w)), tf.Variable(tf.zeros_like(w))) for w in weights]
    x, labels = tf.random.uniform((32, 784), -1, 1), tf.range(32) % 10

    def step():
        with tf.GradientTape() as tape:
            hidden = tf.nn.relu(tf.matmul(x, weights[0]) + weights[1])
            logits = tf.matmul(hidden, weights[2]) + weights[3]
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
        for w, (m, v), gradient in zip(weights, slots, tape.gradient(loss, weights)):
            tf.raw_ops.ResourceApplyAdam(var=w.handle, m=m.handle, v=v.handle, beta1_power=0.9, beta2_power=0.999, lr=1e-3, beta1=0.9,
                                         beta2=0.999, epsilon=1e-7, grad=gradient)
        return loss

    return seconds(step)


for name, run in {"import": lambda: IMPORT, "scalar_add": scalar_add, "matmul_10": matmul_10, "mlp_step": mlp_step}.items():
    if not only or name in only.split(","):
        print(name, run(), flush=True)

#!/usr/bin/env python3
"""The most memory that a training step of a deep perceptron takes: 50 layers of 512, batches of 256, eager.

    deep_mlp.py thalweg|tensorflow

Prints the megabytes of resident memory that the steps add to those the process has before.
"""

import importlib
import resource
import sys

tf = importlib.import_module(sys.argv[1])
LAYERS, WIDTH, BATCH = 50, 512, 256


def resident():
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * resource.getpagesize()


def step(weights, biases, x, y):
    with tf.GradientTape() as tape:
        hidden = x
        for w, b in zip(weights, biases):
            hidden = tf.nn.relu(tf.matmul(hidden, w) + b)
        loss = tf.reduce_mean(tf.square(hidden - y))
    for variable, gradient in zip(weights + biases, tape.gradient(loss, weights + biases)):
        variable.assign_sub(0.01 * gradient)
    return loss


tf.matmul(tf.ones([WIDTH, WIDTH]), tf.ones([WIDTH, WIDTH]))  # what the first product loads is not the step's
before = resident()
weights = [tf.Variable(tf.random.normal([WIDTH, WIDTH], stddev=0.06)) for _ in range(LAYERS)]
biases = [tf.Variable(tf.zeros([WIDTH])) for _ in range(LAYERS)]
x = tf.random.normal([BATCH, WIDTH])
for _ in range(4):
    step(weights, biases, x, x)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before) / 2**20)

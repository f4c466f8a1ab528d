#!/usr/bin/env python3
"""The most memory that training steps take: a deep perceptron (50 layers of 512, batches of 256, eager), or the MNIST CNN as a function.

    step_memory.py thalweg|tensorflow deep_mlp|cnn

Prints the megabytes of resident memory that the steps add to those the process has before.
"""

import importlib
import resource
import sys

import models

tf = importlib.import_module(sys.argv[1])


def resident():
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * resource.getpagesize()


tf.matmul(tf.ones([512, 512]), tf.ones([512, 512]))  # what the first product loads is not the step's
before = resident()
if sys.argv[2] == "cnn":
    step, inputs = models.cnn_step(tf)
    step = tf.function(step)
else:
    step, inputs = models.deep_mlp_step(tf)
for _ in range(10 if sys.argv[2] == "cnn" else 4):
    step(*inputs)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before) / 2**20)

"""A variable lives as long as something refers to it; then its memory is free again."""

import gc
import weakref

import thalweg as tf


def megabytes():
    return tf.config.experimental.get_memory_info("CPU:0")["current"] // 2**20


before = megabytes()
weights = tf.Variable(tf.zeros([1024, 1024]))
alive = weakref.ref(weights)
print("one variable of 4 MB:", megabytes() - before, "MB more")

# What was read keeps its bits, and its memory, when the variable changes.
snapshot = weights.value()
weights.assign_add(tf.ones([1024, 1024]))
print("a snapshot and a changed value:", megabytes() - before, "MB more;", float(snapshot[0, 0]), float(weights[0, 0]))

del snapshot
print("without the snapshot:", megabytes() - before, "MB more")
del weights
gc.collect()
print("without the variable:", megabytes() - before, "MB more; alive:", alive() is not None)

"""tf.compat.v1: the package's names, old spellings included."""

import thalweg


def __getattr__(name):
    return getattr(thalweg, name)

"""tf.compat.v2: the package's names."""

import thalweg


def __getattr__(name):
    return getattr(thalweg, name)

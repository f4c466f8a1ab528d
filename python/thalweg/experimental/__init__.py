"""tf.experimental."""

from thalweg.experimental import dlpack

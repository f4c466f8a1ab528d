"""tf.contrib, as TensorFlow 1 had it: what the programs of that time import."""

from thalweg.contrib import eager

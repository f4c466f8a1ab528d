"""Handwritten digits; they come with the package."""

from thalweg._thalweg import keras_datasets
from thalweg.keras.datasets._arrays import arrays


def load_data(path="mnist.npz"):
    """Images uint8 [60000, 28, 28] and [10000, 28, 28], labels uint8 of 0 to 9."""
    return arrays(keras_datasets.mnist(path))

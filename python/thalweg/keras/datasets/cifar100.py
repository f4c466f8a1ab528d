"""Photographs in a hundred classes of twenty kinds."""

from thalweg._thalweg import keras_datasets
from thalweg.keras.datasets._arrays import arrays


def load_data(label_mode="fine"):
    """Images as those of cifar10; labels of classes ("fine") or kinds ("coarse")."""
    return arrays(keras_datasets.cifar100(label_mode))

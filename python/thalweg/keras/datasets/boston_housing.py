"""Prices of houses and thirteen attributes of each."""

from thalweg._thalweg import keras_datasets
from thalweg.keras.datasets._arrays import arrays


def load_data(path="boston_housing.npz", test_split=0.2, seed=113):
    """Attributes [houses, 13] and prices [houses], shuffled and split."""
    return arrays(keras_datasets.boston_housing(path, test_split, seed))

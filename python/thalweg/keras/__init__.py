"""Keras: models and what they are made of. Loaded when tf.keras is first used."""

from thalweg.keras import datasets, preprocessing, utils

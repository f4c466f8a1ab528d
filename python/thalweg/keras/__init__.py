"""Keras: models and what they are made of. Loaded when tf.keras is first used."""

from thalweg.keras import (activations, backend, callbacks, constraints, datasets, initializers, layers, losses,
                           metrics, mixed_precision, models, optimizers, preprocessing, regularizers, saving, utils)
from thalweg.keras.model.input import Input
from thalweg.keras.models import Model, Sequential

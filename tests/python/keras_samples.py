"""What several tests of Keras work with: numbers to learn, a small model, and a layer that a program writes."""

import numpy as np

import thalweg as tf
from thalweg import keras
from thalweg.keras import layers

X = np.sin(np.arange(60.0)).reshape(20, 3).astype(np.float32)
Y = X.sum(axis=1, keepdims=True)


def linear(**compiled):
    """A model of one layer, compiled with these arguments."""
    model = keras.Sequential([layers.Dense(1, kernel_initializer="zeros", input_shape=(3,), name="only")])
    model.compile(**{"optimizer": keras.optimizers.SGD(0.1), "loss": "mse", **compiled})
    return model


class Linear(layers.Layer):
    def __init__(self, units=3, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, input_shape):
        self.w = self.add_weight(name="w", shape=(input_shape[-1], self.units), initializer="ones")
        self.b = self.add_weight(name="b", shape=(self.units,), initializer="zeros", trainable=False)

    def call(self, inputs):
        return tf.matmul(inputs, self.w) + self.b

    def get_config(self):
        return {**super().get_config(), "units": self.units}

"""Keras's models as programs use them, in Thalweg's Python and in TensorFlow's; bench/keras_bench.cc has the same ones for C++."""

import time

import numpy as np
from timing import seconds


def perceptron(tf):
    model = tf.keras.Sequential([tf.keras.layers.Dense(128, activation="relu", input_shape=(784,)),
                                 tf.keras.layers.Dense(10, activation="softmax")])
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


def _examples(count, *shape):
    random = np.random.default_rng(1)
    return random.uniform(-1, 1, (count, *shape)).astype(np.float32), (np.arange(count) % 10).astype(np.int32)


def _seconds_of_fit(model, x, y, batch_size, warm_up, rounds=3):
    """The best of several epochs, after a few steps."""
    model.fit(x[:warm_up], y[:warm_up], batch_size=batch_size, verbose=0)
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        model.fit(x, y, batch_size=batch_size, verbose=0)
        best = min(best, time.perf_counter() - start)
    return best


def fit_mlp(tf):
    return _seconds_of_fit(perceptron(tf), *_examples(60000, 784), batch_size=32, warm_up=320)


def fit_cnn(tf):
    layers = tf.keras.layers
    model = tf.keras.Sequential([
        layers.Conv2D(32, 3, activation="relu", input_shape=(28, 28, 1)),
        layers.Conv2D(64, 3, activation="relu"),
        layers.MaxPooling2D(2),
        layers.Dropout(0.25),
        layers.Flatten(),
        layers.Dense(128, activation="relu"),
        layers.Dropout(0.5),
        layers.Dense(10, activation="softmax"),
    ])
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    return _seconds_of_fit(model, *_examples(1280, 28, 28, 1), batch_size=128, warm_up=256)


def predict_one(tf):
    model, (x, _) = perceptron(tf), _examples(1, 784)
    return seconds(lambda: model.predict(x, verbose=0))


def call_one(tf):
    model, x = perceptron(tf), tf.constant(_examples(1, 784)[0])
    return seconds(lambda: model(x))


def _traced(tf, model, loss_of, x, y):
    """A step of Adam in a function."""
    optimizer = tf.keras.optimizers.Adam()

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_of(y, model(x, training=True))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        return loss

    x, y = tf.constant(x), tf.constant(y)
    return seconds(lambda: step(x, y), budget=3.0)


def lstm_step(tf):
    model = tf.keras.Sequential([tf.keras.layers.LSTM(128, input_shape=(28, 28)), tf.keras.layers.Dense(10)])
    return _traced(tf, model, tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), *_examples(32, 28, 28))


def transformer_step(tf):
    layers = tf.keras.layers
    inputs = tf.keras.Input((128, 512))
    x = layers.LayerNormalization()(inputs + layers.MultiHeadAttention(8, 64)(inputs, inputs))
    hidden = layers.Dense(512)(layers.Dense(2048, activation="relu")(x))
    model = tf.keras.Model(inputs, layers.LayerNormalization()(x + hidden))
    x, _ = _examples(8, 128, 512)
    return _traced(tf, model, tf.keras.losses.MeanSquaredError(), x, x[::-1].copy())


WORKLOADS = {f"keras_{f.__name__}": f for f in (fit_mlp, fit_cnn, predict_one, call_one, lstm_step, transformer_step)}
